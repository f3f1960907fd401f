"""Which ops run natively, in which groups, and what their operands have to look like."""

from __future__ import annotations

import math
from dataclasses import dataclass

from torch_mlir import ir

from shlo_quant.engines.fast.blocks import LoweredBlock
from shlo_quant.engines.fast.native import products
from shlo_quant.engines.fast.native.expressions import NATIVE_DTYPES, is_native
from shlo_quant.engines.fast.native.groups import find_groups, give_sources
from shlo_quant.engines.fast.native.products import Windowed
from shlo_quant.passes.dialects.constants import numpy_dtype
from shlo_quant.passes.dialects.stablehlo import int_list
from shlo_quant.passes.rewrite import users

SMALLEST = 64
"""Elements below which an op is not worth native code."""

MOVES = frozenset(f"stablehlo.{name}" for name in "broadcast_in_dim pad reshape slice transpose".split())


@dataclass(frozen=True)
class Border:
    """What surrounds a value where it is padded.

    Attributes:
      owner: the pad, or the op that pads its operand itself.
    """

    owner: ir.Operation
    low: tuple[int, ...]
    high: tuple[int, ...]
    value: int | float


class Choices:
    """What native code takes of a block.

    Attributes:
      moves: ops that only move elements, which cost nothing or a copy where their operand is a view.
      windowed: convolutions, dots and reductions of few elements.
      folds: other reductions, and how they combine elements.
      groups: of elementwise ops, by the op at their end.
      taken: the ops that are computed within a group.
    """

    def __init__(self, block: LoweredBlock) -> None:
        self._block = block
        ops = [node.op for node in block.nodes]
        self.moves = {op for op in ops if op.name in MOVES and self._is_native_move(op)}
        self.windowed = {op: found for op in ops if (found := self._windowed(op)) is not None}
        self.folds = {op: how for op in ops if op not in self.windowed and (how := self._fold(op)) is not None}
        is_constant = block.constants.__contains__
        elementwise = [op for op in ops if self._is_elementwise(op)]
        groups = give_sources(find_groups(elementwise, is_constant), self.windowed, is_constant)
        self.groups = {group.ops[-1]: group for group in groups}
        self.taken = {op for group in groups for op in group.ops} | {g.source for g in groups if g.source}

    def _is_elementwise(self, op: ir.Operation) -> bool:
        if len(op.results) != 1 or not is_native_type(op.results[0]) or not op.operands:
            return False
        if not all(is_native_type(o) for o in op.operands) or math.prod(op.results[0].type.shape) < SMALLEST:
            return False
        shapes = {tuple(o.type.shape) for o in op.operands} - {()}
        dtypes = [numpy_dtype(v) for v in (*op.operands, op.results[0])]
        if op.name == "stablehlo.shift_right_arithmetic" and not self._is_short_shift(op):
            return False
        return shapes == {tuple(op.results[0].type.shape)} and is_native(op, dtypes)

    def _is_short_shift(self, op: ir.Operation) -> bool:
        amount = self._block.constants.get(op.operands[1])
        return amount is not None and int(amount.min()) >= 0 and int(amount.max()) < 8 * amount.dtype.itemsize

    def _is_native_move(self, op: ir.Operation) -> bool:
        result = op.results[0]
        if not is_native_type(result) or math.prod(result.type.shape) < SMALLEST or 0 in op.operands[0].type.shape:
            return False
        return op.name != "stablehlo.pad" or self.border(op) is not None

    def _windowed(self, op: ir.Operation) -> Windowed | None:
        constant = self._block.constants.get(op.operands[1]) if len(op.operands) > 1 else None
        found = products.recognize(op, constant)
        return found if found is not None and found.multiply_adds >= SMALLEST else None

    def _fold(self, op: ir.Operation) -> str | None:
        if op.name != "stablehlo.reduce" or len(op.operands) != 2 or not is_native_type(op.operands[0]):
            return None
        is_empty = 0 in op.operands[0].type.shape
        if is_empty or math.prod(op.operands[0].type.shape) < SMALLEST or numpy_dtype(op.operands[0]).kind == "b":
            return None
        return products.combination(op)

    def border(self, op: ir.Operation) -> Border | None:
        """How an op pads its operand; None if it does not, or in a way that native code cannot."""
        if op.name == "stablehlo.pad":
            low, high, interior = (
                tuple(int_list(op, name) or ())
                for name in ("edge_padding_low", "edge_padding_high", "interior_padding")
            )
            value = self._block.constants.get(op.operands[1])
            if value is None or any(n < 0 for n in (*low, *high)) or any(interior):
                return None
            return Border(op, low, high, value.item())
        windowed = self.windowed.get(op)
        if windowed is None or not any(low or high for low, high in windowed.padding):
            return None
        low, high = (tuple(pair[side] for pair in windowed.padding) for side in (0, 1))
        return Border(op, low, high, windowed.pad_value)

    def pads(self, value: ir.Value) -> list[Border]:
        """The borders that native code wants around a value."""
        readers = [u for u in users(value) if (u in self.moves or u in self.windowed) and u.operands[0] == value]
        return [border for border in map(self.border, readers) if border is not None]

    def demanded_order(self, value: ir.Value) -> tuple[int, ...] | None:
        """The order of dimensions, from the outermost on, that a product or window needs a value in."""
        for user in users(value):
            windowed = self.windowed.get(user)
            if windowed is not None and user.operands[0] == value:
                return products.order(windowed.operand)
            if windowed is not None and windowed.factors is not None and user.operands[1] == value:
                return products.order(windowed.factors)
            if user.name == "stablehlo.pad" and user in self.moves:
                demanded = self.demanded_order(user.results[0])
                if demanded is not None:
                    return demanded
        return None

    def may_be_biased(self, value: ir.Value) -> bool:
        """Whether only native code reads a value."""
        if any(value == r for r in self._block.results):
            return False
        for user in users(value):
            if user in self.moves:
                if not self.may_be_biased(user.results[0]):
                    return False
            elif user not in self.taken and user not in self.windowed and user not in self.folds:
                return False
        return True

    def wants_bias(self, value: ir.Value) -> bool:
        """Whether a product of bytes reads a value."""
        return any(
            (user in self.windowed and self.windowed[user].wants_bias)
            or (user in self.moves and self.wants_bias(user.results[0]))
            for user in users(value)
        )


def is_native_type(value: ir.Value) -> bool:
    """Whether native code can hold a tensor: elements of whole bytes, or i1."""
    if not isinstance(value.type, ir.RankedTensorType):
        return False
    element = value.type.element_type
    if isinstance(element, ir.IntegerType):
        return element.width in (1, 8, 16, 32, 64)
    return isinstance(element, (ir.F32Type, ir.F64Type)) and numpy_dtype(value) in NATIVE_DTYPES
