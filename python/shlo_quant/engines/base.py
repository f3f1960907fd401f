"""What an engine is: something that compiles a program and runs it on arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from torch_mlir import ir

from shlo_quant.passes.dialects.constants import Array

if TYPE_CHECKING:  # torch is slow to import
    from torch.export import ExportedProgram


class Executable(Protocol):
    """A compiled program."""

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        """Run once.

        Args:
          inputs: one array per argument, of the argument's shape and dtype (`numpy_dtype` of its type). An argument of
            quantized type takes its stored integers, with their true sign.
        Returns: one array per result; stored integers for results of quantized type.
        Raises: InputError for inputs that do not fit; EngineError if the program could not be run.
        """
        ...


class Engine(Protocol):
    """A way to run programs; `name` is what the command line calls it."""

    @property
    def name(self) -> str: ...

    def compile(self, module: ir.Module) -> Executable:
        """Prepare the program; `module` is not changed, and may be changed afterwards without effect on the result.

        Raises: EngineError naming every op the engine cannot run.
        """
        ...


@dataclass(frozen=True)
class ProgramResults:
    """What one run of a PyTorch program gave.

    Attributes:
      outputs: the program's own results.
      tensors: the stored integers of the quantized tensors that were asked for, by name, in the order asked for.
    """

    outputs: list[Array]
    tensors: dict[str, Array]


class ProgramExecutable(Protocol):
    """A compiled PyTorch program."""

    def run(self, inputs: Sequence[Array]) -> ProgramResults:
        """Run once.

        Args:
          inputs: one array per input of the program (parameters and buffers are not inputs).
        Raises: InputError for inputs that do not fit; EngineError if the program could not be run.
        """
        ...


class ProgramEngine(Protocol):
    """A way to run quantized PyTorch programs as they are, without StableHLO; `name` as for engines."""

    @property
    def name(self) -> str: ...

    def compile(self, program: ExportedProgram | Path, tensors: Sequence[str] = ()) -> ProgramExecutable:
        """Prepare a program, given as such or as a `.pt2` file; it is not changed.

        Args:
          tensors: the quantized tensors to return beside the results, by the names of their quantize nodes in the
            program's graph.
        Raises: EngineError with the reason if the engine cannot run the program; InputError for a name that is no
          quantize node; MissingExtraError without the engine's package.
        """
        ...
