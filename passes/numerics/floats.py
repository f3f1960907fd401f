"""`FloatFormat`: what a formula has to know of the float type it is computed in."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np

from shlo_quant.passes.errors import ParameterError


@dataclass(frozen=True)
class FloatFormat:
    """An IEEE-like binary float type.

    Attributes:
      dtype: the numpy (or ml_dtypes) type.
      precision: bits of the significand, the implicit one included.
      exponent_bits: bits of the exponent field.
    """

    dtype: np.dtype[Any]
    precision: int
    exponent_bits: int

    @property
    def largest(self) -> float:
        """The largest finite value."""
        largest_exponent = (1 << (self.exponent_bits - 1)) - 1
        return math.ldexp((1 << self.precision) - 1, largest_exponent + 1 - self.precision)

    @property
    def smallest_normal(self) -> float:
        """The smallest positive value of full precision."""
        return math.ldexp(1.0, 2 - (1 << (self.exponent_bits - 1)))

    def rounded(self, values: Sequence[float]) -> np.ndarray[Any, np.dtype[Any]]:
        """The nearest values of this type (infinite beyond its range), an array of `dtype`."""
        with np.errstate(over="ignore"):
            return np.asarray(values, np.float64).astype(self.dtype)

    def holds(self, integer: int) -> bool:
        """Whether an integer is a value of this type."""
        return int(abs(integer)) <= self.largest and float(self.rounded([integer])[0]) == integer


F16 = FloatFormat(np.dtype(np.float16), precision=11, exponent_bits=5)
BF16 = FloatFormat(np.dtype(ml_dtypes.bfloat16), precision=8, exponent_bits=8)
F32 = FloatFormat(np.dtype(np.float32), precision=24, exponent_bits=8)
F64 = FloatFormat(np.dtype(np.float64), precision=53, exponent_bits=11)


def float_format(dtype: np.dtype[Any]) -> FloatFormat:
    """The format of a numpy or ml_dtypes type. Raises: ParameterError if it is none of the four."""
    for known in (F32, F16, BF16, F64):
        if known.dtype == dtype:
            return known
    raise ParameterError(f"floats must be float16, bfloat16, float32 or float64, got {dtype}")
