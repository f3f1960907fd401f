"""Convolution and dot: exact sums of integer products, then one requantization.

With rhs zero points 0, the sum over (q - z) * w is the sum over q * w, in storage types, minus z * sum(w):

    %a = stablehlo.convolution(%x, %w) : (tensor<1x8x8x3x!i8>, tensor<3x3x3x4x!i8>) -> tensor<1x8x8x4x!i32>
==>
    %p = stablehlo.pad %x, %zero_point
    %a = stablehlo.convolution(%p, %w) : (tensor<1x10x10x3xi8>, tensor<3x3x3x4xi8>) -> tensor<1x8x8x4xi32>
    %b = stablehlo.add %a, %correction

Otherwise zero points are subtracted from widened operands first. Sums are 32 bits wide if the operands' bounds (and the
weights, if constant) prove that enough, else 64; sums before a correction may wrap, as they wrap back. Sums that even
64 bits might not hold are computed literally: dequantize, the float op, quantize.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from shlo_quant.passes.dialects import stablehlo
from shlo_quant.passes.dialects.constants import Array, stored_constant
from shlo_quant.passes.dialects.quant import UniformType, with_element_type
from shlo_quant.passes.dot_like import DOT_LIKE, DotLike, broadcast_parameter
from shlo_quant.passes.errors import Unsupported
from shlo_quant.passes.legalize_quant_to_math.builder import BuilderOperations
from shlo_quant.passes.legalize_quant_to_math.elementwise import lower_in_float
from shlo_quant.passes.legalize_quant_to_math.lowering import Lowering, Rule
from shlo_quant.passes.numerics.operations import Parameters
from shlo_quant.passes.numerics.profiles import equal_scales, move_zero_point


def lower_dot_like(op: ir.Operation, lowering: Lowering) -> ir.Value | list[ir.Value]:
    """Accumulate in integers and requantize; a float lhs (hybrid) meets a dequantized rhs."""
    dot = DotLike.of(op)
    lhs, rhs = lowering.uniform(dot.lhs), lowering.quantized(dot.rhs)
    if lhs is None:
        return lower_in_float(op, lowering)
    if rhs.quantized_dimension in dot.summed_dimensions:
        raise Unsupported(f"rhs must not be quantized along a dimension that is summed, got {rhs.quantized_dimension}")
    bound = dot.accumulator_bound(lhs, rhs, dot.rhs)
    if bound is None:
        bound = (1 << 63) - 1
    if bound >= 1 << 63:
        return lower_in_float(op, lowering)
    accumulator = _accumulator_type(dot, lhs, rhs, bound)
    if not rhs.has_zero_point and lhs.is_signed == rhs.is_signed:
        total = _sum_stored(dot, lhs, accumulator, lowering)
    else:
        total = _sum_widened(dot, accumulator, lowering)
    return _requantize(total, accumulator, lowering.quantized(dot.result), lowering)


def lower_dot(op: ir.Operation, lowering: Lowering) -> ir.Value | list[ir.Value]:
    """The legacy dot is a dot_general that contracts the last dimension of lhs with the first of rhs."""
    numbers = _stablehlo.DotDimensionNumbers.get([], [], [len(op.operands[0].type.shape) - 1], [0])
    general = stablehlo.create(
        "stablehlo.dot_general", op.operands, [op.results[0].type], {"dot_dimension_numbers": numbers}
    )
    return lower_dot_like(general, lowering)


def _accumulator_type(dot: DotLike, lhs: UniformType, rhs: UniformType, bound: int) -> Parameters:
    """What the sums are: integers within +-bound of scale lhs * rhs and zero point 0, along the result's dimensions."""
    scales = tuple(lhs.scale * scale for scale in rhs.scales)
    dimension = None if rhs.quantized_dimension is None else dot.result_dimensions[rhs.quantized_dimension]
    return Parameters(scales, (0,) * len(scales), dimension, 32 if bound < 1 << 31 else 64, True, -bound, bound)


def _requantize(total: ir.Value, accumulator: Parameters, result: UniformType, lowering: Lowering) -> ir.Value:
    """Sums to stored integers of the result, without rounding if the scales agree.

    In f32, or f64 if that is the expressed type: sums soon exceed what f16 and bf16 can hold.
    """
    is_wide = isinstance(result.expressed_type, ir.F64Type)
    operations = BuilderOperations(result.expressed_type if is_wide else ir.F32Type.get(), total)
    if not equal_scales(operations.format, accumulator, result):
        return lowering.profile.requantize(operations, total, accumulator, result)
    stored = move_zero_point(operations, total, accumulator, result)
    largest = max(abs(result.storage_min), abs(result.storage_max))
    lowering.note_magnitude(stored, min(largest, accumulator.storage_max + max(map(abs, result.zero_points))))
    return stored


