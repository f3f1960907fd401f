"""Two results of one program: how many elements differ, and by how much."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.errors import InputError


@dataclass(frozen=True)
class Comparison:
    """One output, expected against actual.

    Attributes:
      elements, mismatches: counts. Integers mismatch where they differ; floats where their bits do, except that one
        NaN is as good as another.
      largest_difference: of integers in steps, of floats in their unit; infinity where only one of two is finite.
      sqnr_db: signal to quantization noise of floats, 10 log10(sum expected^2 / sum error^2), infinity for no error;
        None for integers.
    """

    elements: int
    mismatches: int
    largest_difference: int | float
    sqnr_db: float | None

    @property
    def is_exact(self) -> bool:
        """Whether there is no mismatch."""
        return self.mismatches == 0

    def __str__(self) -> str:
        if self.is_exact:
            return "bit-exact"
        steps = f"{self.largest_difference} steps" if self.sqnr_db is None else f"{self.largest_difference:.3g}"
        return f"{self.mismatches} of {self.elements} differ, by up to {steps}"


def compare(expected: Array, actual: Array) -> Comparison:
    """Compare two arrays of one shape and dtype. Raises: InputError if shape or dtype differ."""
    if expected.shape != actual.shape or expected.dtype != actual.dtype:
        raise InputError(
            f"results cannot be compared: {expected.dtype.name}{list(expected.shape)} "
            f"and {actual.dtype.name}{list(actual.shape)}"
        )
    return _compare_integers(expected, actual) if expected.dtype.kind in "iub" else _compare_floats(expected, actual)


def compare_all(expected: Sequence[Array], actual: Sequence[Array]) -> tuple[Comparison, ...]:
    """Compare output by output. Raises: InputError if their number, a shape or a dtype differs."""
    if len(expected) != len(actual):
        raise InputError(f"results cannot be compared: {len(expected)} and {len(actual)} outputs")
    return tuple(compare(e, a) for e, a in zip(expected, actual, strict=True))


def _compare_integers(expected: Array, actual: Array) -> Comparison:
    differ = expected != actual
    pairs = zip(expected[differ].tolist(), actual[differ].tolist(), strict=True)  # Python integers do not wrap
    largest = max((abs(int(e) - int(a)) for e, a in pairs), default=0)
    return Comparison(expected.size, int(differ.sum()), largest, None)


def _compare_floats(expected: Array, actual: Array) -> Comparison:
    bits = np.dtype(f"uint{8 * expected.dtype.itemsize}")
    both_nan = np.isnan(expected) & np.isnan(actual)
    differ = (np.ascontiguousarray(expected).view(bits) != np.ascontiguousarray(actual).view(bits)).reshape(
        expected.shape
    ) & ~both_nan
    wide_expected, wide_actual = expected.astype(np.float64), actual.astype(np.float64)
    same = both_nan | (wide_expected == wide_actual)
    with np.errstate(invalid="ignore"):
        errors = np.where(same, 0.0, np.nan_to_num(np.abs(wide_actual - wide_expected), nan=math.inf, posinf=math.inf))
    signal = float(np.square(wide_expected[~both_nan]).sum())
    noise = float(np.square(errors).sum())
    return Comparison(expected.size, int(differ.sum()), float(errors.max(initial=0.0)), _decibels(signal, noise))


def _decibels(signal: float, noise: float) -> float:
    if noise == 0:
        return math.inf
    if signal == 0 or math.isinf(noise):
        return -math.inf
    return 10 * math.log10(signal / noise)
