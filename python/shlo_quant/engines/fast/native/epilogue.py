"""What follows a sum: an expression of each result of a product or window, before it is stored."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, llvm

from shlo_quant.engines.fast.native import emitter as emit
from shlo_quant.engines.fast.native.emitter import BYTE_LANES
from shlo_quant.engines.fast.native.expressions import Expression
from shlo_quant.engines.fast.native.kernels import LANES, Access


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

    def source(self, operand: ir.Value, position: Sequence[ir.Value]) -> ir.Value:
        """Where the operand of the result at a position begins."""
        return emit.at(operand, emit.scaled(list(zip(position, self.strides, strict=True))))


@dataclass(frozen=True)
class Epilogue:
    """An expression of each result.

    Attributes:
      expression: its input 0 is the result; the further ones are read from memory.
      inputs, output: with strides for batch, row, column, channel.
    """

    expression: Expression
    inputs: tuple[Access, ...]
    output: Access

    def emit(self, pointers: Sequence[ir.Value], results: Results, position: Sequence[ir.Value]) -> None:
        """Compute and store the results of a tile that begins at a position: batch, row, column."""
        accesses = [*self.inputs, self.output]
        rows, columns = results.places

        def place(index: ir.Value, _carried: list[ir.Value]) -> list[ir.Value]:
            row, column = emit.split(index, (rows, columns))
            batch, first_row, first_column = position
            here = [batch, arith.addi(first_row, row), arith.addi(first_column, column)]
            for part in results.parts:
                *sources, target = [
                    a.pointer(p, [*here, part.channel]) for a, p in zip(accesses, pointers, strict=True)
                ]
                values = [results.load(index, part)]
                values += [a.load(s, part.lanes) for a, s in zip(self.inputs, sources, strict=True)]
                self.output.store(self.expression.emit(values, part.lanes), target, part.lanes)
            return []

        emit.loop(emit.integer(0), emit.integer(rows * columns), place)


@dataclass(frozen=True)
class Part:
    """Neighbouring channels of a tile.

    Attributes:
      channel: the first.
      offset: elements before it at each place in the tile.
    """

    channel: ir.Value
    offset: int
    lanes: int


@dataclass(frozen=True)
class Results:
    """The results of a tile in memory: for each place, channels.

    Attributes:
      places: rows, columns.
      depth: elements at each place.
    """

    memory: ir.Value
    dtype: np.dtype[np.generic]
    places: tuple[int, int]
    depth: int
    parts: tuple[Part, ...]

    @staticmethod
    def reserve(dtype: np.dtype[np.generic], places: tuple[int, int], depth: int) -> ir.Value:
        """Memory for the results of tiles; to be called once, at the beginning of a function."""
        size = math.prod(places) * depth * dtype.itemsize
        return llvm.alloca(emit.pointer_type(), emit.integer(size), emit.element_type(np.dtype(np.int8)), alignment=64)

    def load(self, place: ir.Value, part: Part) -> ir.Value:
        """The results at a place."""
        size = self.dtype.itemsize
        offset = emit.scaled([(place, self.depth * size)])
        return emit.load(
            emit.vector_type(self.dtype, part.lanes), emit.at(emit.at(self.memory, offset), part.offset * size)
        )

    def store(self, place: int, offset: int, values: ir.Value) -> None:
        """Set results at a place, from an offset on."""
        emit.store(values, emit.at(self.memory, (place * self.depth + offset) * self.dtype.itemsize))


def parts_of_block(block: ir.Value, vectors: int, channels: int) -> tuple[Part, ...]:
    """The channels of a block of vectors of 16: up to 64 together if blocks do not overlap, else vector by vector.

    The last vectors move back until they fit; fewer than 16 channels are one shorter vector.
    """
    width = vectors * LANES
    if channels % width == 0:
        first = arith.muli(block, emit.integer(width))
        return tuple(
            Part(arith.addi(first, emit.integer(offset)), offset, min(BYTE_LANES, width - offset))
            for offset in range(0, width, BYTE_LANES)
        )
    lanes = min(channels, LANES)
    parts = []
    for number in range(vectors):
        index = arith.addi(arith.muli(block, emit.integer(vectors)), emit.integer(number))
        channel = arith.minui(arith.muli(index, emit.integer(lanes)), emit.integer(channels - lanes))
        parts.append(Part(channel, number * LANES, lanes))
    return tuple(parts)