# ---- sums in storage types, corrected


def _sum_stored(dot: DotLike, lhs: UniformType, accumulator: Parameters, lowering: Lowering) -> ir.Value:
    """Sum the products of stored integers, and correct for the lhs zero point."""
    operand = lowering.stored(dot.lhs)
    has_padding = dot.op.name == "stablehlo.convolution" and lhs.has_zero_point
    if has_padding:
        operand = _padded_with(operand, lhs.zero_point, dot)
    result_type = with_element_type(dot.result.type, ir.IntegerType.get_signless(accumulator.storage_bits))
    op = stablehlo.clone_with(dot.op, [operand, lowering.stored(dot.rhs)], [result_type])
    if has_padding:
        op.attributes["padding"] = stablehlo.padding(np.zeros([len(result_type.shape) - 2, 2]))
        if "lhs_dilation" in op.attributes:
            del op.attributes["lhs_dilation"]
    if not lhs.has_zero_point:
        return op.results[0]
    return _corrected(op.results[0], dot, lhs.zero_point, lowering)


def _padded_with(stored: ir.Value, zero_point: int, dot: DotLike) -> ir.Value:
    """The padding and dilation of a convolution's lhs done by `pad`, with the zero point where the op would put 0."""
    numbers = stablehlo.conv_dimension_numbers(dot.op)
    spatial, rank = list(numbers.input_spatial_dimensions), len(stored.type.shape)
    edges = np.zeros([rank, 2], np.int64)
    if "padding" in dot.op.attributes:
        edges[spatial] = np.asarray(ir.DenseElementsAttr(dot.op.attributes["padding"]))
    interior = np.zeros(rank, np.int64)
    interior[spatial] = np.array(stablehlo.int_list(dot.op, "lhs_dilation") or [1] * len(spatial)) - 1
    if not edges.any() and not interior.any():
        return stored
    value = stablehlo.splat(zero_point, ir.RankedTensorType.get([], stored.type.element_type))
    return stablehlo.pad(stored, value, edges[:, 0].tolist(), edges[:, 1].tolist(), interior.tolist())


def _corrected(total: ir.Value, dot: DotLike, zero_point: int, lowering: Lowering) -> ir.Value:
    """Subtract zero point * sum(rhs) from every sum: a constant if rhs is."""
    rank = len(dot.rhs.type.shape)
    dimensions = [dot.result_dimensions[d] for d in range(rank) if d not in dot.summed_dimensions]
    operations = BuilderOperations(ir.F32Type.get(), total)
    element = total.type.element_type
    constant = stored_constant(dot.rhs)
    if constant is not None:
        sums = constant.sum(axis=dot.summed_dimensions, dtype=np.int64) * -zero_point
        wrapped = sums.astype(np.int32) if element.width == 32 else sums
        return operations.add(total, operations.broadcast(wrapped, dimensions, element)) if sums.any() else total
    scalar = ir.RankedTensorType.get([], element)
    widened = stablehlo.convert(lowering.stored(dot.rhs), element)
    sums = stablehlo.reduce(widened, stablehlo.splat(0, scalar), dot.summed_dimensions, "add")
    products = operations.multiply(
        operations.broadcast_value(sums, dimensions), operations.integers([zero_point], None, element.width)
    )
    return operations.subtract(total, products)


# ---- sums of widened operands


def _sum_widened(dot: DotLike, accumulator: Parameters, lowering: Lowering) -> ir.Value:
    """Subtract the zero points from both operands first; then padding with 0 is right, and so is any zero point."""
    bits = accumulator.storage_bits
    operands = [_without_zero_point(v, bits, lowering) for v in (dot.lhs, dot.rhs)]
    result_type = with_element_type(dot.result.type, ir.IntegerType.get_signless(bits))
    return stablehlo.clone_with(dot.op, operands, [result_type]).results[0]


def _without_zero_point(value: ir.Value, bits: int, lowering: Lowering) -> ir.Value:
    uniform, constant = lowering.quantized(value), stored_constant(value)
    if constant is not None:
        return stablehlo.constant(_difference(constant, uniform), ir.IntegerType.get_signless(bits))
    stored = lowering.stored(value)
    operations = BuilderOperations(ir.F32Type.get(), stored)
    widened = operations.to_integer(stored, bits, True)
    if not uniform.has_zero_point:
        return widened
    return operations.subtract(widened, operations.integers(uniform.zero_points, uniform.quantized_dimension, bits))


def _difference(stored: Array, uniform: UniformType) -> Array:
    return stored.astype(np.int64) - broadcast_parameter(uniform.zero_points, uniform, stored.ndim)


RULES: Mapping[str, Rule] = MappingProxyType({"stablehlo.dot": lower_dot} | dict.fromkeys(DOT_LIKE, lower_dot_like))
