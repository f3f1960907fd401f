"""Native kernels: what each computes, for which shapes, and the loops that do it.

A kernel is a function of pointers to its operands and of a range of units of work, which threads share out. Kernels
are values: equal ones are compiled once. Tiles at the end of a dimension move back rather than end early, so that
every tile has one size; an element computed twice is computed equally.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from shlo_quant.engines.fast.native import emitter as emit
from shlo_quant.engines.fast.native.emitter import BYTE_LANES
from shlo_quant.engines.fast.native.expressions import Expression, Instruction

INT8, INT32 = np.dtype(np.int8), np.dtype(np.int32)
TABLE = 256
LANES = 16
"""Elements of 32 bits in a register."""


class Kernel(Protocol):
    """A native kernel."""

    @property
    def operands(self) -> int:
        """How many pointers it takes; the last one is the result's."""
        ...

    @property
    def units(self) -> int:
        """Units of work."""
        ...

    def emit(self, pointers: Sequence[ir.Value], begin: ir.Value, end: ir.Value) -> None:
        """Emit the function's body."""
        ...


@dataclass(frozen=True)
class Access:
    """How a kernel walks an operand.

    Attributes:
      strides: bytes for each dimension of the kernel's loops; the last is the dimension that vectors lie along.
      biased: see `View`.
      is_table: the whole operand of 256 bytes is one vector, which does not depend on the loops.
    """

    dtype: np.dtype[Any]
    strides: tuple[int, ...]
    biased: bool = False
    is_table: bool = False

    def pointer(self, base: ir.Value, indices: Sequence[ir.Value | None]) -> ir.Value:
        """The address at these coordinates; None is 0."""
        terms = [(i, s) for i, s in zip(indices, self.strides, strict=False) if i is not None]
        return emit.at(base, emit.scaled(terms))

    def load(self, pointer: ir.Value, lanes: int) -> ir.Value:
        """A vector of elements."""
        if self.is_table:
            return emit.load(emit.vector_type(self.dtype, TABLE), pointer)
        stored = INT8 if self.dtype.kind == "b" else self.dtype
        kind, step = emit.element_type(stored), self.strides[-1]
        if step == 0:
            values = emit.broadcast(emit.load(kind, pointer), lanes)
        elif step == stored.itemsize:
            values = emit.load(emit.vector_type(stored, lanes), pointer)
        else:
            elements = [emit.load(kind, emit.at(pointer, n * step)) for n in range(lanes)]
            values = vector.from_elements(emit.vector_type(stored, lanes), elements)
        if self.dtype.kind == "b":
            return arith.cmpi(arith.CmpIPredicate.ne, values, emit.splat(0, INT8, lanes))
        return self._flipped(values, lanes)

    def store(self, values: ir.Value, pointer: ir.Value, lanes: int) -> None:
        """The inverse of `load`."""
        if self.dtype.kind == "b":
            values = arith.extui(emit.vector_type(INT8, lanes), values)
        values, step = self._flipped(values, lanes), self.strides[-1]
        if step == self.dtype.itemsize or lanes == 1:
            emit.store(values, pointer)
            return
        for n in range(lanes):
            emit.store(vector.extract(values, [], [n]), emit.at(pointer, n * step))

    def _flipped(self, values: ir.Value, lanes: int) -> ir.Value:
        """Between signed bytes and those 128 higher: the highest bit differs."""
        return arith.xori(values, emit.splat(-128, INT8, lanes)) if self.biased else values


# ---- elementwise


