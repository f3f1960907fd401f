"""What an engine is: something that compiles a module and runs it on arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from torch_mlir import ir

from shlo_quant.passes.dialects.constants import Array


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
