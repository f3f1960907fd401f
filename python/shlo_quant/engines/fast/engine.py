"""The engine's front: prepare a program, compile it for its shapes, run it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from torch_mlir import ir

from shlo_quant.engines.arguments import check_inputs, check_types
from shlo_quant.engines.fast.blocks import compile_block
from shlo_quant.engines.fast.ops import KERNELS
from shlo_quant.engines.fast.prepare import is_static, prepared, specialized
from shlo_quant.passes.dialects.constants import Array, numpy_dtype
from shlo_quant.passes.dialects.locations import finding
from shlo_quant.passes.dialects.modules import entry_function, signature
from shlo_quant.passes.errors import UnsupportedError
from shlo_quant.passes.rewrite import walk

Compiled = Callable[[Sequence[Array]], Sequence[Array]]
Shapes = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class FastEngine:
    """Runs `main` (or the only function) of a StableHLO program, exactly as the specification defines it.

    Args:
      arithmetic: the profile by which a program with quantized types is computed.
    """

    name: ClassVar[str] = "fast"
    arithmetic: str = "spec"

    def compile(self, module: ir.Module) -> FastExecutable:
        inputs, results = signature(entry_function(module))
        check_types("fast engine", [*inputs, *results])
        program = prepared(module, self.arithmetic)
        executable = FastExecutable(program, tuple(inputs), tuple(results))
        if is_static(program):
            executable.compile(tuple(tuple(t.shape) for t in inputs))
        else:
            _check_ops(program)
        return executable


@dataclass(frozen=True)
class FastExecutable:
    """A prepared program, compiled once for each set of input shapes; may be run from several threads.

    Attributes:
      program: what was compiled.
      input_types, result_types: those of the program as it was written.
    """

    program: ir.Module
    input_types: tuple[ir.Type, ...]
    result_types: tuple[ir.Type, ...]
    _compiled: dict[Shapes, Compiled] = field(default_factory=dict)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        arrays = check_inputs(self.input_types, inputs)
        compiled = self.compile(tuple(a.shape for a in arrays))
        with np.errstate(all="ignore"):
            results = compiled(arrays)
        return [np.array(r, numpy_dtype(t), order="C") for r, t in zip(results, self.result_types, strict=True)]

    def compile(self, shapes: Shapes) -> Compiled:
        """The program for inputs of these shapes. Raises: as `FastEngine.compile`."""
        with self._lock, np.errstate(all="ignore"):
            if shapes not in self._compiled:
                program = self.program if is_static(self.program) else specialized(self.program, shapes)
                self._compiled[shapes] = compile_block(entry_function(program).regions[0].blocks[0])
            return self._compiled[shapes]


def _check_ops(program: ir.Module) -> None:
    """Raise UnsupportedError for all ops whose kind no kernel computes, before any shape is known."""
    unknown = [op for op in walk(entry_function(program)) if op.name not in KERNELS and not _is_structure(op)]
    if unknown:
        raise UnsupportedError("fast engine", [finding(op, "the engine has no kernel for it") for op in unknown])


def _is_structure(op: ir.Operation) -> bool:
    return op.name in ("func.func", "func.return", "stablehlo.return") or "dynamic" in op.name