@dataclass(frozen=True)
class Nest:
    """A nest of loops, the innermost in vectors; the outermost is what threads share out.

    Attributes:
      shape: sizes of the loops.
      lanes: elements of a vector.
    """

    shape: tuple[int, ...]
    lanes: int

    @property
    def blocks(self) -> int:
        """Vectors of the innermost loop."""
        return -(-self.shape[-1] // self.lanes)

    @property
    def units(self) -> int:
        return self.shape[0] if len(self.shape) > 1 else self.blocks

    def emit(self, begin: ir.Value, end: ir.Value, body: Callable[[list[ir.Value]], None]) -> None:
        """Emit the loops; `body` takes the indices at which a vector begins."""
        self._loops([], begin, end, body)

    def _loops(
        self, outer: list[ir.Value], begin: ir.Value, end: ir.Value, body: Callable[[list[ir.Value]], None]
    ) -> None:
        depth = len(outer) + 1

        def step(index: ir.Value, _carried: list[ir.Value]) -> list[ir.Value]:
            if depth == len(self.shape):
                body([*outer, emit.tile_start(index, self.lanes, self.shape[-1])])
            else:
                size = self.shape[depth] if depth + 1 < len(self.shape) else self.blocks
                self._loops([*outer, index], emit.integer(0), emit.integer(size), body)
            return []

        emit.loop(begin, end, step)


@dataclass(frozen=True)
class Map:
    """An expression of elements, over a nest of loops.

    Attributes:
      shape: sizes of the loops, the vectorized one last.
    """

    shape: tuple[int, ...]
    expression: Expression
    inputs: tuple[Access, ...]
    output: Access

    @property
    def operands(self) -> int:
        return len(self.inputs) + 1

    @property
    def nest(self) -> Nest:
        is_contiguous = all(a.strides[-1] in (0, a.dtype.itemsize) for a in (*self.inputs, self.output))
        return Nest(self.shape, min(self.shape[-1], BYTE_LANES if is_contiguous else LANES))

    @property
    def units(self) -> int:
        return self.nest.units

    def emit(self, pointers: Sequence[ir.Value], begin: ir.Value, end: ir.Value) -> None:
        lanes, accesses = self.nest.lanes, [*self.inputs, self.output]

        def body(indices: list[ir.Value]) -> None:
            *sources, target = [a.pointer(p, indices) for a, p in zip(accesses, pointers, strict=True)]
            values = [a.load(p, lanes) for a, p in zip(self.inputs, sources, strict=True)]
            self.output.store(self.expression.emit(values, lanes), target, lanes)

        self.nest.emit(begin, end, body)


@dataclass(frozen=True)
class Fold:
    """A reduction: elements are combined one after the other, the initial value first.

    Attributes:
      shape: sizes of the loops over results, the vectorized one last.
      combine: "add", "maximum", "minimum" or "multiply".
      runs: the loops over what is combined, the outermost first: how often, and how many bytes apart.
      operand, output: with strides over the results.
    """

    shape: tuple[int, ...]
    combine: str
    runs: tuple[tuple[int, int], ...]
    operand: Access
    output: Access

    @property
    def operands(self) -> int:
        """Operand, initial value, result."""
        return 3

    @property
    def nest(self) -> Nest:
        return Nest(self.shape, min(self.shape[-1], LANES))

    @property
    def units(self) -> int:
        return self.nest.units

    def emit(self, pointers: Sequence[ir.Value], begin: ir.Value, end: ir.Value) -> None:
        operand, initial, result = pointers
        lanes, dtype = self.nest.lanes, self.operand.dtype
        step = Instruction(self.combine, (0, 1), (dtype, dtype), dtype)

        def combined(runs: Sequence[tuple[int, int]], pointer: ir.Value, total: ir.Value) -> ir.Value:
            if not runs:
                return Expression((dtype, dtype), (step,)).emit([total, self.operand.load(pointer, lanes)], lanes)
            count, stride = runs[0]

            def body(index: ir.Value, carried: list[ir.Value]) -> list[ir.Value]:
                return [combined(runs[1:], emit.at(pointer, emit.scaled([(index, stride)])), carried[0])]

            return emit.loop(emit.integer(0), emit.integer(count), body, [total])[0]

        def body(indices: list[ir.Value]) -> None:
            first = emit.broadcast(emit.load(emit.element_type(dtype), initial), lanes)
            total = combined(self.runs, self.operand.pointer(operand, indices), first)
            self.output.store(total, self.output.pointer(result, indices), lanes)

        self.nest.emit(begin, end, body)
