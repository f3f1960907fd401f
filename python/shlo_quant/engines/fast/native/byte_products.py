"""Sums of products of bytes and constant signed bytes in 32 bits: the heart of convolutions and dots.

Sums of 32 bits wrap as StableHLO's do, whatever the order of the terms, so that no bound on the operands is needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from torch_mlir import ir
from torch_mlir.dialects import arith, llvm, vector

from shlo_quant.engines.fast.native import emitter as emit
from shlo_quant.engines.fast.native.epilogue import Epilogue, Grid, Results, parts_of_block
from shlo_quant.engines.fast.native.kernels import INT8, INT32, LANES

TILE_ROWS = 16
"""Rows of a tile register; each holds 64 bytes."""

TILE_BYTES = 64


@dataclass(frozen=True)
class Run:
    """A loop over kernel positions: how often, and how many bytes further the operand is read each time."""

    count: int
    stride: int


@dataclass(frozen=True)
class ByteProduct:
    """What the kernels for byte products share.

    Attributes:
      runs: loops around `steps` groups of neighbouring bytes, 4 or 64 of them.
      tile: rows, columns, vectors of 16 channels computed at once.
    """

    grid: Grid
    runs: tuple[Run, ...]
    steps: int
    tile: tuple[int, int, int]
    epilogue: Epilogue

    @property
    def block_count(self) -> int:
        """Blocks of channels."""
        return -(-self.grid.channels // (LANES * self.tile[2]))

    @property
    def tiles(self) -> tuple[int, int, int, int]:
        """Blocks, batches, tiles of rows, tiles of columns."""
        batch, rows, columns = self.grid.sizes
        return self.block_count, batch, -(-rows // self.tile[0]), -(-columns // self.tile[1])

    @property
    def units(self) -> int:
        return math.prod(self.tiles)

    def _block_bytes(self, step_bytes: int) -> int:
        return math.prod(r.count for r in self.runs) * self.steps * step_bytes

    def _place(self, index: ir.Value) -> tuple[ir.Value, list[ir.Value]]:
        """The block of a unit of work, and the batch, row and column at which its tile begins."""
        block, batch, row, column = emit.split(index, self.tiles)
        row = emit.tile_start(row, self.tile[0], self.grid.sizes[1])
        return block, [batch, row, emit.tile_start(column, self.tile[1], self.grid.sizes[2])]

    def _results(self, memory: ir.Value, block: ir.Value) -> Results:
        rows, columns, vectors = self.tile
        parts = parts_of_block(block, vectors, self.grid.channels)
        return Results(memory, INT32, (rows, columns), vectors * LANES, parts)

    def _reserve(self) -> ir.Value:
        rows, columns, vectors = self.tile
        return Results.reserve(INT32, (rows, columns), vectors * LANES)

    def _offset(self, row: int, column: int) -> int:
        """Bytes from the operand of a tile's first result to that of another."""
        return row * self.grid.strides[1] + column * self.grid.strides[2]


Step = Callable[[ir.Value, ir.Value, list[ir.Value]], list[ir.Value]]


def _loops(
    runs: Sequence[Run],
    steps: tuple[int, int, int],
    step: Step,
    operand: ir.Value,
    weights: ir.Value,
    sums: list[ir.Value],
) -> list[ir.Value]:
    """Visit all groups of neighbouring bytes.

    Args:
      steps: how many there are in a run, and how many bytes of operand and weights each takes.
    """
    count, operand_bytes, weight_bytes = steps
    inner = count * math.prod(run.count for run in runs[1:]) if runs else 1

    def body(index: ir.Value, carried: list[ir.Value]) -> list[ir.Value]:
        here = emit.at(operand, emit.scaled([(index, runs[0].stride if runs else operand_bytes)]))
        factors = emit.at(weights, emit.scaled([(index, inner * weight_bytes)]))
        return _loops(runs[1:], steps, step, here, factors, carried) if runs else step(here, factors, carried)

    return emit.loop(emit.integer(0), emit.integer(runs[0].count if runs else count), body, sums)


