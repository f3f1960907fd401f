"""`numerics` against exact rational arithmetic, written here from the StableHLO specification."""

from __future__ import annotations

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shlo_quant.passes.errors import ParameterError
from shlo_quant.passes.numerics.arrays import ArrayOperations
from shlo_quant.passes.numerics.floats import BF16, F16, F32, F64, FloatFormat, float_format
from shlo_quant.passes.numerics.operations import Parameters
from shlo_quant.passes.numerics.profiles import SPEC, move_zero_point, same_in_integers
from shlo_quant.passes.numerics.quantize import dequantize, quantize, quantize_bias

# name -> significand bits, smallest exponent of the last place, largest value (IEEE 754; bfloat16: 8 exponent bits)
FORMATS = {
    "float16": (11, -24, 65504),
    "bfloat16": (8, -133, (2**8 - 1) * 2**120),
    "float32": (24, -149, (2**24 - 1) * 2**104),
    "float64": (53, -1074, (2**53 - 1) * 2**971),
}
DTYPES = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "float32": np.float32, "float64": np.float64}
STORAGE = {8: (-128, 127), 16: (-32768, 32767), 32: (-(2**31), 2**31 - 1)}


def to_float(name: str, value: Fraction) -> Fraction | float:
    """The nearest value of a float type, halves to even; infinite if out of range."""
    bits, last_place, largest = FORMATS[name]
    if value == 0:
        return Fraction(0)
    exponent = math.floor(math.log2(abs(value.numerator)) - math.log2(value.denominator)) - bits + 1
    for unit in (exponent - 1, exponent, exponent + 1):  # the logarithm is rounded
        if 2 ** (bits - 1) <= abs(value) / Fraction(2) ** unit < 2**bits:
            exponent = unit
            break
    unit = Fraction(2) ** max(exponent, last_place)
    rounded = round(value / unit) * unit  # Fraction rounds halves to even
    return rounded if abs(rounded) <= largest else math.copysign(math.inf, value)


def quantize_exactly(name: str, x: float, scale: float, zero_point: int, bounds: tuple[int, int]) -> int:
    """Spec: quantize, every operation rounded to the float type, then saturation to the exact bounds."""
    lowest, highest = (to_float(name, Fraction(b)) for b in bounds)
    if math.isnan(x):
        return 0
    s = to_float(name, Fraction(scale))
    value = x if math.isinf(x) else to_float(name, Fraction(x) / s)
    if not math.isinf(value):
        value = to_float(name, value + to_float(name, Fraction(zero_point)))
    clamped = min(max(value, lowest), highest)
    if math.isinf(clamped):
        return bounds[clamped > 0]
    return min(max(round(clamped), bounds[0]), bounds[1])


def dequantize_exactly(name: str, stored: int, scale: float, zero_point: int) -> float:
    """Spec: dequantize, with an exact subtraction."""
    steps = to_float(name, Fraction(stored - zero_point))
    return float(steps if math.isinf(steps) else to_float(name, steps * to_float(name, Fraction(scale))))


def parameters(scale: float, zero_point: int, bits: int = 8, bounds: tuple[int, int] | None = None) -> Parameters:
    return Parameters((scale,), (zero_point,), None, bits, True, *(bounds or STORAGE[bits]))


def requantize(stored: np.ndarray, operand: Parameters, result: Parameters, dtype: type = np.float32) -> np.ndarray:
    return SPEC.requantize(ArrayOperations(float_format(np.dtype(dtype)), stored.ndim), stored, operand, result)


scales = st.floats(2**-12, 2**4, allow_nan=False)
names = st.sampled_from(list(FORMATS))


@given(names, st.sampled_from([8, 16, 32]), scales, st.integers(-128, 127), st.floats(width=32), st.data())
def test_quantize_equals_rational_arithmetic(name, bits, scale, zero_point, x, data):
    lowest = data.draw(st.integers(STORAGE[bits][0], -128))
    highest = data.draw(st.integers(127, STORAGE[bits][1]))
    with np.errstate(over="ignore"):
        expressed = np.array([x]).astype(DTYPES[name])
    stored = quantize(expressed, [scale], [zero_point], None, lowest, highest)
    assert stored.dtype == np.int64
    assert stored[0] == quantize_exactly(name, float(expressed[0]), scale, zero_point, (lowest, highest))


