"""The operations that formulas are written in, so that one text serves numpy and emitted IR.

`Quantization` is what a formula knows of a quantized type; `dialects.quant.UniformType` is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from shlo_quant.passes.numerics.floats import FloatFormat

V = TypeVar("V")


class Quantization(Protocol):
    """The numbers of a quantized type; per-axis, one scale and zero point a slice of `quantized_dimension`."""

    @property
    def scales(self) -> tuple[float, ...]: ...
    @property
    def zero_points(self) -> tuple[int, ...]: ...
    @property
    def quantized_dimension(self) -> int | None: ...
    @property
    def storage_bits(self) -> int: ...
    @property
    def is_signed(self) -> bool: ...
    @property
    def storage_min(self) -> int: ...
    @property
    def storage_max(self) -> int: ...


@dataclass(frozen=True)
class Parameters:
    """A `Quantization` of its own, without an MLIR type: for arrays, and for accumulators (up to 64 bits)."""

    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    quantized_dimension: int | None
    storage_bits: int
    is_signed: bool
    storage_min: int
    storage_max: int


class Operations(Protocol[V]):
    """Elementwise operations on values `V` of one shape (arrays, or MLIR values), as the StableHLO spec defines them.

    Operands of one operation have one element type. Integers are two's complement and wrap; a formula clamps where
    that matters.
    """

    @property
    def format(self) -> FloatFormat:
        """The float type of the arithmetic."""

    def floats(self, values: Sequence[float], dimension: int | None) -> V:
        """A constant of the float type: one value, or one a slice of `dimension`; each is rounded to the float type."""

    def integers(self, values: Sequence[int], dimension: int | None, bits: int) -> V:
        """A constant of signed integers."""

    def add(self, lhs: V, rhs: V) -> V: ...
    def subtract(self, lhs: V, rhs: V) -> V: ...
    def multiply(self, lhs: V, rhs: V) -> V: ...
    def divide(self, lhs: V, rhs: V) -> V: ...
    def round_nearest_even(self, value: V) -> V: ...

    def clamp(self, lowest: int, value: V, highest: int) -> V:
        """Clamp; the bounds are rounded to the value's element type if that is a float. NaN stays."""

    def at_most(self, value: V, highest: int) -> V:
        """The smaller of a float and a bound that the float type holds; the bound if the float is NaN."""

    def shift_right(self, value: V, bits: int) -> V:
        """Integers shifted right, the sign kept: rounded down."""

    def to_float(self, value: V) -> V:
        """Integers to the float type, rounded to nearest even."""

    def to_integer(self, value: V, bits: int, is_signed: bool) -> V:
        """Convert to integers of a width. Integers must fit; floats are integral and saturate, NaN gives 0."""
