"""Formulas of profile `xnnpack` against exact rational arithmetic."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shlo_quant.passes.errors import Unsupported
from shlo_quant.passes.numerics.arrays import ArrayOperations
from shlo_quant.passes.numerics.floats import F32
from shlo_quant.passes.numerics.operations import Parameters
from shlo_quant.passes.numerics.xnnpack import XNNPACK, fused_multiply_add, hardswish, quantize_bias, quantize_in_table

OPERATIONS = ArrayOperations(F32, 1)
STORED = np.arange(-128, 128)
SCALES = st.floats(2.0**-20, 2.0**10, width=32)
ZERO_POINTS = st.integers(-128, 127)
FLOATS = st.floats(-(2.0**60), 2.0**60, width=32)


def int8(scale: float, zero_point: int) -> Parameters:
    return Parameters((scale,), (zero_point,), None, 8, True, -128, 127)


def to_float32(value: Fraction) -> Fraction:
    """The nearest float32, halves to even; values here are in its normal range or 0."""
    if value == 0:
        return value
    exponent = math.floor(math.log2(abs(value.numerator)) - math.log2(value.denominator))
    while abs(value) >= Fraction(2) ** (exponent + 1):
        exponent += 1
    while abs(value) < Fraction(2) ** exponent:
        exponent -= 1
    unit = Fraction(2) ** (max(exponent, -126) - 23)
    return round(value / unit) * unit


def saturated(value: int) -> int:
    return min(max(value, -128), 127)


@given(FLOATS, SCALES, ZERO_POINTS)
def test_quantize(x: float, scale: float, zero_point: int) -> None:
    steps = to_float32(Fraction(x) * to_float32(1 / Fraction(scale)))
    (found,) = XNNPACK.quantize(OPERATIONS, np.array([x], np.float32), int8(scale, zero_point))
    assert found == saturated(round(steps) + zero_point)
    (in_table,) = quantize_in_table(OPERATIONS, np.array([x], np.float32), int8(scale, zero_point))
    assert in_table == saturated(round(to_float32(steps + zero_point)))


def test_quantize_what_is_no_number() -> None:
    x = np.array([np.nan, np.inf, -np.inf], np.float32)
    assert XNNPACK.quantize(OPERATIONS, x, int8(0.1, 3)).tolist() == [127, 127, -128]


@given(SCALES, ZERO_POINTS, ZERO_POINTS)
def test_requantize_at_one_scale_moves_the_zero_point(scale: float, zero_point: int, moved: int) -> None:
    found = XNNPACK.requantize(OPERATIONS, STORED, int8(scale, zero_point), int8(scale, moved))
    expressed = XNNPACK.dequantize(OPERATIONS, STORED, int8(scale, zero_point))
    np.testing.assert_array_equal(found, XNNPACK.quantize(OPERATIONS, expressed, int8(scale, moved)))


@given(st.integers(-(2**31) + 1, 2**31 - 1), SCALES, SCALES, ZERO_POINTS)
def test_requantize_accumulators(total: int, scale: float, result_scale: float, zero_point: int) -> None:
    multiplier = to_float32(Fraction(scale) / Fraction(result_scale))
    expected = saturated(round(to_float32(to_float32(Fraction(total)) * multiplier)) + zero_point)
    accumulator = Parameters((scale,), (0,), None, 32, True, -(2**31), 2**31 - 1)
    (found,) = XNNPACK.requantize(OPERATIONS, np.array([total]), accumulator, int8(result_scale, zero_point))
    assert found == expected


def test_only_narrow_results() -> None:
    wide = Parameters((0.1,), (0,), None, 32, True, -(2**31), 2**31 - 1)
    with pytest.raises(Unsupported, match="8 bits"):
        XNNPACK.quantize(OPERATIONS, np.zeros(1, np.float32), wide)


@given(st.floats(-9, 9), st.floats(-9, 1), ZERO_POINTS, ZERO_POINTS, ZERO_POINTS)
def test_sums_are_close_to_the_real_sum(lhs: float, rhs: float, a: int, b: int, r: int) -> None:
    """At most one step off: the multipliers are off by 2**-21 of the larger ratio, times 255."""
    scales = [float(np.float32(2.0**power)) for power in (lhs, rhs)]
    operands = int8(scales[0], a), int8(scales[1], b)
    x, y = (v.reshape(-1) for v in np.meshgrid(STORED[::15], STORED[::15]))
    found = XNNPACK.combine("add", OPERATIONS, (x, y), operands, int8(1.0, r))
    assert found is not None
    real = (x - a) * scales[0] + (y - b) * scales[1]
    assert np.abs(found - np.clip(real + r, -128, 127)).max() <= 0.5 + 2 * 255 * 2.0**-21 * max(1.0, *scales)


@given(FLOATS, FLOATS, FLOATS)
def test_fused_multiply_add(x: float, y: float, z: float) -> None:
    exact = Fraction(x) * Fraction(y) + Fraction(z)
    if abs(exact) < Fraction(2) ** -126 and exact != 0:
        return
    (found,) = fused_multiply_add(*(np.array([v], np.float32) for v in (x, y, z)))
    if abs(exact) < 2**127:
        assert Fraction(float(found)) == to_float32(exact)


def test_fused_multiply_add_next_to_a_tie() -> None:
    """float64 alone would round the sum to the tie, and then to even."""
    x, y = np.float32(1 + 2.0**-23), np.float32(2.0**-24)
    product = Fraction(float(x)) * Fraction(float(y))  # 2**-24 + 2**-47
    for z in (1.0, -1.0, 1 + 2.0**-23):
        (found,) = fused_multiply_add(np.array([x]), np.array([y]), np.array([z], np.float32))
        assert Fraction(float(found)) == to_float32(product + Fraction(z))


def test_hardswish_of_known_values() -> None:
    x = np.array([-4, -3, 0, 3, 4], np.float32)
    assert hardswish(x).tolist() == [0, 0, 0, 3, 4]


def test_bias_is_multiplied_by_the_reciprocal() -> None:
    """3 * 2**-8 / (3 * 2**-9) = 2, but the reciprocal of a scale of 3 * 2**-9 is rounded; see also the ties."""
    per_axis = Parameters((0.1, 0.3), (0, 0), 0, 8, True, -127, 127)
    scales = [to_float32(Fraction(float(np.float32(s))) * Fraction(1, 2)) for s in (0.1, 0.3)]
    bias = np.array([7.3, -2.9], np.float32)
    expected = [round(to_float32(Fraction(float(b)) * to_float32(1 / s))) for b, s in zip(bias, scales, strict=True)]
    assert quantize_bias(bias, 0.5, per_axis).tolist() == expected
    huge = quantize_bias(np.array([3e38, -3e38], np.float32), 1e-3, per_axis)
    assert huge[0] > 2**31 and huge[1] < -(2**31)
