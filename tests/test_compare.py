"""Comparison of results: counts, steps, decibels, and the odd floats."""

from __future__ import annotations

import math

import ml_dtypes
import numpy as np
import pytest

from shlo_quant.compare import Comparison, compare, compare_all, total
from shlo_quant.passes.dialects.quant import signed_type
from shlo_quant.passes.errors import InputError


def test_integers_are_compared_in_steps() -> None:
    found = compare(np.int8([[-128, 3], [5, 7]]), np.int8([[127, 3], [6, 7]]))
    assert (found.elements, found.mismatches, found.largest_difference, found.sqnr_db) == (4, 2, 255, None)
    assert str(found) == "2 of 4 differ, by up to 255 steps"


def test_wide_integers_do_not_wrap() -> None:
    assert compare(np.uint64([0]), np.uint64([2**64 - 1])).largest_difference == 2**64 - 1
    assert compare(np.int64([-(2**63)]), np.int64([2**63 - 1])).largest_difference == 2**64 - 1


@pytest.mark.usefixtures("context")
def test_stored_integers_have_the_signal_to_noise_ratio_of_their_floats() -> None:
    uniform = signed_type(8, (0.5,), (3,))
    found = compare(np.int8([9, 11, 3]), np.int8([9, 10, 3]), uniform)  # 3, 4, 0 and 3, 3.5, 0
    assert (found.mismatches, found.largest_difference) == (1, 1)
    assert found.sqnr_db == pytest.approx(20.0)
    wide = compare(np.int32([9, 11, 3]), np.int32([9, 10, 3]), signed_type(32, (0.5,), (3,)))
    assert (wide.signal, wide.noise) == (found.signal, found.noise) == (25.0, 0.25)
    per_axis = signed_type(8, (0.5, 1.0), (3, 0), 1)
    found = compare(np.int8([[9, 4]]), np.int8([[9, 5]]), per_axis)  # 3, 4 and 3, 5
    assert found.sqnr_db == pytest.approx(10 * math.log10(25))


def test_comparisons_add_up() -> None:
    parts = [compare(np.float32([3, 4]), np.float32([3, 4.5])), compare(np.float32([0]), np.float32([0.25]))]
    assert total(parts) == Comparison(3, 2, 0.5, False, 25.0, 0.3125)
    assert total([compare(np.int8([1]), np.int8([3]))]).sqnr_db is None


def test_booleans_differ_by_one() -> None:
    assert compare(np.array([True, False]), np.array([False, False])).largest_difference == 1


def test_floats_have_a_signal_to_noise_ratio() -> None:
    found = compare(np.float32([3, 4]), np.float32([3, 4.5]))
    assert found.mismatches == 1
    assert found.largest_difference == 0.5
    assert found.sqnr_db == pytest.approx(20.0)  # 25 / 0.25
    assert compare(np.float32([1]), np.float32([1])).sqnr_db == math.inf


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16])
def test_floats_are_exact_only_to_the_bit(dtype: type) -> None:
    nan, zero, one = np.nan, 0.0, 1.0
    assert compare(np.array([nan, np.inf], dtype), np.array([nan, np.inf], dtype)).is_exact
    signed_zero = compare(np.array([zero], dtype), np.array([-zero], dtype))
    assert (signed_zero.mismatches, signed_zero.largest_difference) == (1, 0)
    assert compare(np.array([one], dtype), np.array([nan], dtype)).largest_difference == math.inf
    assert compare(np.array([np.inf], dtype), np.array([-np.inf], dtype)).largest_difference == math.inf
    assert compare(np.array([one], dtype), np.array([np.inf], dtype)).sqnr_db == -math.inf


def test_scalars_and_empty_arrays() -> None:
    assert compare(np.float32(1), np.float32(1)).elements == 1
    for dtype in (np.int8, np.float32):
        empty = compare(np.zeros((0, 3), dtype), np.zeros((0, 3), dtype))
        assert (empty.elements, empty.mismatches, empty.largest_difference) == (0, 0, 0)


def test_results_of_other_form_are_refused() -> None:
    with pytest.raises(InputError, match=r"int8\[2\] and int8\[3\]"):
        compare(np.int8([1, 2]), np.int8([1, 2, 3]))
    with pytest.raises(InputError, match=r"int8\[1\] and uint8\[1\]"):
        compare(np.int8([1]), np.uint8([1]))
    with pytest.raises(InputError, match="1 and 2 outputs"):
        compare_all([np.int8([1])], [np.int8([1]), np.int8([1])])
