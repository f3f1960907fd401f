"""Arithmetic profiles: how a quantization is computed. A quantized program says what; its profile says how.

Every formula stands here (or, for `xnnpack`, in the file of that name) once, written in `Operations`, so the same text
computes arrays and emits IR.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import ClassVar, TypeAlias, TypeVar

import numpy as np

from shlo_quant.passes.numerics.floats import FloatFormat
from shlo_quant.passes.numerics.operations import Operations, Quantization, V

T = TypeVar("T")
Pair: TypeAlias = tuple[Quantization, Quantization]


class Profile(ABC):
    """A named arithmetic.

    Attributes:
      name: what users call it.
      source: the document that defines it.
    """

    name: ClassVar[str]
    source: ClassVar[str]

    @abstractmethod
    def quantize(self, operations: Operations[V], expressed: V, result: Quantization) -> V:
        """Floats to stored integers of `result`, in its storage width."""

    @abstractmethod
    def dequantize(self, operations: Operations[V], stored: V, operand: Quantization) -> V:
        """Stored integers of `operand` to floats."""

    @abstractmethod
    def requantize(self, operations: Operations[V], stored: V, operand: Quantization, result: Quantization) -> V:
        """Stored integers of `operand` (an accumulator, too) to stored integers of `result`."""

    def combine(
        self, name: str, operations: Operations[V], stored: tuple[V, V], operands: Pair, result: Quantization
    ) -> V | None:
        """Stored integers of `result` for the `add`, `subtract` or `multiply` (`name`) of two quantized values.

        Returns: None if this arithmetic computes it in floats.
        """
        return None

    def mean(
        self, operations: Operations[V], total: V, count: int, operand: Quantization, result: Quantization
    ) -> V | None:
        """Stored integers of `result` for the mean over both spatial dimensions of an image.

        Args:
          total: the sum of the `count` stored integers of `operand` themselves, zero points included.
        Returns: None if this arithmetic computes it in floats.
        """
        return None


class Spec(Profile):
    """The StableHLO specification: dequantize, operate, quantize, with one rounding and saturation.

    Arithmetic is that of the operations' float type, into which scales are rounded first.
    """

    name = "spec"
    source = "StableHLO specification, 'Quantization computations': quantize, dequantize"

    def quantize(self, operations: Operations[V], expressed: V, result: Quantization) -> V:
        """Return `convert(round_nearest_even(clamp(min, x / scale + zero_point, max)))`.

        NaN becomes 0, as the conversion makes it. A bound that the float type cannot hold (2147483647 in float32) is
        rounded, and may be rounded up, so the exact one is enforced on wider integers.
        """
        scaled = operations.divide(expressed, operations.floats(result.scales, result.quantized_dimension))
        if any(result.zero_points):
            scaled = operations.add(scaled, operations.floats(result.zero_points, result.quantized_dimension))
        lowest, highest = result.storage_min, result.storage_max
        rounded = operations.round_nearest_even(operations.clamp(lowest, scaled, highest))
        if not (operations.format.holds(lowest) and operations.format.holds(highest)):
            wide = operations.to_integer(rounded, 2 * result.storage_bits, True)
            rounded = operations.clamp(lowest, wide, highest)
        return operations.to_integer(rounded, result.storage_bits, result.is_signed)

    def dequantize(self, operations: Operations[V], stored: V, operand: Quantization) -> V:
        """See `dequantize`."""
        return dequantize(operations, stored, operand)

    def requantize(self, operations: Operations[V], stored: V, operand: Quantization, result: Quantization) -> V:
        """Dequantize, then quantize; in integers where that provably gives the same (see `same_in_integers`)."""
        if same_in_integers(operations.format, operand, result):
            return move_zero_point(operations, stored, operand, result)
        return self.quantize(operations, self.dequantize(operations, stored, operand), result)


def dequantize(operations: Operations[V], stored: V, operand: Quantization) -> V:
    """Return `convert(q - zero_point) * scale`; the subtraction is exact, in 32 bits or, if need be, in 64."""
    steps = operations.to_float(without_zero_point(operations, stored, operand))
    return operations.multiply(steps, operations.floats(operand.scales, operand.quantized_dimension))


def without_zero_point(operations: Operations[V], stored: V, operand: Quantization) -> V:
    """Return `q - zero_point`, in 32 bits or, if need be, in 64; the operand itself if all zero points are 0."""
    if not any(operand.zero_points):
        return stored
    bits = 32 if reach(operand) < 1 << 31 else 64
    wide = operations.to_integer(stored, bits, True)
    return operations.subtract(wide, operations.integers(operand.zero_points, operand.quantized_dimension, bits))


def same_in_integers(float_format: FloatFormat, operand: Quantization, result: Quantization) -> bool:
    """Whether dequantize then quantize equals `clamp(q - operand zero point + result zero point)`.

    It does if the scales are equal (as values s of the float type) and n = q - z1 is small: |n| < 2**(p-2) for p bits
    of significand (2**22 in float32), |n| + |z2| <= 2**p, s normal and n * s finite. Proof. Let 2**k <= |n| < 2**(k+1),
    so k <= p-3 and the spacing of floats at n is 2**(k+1-p) <= 1/4. fl(n*s) = n*s*(1+e), |e| <= 2**-p, hence
    fl(n*s)/s differs from n by less than 2**(k+1-p), one spacing; rounding is monotonic and n plus or minus one spacing
    are floats, so y = fl(fl(n*s)/s) differs from n by at most 1/4. For the integer m = n + z2, a float, fl(y + z2) is
    no further from y + z2 than m is: it differs from m by at most 1/2, and by 1/2 only if y + z2 = m +- 1/4 was a tie
    between m and m +- 1/2, in a spacing of 1/2, which goes to m, the even multiple. So it rounds to m; and clamping
    to integer bounds before rounding or after is the same. From 2**22 on it fails: the quotient can land on n + 1/2.
    """
    largest = reach(operand)
    scales = float_format.rounded(operand.scales).astype(np.float64)
    return (
        equal_scales(float_format, operand, result)
        and largest < 1 << (float_format.precision - 2)
        and largest + max(abs(z) for z in result.zero_points) <= 1 << float_format.precision
        and scales.min() >= float_format.smallest_normal
        and largest * scales.max() <= float_format.largest
    )


def equal_scales(float_format: FloatFormat, operand: Quantization, result: Quantization) -> bool:
    """Whether two types have the same scale everywhere, as values of the float type."""
    if _slices(operand, result) is None:
        return False
    return bool(np.all(float_format.rounded(operand.scales) == float_format.rounded(result.scales)))


def move_zero_point(operations: Operations[V], stored: V, operand: Quantization, result: Quantization) -> V:
    """Return `clamp(q - operand zero point + result zero point)`: an exact requantize between types of equal scales.

    Clamps only if the operand's storage bounds let the sum leave the result's, adds only if a zero point differs.
    """
    count = _slices(operand, result)
    assert count is not None, "equal scales have common slices"
    zero_points = zip(_spread(operand.zero_points, count), _spread(result.zero_points, count), strict=True)
    moves = [new - old for old, new in zero_points]
    lowest, highest = operand.storage_min + min(moves), operand.storage_max + max(moves)
    smallest, largest = operand.storage_min, operand.storage_max
    if any(moves):
        fits = lowest >= -(1 << 31) and highest < 1 << 31 and operand.storage_bits <= 32
        bits = 32 if fits else 64
        dimension = result.quantized_dimension if operand.quantized_dimension is None else operand.quantized_dimension
        stored = operations.to_integer(stored, bits, True)
        stored = operations.add(stored, operations.integers(moves, dimension, bits))
        smallest, largest = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
    if lowest < result.storage_min or highest > result.storage_max:
        # Clamped in the type at hand, which may not hold both of the result's bounds.
        stored = operations.clamp(max(smallest, result.storage_min), stored, min(largest, result.storage_max))
    return operations.to_integer(stored, result.storage_bits, result.is_signed)


def _slices(operand: Quantization, result: Quantization) -> int | None:
    """The number of slices that have parameters of their own in both types; None if the types are split differently."""
    dimensions = {operand.quantized_dimension, result.quantized_dimension} - {None}
    return None if len(dimensions) > 1 else max(len(operand.scales), len(result.scales))


def _spread(values: tuple[T, ...], count: int) -> tuple[T, ...]:
    return values if len(values) == count else values * count


def reach(operand: Quantization) -> int:
    """The largest |q - zero point|."""
    return max(operand.storage_max - min(operand.zero_points), max(operand.zero_points) - operand.storage_min)


SPEC = Spec()
