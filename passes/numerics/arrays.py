"""`ArrayOperations`: the operations of formulas on numpy arrays. Integers are int64 whatever width they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shlo_quant.passes.numerics.floats import FloatFormat

Array = np.ndarray[Any, np.dtype[Any]]


class ArrayOperations:
    """See `operations.Operations`.

    Args:
      float_format: the float type of the arithmetic.
      rank: the rank of the arrays.
    """

    def __init__(self, float_format: FloatFormat, rank: int) -> None:
        self._format = float_format
        self._rank = rank

    @property
    def format(self) -> FloatFormat:
        return self._format

    def floats(self, values: Sequence[float], dimension: int | None) -> Array:
        return self._along(self.format.rounded(values), dimension)

    def integers(self, values: Sequence[int], dimension: int | None, bits: int) -> Array:
        assert all(-(1 << (bits - 1)) <= value < 1 << (bits - 1) for value in values), f"integers must fit {bits} bits"
        return self._along(np.array(values, np.int64), dimension)

    @np.errstate(all="ignore")
    def add(self, lhs: Array, rhs: Array) -> Array:
        return np.asarray(lhs + rhs)

    @np.errstate(all="ignore")
    def subtract(self, lhs: Array, rhs: Array) -> Array:
        return np.asarray(lhs - rhs)

    @np.errstate(all="ignore")
    def multiply(self, lhs: Array, rhs: Array) -> Array:
        return np.asarray(lhs * rhs)

    @np.errstate(all="ignore")
    def divide(self, lhs: Array, rhs: Array) -> Array:
        return np.asarray(lhs / rhs)

    def round_nearest_even(self, value: Array) -> Array:
        return np.asarray(np.rint(value))

    def clamp(self, lowest: int, value: Array, highest: int) -> Array:
        if value.dtype.kind == "i":
            return np.clip(value, lowest, highest)
        low, high = self.format.rounded([lowest, highest])
        return np.asarray(np.minimum(np.maximum(value, low), high))

    def at_most(self, value: Array, highest: int) -> Array:
        return np.where(value < highest, value, self.format.rounded([highest])[0])

    def shift_right(self, value: Array, bits: int) -> Array:
        return np.asarray(value >> bits)

    @np.errstate(all="ignore")
    def to_float(self, value: Array) -> Array:
        return value.astype(self.format.dtype)

    def to_integer(self, value: Array, bits: int, is_signed: bool) -> Array:
        lowest, highest = (-(1 << (bits - 1)), (1 << (bits - 1)) - 1) if is_signed else (0, (1 << bits) - 1)
        if value.dtype.kind == "i":
            assert not value.size or (lowest <= value.min() and value.max() <= highest), "integers must fit"
            return value
        # Not before float64: float32 cannot hold every bound. Below 2**53 in magnitude, this is exact.
        wide = np.nan_to_num(value.astype(np.float64), nan=0.0)
        below, above = wide <= float(lowest), wide >= float(highest)
        inside = np.where(below | above, 0.0, wide).astype(np.int64)
        return np.where(below, lowest, np.where(above, highest, inside))

    def _along(self, values: Array, dimension: int | None) -> Array:
        shape = [1] * self._rank
        if dimension is not None:
            shape[dimension] = len(values)
        return values.reshape(shape)
