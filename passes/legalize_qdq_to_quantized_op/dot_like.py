"""Convolution and dot_general of dequantized operands, in the form of the LiteRT quantization specification.

    %0 = stablehlo.uniform_dequantize %x : (tensor<..x!quant.uniform<i8:f32, sx:zx>>) -> ..
    %1 = stablehlo.uniform_dequantize %w : (tensor<..x!quant.uniform<i8<-127:127>:f32:0, {sw...}>>) -> ..
    %2 = stablehlo.convolution(%0, %1) ..
    %3 = stablehlo.add %2, %bias
    %q = stablehlo.uniform_quantize %3
==>
    %a = stablehlo.convolution(%x, %w) .. -> tensor<..x!quant.uniform<i32:f32:1, {sx*sw...}>>
    %b = stablehlo.add %a, %bias_i32
    %q = stablehlo.uniform_quantize %b

The accumulator is exact, so the result differs from the float form only where the order of the float sum decides. An op
whose accumulator could leave 32 bits stays float. What StableHLO does not allow is brought to a form that it does: a
right-hand side with zero points of a dot_general moves to zero points 0 in wider storage, operands in different storage
types move to the wider one; all exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from torch_mlir import ir

from shlo_quant.passes.dialects.constants import Array, float_dtype
from shlo_quant.passes.dialects.quant import UniformType, integer_range, signed_type, uniform_type
from shlo_quant.passes.dialects.stablehlo import (
    clone_with,
    elementwise,
    quantized_constant,
    uniform_dequantize,
)
from shlo_quant.passes.dot_like import DotLike, accumulator_reach
from shlo_quant.passes.legalize_qdq_to_quantized_op.activations import quantize_behind_clamps
from shlo_quant.passes.legalize_qdq_to_quantized_op.storage import (
    in_signed_storage,
    move,
    signed_bits,
    without_zero_points,
)
from shlo_quant.passes.legalize_qdq_to_quantized_op.values import (
    along_dimension,
    broadcast_as,
    constant_array,
    dequantized,
)
from shlo_quant.passes.numerics.quantize import quantize_bias
from shlo_quant.passes.rewrite import defining_op, single_user

ACCUMULATOR_LIMIT = integer_range(32, True)[1]
NOT_QUANTIZED = "the sum with the bias is not quantized"


@dataclass(frozen=True)
class Plan:
    """Types of the quantized op: the operands' after `move`, and the accumulator's."""

    lhs: UniformType
    rhs: UniformType
    accumulator: UniformType


def fuse_dot_like(op: ir.Operation) -> ir.Value | None:
    """The op on quantized operands with a 32-bit accumulator, dequantized; None if it stays float (`why_float`)."""
    planned = _plan(DotLike.of(op))
    if isinstance(planned, str):
        return None
    operands = []
    for operand, new in zip(op.operands, (planned.lhs, planned.rhs), strict=True):
        source = dequantized(operand)
        old = uniform_type(source) if source is not None else None
        assert source is not None and old is not None
        operands.append(move(source, old, new))
    accumulator = planned.accumulator.tensor_like(op.results[0].type)
    return uniform_dequantize(clone_with(op, operands, [accumulator]).results[0])


def has_quantized_operands(op: ir.Operation) -> bool:
    """Whether both operands of a float convolution or dot_general are dequantized, from less than 32 bits."""
    types = [uniform_type(source) for v in op.operands if (source := dequantized(v)) is not None]
    return len(types) == len(op.operands) and all(t is not None and t.storage_bits < 32 for t in types)


def why_float(op: ir.Operation) -> str | None:
    """Why a float convolution or dot_general cannot be a quantized op; None if it can."""
    planned = _plan(DotLike.of(op))
    return planned if isinstance(planned, str) else None


def fuse_bias(op: ir.Operation) -> ir.Value | None:
    """An add of a per-channel constant to a dequantized accumulator, as an integer add; None if it stays float.

    It does where nothing quantizes the sum, where a bias does not fit 32 bits, and where rounding it to the scale of
    the accumulator would move the result by more than half a step (`why_bias_float`).
    """
    match = match_bias(op)
    if match is None or why_bias_float(op) is not None:
        return None
    return add_bias(match, _stored(match))


def add_bias(match: Bias, stored: Array) -> ir.Value:
    """The dequantized sum of an accumulator and a bias in its steps."""
    constant = quantized_constant(stored, _along(match.uniform))
    accumulator = match.accumulator
    bias = broadcast_as(constant, [match.dimension], match.added, accumulator.type)
    return uniform_dequantize(elementwise("add", accumulator, bias, result_type=accumulator.type))


def why_bias_float(op: ir.Operation) -> str | None:
    """Why a bias (see `fuse_bias`) cannot be an integer constant; None if it can, or if `op` adds no bias."""
    match = match_bias(op)
    if match is None:
        return "what is added is not a constant along one dimension" if _adds_to_accumulator(op) else None
    uniform, stored = match.uniform, _stored(match)
    reach = accumulator_reach(match.accumulator)
    worst = int(np.abs(stored).argmax()) if stored.size else 0
    if reach is None or reach + int(np.abs(stored).max(initial=0)) > ACCUMULATOR_LIMIT:
        scale = uniform.scales[worst if len(uniform.scales) > 1 else 0]
        return (
            f"bias does not fit 32 bits: {stored[worst]} in channel {worst}, at scale {scale:.4g} "
            f"(input scale * weight scale), beside sums of up to {reach}"
        )
    quantize_op = quantize_behind_clamps(op.results[0])
    result = uniform_type(quantize_op.results[0]) if quantize_op is not None else None
    if result is None:
        return NOT_QUANTIZED
    if max(uniform.scales) > min(result.scales):
        return "the accumulator is coarser than the result, so rounding the bias to it would show"
    return None


def _adds_to_accumulator(op: ir.Operation) -> bool:
    """Whether an add has a dequantized accumulator as an operand."""
    sources = [source for v in op.operands if (source := dequantized(v)) is not None]
    return any(accumulator_reach(source) is not None for source in sources)


def _plan(dot: DotLike) -> Plan | str:
    """Types for the quantized op, or the reason why there is none."""
    lhs_source, rhs_source = dequantized(dot.lhs), dequantized(dot.rhs)
    for side, value, source in (("lhs", dot.lhs, lhs_source), ("rhs", dot.rhs, rhs_source)):
        if source is None:
            return f"{side} is float, made by {_maker(value)}"
    assert lhs_source is not None and rhs_source is not None
    lhs, rhs = uniform_type(lhs_source), uniform_type(rhs_source)
    assert lhs is not None and rhs is not None
    if not has_quantized_operands(dot.op):
        return "an operand is a 32-bit accumulator, which nothing has quantized"
    if lhs.is_per_axis:
        return "lhs is quantized per axis; StableHLO wants it per tensor"
    if lhs.expressed_type != rhs.expressed_type or dot.result.type.element_type != lhs.expressed_type:
        return "operands and result have different expressed types"
    if rhs.quantized_dimension is not None and rhs.quantized_dimension not in dot.result_dimensions:
        return f"rhs is quantized along dimension {rhs.quantized_dimension}, which the op sums over"
    return _plan_types(dot, lhs, rhs, rhs_source)


def _plan_types(dot: DotLike, lhs: UniformType, rhs: UniformType, rhs_source: ir.Value) -> Plan | str:
    reach = dot.accumulator_bound(lhs, rhs, rhs_source)
    if reach is None or reach > ACCUMULATOR_LIMIT:
        return (
            f"the accumulator may reach {reach}, beyond 32 bits"
            if reach
            else "the number of summed elements is dynamic"
        )
    same_storage = (lhs.storage_type, lhs.is_signed) == (rhs.storage_type, rhs.is_signed)
    gets_zero_point = not rhs.is_signed and not same_storage  # from the move to signed storage
    if dot.op.name == "stablehlo.dot_general" and (rhs.has_zero_point or gets_zero_point):
        moved = without_zero_points(rhs)
        if moved is None:
            return "rhs has zero points and 32-bit storage; StableHLO wants zero points 0"
        rhs = moved
    if (lhs.storage_type, lhs.is_signed) != (rhs.storage_type, rhs.is_signed):
        bits = max(signed_bits(lhs), signed_bits(rhs))
        lhs, rhs = in_signed_storage(lhs, bits), in_signed_storage(rhs, bits)
    dtype = float_dtype(lhs.expressed_type)
    scales = (np.asarray(rhs.scales) * lhs.scale).astype(dtype).astype(np.float64)
    if not bool(((scales > 0) & np.isfinite(scales)).all()):
        return f"the product of the scales is not a positive {lhs.expressed_type}"
    dimension = None if rhs.quantized_dimension is None else dot.result_dimensions[rhs.quantized_dimension]
    accumulator = signed_type(32, scales.tolist(), [0] * len(scales), dimension, expressed_type=lhs.expressed_type)
    return Plan(lhs, rhs, accumulator)


class Bias(NamedTuple):
    """A bias that an add brings to a dequantized accumulator.

    Attributes:
      uniform: the accumulator's type.
      dimension: the dimension of the accumulator along which the bias varies.
      expressed: float [size of the dimension], or [1] for one number.
      added: the float operand of the add.
    """

    accumulator: ir.Value
    uniform: UniformType
    dimension: int
    expressed: Array
    added: ir.Value


def match_bias(op: ir.Operation) -> Bias | None:
    """The bias that `op` adds, if it is constant and nothing else uses the accumulator."""
    for operand, added in ((op.operands[0], op.operands[1]), (op.operands[1], op.operands[0])):
        accumulator = dequantized(operand)
        if accumulator is None or accumulator_reach(accumulator) is None or single_user(operand) is None:
            continue
        uniform, array = uniform_type(accumulator), constant_array(added)
        if uniform is None or array is None or single_user(accumulator) is None:
            continue
        dimensions = range(array.ndim) if uniform.quantized_dimension is None else [uniform.quantized_dimension]
        for dimension in dimensions:
            line = along_dimension(array, dimension)
            if line is not None and bool(np.isfinite(line).all()):
                return Bias(accumulator, uniform, dimension, line, added)
    return None


def _stored(match: Bias) -> Array:
    """The bias in steps of the accumulator, int64: nearest."""
    return quantize_bias(match.expressed.astype(np.float64), np.asarray(match.uniform.scales))


def _along(uniform: UniformType) -> UniformType:
    """The type of a 1-D constant that is broadcast along the quantized dimension."""
    if not uniform.is_per_axis:
        return uniform
    return signed_type(32, uniform.scales, uniform.zero_points, 0, expressed_type=uniform.expressed_type)


def _maker(value: ir.Value) -> str:
    op = defining_op(value)
    return "an argument" if op is None else op.name
