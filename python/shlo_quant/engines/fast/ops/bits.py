"""Logic and shifts. A shift by the width or more, or by a negative number, leaves no bit of the operand."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from shlo_quant.engines.fast.ops.elements import ByElement, ElementType, Function
from shlo_quant.passes.dialects.constants import Array


def _logical(on_bools: Function, on_integers: Function) -> ByElement:
    """and, or, xor, not."""
    return lambda element: on_bools if element.is_bool else element.wrapping(on_integers)


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


BY_ELEMENT: Mapping[str, ByElement] = {
    "and": _logical(np.logical_and, np.bitwise_and),
    "count_leading_zeros": _count_leading_zeros,
    "not": _logical(np.logical_not, np.bitwise_not),
    "or": _logical(np.logical_or, np.bitwise_or),
    "popcnt": _population_count,
    "shift_left": _shift_left,
    "shift_right_arithmetic": _shift_right_arithmetic,
    "shift_right_logical": _shift_right_logical,
    "xor": _logical(np.logical_xor, np.bitwise_xor),
}
