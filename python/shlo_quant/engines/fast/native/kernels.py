"""Native kernels: what each computes, for which shapes, and the loops that do it.

A kernel is a function of pointers to its operands and of a range of units of work, which threads share out. Kernels
are values: equal ones are compiled once. Tiles at the end of a dimension move back rather than end early, so that
every tile has one size; an element computed twice is computed equally.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, vector

from shlo_quant.engines.fast.native import emitter as emit
from shlo_quant.engines.fast.native.emitter import BYTE_LANES
from shlo_quant.engines.fast.native.expressions import Expression

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
    def lanes(self) -> int:
        is_contiguous = all(a.strides[-1] in (0, a.dtype.itemsize) for a in (*self.inputs, self.output))
        return min(self.shape[-1], BYTE_LANES if is_contiguous else LANES)

    @property
    def blocks(self) -> int:
        return -(-self.shape[-1] // self.lanes)

    @property
    def units(self) -> int:
        return self.shape[0] if len(self.shape) > 1 else self.blocks

    def emit(self, pointers: Sequence[ir.Value], begin: ir.Value, end: ir.Value) -> None:
        self._loops(pointers, [], begin, end)

    def _loops(self, pointers: Sequence[ir.Value], outer: list[ir.Value], begin: ir.Value, end: ir.Value) -> None:
        def body(index: ir.Value, _carried: list[ir.Value]) -> list[ir.Value]:
            depth = len(outer) + 1
            if depth == len(self.shape):
                start = emit.tile_start(index, self.lanes, self.shape[-1])
                self._vector(pointers, [*outer, start])
            else:
                size = self.shape[depth] if depth + 1 < len(self.shape) else self.blocks
                self._loops(pointers, [*outer, index], emit.integer(0), emit.integer(size))
            return []

        emit.loop(begin, end, body)

    def _vector(self, pointers: Sequence[ir.Value], indices: list[ir.Value]) -> None:
        accesses = [*self.inputs, self.output]
        *sources, target = [a.pointer(p, indices) for a, p in zip(accesses, pointers, strict=True)]
        values = [a.load(p, self.lanes) for a, p in zip(self.inputs, sources, strict=True)]
        self.output.store(self.expression.emit(values, self.lanes), target, self.lanes)


# ---- what follows a sum


@dataclass(frozen=True)
class Epilogue:
    """An expression of each result of a product or window, before it is stored.

    Attributes:
      expression: its input 0 is the result; the further ones are read from memory.
      inputs, output: with strides for batch, row, column, channel.
    """

    expression: Expression
    inputs: tuple[Access, ...]
    output: Access


class _Tile:
    """The positions of one tile in all operands of an epilogue."""

    def __init__(
        self, epilogue: Epilogue, pointers: Sequence[ir.Value], position: Sequence[ir.Value], channels: list[ir.Value]
    ) -> None:
        self._epilogue = epilogue
        self._accesses = [*epilogue.inputs, epilogue.output]
        self._pointers = [
            [a.pointer(p, [*position, channel]) for channel in channels]
            for a, p in zip(self._accesses, pointers, strict=True)
        ]
        self._loaded: dict[tuple[int, int, int], ir.Value] = {}

    def finish(self, result: ir.Value, row: int, column: int, group: int, lanes: int) -> None:
        """Compute and store the results at an offset within the tile, of one vector of channels."""
        values = [self._load(i, row, column, group, lanes) for i in range(len(self._epilogue.inputs))]
        stored = self._epilogue.expression.emit([result, *values], lanes)
        output = self._epilogue.output
        pointer = emit.at(self._pointers[-1][group], row * output.strides[1] + column * output.strides[2])
        output.store(stored, pointer, lanes)

    def _load(self, number: int, row: int, column: int, group: int, lanes: int) -> ir.Value:
        access = self._accesses[number]
        offset = row * access.strides[1] + column * access.strides[2]
        key = (number, offset, group)
        if key not in self._loaded:
            self._loaded[key] = access.load(emit.at(self._pointers[number][group], offset), lanes)
        return self._loaded[key]


# ---- products


@dataclass(frozen=True)
class Grid:
    """The results of a product or window, and where the operand of each begins.

    Attributes:
      sizes: batch, rows, columns.
      channels: of the result.
      strides: bytes from one result's operand to the next one's: batch, row, column.
    """

    sizes: tuple[int, int, int]
    channels: int
    strides: tuple[int, int, int]


@dataclass(frozen=True)
class Run:
    """A loop over kernel positions: how often, and how many bytes further the operand is read each time."""

    count: int
    stride: int


@dataclass(frozen=True)
class Product:
    """Sums of products of unsigned bytes and constant signed bytes, four at a time, in 32 bits: exact modulo 2^32.

    Sums start at a constant of each channel, which takes back what a biased operand adds.

    Attributes:
      is_signed: the operand is stored as it is, and biased when it is read.
      runs: loops around `steps` groups of four bytes that follow each other.
      tile: rows, columns, vectors of channels computed at once.
    """

    grid: Grid
    is_signed: bool
    runs: tuple[Run, ...]
    steps: int
    tile: tuple[int, int, int]
    epilogue: Epilogue

    @property
    def operands(self) -> int:
        """Operand, packed weights, starts, the epilogue's inputs, result."""
        return len(self.epilogue.inputs) + 4

    @property
    def blocks(self) -> int:
        """Blocks of channels."""
        return -(-self.grid.channels // (LANES * self.tile[2]))

    @property
    def _tiles(self) -> tuple[int, int, int, int]:
        batch, rows, columns = self.grid.sizes
        return self.blocks, batch, -(-rows // self.tile[0]), -(-columns // self.tile[1])

    @property
    def units(self) -> int:
        return math.prod(self._tiles)

    def emit(self, pointers: Sequence[ir.Value], begin: ir.Value, end: ir.Value) -> None:
        operand, weights, starts, *others = pointers
        rows, columns, vectors = self.tile
        block_bytes = math.prod(r.count for r in self.runs) * self.steps * vectors * 4 * LANES

        def unit(index: ir.Value, _carried: list[ir.Value]) -> list[ir.Value]:
            block, batch, row, column = emit.split(index, self._tiles)
            row = emit.tile_start(row, rows, self.grid.sizes[1])
            column = emit.tile_start(column, columns, self.grid.sizes[2])
            position = [batch, row, column]
            source = emit.at(operand, emit.scaled(list(zip(position, self.grid.strides, strict=True))))
            packed = emit.at(weights, emit.scaled([(block, block_bytes)]))
            start = emit.at(starts, emit.scaled([(block, vectors * 4 * LANES)]))
            kind = emit.vector_type(INT32, LANES)
            first = [emit.load(kind, emit.at(start, 4 * LANES * n)) for n in range(vectors)]
            sums = self._run(self.runs, source, packed, first * (rows * columns))
            self._finish(sums, others, position, block)
            return []

        emit.loop(begin, end, unit)

    def _run(self, runs: Sequence[Run], source: ir.Value, packed: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
        """Add the products of all positions of these loops."""
        stride = runs[0].stride if runs else 4
        repeats = math.prod(run.count for run in runs[1:]) * self.steps if runs else 1
        packed_stride = repeats * self.tile[2] * 4 * LANES

        def body(index: ir.Value, carried: list[ir.Value]) -> list[ir.Value]:
            here = emit.at(source, emit.scaled([(index, stride)]))
            weights = emit.at(packed, emit.scaled([(index, packed_stride)]))
            return self._run(runs[1:], here, weights, carried) if runs else self._step(here, weights, carried)

        count = runs[0].count if runs else self.steps
        return emit.loop(emit.integer(0), emit.integer(count), body, sums)

    def _step(self, source: ir.Value, packed: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
        """Add four products to every sum."""
        rows, columns, vectors = self.tile
        word, words = emit.element_type(INT32), emit.vector_type(INT32, LANES)
        bytes_type = emit.vector_type(INT8, 4 * LANES)
        factors = [emit.load(bytes_type, emit.at(packed, 4 * LANES * n)) for n in range(vectors)]
        result = []
        for position in range(rows * columns):
            row, column = divmod(position, columns)
            four = emit.load(word, emit.at(source, self._offset(row, column)))
            operand = vector.bitcast(bytes_type, emit.broadcast(four, LANES))
            if self.is_signed:
                operand = arith.xori(operand, emit.splat(-128, INT8, 4 * LANES))
            for n in range(vectors):
                total = sums[position * vectors + n]
                result.append(emit.intrinsic("llvm.x86.avx512.vpdpbusd.512", words, [total, operand, factors[n]]))
        return result

    def _offset(self, row: int, column: int) -> int:
        return row * self.grid.strides[1] + column * self.grid.strides[2]

    def _finish(
        self, sums: list[ir.Value], others: Sequence[ir.Value], position: list[ir.Value], block: ir.Value
    ) -> None:
        _, columns, vectors = self.tile
        lanes = min(self.grid.channels, LANES)
        first = emit.scaled([(block, vectors * lanes)])
        channels = [arith.addi(first, emit.integer(n * lanes)) for n in range(vectors)]
        if self.grid.channels % (vectors * lanes):
            channels = [arith.minui(channel, emit.integer(self.grid.channels - lanes)) for channel in channels]
        tile = _Tile(self.epilogue, others, position, channels)
        for number, total in enumerate(sums):
            if lanes < LANES:
                total = vector.extract_strided_slice(  # noqa: PLW2901
                    emit.vector_type(INT32, lanes), total, [0], [lanes], [1]
                )
            place, group = divmod(number, vectors)
            tile.finish(total, *divmod(place, columns), group, lanes)


def tile_for(grid: Grid) -> tuple[int, int, int]:
    """Rows, columns and vectors of channels of a tile: the fewest cycles with all sums in registers.

    A step is one op a sum, two of which start in a cycle and take five; and a load for every place and vector.
    """
    _, rows, columns = grid.sizes
    total = -(-grid.channels // LANES)

    def cycles(tile: tuple[int, int, int]) -> float:
        sums = tile[0] * tile[1] * tile[2]
        loads = tile[0] * tile[1] + tile[2]
        tiles = -(-rows // tile[0]) * -(-columns // tile[1]) * -(-total // tile[2])
        return tiles * (max(sums / 2, loads / 2, 5) + 0.5)

    candidates = [
        (r, c, v)
        for v in range(1, min(total, 12) + 1)
        for r in range(1, min(rows, 4) + 1)
        for c in range(1, min(columns, 28) + 1)
        if r * c * v + v + 1 <= 31
    ]
    return min(candidates, key=lambda tile: (cycles(tile), -tile[2]))


# ---- windows


@dataclass(frozen=True)
class Stencil:
    """Depthwise convolution, or the maximum, minimum or sum of windows; channels are the vectorized dimension.

    Attributes:
      combine: "multiply_add" with constant signed bytes, in 32 bits; or "maximum", "minimum", "add" of elements.
      window: rows, columns.
      window_strides: bytes from one row and column of the window to the next.
      operand: dtype; a biased operand of a product is read as unsigned.
      flips: the operand of a reduction is biased.
      tile: columns computed at once.
    """

    combine: str
    grid: Grid
    window: tuple[int, int]
    window_strides: tuple[int, int]
    operand: np.dtype[Any]
    flips: bool
    tile: int
    epilogue: Epilogue

    @property
    def operands(self) -> int:
        return len(self.epilogue.inputs) + (4 if self.combine == "multiply_add" else 2)

    @property
    def lanes(self) -> int:
        """Two registers of sums, or one of elements."""
        widest = 2 * LANES if self.combine == "multiply_add" else BYTE_LANES // self.operand.itemsize
        return min(self.grid.channels, widest)

    @property
    def _tiles(self) -> tuple[int, int, int, int]:
        batch, rows, columns = self.grid.sizes
        return batch, rows, -(-columns // self.tile), -(-self.grid.channels // self.lanes)

    @property
    def units(self) -> int:
        return math.prod(self._tiles[:-1])

    def emit(self, pointers: Sequence[ir.Value], begin: ir.Value, end: ir.Value) -> None:
        has_weights = self.combine == "multiply_add"
        operand, others = pointers[0], pointers[3 if has_weights else 1 :]

        def unit(index: ir.Value, _carried: list[ir.Value]) -> list[ir.Value]:
            batch, row, column = emit.split(index, self._tiles[:-1])
            column = emit.tile_start(column, self.tile, self.grid.sizes[2])
            position = [batch, row, column]
            source = emit.at(operand, emit.scaled(list(zip(position, self.grid.strides, strict=True))))

            def channel_block(block: ir.Value, _carried: list[ir.Value]) -> list[ir.Value]:
                channel = emit.tile_start(block, self.lanes, self.grid.channels)
                here = emit.at(source, emit.scaled([(channel, self.operand.itemsize)]))
                parameters = []
                if has_weights:
                    parameters = [emit.at(pointers[1], channel), emit.at(pointers[2], emit.scaled([(channel, 4)]))]
                results = self._combine(here, parameters)
                tile = _Tile(self.epilogue, others, position, [channel])
                for number, result in enumerate(results):
                    tile.finish(result, 0, number, 0, self.lanes)
                return []

            emit.loop(emit.integer(0), emit.integer(self._tiles[-1]), channel_block)
            return []

        emit.loop(begin, end, unit)

    def _combine(self, source: ir.Value, parameters: list[ir.Value]) -> list[ir.Value]:
        kind = emit.vector_type(self.operand, self.lanes)
        results: list[ir.Value] = []
        if parameters:
            results = [emit.load(emit.vector_type(INT32, self.lanes), parameters[1])] * self.tile
        loaded: dict[int, ir.Value] = {}
        for number in range(math.prod(self.window)):
            row, column = divmod(number, self.window[1])
            factor = self._factor(parameters, number)
            for place in range(self.tile):
                offset = row * self.window_strides[0] + column * self.window_strides[1] + place * self.grid.strides[2]
                if offset not in loaded:
                    element = emit.load(kind, emit.at(source, offset))
                    loaded[offset] = self._widened(element) if parameters else self._flipped(element)
                value = loaded[offset]
                if parameters:
                    results[place] = arith.addi(results[place], arith.muli(value, factor))
                elif number == 0:
                    results.append(value)
                else:
                    results[place] = self._joined(results[place], value)
        return results

    def _factor(self, parameters: list[ir.Value], number: int) -> ir.Value | None:
        if not parameters:
            return None
        weights = emit.load(emit.vector_type(INT8, self.lanes), emit.at(parameters[0], number * self.grid.channels))
        return arith.extsi(emit.vector_type(INT32, self.lanes), weights)

    def _widened(self, element: ir.Value) -> ir.Value:
        extend = arith.extsi if self.operand.kind == "i" else arith.extui
        return extend(emit.vector_type(INT32, self.lanes), element)

    def _flipped(self, element: ir.Value) -> ir.Value:
        return arith.xori(element, emit.splat(-128, INT8, self.lanes)) if self.flips else element

    def _joined(self, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        signed = self.operand.kind == "i"
        join = {
            "maximum": arith.maxsi if signed else arith.maxui,
            "minimum": arith.minsi if signed else arith.minui,
            "add": arith.addi,
        }[self.combine]
        return join(lhs, rhs)
