"""Elementwise ops between dequantizes and a quantize, and requantizes: every rule starts at the quantize.

    %0 = stablehlo.uniform_dequantize %x
    %1 = stablehlo.uniform_dequantize %y     ==>   %q = stablehlo.add %x, %y : (tensor<!q0>, tensor<!q1>) -> tensor<!q2>
    %2 = stablehlo.add %0, %1
    %q = stablehlo.uniform_quantize %2

    uniform_quantize(uniform_dequantize(%x)) ==>   %x, or a requantize if the types differ

Exact: the spec defines the quantized op as dequantize, op, quantize. Operands in different storage types first move to
a common one at the same scale; float constants (a scalar, or integers) become constants with a scale that holds them
exactly. The float op must have no other user, so that no work is done twice.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from torch_mlir import ir

from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.dialects.quant import UniformType, signed_type, uniform_type
from shlo_quant.passes.dialects.stablehlo import DYNAMIC, elementwise, quantized_constant, uniform_quantize
from shlo_quant.passes.legalize_qdq_to_quantized_op.activations import clamp_stored, strip_clamps
from shlo_quant.passes.legalize_qdq_to_quantized_op.storage import SIGNED_BITS, in_common_storage, move
from shlo_quant.passes.legalize_qdq_to_quantized_op.values import broadcast_as, constant_array, dequantized
from shlo_quant.passes.rewrite import defining_op, single_user

UNARY = tuple(
    f"stablehlo.{name}"
    for name in (
        "abs cbrt ceil cosine exponential exponential_minus_one floor log log_plus_one logistic negate "
        "round_nearest_afz round_nearest_even rsqrt sign sine sqrt tan tanh"
    ).split()
)
BINARY = tuple(
    f"stablehlo.{name}" for name in "add atan2 divide maximum minimum multiply power remainder subtract".split()
)

Operand = tuple[UniformType, Callable[[UniformType], ir.Value]]


def fuse_into_quantize(quantize_op: ir.Operation) -> ir.Value | None:
    """The quantized form of what a `uniform_quantize` of floats quantizes; None if it stays a float island."""
    uniform = uniform_type(quantize_op.results[0])
    if uniform is None or uniform_type(quantize_op.operands[0]) is not None:
        return None
    value, bounds = strip_clamps(quantize_op.operands[0])
    if uniform.is_per_axis and value != quantize_op.operands[0]:
        return None
    source = dequantized(value)
    if source is not None:
        requantized = source if source.type == quantize_op.results[0].type else uniform_quantize(source, uniform)
        return requantized if uniform.is_per_axis else clamp_stored(requantized, uniform, bounds)
    if uniform.is_per_axis:
        return None
    fused = _fuse_elementwise(value, uniform)
    return None if fused is None else clamp_stored(fused, uniform, bounds)


def _fuse_elementwise(value: ir.Value, uniform: UniformType) -> ir.Value | None:
    """The quantized op with result type `uniform` for the float op behind `value`."""
    op = defining_op(value, *UNARY, *BINARY)
    if op is None or single_user(value) is None:
        return None
    operands = [quantized_operand(v, uniform.expressed_type) for v in op.operands]
    known = [operand for operand in operands if operand is not None]
    if len(known) < len(operands) or all(dequantized(v) is None for v in op.operands):
        return None
    common = in_common_storage([*(t for t, _ in known), uniform])
    if common is None:
        return None
    *operand_types, result_type = common
    values = [build(new) for (_, build), new in zip(known, operand_types, strict=True)]
    name = op.name.removeprefix("stablehlo.")
    result = elementwise(name, *values, result_type=result_type.tensor_like(value.type))
    return move(result, result_type, uniform)


def quantized_operand(value: ir.Value, expressed_type: ir.Type) -> Operand | None:
    """A float operand as (per-tensor type, what builds it in a type of that scale); None if it has no exact form."""
    source = dequantized(value)
    if source is not None:
        uniform = uniform_type(source)
        assert uniform is not None
        if uniform.is_per_axis or uniform.expressed_type != expressed_type:
            return None
        return uniform, lambda new: move(source, uniform, new)
    array = constant_array(value)
    exact = None if array is None else _exact_constant(array)
    if exact is None:
        return None
    stored, own = exact
    return own, lambda new: _broadcast_constant(move(quantized_constant(stored, own), own, new), value, new)


def _exact_constant(array: Array) -> tuple[Array, UniformType] | None:
    """Stored integers and a type that hold an f32 array exactly: a number by its sign and magnitude, or integers."""
    if array.dtype != np.float32 or array.size == 0 or not bool(np.isfinite(array).all()):
        return None
    first = float(array.flat[0])
    if bool((array == first).all()):
        sign = np.broadcast_to(np.int8(np.sign(first)), array.shape)
        return sign, signed_type(8, [abs(first) or 1.0], [0])
    largest = float(np.abs(array).max())
    if largest < 1 << 24 and bool((array == np.rint(array)).all()):
        bits = next(b for b in SIGNED_BITS if largest < 1 << (b - 1))
        return array.astype(np.int64), signed_type(bits, [1.0], [0])
    return None


def _broadcast_constant(constant: ir.Value, value: ir.Value, uniform: UniformType) -> ir.Value:
    """The constant in the shape of the float value that it replaces."""
    if DYNAMIC not in value.type.shape:
        return constant
    return broadcast_as(constant, range(value.type.rank), value, uniform.tensor_like(value.type))


def why_float(op: ir.Operation) -> str:
    """Why an elementwise op was left in float."""
    for index, operand in enumerate(op.operands):
        is_float = isinstance(operand.type.element_type, ir.FloatType)
        if is_float and dequantized(operand) is None and constant_array(operand) is None:
            maker = defining_op(operand)
            origin = "an argument" if maker is None else maker.name
            return f"operand {index} is float, made by {origin}"
    if len(list(op.results[0].uses)) > 1:
        return "the float result has several users"
    return "the result is not quantized"
