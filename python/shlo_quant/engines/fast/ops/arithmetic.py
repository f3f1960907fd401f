"""Arithmetic and order of integers and floats.

Integers wrap. Where the specification leaves the result open, it is for division by zero: all bits set, and the
dividend as remainder.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from shlo_quant.engines.fast.ops import libm
from shlo_quant.engines.fast.ops.elements import ByElement, ElementType, Function
from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.errors import Unsupported


def _add(element: ElementType) -> Function:
    return np.logical_or if element.is_bool else element.wrapping(np.add)


def _subtract(element: ElementType) -> Function:
    return _number(element).wrapping(np.subtract)


def _multiply(element: ElementType) -> Function:
    return np.logical_and if element.is_bool else element.wrapping(np.multiply)


def _negate(element: ElementType) -> Function:
    return _number(element).wrapping(np.negative)


def _absolute(element: ElementType) -> Function:
    return _number(element).wrapping(np.abs)


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
        return element.through_f32(np.fmod)

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
        return lambda *operands: libm.evaluate("pow", element, *operands)

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


BY_ELEMENT: Mapping[str, ByElement] = {
    "abs": _absolute,
    "add": _add,
    "clamp": _clamp,
    "divide": _divide,
    "maximum": _maximum,
    "minimum": _minimum,
    "multiply": _multiply,
    "negate": _negate,
    "power": _power,
    "remainder": _remainder,
    "sign": _sign,
    "subtract": _subtract,
}
