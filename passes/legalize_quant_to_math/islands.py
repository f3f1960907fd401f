"""Floats between dequantize and quantize that a profile computes on integers: the mean over an image.

    %d = stablehlo.uniform_dequantize %x : (tensor<1x8x7x7x!i8>) -> tensor<1x8x7x7xf32>
    %s = stablehlo.reduce(%d init: 0.0) applies stablehlo.add across dimensions = [2, 3]
    %r = stablehlo.reshape %s : (tensor<1x8xf32>) -> tensor<1x8x1x1xf32>
    %m = stablehlo.divide %r, %count
    %q = stablehlo.uniform_quantize %m
==>
    %s = stablehlo.reduce(stablehlo.convert %x : i32) applies stablehlo.add across dimensions = [2, 3]
    the profile's `mean` of %s
"""

from __future__ import annotations

import numpy as np
from torch_mlir import ir

from shlo_quant.passes.dialects import stablehlo
from shlo_quant.passes.dialects.constants import constant_behind, stored_constant
from shlo_quant.passes.dialects.quant import uniform_type
from shlo_quant.passes.legalize_quant_to_math.builder import BuilderOperations
from shlo_quant.passes.legalize_quant_to_math.lowering import Lowering
from shlo_quant.passes.rewrite import Rewriter, defining_op

SPATIAL = [2, 3]


def lower_means(rewriter: Rewriter, lowering: Lowering) -> None:
    """Replace every quantized mean of an image for which the profile has a formula of its own."""
    for op in rewriter.ops("stablehlo.uniform_quantize"):
        with rewriter.before(op):
            stored = _lower_mean(op, lowering)
            if stored is not None:
                rewriter.replace(op, stablehlo.bitcast_convert(stored, op.results[0].type))


def _lower_mean(op: ir.Operation, lowering: Lowering) -> ir.Value | None:
    expressed, result = op.operands[0], uniform_type(op.results[0])
    image = averaged_image(expressed)
    operand = None if image is None else uniform_type(image)
    if image is None or operand is None or operand.is_per_axis or result is None or result.is_per_axis:
        return None
    i32 = ir.IntegerType.get_signless(32)
    zero = stablehlo.splat(0, ir.RankedTensorType.get([], i32))
    total = stablehlo.reduce(stablehlo.convert(lowering.stored(image), i32), zero, SPATIAL, "add")
    kept = stablehlo.reshape(total, ir.RankedTensorType.get(expressed.type.shape, i32))
    count = image.type.shape[2] * image.type.shape[3]
    return lowering.profile.mean(BuilderOperations(result.expressed_type, kept), kept, count, operand, result)


def averaged_image(mean: ir.Value) -> ir.Value | None:
    """The quantized image of which a float value is the mean over dimensions 2 and 3, both kept with size 1."""
    divide = defining_op(mean, "stablehlo.divide")
    reshape = None if divide is None else defining_op(divide.operands[0], "stablehlo.reshape")
    reduce = None if reshape is None else defining_op(reshape.operands[0], "stablehlo.reduce")
    if divide is None or reduce is None or len(reduce.operands) != 2:
        return None
    dequantize = defining_op(reduce.operands[0], "stablehlo.uniform_dequantize")
    if dequantize is None or stablehlo.int_list(reduce, "dimensions") != SPATIAL or not _sums(reduce):
        return None
    image = dequantize.operands[0]
    shape = image.type.shape
    if stablehlo.DYNAMIC in shape or mean.type.shape != [*shape[:2], 1, 1]:
        return None
    count = constant_behind(divide.operands[1])
    return image if count is not None and bool((count == shape[2] * shape[3]).all()) else None


def _sums(reduce: ir.Operation) -> bool:
    """Whether a reduce adds up its elements, from 0 on."""
    init = stored_constant(reduce.operands[1])
    return stablehlo.combining_op(reduce.regions[0]) == "add" and init is not None and not np.any(init)
