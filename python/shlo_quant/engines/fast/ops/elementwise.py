"""Ops on elements, as functions that broadcast: one element of each operand gives one of the result.

Integers wrap. Where the specification leaves the result open, it is: for division by zero all bits set, and the
dividend as remainder; for shifts by the width or more, no bit of the operand left.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

import numpy as np
from torch_mlir import ir

from shlo_quant.engines.fast.ops import libm
from shlo_quant.engines.fast.ops.convert import bitcast_same_width, convert, reduce_precision
from shlo_quant.engines.fast.ops.elements import ElementType
from shlo_quant.engines.fast.ops.kernel import Build, CompileRegion, Kernel
from shlo_quant.passes.dialects.constants import Array, to_numpy
from shlo_quant.passes.dialects.stablehlo import comparison
from shlo_quant.passes.errors import Unsupported

Function = Callable[..., Array]
Make = Callable[[ir.Operation], Function]
ByElement = Callable[[ElementType], Function]


# ---- arithmetic


def _add(element: ElementType) -> Function:
    return np.logical_or if element.is_bool else _wrapping(element, np.add)


def _subtract(element: ElementType) -> Function:
    return _wrapping(_number(element), np.subtract)


def _multiply(element: ElementType) -> Function:
    return np.logical_and if element.is_bool else _wrapping(element, np.multiply)


def _negate(element: ElementType) -> Function:
    return _wrapping(_number(element), np.negative)


def _absolute(element: ElementType) -> Function:
    return _wrapping(_number(element), np.abs)


def _divide(element: ElementType) -> Function:
    """Integers toward zero."""
    if _number(element).is_float:
        return np.divide

    def quotient(lhs: Array, rhs: Array) -> Array:
        exact = np.floor_divide(np.subtract(lhs, np.fmod(lhs, rhs)), rhs)
        return element.wrapped(np.where(rhs == 0, ~element.dtype.type(0), exact))

    return quotient


def _remainder(element: ElementType) -> Function:
    """With the sign of the dividend."""
    if _number(element).is_float:
        return _through_f32(element, np.fmod)

    def rest(lhs: Array, rhs: Array) -> Array:
        return np.where(rhs == 0, lhs, np.fmod(lhs, rhs))

    return rest


def _maximum(element: ElementType) -> Function:
    """NaN if any operand is; +0 is larger than -0."""
    if element.is_bool:
        return np.logical_or
    if element.is_integer:
        return np.maximum

    def largest(lhs: Array, rhs: Array) -> Array:
        result = np.maximum(lhs, rhs)
        zeros = (lhs == 0) & (rhs == 0)
        return np.where(zeros, lhs + rhs, result) if zeros.any() else result

    return largest


def _minimum(element: ElementType) -> Function:
    """NaN if any operand is; -0 is smaller than +0."""
    if element.is_bool:
        return np.logical_and
    if element.is_integer:
        return np.minimum

    def smallest(lhs: Array, rhs: Array) -> Array:
        result = np.minimum(lhs, rhs)
        zeros = (lhs == 0) & (rhs == 0)
        return np.where(zeros, -(-lhs - rhs), result) if zeros.any() else result

    return smallest


def _clamp(element: ElementType) -> Function:
    """The upper bound wins over the lower."""
    larger, smaller = _maximum(element), _minimum(element)
    return lambda low, operand, high: smaller(larger(operand, low), high)


def _sign(element: ElementType) -> Function:
    """-1, 0 or 1; of floats, zeros and NaN as they are."""
    if element.is_integer:
        return np.sign
    one = element.dtype.type(1)
    return lambda operand: np.where((operand == 0) | np.isnan(operand), operand, np.copysign(one, operand))


def _power(element: ElementType) -> Function:
    if element.is_float:
        return _transcendental("pow")(element)

    def integer_power(base: Array, exponent: Array) -> Array:
        base, exponent = np.broadcast_arrays(base, exponent)
        result = np.ones_like(base)
        factor, left = base, np.where(exponent < 0, -exponent, exponent)
        for _ in range(element.bits):
            result = np.where(left & 1, result * factor, result)
            factor, left = factor * factor, left >> 1
        unit = (base == 1) | (base == -1) if element.is_signed else base == 1
        return element.wrapped(np.where((exponent < 0) & ~unit, 0, result))

    return integer_power


def _number(element: ElementType) -> ElementType:
    if element.is_bool:
        raise Unsupported("not defined for i1")
    return element


def _wrapping(element: ElementType, function: Function) -> Function:
    if element.is_integer and element.bits < 8:
        return lambda *operands: element.wrapped(function(*operands))
    return function


# ---- bits


def _logical(on_bools: Function, on_integers: Function) -> ByElement:
    """and, or, xor, not."""
    return lambda element: on_bools if element.is_bool else _wrapping(element, on_integers)


def _shift_left(element: ElementType) -> Function:
    def shifted(operand: Array, amount: Array) -> Array:
        bits, distance, is_far = _shift(element, operand, amount)
        return element.from_bits(np.where(is_far, 0, bits << distance))

    return shifted


def _shift_right_logical(element: ElementType) -> Function:
    def shifted(operand: Array, amount: Array) -> Array:
        bits, distance, is_far = _shift(element, operand, amount)
        return element.from_bits(np.where(is_far, 0, bits >> distance))

    return shifted


def _shift_right_arithmetic(element: ElementType) -> Function:
    """Fills with copies of the highest bit, also of unsigned integers."""

    def shifted(operand: Array, amount: Array) -> Array:
        signed = ElementType(np.dtype(f"int{max(element.bits, 8)}"), element.bits)
        bits, distance, is_far = _shift(element, operand, amount)
        distance = np.where(is_far, element.bits - 1, distance).astype(signed.dtype)
        return element.from_bits((signed.from_bits(bits) >> distance).view(element.bits_dtype))

    return shifted


def _shift(element: ElementType, operand: Array, amount: Array) -> tuple[Array, Array, Array]:
    """Bits to shift, by how much (an unsigned number of the type's bits), and where that is the width or more."""
    distance = element.to_bits(amount)
    is_far = distance >= element.bits
    return element.to_bits(operand), np.where(is_far, 0, distance).astype(element.bits_dtype), is_far


def _population_count(element: ElementType) -> Function:
    return lambda operand: element.wrapped(np.bitwise_count(element.to_bits(operand)))


def _count_leading_zeros(element: ElementType) -> Function:
    def leading_zeros(operand: Array) -> Array:
        bits = element.to_bits(operand)
        used = sum(((bits >> element.bits_dtype.type(n)) != 0).astype(np.uint8) for n in range(element.bits))
        return element.wrapped(element.bits - np.asarray(used))

    return leading_zeros


# ---- floats


def _round_nearest_afz(element: ElementType) -> Function:
    """Halves away from zero."""

    def rounded(operand: Array) -> Array:
        whole = np.trunc(operand)
        return np.where(np.abs(operand - whole) >= 0.5, whole + np.copysign(operand.dtype.type(1), operand), whole)

    return _through_f32(element, rounded)


def _rounding(function: Function) -> ByElement:
    """A function to integral values, which are of the type again."""
    return lambda element: _through_f32(element, function)


def _logistic(element: ElementType) -> Function:
    """1 / (1 + e^-x), each step rounded to the type."""
    one = element.dtype.type(1)
    return lambda operand: np.divide(one, np.add(one, libm.evaluate("exp", element, np.negative(operand))))


def _square_root(element: ElementType) -> Function:
    return lambda operand: element.rounded(np.sqrt(operand.astype(np.float64)))


def _reciprocal_square_root(element: ElementType) -> Function:
    return lambda operand: element.rounded(1.0 / np.sqrt(operand.astype(np.float64)))


def _transcendental(name: str) -> ByElement:
    return lambda element: lambda *operands: libm.evaluate(name, element, *operands)


def _through_f32(element: ElementType, function: Function) -> Function:
    """A function whose results are values of the operands' type, for the types of ml_dtypes too."""
    if element.dtype.kind == "f":
        return function
    return lambda *operands: np.asarray(function(*(o.astype(np.float32) for o in operands))).astype(element.dtype)


# ---- more than one element type


def _compare(op: ir.Operation) -> Function:
    """With TOTALORDER, floats compare as -NaN < -infinity < ... < -0 < +0 < ... < NaN (IEEE 754 totalOrder)."""
    direction, kind = comparison(op)
    relation: Function = getattr(operator, direction.lower())
    if kind != "TOTALORDER":
        return relation
    element = ElementType.of(op.operands[0])
    key = _total_order(element)
    return lambda lhs, rhs: relation(key(lhs), key(rhs))


def _total_order(element: ElementType) -> Function:
    """The bits of floats as integers of the same order."""
    signed = np.dtype(f"int{element.bits}")

    def key(values: Array) -> Array:
        bits = element.to_bits(values).view(signed)
        return np.where(bits < 0, bits ^ signed.type(np.iinfo(signed).max), bits)

    return key


def _select(_op: ir.Operation) -> Function:
    def selected(pred: Array, on_true: Array, on_false: Array) -> Array:
        return np.where(pred, on_true, on_false)

    return selected


def _constant(op: ir.Operation) -> Function:
    ElementType.of(op.results[0])
    if not isinstance(op.attributes["value"], ir.DenseElementsAttr):
        raise Unsupported("a constant in a resource cannot be read", "use a dense attribute")
    value = to_numpy(op.attributes["value"])
    return lambda: value


def _is_finite(_op: ir.Operation) -> Function:
    return np.isfinite


def _imaginary_part(op: ir.Operation) -> Function:
    """Of a float, 0."""
    ElementType.of(op.operands[0])
    return np.zeros_like


def _real_part(op: ir.Operation) -> Function:
    ElementType.of(op.operands[0])
    return np.asarray


# ---- tables


def _of_operand(make: ByElement) -> Make:
    return lambda op: make(ElementType.of(op.operands[-1]))


BY_ELEMENT: Mapping[str, ByElement] = {
    "abs": _absolute,
    "add": _add,
    "and": _logical(np.logical_and, np.bitwise_and),
    "atan2": _transcendental("atan2"),
    "cbrt": _transcendental("cbrt"),
    "ceil": _rounding(np.ceil),
    "clamp": _clamp,
    "cosine": _transcendental("cos"),
    "count_leading_zeros": _count_leading_zeros,
    "divide": _divide,
    "exponential": _transcendental("exp"),
    "exponential_minus_one": _transcendental("expm1"),
    "floor": _rounding(np.floor),
    "log": _transcendental("log"),
    "log_plus_one": _transcendental("log1p"),
    "logistic": _logistic,
    "maximum": _maximum,
    "minimum": _minimum,
    "multiply": _multiply,
    "negate": _negate,
    "not": _logical(np.logical_not, np.bitwise_not),
    "or": _logical(np.logical_or, np.bitwise_or),
    "popcnt": _population_count,
    "power": _power,
    "remainder": _remainder,
    "round_nearest_afz": _round_nearest_afz,
    "round_nearest_even": _rounding(np.rint),
    "rsqrt": _reciprocal_square_root,
    "shift_left": _shift_left,
    "shift_right_arithmetic": _shift_right_arithmetic,
    "shift_right_logical": _shift_right_logical,
    "sign": _sign,
    "sine": _transcendental("sin"),
    "sqrt": _square_root,
    "subtract": _subtract,
    "tan": _transcendental("tan"),
    "tanh": _transcendental("tanh"),
    "xor": _logical(np.logical_xor, np.bitwise_xor),
}

ELEMENTWISE: Mapping[str, Make] = {
    **{f"stablehlo.{name}": _of_operand(make) for name, make in BY_ELEMENT.items()},
    "stablehlo.bitcast_convert": bitcast_same_width,
    "stablehlo.compare": _compare,
    "stablehlo.constant": _constant,
    "stablehlo.convert": convert,
    "stablehlo.imag": _imaginary_part,
    "stablehlo.is_finite": _is_finite,
    "stablehlo.real": _real_part,
    "stablehlo.reduce_precision": reduce_precision,
    "stablehlo.select": _select,
}
"""By op, what makes its function. The functions broadcast, so that those of a region serve many elements at once."""


def _build(make: Make) -> Build:
    def build(op: ir.Operation, _compile_region: CompileRegion) -> Kernel:
        function = make(op)
        return lambda inputs: (np.asarray(function(*inputs)),)

    return build


KERNELS: Mapping[str, Build] = {name: _build(make) for name, make in ELEMENTWISE.items()}
