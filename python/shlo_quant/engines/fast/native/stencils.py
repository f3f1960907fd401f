"""Depthwise convolutions and reductions of windows, with channels along vectors."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith

from shlo_quant.engines.fast.native import emitter as emit
from shlo_quant.engines.fast.native.emitter import BYTE_LANES
from shlo_quant.engines.fast.native.epilogue import Epilogue, Grid, Part, Results
from shlo_quant.engines.fast.native.kernels import INT8, INT32, LANES


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
        dtype, places = INT32 if has_weights else self.operand, (1, self.tile)
        memory = Results.reserve(dtype, places, self.lanes)

        def unit(index: ir.Value, _carried: list[ir.Value]) -> list[ir.Value]:
            batch, row, column = emit.split(index, self._tiles[:-1])
            column = emit.tile_start(column, self.tile, self.grid.sizes[2])
            position = [batch, row, column]
            source = self.grid.source(operand, position)

            def channel_block(block: ir.Value, _carried: list[ir.Value]) -> list[ir.Value]:
                channel = emit.tile_start(block, self.lanes, self.grid.channels)
                here = emit.at(source, emit.scaled([(channel, self.operand.itemsize)]))
                parameters = []
                if has_weights:
                    parameters = [emit.at(pointers[1], channel), emit.at(pointers[2], emit.scaled([(channel, 4)]))]
                results = Results(memory, dtype, places, self.lanes, (Part(channel, 0, self.lanes),))
                for number, result in enumerate(self._combine(here, parameters)):
                    results.store(number, 0, result)
                self.epilogue.emit(others, results, position)
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