@given(names, scales, st.integers(-300, 300), st.integers(-128, 127))
def test_quantize_rounds_ties_like_rational_arithmetic(name, scale, halves, zero_point):
    with np.errstate(over="ignore"):
        expressed = np.array([halves / 2 * scale]).astype(DTYPES[name])
    stored = quantize(expressed, [scale], [zero_point], None, -128, 127)
    assert stored[0] == quantize_exactly(name, float(expressed[0]), scale, zero_point, (-128, 127))


@given(names, st.integers(-(2**31), 2**32 - 1), scales, st.integers(-(2**31), 2**31 - 1))
def test_dequantize_equals_rational_arithmetic(name, stored, scale, zero_point):
    expressed = dequantize(np.array([stored]), [scale], [zero_point], None, DTYPES[name])
    assert expressed.dtype == DTYPES[name]
    assert float(expressed[0]) == dequantize_exactly(name, stored, scale, zero_point)


@settings(max_examples=40)
@given(names, scales, st.integers(-128, 127), scales, st.integers(-128, 127))
def test_requantize_of_all_256_values_is_dequantize_then_quantize(name, old_scale, old_zero, scale, zero_point):
    stored = np.arange(-128, 128)
    found = requantize(stored, parameters(old_scale, old_zero), parameters(scale, zero_point), DTYPES[name])
    for q, r in zip(stored.tolist(), found.tolist(), strict=True):
        x = dequantize_exactly(name, q, old_scale, old_zero)
        assert r == quantize_exactly(name, x, scale, zero_point, (-128, 127))


@given(st.sampled_from([F16, BF16, F32, F64]), scales, st.integers(-40000, 40000), st.integers(-128, 127), st.data())
def test_equal_scales_are_integer_arithmetic_where_that_is_the_same(float_type, scale, old_zero, zero_point, data):
    reach = data.draw(st.integers(1, 1 << 21))
    operand = parameters(scale, old_zero, 32, (old_zero - reach, old_zero + reach))
    result = parameters(scale, zero_point, data.draw(st.sampled_from([8, 32])))
    steps = data.draw(st.lists(st.integers(-reach, reach), min_size=20, max_size=20))
    stored = np.array([old_zero, old_zero - reach, old_zero + reach, *(old_zero + n for n in steps)])
    operations = ArrayOperations(float_type, 1)
    in_floats = SPEC.quantize(operations, SPEC.dequantize(operations, stored, operand), result)
    if same_in_integers(float_type, operand, result):
        assert np.array_equal(move_zero_point(operations, stored, operand, result), in_floats)
    assert np.array_equal(SPEC.requantize(operations, stored, operand, result), in_floats)


def test_equal_scales_keep_the_float_formula_beyond_its_proof():
    """From 2**22 on, float32 can miss the integer, and the specification is the float formula."""
    scale, stored = 1.1, np.arange((1 << 23) - 2001, 1 << 23, 2)
    quotient = np.float32(stored) * np.float32(scale) / np.float32(scale)
    assert (np.rint(quotient) != stored).any()
    found = requantize(stored, parameters(scale, 0, 32), parameters(scale, 0, 32))
    assert np.array_equal(found, np.rint(quotient).astype(np.int64))


# ---- single values, from the specification's formulas by hand


@pytest.mark.parametrize(
    ("x", "scale", "zero_point", "expected"),
    [
        (0.25, 0.5, 1, 2),  # 1.5, to even: the zero point is added before rounding
        (0.25, 0.5, 0, 0),
        (-0.25, 0.5, 1, 0),
        (np.uint32(0xC1326666).view(np.float32), 0.1, 0, -111),  # a reciprocal would give -112
        (-0.01176470611, 0.007843137718737125, 0, -2),
        (1e30, 0.5, 0, 127),
        (-math.inf, 0.5, 0, -128),
        (math.nan, 0.5, 100, 0),
    ],
)
def test_quantize_known_values(x, scale, zero_point, expected):
    assert quantize(np.float32([x]), [scale], [zero_point], None, -128, 127).tolist() == [expected]


