"""What values a tensor can hold, from the types and constants they come from.

A range lets a kernel take the cheap form of an op where the two cannot differ: no NaN to propagate, no conversion
that saturates.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from shlo_quant.passes.dialects.constants import Array


@dataclass(frozen=True)
class Range:
    """Every value is NaN or from `low` to `high`.

    Attributes:
      has_nan: whether NaN is possible.
      least: no value but 0 is smaller than this in magnitude.
    """

    low: float
    high: float
    has_nan: bool = False
    least: float = 0.0

    @staticmethod
    def of_type(dtype: np.dtype[Any]) -> Range:
        """All values of a type."""
        if dtype.kind == "b":
            return Range(0, 1)
        if dtype.kind == "f":
            return Range(-math.inf, math.inf, True)
        return Range(int(np.iinfo(dtype).min), int(np.iinfo(dtype).max), least=1)

    @staticmethod
    def of_array(values: Array) -> Range:
        """The values of a constant."""
        if values.size == 0 or (values.dtype.kind == "f" and bool(np.isnan(values).any())):
            return Range.of_type(values.dtype)
        magnitudes = np.abs(values[values != 0].astype(np.float64))
        return Range(values.min().item(), values.max().item(), least=float(magnitudes.min(initial=math.inf)))

    @property
    def is_finite(self) -> bool:
        """Neither NaN nor infinite."""
        return not self.has_nan and math.isfinite(self.low) and math.isfinite(self.high)

    def within(self, other: Range) -> bool:
        """Whether all values are values of the other range."""
        return other.low <= self.low and self.high <= other.high and self.has_nan <= other.has_nan


Rule = Callable[..., Range]


def result_range(name: str, operands: list[Range], dtype: np.dtype[Any]) -> Range:
    """The range of an elementwise op's results.

    Args:
      name: of the op, without its dialect.
      dtype: of the results. Integers that wrap and floats that may overflow give the range of the type.
    """
    whole = Range.of_type(dtype)
    rule = RULES.get(name)
    if rule is None or not all(o.is_finite or name in SELECTING for o in operands):
        return whole
    found = rule(*operands)
    if dtype.kind == "f" and name in ROUNDED:  # rounding is monotone: it may move an end by one step
        with np.errstate(over="ignore"):
            steps = np.array([found.low, found.high], np.float64).astype(dtype)
        ends = float(np.nextafter(steps[0], -np.inf)), float(np.nextafter(steps[1], np.inf))
        found = Range(*ends, found.has_nan, found.least / 2)
        return found if found.is_finite else whole
    return found if found.within(whole) else whole


def _clamp(low: Range, operand: Range, high: Range) -> Range:
    has_nan = low.has_nan or operand.has_nan or high.has_nan
    ends = min(max(operand.low, low.low), high.low), min(max(operand.high, low.high), high.high)
    return Range(*ends, has_nan, min(low.least, operand.least, high.least))


def _sum(low: float, high: float, lhs: Range, rhs: Range) -> Range:
    """Sums of floats are multiples of the last place of the smaller term."""
    return Range(low, high, least=min(lhs.least, rhs.least) * 2.0**-54)


def _product(lhs: Range, rhs: Range) -> Range:
    corners = [x * y for x in (lhs.low, lhs.high) for y in (rhs.low, rhs.high)]
    return Range(min(corners), max(corners), least=lhs.least * rhs.least)


def _quotient(lhs: Range, rhs: Range) -> Range:
    if rhs.low <= 0 <= rhs.high:
        return Range(-math.inf, math.inf, True)
    corners = [x / y for x in (lhs.low, lhs.high) for y in (rhs.low, rhs.high)]
    return Range(min(corners), max(corners), least=lhs.least / max(abs(rhs.low), abs(rhs.high)))


def _between(low: float, high: float, lhs: Range, rhs: Range) -> Range:
    return Range(low, high, lhs.has_nan or rhs.has_nan, min(lhs.least, rhs.least))


def _union(*ranges: Range) -> Range:
    ends = min(r.low for r in ranges), max(r.high for r in ranges)
    return Range(*ends, any(r.has_nan for r in ranges), min(r.least for r in ranges))


SELECTING = ("clamp", "maximum", "minimum", "select")
"""Ops whose results are among their operands, to which infinities do no harm."""

ROUNDED = ("add", "convert", "divide", "multiply", "subtract")
"""Ops whose float results are rounded."""

RULES: Mapping[str, Rule] = {
    "add": lambda lhs, rhs: _sum(lhs.low + rhs.low, lhs.high + rhs.high, lhs, rhs),
    "clamp": _clamp,
    "convert": lambda operand: operand,
    "divide": _quotient,
    "maximum": lambda lhs, rhs: _between(max(lhs.low, rhs.low), max(lhs.high, rhs.high), lhs, rhs),
    "minimum": lambda lhs, rhs: _between(min(lhs.low, rhs.low), min(lhs.high, rhs.high), lhs, rhs),
    "multiply": _product,
    "negate": lambda operand: Range(-operand.high, -operand.low, least=operand.least),
    "round_nearest_even": lambda operand: Range(round(operand.low), round(operand.high), least=1),
    "select": lambda _pred, on_true, on_false: _union(on_true, on_false),
    "subtract": lambda lhs, rhs: _sum(lhs.low - rhs.high, lhs.high - rhs.low, lhs, rhs),
}
