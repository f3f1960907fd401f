"""Rounding to integral values, roots and transcendental functions."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from shlo_quant.engines.fast.ops import libm
from shlo_quant.engines.fast.ops.elements import ByElement, ElementType, Function
from shlo_quant.passes.dialects.constants import Array


def _round_nearest_afz(element: ElementType) -> Function:
    """Halves away from zero."""

    def rounded(operand: Array) -> Array:
        whole = np.trunc(operand)
        return np.where(np.abs(operand - whole) >= 0.5, whole + np.copysign(operand.dtype.type(1), operand), whole)

    return element.through_f32(rounded)


def _rounding(function: Function) -> ByElement:
    """A function to integral values, which are of the type again."""
    return lambda element: element.through_f32(function)


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


BY_ELEMENT: Mapping[str, ByElement] = {
    "atan2": _transcendental("atan2"),
    "cbrt": _transcendental("cbrt"),
    "ceil": _rounding(np.ceil),
    "cosine": _transcendental("cos"),
    "exponential": _transcendental("exp"),
    "exponential_minus_one": _transcendental("expm1"),
    "floor": _rounding(np.floor),
    "log": _transcendental("log"),
    "log_plus_one": _transcendental("log1p"),
    "logistic": _logistic,
    "round_nearest_afz": _round_nearest_afz,
    "round_nearest_even": _rounding(np.rint),
    "rsqrt": _reciprocal_square_root,
    "sine": _transcendental("sin"),
    "sqrt": _square_root,
    "tan": _transcendental("tan"),
    "tanh": _transcendental("tanh"),
}