@pytest.mark.parametrize("dtype", DTYPES.values(), ids=DTYPES)
def test_32_bit_storage_saturates_at_its_own_bounds(dtype):
    expressed = np.array([math.inf, -math.inf, math.nan]).astype(dtype)
    stored = quantize(expressed, [2.0**-17], [0], None, -(2**31), 2**31 - 1)
    assert stored.tolist() == [2**31 - 1, -(2**31), 0]


def test_float32_two_to_the_31_saturates():
    assert quantize(np.float32([2**31, 2**31 - 128]), [1.0], [0], None, -(2**31), 2**31 - 1).tolist() == [
        2**31 - 1,
        2**31 - 128,
    ]


def test_bfloat16_cannot_hold_the_bounds_of_16_bits():
    stored = quantize(np.array([1e9]).astype(ml_dtypes.bfloat16), [1.0], [0], None, -32768, 32767)
    assert stored.tolist() == [32767]


@pytest.mark.parametrize(
    ("stored", "scale", "zero_point", "expected"),
    [
        (127, 1.0, -128, 255.0),  # does not fit the storage type
        (16777217, 1.0, 1, 16777216.0),
        (2147483647, 1.0, -5, 2147483648.0),
        (4294967295, 0.5, 1, 2147483648.0),
    ],
)
def test_dequantize_known_values(stored, scale, zero_point, expected):
    assert dequantize(np.array([stored]), [scale], [zero_point], None, np.float32).tolist() == [expected]


def test_requantize_known_values():
    assert requantize(np.array([-63]), parameters(0.333, 15), parameters(0.468, 1)).tolist() == [-55]
    assert requantize(np.array([100]), parameters(1.0, 0), parameters(1.0, 0, 32, (-8, 7))).tolist() == [7]


def test_parameters_lie_along_their_dimension():
    expressed = np.float32([[1.0, 2.0], [1.0, 2.0]])
    assert quantize(expressed, [0.5, 0.25], [1, -1], 0, -128, 127).tolist() == [[3, 5], [3, 7]]
    assert quantize(expressed, [0.5, 0.25], [1, -1], 1, -128, 127).tolist() == [[3, 7], [3, 7]]
    stored = np.int8([[2, 4], [2, 4]])
    assert dequantize(stored, [0.5, 0.25], [1, -1], 0, np.float32).tolist() == [[0.5, 1.5], [0.75, 1.25]]


def test_requantize_between_dimensions():
    operand = Parameters((0.5, 1.0), (0, 1), 0, 8, True, -128, 127)
    result = Parameters((0.25, 0.5), (3, 0), 1, 8, True, -128, 127)
    assert requantize(np.array([[2, 4], [3, 5]]), operand, result).tolist() == [[7, 4], [11, 8]]


@given(st.integers(-(10**12), 10**12), st.integers(1, 2**20))
def test_quantize_bias_rounds_the_float64_quotient(numerator, denominator):
    scale = 1 / denominator
    quotient = to_float("float64", Fraction(numerator) / Fraction(scale))
    assert quantize_bias(np.float64([numerator]), np.float64([scale])).tolist() == [round(quotient)]


def test_quantize_bias_leaves_the_range_to_the_caller():
    stored = quantize_bias(np.float64([1.5, -2.5, 3e9, 1e300]), np.float64([1.0]))
    assert stored.tolist() == [2, -2, 3_000_000_000, 2**63 - 1]
    with pytest.raises(ParameterError, match="NaN"):
        quantize_bias(np.float64([np.nan]), np.float64([1.0]))


@pytest.mark.parametrize("name", FORMATS)
def test_float_formats(name):
    float_type: FloatFormat = float_format(np.dtype(DTYPES[name]))
    bits, last_place, largest = FORMATS[name]
    assert float_type.precision == bits
    assert float_type.largest == largest
    assert float_type.smallest_normal == 2.0 ** (last_place + bits - 1)
    assert float_type.holds(2**bits)
    assert not float_type.holds(2**bits + 1)


def test_other_float_types_are_refused():
    with pytest.raises(ParameterError, match="float8"):
        float_format(np.dtype(ml_dtypes.float8_e4m3fn))
