"""Two results of one program: how many elements differ, and by how much."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.dialects.quant import UniformType
from shlo_quant.passes.dot_like import broadcast_parameter
from shlo_quant.passes.errors import InputError


@dataclass(frozen=True)
class Comparison:
    """Expected against actual: one output, or several taken together.

    Attributes:
      elements, mismatches: counts. Integers mismatch where they differ; floats where their bits do, except that one
        NaN is as good as another.
      largest_difference: of integers in steps, of floats in their unit; infinity where only one of two is finite.
      in_steps: whether integers were compared.
      signal, noise: sums of expected^2 and of error^2, of floats or of what stored integers stand for; None for
        integers of which that is not known.
    """

    elements: int
    mismatches: int
    largest_difference: int | float
    in_steps: bool
    signal: float | None
    noise: float | None

    @property
    def is_exact(self) -> bool:
        """Whether there is no mismatch."""
        return self.mismatches == 0

    @property
    def sqnr_db(self) -> float | None:
        """Signal to quantization noise, 10 log10(signal / noise): infinity for no error, None if not known."""
        if self.signal is None or self.noise is None:
            return None
        if self.noise == 0:
            return math.inf
        if self.signal == 0 or math.isinf(self.noise):
            return -math.inf
        return 10 * math.log10(self.signal / self.noise)

    def __str__(self) -> str:
        if self.is_exact:
            return "bit-exact"
        largest = f"{self.largest_difference} steps" if self.in_steps else f"{self.largest_difference:.3g}"
        return f"{self.mismatches} of {self.elements} differ, by up to {largest}"


def compare(expected: Array, actual: Array, uniform: UniformType | None = None) -> Comparison:
    """Compare two arrays of one shape and dtype.

    Args:
      uniform: the quantized type that the two are stored integers of; without it they have no signal and noise.
    Raises: InputError if shape or dtype differ.
    """
    if expected.shape != actual.shape or expected.dtype != actual.dtype:
        raise InputError(
            f"results cannot be compared: {expected.dtype.name}{list(expected.shape)} "
            f"and {actual.dtype.name}{list(actual.shape)}"
        )
    if expected.dtype.kind in "iub":
        return _compare_integers(expected, actual, uniform)
    return _compare_floats(expected, actual)


def compare_all(expected: Sequence[Array], actual: Sequence[Array]) -> tuple[Comparison, ...]:
    """Compare output by output. Raises: InputError if their number, a shape or a dtype differs."""
    if len(expected) != len(actual):
        raise InputError(f"results cannot be compared: {len(expected)} and {len(actual)} outputs")
    return tuple(compare(e, a) for e, a in zip(expected, actual, strict=True))


def total(comparisons: Iterable[Comparison]) -> Comparison:
    """Several comparisons, all of integers or all of floats, as one; there must be at least one."""
    parts = list(comparisons)
    return Comparison(
        elements=sum(part.elements for part in parts),
        mismatches=sum(part.mismatches for part in parts),
        largest_difference=max(part.largest_difference for part in parts),
        in_steps=parts[0].in_steps,
        signal=_sum(part.signal for part in parts),
        noise=_sum(part.noise for part in parts),
    )


def _sum(values: Iterable[float | None]) -> float | None:
    """None as soon as one is."""
    known = list(values)
    return None if None in known else math.fsum(value for value in known if value is not None)


def mismatches(expected: Array, actual: Array) -> Array:
    """Where two arrays of one shape and dtype differ, as `Comparison` counts it; bool."""
    if expected.dtype.kind in "iub":
        return np.asarray(expected != actual)
    bits = np.dtype(f"uint{8 * expected.dtype.itemsize}")
    same_bits = np.asarray(expected, order="C").view(bits) == np.asarray(actual, order="C").view(bits)
    return np.asarray(~(same_bits | (np.isnan(expected) & np.isnan(actual))))


def _compare_integers(expected: Array, actual: Array, uniform: UniformType | None) -> Comparison:
    differ = mismatches(expected, actual)
    steps = _steps(expected[differ], actual[differ])
    if uniform is None:
        signal = noise = None
    elif not uniform.is_per_axis:
        signal = uniform.scale**2 * _sum_of_squared_steps(expected, uniform.zero_point)
        noise = uniform.scale**2 * _sum_of_squares(steps)
    else:
        scales, zero_points = (
            np.broadcast_to(broadcast_parameter(values, uniform, expected.ndim), expected.shape)
            for values in (uniform.scales, uniform.zero_points)
        )
        signal = _sum_of_squares((expected.astype(np.float64) - zero_points) * scales)
        noise = _sum_of_squares(steps * scales[differ])
    return Comparison(expected.size, steps.size, int(steps.max(initial=0)), True, signal, noise)


def _steps(expected: Array, actual: Array) -> Array:
    """Absolute differences of integers, uint64, without wrap."""
    bits = [values.astype(np.uint64 if values.dtype.kind == "u" else np.int64) for values in (expected, actual)]
    larger, smaller = (choose(*bits).view(np.uint64) for choose in (np.maximum, np.minimum))
    return np.asarray(larger - smaller)


def _compare_floats(expected: Array, actual: Array) -> Comparison:
    both_nan = np.isnan(expected) & np.isnan(actual)
    wide_expected, wide_actual = expected.astype(np.float64), actual.astype(np.float64)
    same = both_nan | (wide_expected == wide_actual)
    with np.errstate(invalid="ignore"):
        errors = np.where(same, 0.0, np.nan_to_num(np.abs(wide_actual - wide_expected), nan=math.inf, posinf=math.inf))
    signal, noise = _sum_of_squares(wide_expected[~both_nan]), _sum_of_squares(errors)
    differ = int(mismatches(expected, actual).sum())
    return Comparison(expected.size, differ, float(errors.max(initial=0.0)), False, signal, noise)


def _sum_of_squared_steps(stored: Array, zero_point: int) -> float:
    """The sum of (stored - zero_point)^2; of narrow integers without a wide copy."""
    if stored.dtype.itemsize > 2:
        return _sum_of_squares(stored.astype(np.float64) - zero_point)
    flat = stored.ravel()
    squares = int(np.einsum("i,i->", flat, flat, dtype=np.int64))
    return float(squares - 2 * zero_point * int(flat.sum(dtype=np.int64)) + zero_point**2 * flat.size)


def _sum_of_squares(values: Array) -> float:
    wide = values.astype(np.float64, copy=False)
    return float(np.vdot(wide, wide))
