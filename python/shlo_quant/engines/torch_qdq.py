"""The Q/DQ graph of a quantized PyTorch program itself, node by node in eager PyTorch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch.export import ExportedProgram
from torch.fx import Interpreter, Node

from shlo_quant.engines.base import ProgramResults
from shlo_quant.engines.quantized_programs import (
    graph_arguments,
    opened,
    quantize_nodes,
    to_array,
    to_tensor,
    user_outputs,
)
from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.errors import EngineError


@dataclass(frozen=True)
class TorchEngine:
    """Quantize rounds, dequantize makes floats again, and all in between is float arithmetic."""

    name: ClassVar[str] = "torch"

    def compile(self, program: ExportedProgram | Path, tensors: Sequence[str] = ()) -> TorchExecutable:
        found = opened(program)
        quantize_nodes(found, tensors)
        return TorchExecutable(found, tuple(tensors))


@dataclass(frozen=True)
class TorchExecutable:
    """A program and the names of the quantized tensors that it returns."""

    program: ExportedProgram
    tensors: tuple[str, ...]

    def run(self, inputs: Sequence[Array]) -> ProgramResults:
        return self.run_op_by_op(inputs, {})

    def run_op_by_op(self, inputs: Sequence[Array], given: Mapping[str, Array]) -> ProgramResults:
        """As `run`, but what uses a quantized tensor that is given uses the given one.

        Args:
          given: stored integers by the names of quantize nodes.
        """
        interpreter = _Recorder(self.program, self.tensors, {name: to_tensor(a) for name, a in given.items()})
        arguments = graph_arguments(self.program, inputs)
        try:
            with torch.no_grad():
                results = interpreter.run(*arguments)
        except (RuntimeError, NotImplementedError) as error:  # what PyTorch's kernels raise
            raise EngineError(f"torch: {str(error).splitlines()[0]}") from error
        outputs = [to_array(results[index]) for index in user_outputs(self.program)]
        return ProgramResults(outputs, {name: to_array(interpreter.recorded[name]) for name in self.tensors})


class _Recorder(Interpreter):
    """Runs a graph, keeps the values of the nodes of some names, and gives the users of some nodes other values."""

    def __init__(self, program: ExportedProgram, names: Sequence[str], given: Mapping[str, torch.Tensor]) -> None:
        super().__init__(program.graph_module)
        self._names = frozenset(names)
        self._given = given
        self.recorded: dict[str, torch.Tensor] = {}

    def run_node(self, n: Node) -> Any:
        value = super().run_node(n)
        if n.name in self._names:
            self.recorded[n.name] = value
        return self._given.get(n.name, value)
