"""The engine's front: prepare a program, compile it for its shapes, run it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from torch_mlir import ir

from shlo_quant.engines.arguments import check_inputs, check_types
from shlo_quant.engines.fast.blocks import compile_block, lower_block
from shlo_quant.engines.fast.native.machine import available_threads
from shlo_quant.engines.fast.native.plan import make_plan
from shlo_quant.engines.fast.native.program import Program
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
      native: whether to compile native code, or else run one kernel an op, which gives the same.
    """

    name: ClassVar[str] = "fast"
    arithmetic: str = "spec"
    native: bool = True

    def compile(self, module: ir.Module) -> FastExecutable:
        inputs, results = signature(entry_function(module))
        check_types("fast engine", [*inputs, *results])
        program = prepared(module, self.arithmetic)
        executable = FastExecutable(program, tuple(inputs), tuple(results), self.native)
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
      native: as that of `FastEngine`.
    """

    program: ir.Module
    input_types: tuple[ir.Type, ...]
    result_types: tuple[ir.Type, ...]
    native: bool
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
                self._compiled[shapes] = self._compile_static(program)
            return self._compiled[shapes]

    def _compile_static(self, program: ir.Module) -> Compiled:
        block = entry_function(program).regions[0].blocks[0]
        if not self.native:
            return compile_block(block)
        return Program(make_plan(lower_block(block), list(block.arguments)), available_threads())


def _check_ops(program: ir.Module) -> None:
    """Raise UnsupportedError for all ops whose kind no kernel computes, before any shape is known."""
    unknown = [op for op in walk(entry_function(program)) if op.name not in KERNELS and not _is_structure(op)]
    if unknown:
        raise UnsupportedError("fast engine", [finding(op, "the engine has no kernel for it") for op in unknown])


def _is_structure(op: ir.Operation) -> bool:
    return op.name in ("func.func", "func.return", "stablehlo.return") or "dynamic" in op.name