@dataclass(frozen=True)
class VectorProduct(ByteProduct):
    """With AVX-512 VNNI, which multiplies unsigned by signed bytes, four at a time.

    Sums start at a constant of each channel, which takes back what a biased operand adds.

    Attributes:
      is_signed: the operand is stored as it is, and biased when it is read.
    """

    is_signed: bool

    @property
    def operands(self) -> int:
        """Operand, packed weights, starts, the epilogue's inputs, result."""
        return len(self.epilogue.inputs) + 4

    def emit(self, pointers: Sequence[ir.Value], begin: ir.Value, end: ir.Value) -> None:
        operand, weights, starts, *others = pointers
        rows, columns, vectors = self.tile
        memory, step_bytes = self._reserve(), vectors * 4 * LANES

        def unit(index: ir.Value, _carried: list[ir.Value]) -> list[ir.Value]:
            block, position = self._place(index)
            packed = emit.at(weights, emit.scaled([(block, self._block_bytes(step_bytes))]))
            start = emit.at(starts, emit.scaled([(block, step_bytes)]))
            kind = emit.vector_type(INT32, LANES)
            first = [emit.load(kind, emit.at(start, 4 * LANES * n)) for n in range(vectors)] * (rows * columns)
            source = self.grid.source(operand, position)
            sums = _loops(self.runs, (self.steps, 4, step_bytes), self._step, source, packed, first)
            results = self._results(memory, block)
            for number, total in enumerate(sums):
                place, group = divmod(number, vectors)
                results.store(place, group * LANES, total)
            self.epilogue.emit(others, results, position)
            return []

        emit.loop(begin, end, unit)

    def _step(self, source: ir.Value, packed: ir.Value, sums: list[ir.Value]) -> list[ir.Value]:
        """Add four products to every sum."""
        rows, columns, vectors = self.tile
        word, words = emit.element_type(INT32), emit.vector_type(INT32, LANES)
        bytes_type = emit.vector_type(INT8, 4 * LANES)
        factors = [emit.load(bytes_type, emit.at(packed, 4 * LANES * n)) for n in range(vectors)]
        result = []
        for place in range(rows * columns):
            four = emit.load(word, emit.at(source, self._offset(*divmod(place, columns))))
            operand = vector.bitcast(bytes_type, emit.broadcast(four, LANES))
            if self.is_signed:
                operand = arith.xori(operand, emit.splat(-128, INT8, 4 * LANES))
            for n in range(vectors):
                total = sums[place * vectors + n]
                result.append(emit.intrinsic("llvm.x86.avx512.vpdpbusd.512", words, [total, operand, factors[n]]))
        return result


