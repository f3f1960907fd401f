"""The Q/DQ graph of a quantized PyTorch program itself, node by node in eager PyTorch."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import torch
from torch.export import ExportedProgram
from torch.fx import Interpreter, Node

from shlo_quant.engines.base import ProgramResults
from shlo_quant.engines.quantized_programs import graph_arguments, opened, quantize_nodes, to_array, user_outputs
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
        interpreter = _Recorder(self.program, self.tensors)
        arguments = graph_arguments(self.program, inputs)
        try:
            with torch.no_grad():
                results = interpreter.run(*arguments)
        except (RuntimeError, NotImplementedError) as error:  # what PyTorch's kernels raise
            raise EngineError(f"torch: {str(error).splitlines()[0]}") from error
        outputs = [to_array(results[index]) for index in user_outputs(self.program)]
        return ProgramResults(outputs, {name: to_array(interpreter.recorded[name]) for name in self.tensors})


class _Recorder(Interpreter):
    """Runs a graph and keeps the values of the nodes of some names."""

    def __init__(self, program: ExportedProgram, names: Sequence[str]) -> None:
        super().__init__(program.graph_module)
        self._names = frozenset(names)
        self.recorded: dict[str, torch.Tensor] = {}

    def run_node(self, n: Node) -> Any:
        value = super().run_node(n)
        if n.name in self._names:
            self.recorded[n.name] = value
        return value
