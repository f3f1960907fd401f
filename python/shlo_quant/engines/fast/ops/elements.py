"""`ElementType`: the elements of a tensor as arrays hold them, and what arithmetic has to do to stay within the type.

Integers below 8 bits take a byte each; i1 is bool. Floats other than f16, f32 and f64 have the dtypes of `ml_dtypes`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
from torch_mlir import ir

from shlo_quant.passes.dialects.constants import Array, numpy_dtype
from shlo_quant.passes.errors import Unsupported

STICKY_BITS = 11
"""Bits of a 64-bit integer beyond the 53 that f64 holds."""

Function = Callable[..., Array]
"""Of arrays that broadcast."""
ByElement = Callable[["ElementType"], Function]


@dataclass(frozen=True)
class ElementType:
    """An element type.

    Attributes:
      dtype: of arrays.
      bits: of one element.
    """

    dtype: np.dtype[Any]
    bits: int

    @staticmethod
    def of(value: ir.Value) -> ElementType:
        """The element type of a tensor. Raises: Unsupported for complex numbers and what numpy has no type for."""
        element = value.type.element_type
        try:
            return ElementType(numpy_dtype(value), element.width)
        except (TypeError, AttributeError):
            raise Unsupported(f"no arrays of element type {element}") from None

    @property
    def is_bool(self) -> bool:
        return self.dtype.kind == "b"

    @property
    def is_integer(self) -> bool:
        """Integer and not i1."""
        return self.dtype.kind in "iu"

    @property
    def is_signed(self) -> bool:
        """Of an integer type."""
        return self.dtype.kind == "i"

    @property
    def is_float(self) -> bool:
        return not self.is_bool and not self.is_integer

    @property
    def mantissa_bits(self) -> int:
        """Of a float type, the implicit one left out."""
        return int(ml_dtypes.finfo(self.dtype).nmant)  # type: ignore[no-untyped-call]

    @property
    def bits_dtype(self) -> np.dtype[Any]:
        """Of unsigned integers that hold the bits of one element."""
        return np.dtype(f"uint{max(self.bits, 8)}")

    # ---- integers

    def wrapped(self, values: Array) -> Array:
        """Integers modulo 2^bits, in the type's range."""
        narrow = np.asarray(values).astype(self.dtype, copy=False)
        if self.bits >= 8:
            return narrow
        sign = self.dtype.type(1 << (self.bits - 1) if self.is_signed else 0)
        mask = self.dtype.type((1 << self.bits) - 1)
        return np.asarray(((narrow & mask) ^ sign) - sign)

    def wrapping(self, function: Function) -> Function:
        """A function of the dtype, made one of the type: integers below 8 bits have to wrap by themselves."""
        if self.is_integer and self.bits < 8:
            return lambda *operands: self.wrapped(function(*operands))
        return function

    def saturated(self, values: Array) -> Array:
        """Floats (f64) toward zero, then to the nearest integer of the type; NaN becomes 0."""
        magnitude_bits = self.bits - self.is_signed
        lowest, highest = -(1 << magnitude_bits) if self.is_signed else 0, (1 << magnitude_bits) - 1
        below, above = values < float(lowest), values >= float(1 << magnitude_bits)
        inside = np.where(below | above | np.isnan(values), 0.0, values).astype(self.dtype)
        return np.where(below, self.dtype.type(lowest), np.where(above, self.dtype.type(highest), inside))

    # ---- bits

    def to_bits(self, values: Array) -> Array:
        """The bits of each element as an unsigned integer."""
        if self.is_bool:
            return values.astype(self.bits_dtype)
        unsigned = np.asarray(values, order="C").view(self.bits_dtype)
        return unsigned if self.bits >= 8 else np.asarray(unsigned & self.bits_dtype.type((1 << self.bits) - 1))

    def from_bits(self, bits: Array) -> Array:
        """The inverse of `to_bits`."""
        if self.is_bool:
            return np.asarray(bits != 0)
        if self.is_integer:
            return self.wrapped(bits)
        return np.asarray(bits.astype(self.bits_dtype, order="C", copy=False).view(self.dtype))

    # ---- floats

    def through_f32(self, function: Function) -> Function:
        """A function whose results are values of the operands' type, for the types of `ml_dtypes` too."""
        if self.dtype.kind == "f":
            return function
        return lambda *operands: np.asarray(function(*(o.astype(np.float32) for o in operands))).astype(self.dtype)

    def rounded(self, values: Array) -> Array:
        """Floats of any type, or integers, as the nearest floats of this type, halves to even."""
        if (
            self.dtype.kind == "f" or values.dtype.itemsize <= 2
        ):  # numpy rounds once; anything this small is exact in f32
            return values.astype(self.dtype)
        if values.dtype.kind in "iu":
            values = _integers_to_odd(values)
        return _to_odd(values).astype(self.dtype)  # ml_dtypes goes through f32


def _to_odd(values: Array) -> Array:
    """f64 to f32, of which the inexact get an odd last bit: rounding that once more rounds only once."""
    if values.dtype != np.float64:
        return values.astype(np.float32)
    nearest = values.astype(np.float32)
    back = nearest.astype(np.float64)
    bits = nearest.view(np.uint32) - (np.abs(back) > np.abs(values)).astype(np.uint32)
    return np.asarray(np.where(back == values, nearest.view(np.uint32), bits | 1).view(np.float32))


def _integers_to_odd(values: Array) -> Array:
    """Integers to f64, of which the inexact get an odd last bit."""
    if values.dtype.itemsize < 8:
        return values.astype(np.float64)
    coarse = values >> STICKY_BITS
    odd = (coarse | (values & ((1 << STICKY_BITS) - 1) != 0)).astype(np.float64) * (1 << STICKY_BITS)
    is_wide = (coarse >> (53 - STICKY_BITS)) + (0 if values.dtype.kind == "u" else (coarse < 0)) != 0
    return np.asarray(np.where(is_wide, odd, values.astype(np.float64)))