@dataclass(frozen=True)
class TileProduct(ByteProduct):
    """With AMX: tiles of up to 16 places times tiles of 16 channels, 64 bytes at a time.

    Attributes:
      is_signed: whether the operand's bytes are.
      places: of one tile register, along a row; `tile` has one or two of these, in a row or below each other.
    """

    is_signed: bool
    places: int

    @property
    def operands(self) -> int:
        """Operand, packed weights, the epilogue's inputs, result."""
        return len(self.epilogue.inputs) + 3

    def emit(self, pointers: Sequence[ir.Value], begin: ir.Value, end: ir.Value) -> None:
        operand, weights, *others = pointers
        rows, columns, vectors = self.tile
        memory, step_bytes = self._reserve(), vectors * TILE_ROWS * TILE_BYTES
        starts = [(r, c) for r in range(rows) for c in range(0, columns, self.places)]
        sums = [(i, v, i * vectors + v) for i in range(len(starts)) for v in range(vectors)]
        _configure(self.places)

        def unit(index: ir.Value, _carried: list[ir.Value]) -> list[ir.Value]:
            block, position = self._place(index)
            packed = emit.at(weights, emit.scaled([(block, self._block_bytes(step_bytes))]))
            source = self.grid.source(operand, position)
            for _, _, register in sums:
                _tile("tilezero", register)
            step = partial(self._step, starts, sums)
            _loops(self.runs, (self.steps, TILE_BYTES, step_bytes), step, source, packed, [])
            results = self._results(memory, block)
            for i, v, register in sums:
                row, column = starts[i]
                place = row * columns + column
                target = emit.at(memory, 4 * (place * results.depth + v * LANES))
                _tile("tilestored64", register, target, emit.integer(4 * results.depth))
            self.epilogue.emit(others, results, position)
            return []

        emit.loop(begin, end, unit)
        emit.intrinsic("llvm.x86.tilerelease", None, [])

    def _step(
        self,
        starts: Sequence[tuple[int, int]],
        sums: Sequence[tuple[int, int, int]],
        source: ir.Value,
        packed: ir.Value,
        _carried: list[ir.Value],
    ) -> list[ir.Value]:
        """Add 64 products to every sum."""
        for i, start in enumerate(starts):
            pointer = emit.at(source, self._offset(*start))
            _tile("tileloadd64", OPERAND_TILES + i, pointer, emit.integer(self.grid.strides[2]))
        for v in range(self.tile[2]):
            pointer = emit.at(packed, v * TILE_ROWS * TILE_BYTES)
            _tile("tileloadd64", WEIGHT_TILES + v, pointer, emit.integer(TILE_BYTES))
        for i, v, register in sums:
            _tile("tdpbssd" if self.is_signed else "tdpbusd", register, OPERAND_TILES + i, WEIGHT_TILES + v)
        return []


OPERAND_TILES, WEIGHT_TILES = 4, 6
"""The first of two tile registers for the operand and for weights; sums take those before."""


def _configure(places: int) -> None:
    """Set the sizes of all tile registers: `places` rows but for the weights, 64 bytes."""
    rows = [places] * WEIGHT_TILES + [TILE_ROWS] * 2
    content = (
        bytes([1, *[0] * 15]) + b"".join(bytes([TILE_BYTES, 0]) for _ in rows) + bytes(16) + bytes(rows) + bytes(8)
    )
    byte = emit.element_type(INT8)
    memory = llvm.alloca(emit.pointer_type(), emit.integer(len(content)), byte, alignment=64)
    for position, value in enumerate(content):
        emit.store(arith.constant(byte, value if value < 128 else value - 256), emit.at(memory, position))
    emit.intrinsic("llvm.x86.ldtilecfg", None, [memory])


def _tile(name: str, *operands: ir.Value | int) -> None:
    """A tile instruction; numbers are registers."""
    byte = emit.element_type(INT8)
    values = [arith.constant(byte, o) if isinstance(o, int) else o for o in operands]
    emit.intrinsic(f"llvm.x86.{name}", None, values)


def vector_tile(grid: Grid) -> tuple[int, int, int]:
    """The tile of a `VectorProduct`: the fewest cycles with all sums in registers.

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


def register_tile(grid: Grid) -> tuple[tuple[int, int, int], int]:
    """The tile of a `TileProduct` and its places: the fewest cycles.

    A step is a product for every pair of operand and weights, and the loads of both, half as long.
    """
    _, rows, columns = grid.sizes
    total = -(-grid.channels // LANES)
    candidates = []
    for places in range(1, min(columns, TILE_ROWS) + 1):
        for r, c in ((1, 1), (1, 2), (2, 1)):
            for vectors in range(1, min(total, 2) + 1):
                if r <= rows and c * places <= columns:
                    tiles = -(-rows // r) * -(-columns // (c * places)) * -(-total // vectors)
                    cycles = tiles * (r * c * vectors * TILE_ROWS + (r * c * places + vectors * TILE_ROWS) / 2)
                    candidates.append((cycles, -places, (r, c * places, vectors)))
    _, places, tile = min(candidates)
    return tile, -places
