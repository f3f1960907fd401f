"""Conversions between element types."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from torch_mlir import ir

from shlo_quant.engines.fast.ops.elements import ElementType
from shlo_quant.engines.fast.ops.kernel import CompileRegion, Kernel, shape_of
from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.errors import Unsupported


def convert(op: ir.Operation) -> Callable[[Array], Array]:
    """Integers wrap, floats round to the nearest or, to integers, toward zero and saturate."""
    return conversion(ElementType.of(op.operands[0]), ElementType.of(op.results[0]))


def conversion(source: ElementType, target: ElementType) -> Callable[[Array], Array]:
    """The function from arrays of one element type to another."""
    if source == target:
        return lambda values: values
    if target.is_bool:
        return lambda values: np.asarray(values != 0)
    if target.is_float:
        return lambda values: target.rounded(values.astype(np.uint8) if source.is_bool else values)
    if source.is_float:
        return lambda values: target.saturated(values.astype(np.float64))
    return target.wrapped


def bitcast_same_width(op: ir.Operation) -> Callable[[Array], Array]:
    """bitcast_convert between types of one width."""
    source, target = ElementType.of(op.operands[0]), ElementType.of(op.results[0])
    if source.bits != target.bits:
        raise Unsupported(f"between elements of {source.bits} and {target.bits} bits")
    return lambda values: target.from_bits(source.to_bits(values))


def bitcast_convert(op: ir.Operation, _compile_region: CompileRegion) -> Kernel:
    """One element of more bits is many of fewer along the last dimension, the lowest bits first."""
    source, target = ElementType.of(op.operands[0]), ElementType.of(op.results[0])
    shape, narrow = shape_of(op.results[0]), min(source.bits, target.bits)

    def split(inputs: Sequence[Array]) -> tuple[Array]:
        bits, dtype = source.to_bits(inputs[0]), source.bits_dtype
        parts = [(bits >> dtype.type(n)) & dtype.type((1 << narrow) - 1) for n in range(0, source.bits, narrow)]
        return (target.from_bits(np.stack(parts, -1).reshape(shape)),)

    def join(inputs: Sequence[Array]) -> tuple[Array]:
        bits, dtype = source.to_bits(inputs[0]).astype(target.bits_dtype), target.bits_dtype
        parts = [bits[..., i] << dtype.type(i * narrow) for i in range(target.bits // narrow)]
        return (target.from_bits(np.bitwise_or.reduce(parts).reshape(shape)),)

    return split if source.bits >= target.bits else join


def reduce_precision(op: ir.Operation) -> Callable[[Array], Array]:
    """Round the significand to `mantissa_bits`, then send what `exponent_bits` cannot hold to zero or infinity."""
    element = ElementType.of(op.operands[0])
    exponent_bits, mantissa_bits = (int(op.attributes[f"{part}_bits"].value) for part in ("exponent", "mantissa"))
    own_mantissa = element.mantissa_bits
    own_exponent = element.bits - own_mantissa - 1

    def reduced(operand: Array) -> Array:
        bits = element.to_bits(operand).astype(np.uint64)
        if mantissa_bits < own_mantissa:
            bits = _round_significand(bits, own_mantissa - mantissa_bits)
        if exponent_bits < own_exponent:
            bits = _limit_exponent(bits, element.bits, own_mantissa, exponent_bits)
        result = element.from_bits((bits & np.uint64((1 << element.bits) - 1)).astype(element.bits_dtype))
        nan = operand if mantissa_bits > 0 else np.full_like(operand, np.inf)
        return np.where(np.isnan(operand), nan, result)

    return reduced


def _round_significand(bits: Array, dropped: int) -> Array:
    """Drop low bits, to nearest, halves to even; may carry into the exponent."""
    last = np.uint64(1 << dropped)
    bias = ((bits & last) >> np.uint64(dropped)) + np.uint64((1 << dropped >> 1) - 1)
    return np.asarray((bits + bias) & ~np.uint64((1 << dropped) - 1))


def _limit_exponent(bits: Array, width: int, mantissa: int, exponent_bits: int) -> Array:
    """Zero for exponents too small for that many bits, infinity for those too large; the sign stays."""
    own_bits = width - mantissa - 1
    bias, new_bias = (1 << (own_bits - 1)) - 1, (1 << (exponent_bits - 1)) - 1
    exponents = np.uint64(((1 << own_bits) - 1) << mantissa)
    exponent, sign = bits & exponents, bits & np.uint64(1 << (width - 1))
    is_large, is_small = (
        exponent > np.uint64(bias + new_bias << mantissa),
        exponent <= np.uint64(bias - new_bias << mantissa),
    )
    return np.where(is_small, sign, np.where(is_large, sign | exponents, bits))
