"""Sums of products, term by term, of elements of any type.

Vectors lie along the result's channels, so that each sum is one product after the other: for floats the order and every
rounding are the reference interpreter's. Integers are extended to the result's type, in which sums wrap.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from shlo_quant.engines.fast.native import emitter as emit
from shlo_quant.engines.fast.native.epilogue import Epilogue, Grid, Results, parts_of_block
from shlo_quant.engines.fast.native.expressions import DType
from shlo_quant.engines.fast.native.kernels import LANES


@dataclass(frozen=True)
class TermRun:
    """A loop over terms: how many, and how many bytes further operand and factors are read each time."""

    count: int
    stride: int
    factor_stride: int


@dataclass(frozen=True)
class TermProduct:
    """Products and sums in the type of the result, from zero on.

    Attributes:
      operand, factor, result: dtypes; all f32, or integers.
      runs: the loops over the terms of a sum, the outermost first.
      factor_strides: bytes between the factors of one batch and row and those of the next.
      tile: rows, columns, vectors of 16 channels computed at once.
    """

    grid: Grid
    operand: DType
    factor: DType
    result: DType
    runs: tuple[TermRun, ...]
    factor_strides: tuple[int, int]
    tile: tuple[int, int, int]
    epilogue: Epilogue

    @property
    def operands(self) -> int:
        """Operand, factors, the epilogue's inputs, result."""
        return len(self.epilogue.inputs) + 3

    @property
    def _tiles(self) -> tuple[int, int, int, int]:
        batch, rows, columns = self.grid.sizes
        blocks = -(-self.grid.channels // (LANES * self.tile[2]))
        return batch, rows, -(-columns // self.tile[1]), blocks

    @property
    def units(self) -> int:
        return math.prod(self._tiles)

    def emit(self, pointers: Sequence[ir.Value], begin: ir.Value, end: ir.Value) -> None:
        operand, factors, *others = pointers
        _, columns, vectors = self.tile
        memory = Results.reserve(self.result, (1, columns), vectors * LANES)

        def unit(index: ir.Value, _carried: list[ir.Value]) -> list[ir.Value]:
            batch, row, column, block = emit.split(index, self._tiles)
            position = [batch, row, emit.tile_start(column, columns, self.grid.sizes[2])]
            results = Results(
                memory, self.result, (1, columns), vectors * LANES, parts_of_block(block, vectors, self.grid.channels)
            )
            second = emit.at(factors, emit.scaled(list(zip((batch, row), self.factor_strides, strict=True))))
            starts = [
                (
                    emit.at(second, emit.scaled([(part.channel, self.factor.itemsize)])),
                    n * LANES * self.factor.itemsize,
                    min(part.lanes, LANES),
                    part.offset + n * LANES,
                )
                for part in results.parts
                for n in range(-(-part.lanes // LANES))
            ]
            zeros = [emit.splat(0, self.result, lanes) for _, _, lanes, _ in starts] * columns
            bases = [emit.at(pointer, offset) for pointer, offset, _, _ in starts]
            lanes = [count for _, _, count, _ in starts]
            source = self.grid.source(operand, position)
            sums = self._sum(self.runs, source, bases, lanes, zeros)
            for number, total in enumerate(sums):
                place, group = divmod(number, len(starts))
                results.store(place, starts[group][3], total)
            self.epilogue.emit(others, results, position)
            return []

        emit.loop(begin, end, unit)

    def _sum(
        self,
        runs: Sequence[TermRun],
        source: ir.Value,
        factors: list[ir.Value],
        lanes: list[int],
        sums: list[ir.Value],
    ) -> list[ir.Value]:
        """Add the terms of these loops."""
        if not runs:
            return self._term(source, factors, lanes, sums)

        def body(index: ir.Value, carried: list[ir.Value]) -> list[ir.Value]:
            here = emit.at(source, emit.scaled([(index, runs[0].stride)]))
            offset = emit.scaled([(index, runs[0].factor_stride)])
            return self._sum(runs[1:], here, [emit.at(f, offset) for f in factors], lanes, carried)

        return emit.loop(emit.integer(0), emit.integer(runs[0].count), body, sums)

    def _term(
        self, source: ir.Value, factors: list[ir.Value], lanes: list[int], sums: list[ir.Value]
    ) -> list[ir.Value]:
        """Add one product to every sum."""
        loaded = [
            self._widened(emit.load(emit.vector_type(self.factor, n), f), self.factor, n)
            for f, n in zip(factors, lanes, strict=True)
        ]
        multiply, add = (arith.mulf, arith.addf) if self.result.kind == "f" else (arith.muli, arith.addi)
        result = []
        for place in range(self.tile[1]):
            pointer = emit.at(source, place * self.grid.strides[2])
            element = emit.broadcast(emit.load(emit.element_type(self.operand), pointer), 1)
            element = vector.extract(self._widened(element, self.operand, 1), [], [0])
            for group, factor in enumerate(loaded):
                product = multiply(emit.broadcast(element, lanes[group]), factor)
                result.append(add(sums[place * len(loaded) + group], product))
        return result

    def _widened(self, values: ir.Value, dtype: DType, lanes: int) -> ir.Value:
        """Elements of an operand in the type of the result."""
        if dtype.itemsize == self.result.itemsize:
            return values
        return (arith.extsi if dtype.kind == "i" else arith.extui)(emit.vector_type(self.result, lanes), values)
