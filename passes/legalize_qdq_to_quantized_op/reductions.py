"""Reductions of dequantized values: sums in 32-bit integers (average pooling, mean), maxima on stored integers.

    %d = stablehlo.uniform_dequantize %x : (tensor<2x4x!quant.uniform<i8:f32, s:z>>) -> tensor<2x4xf32>
    %r = stablehlo.reduce(%d init: 0.0) applies stablehlo.add across dimensions = [1]
==>
    %a = stablehlo.reduce(%x init: 0) applies stablehlo.add : tensor<2x!quant.uniform<i32:f32, s>>
    %r = stablehlo.uniform_dequantize %a

The division that follows is fused with the quantize behind it, by `elementwise`. A sum is taken only where a quantize
follows, so that a layer norm stays one float island.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from torch_mlir import ir

from shlo_quant.passes.dialects.constants import to_numpy
from shlo_quant.passes.dialects.quant import UniformType, integer_range, signed_type, uniform_type
from shlo_quant.passes.dialects.stablehlo import (
    DYNAMIC,
    combining_op,
    create,
    elementwise,
    fill_body,
    int_list,
    quantized_constant,
    uniform_dequantize,
)
from shlo_quant.passes.legalize_qdq_to_quantized_op.activations import clamp_of, stored_scalar
from shlo_quant.passes.legalize_qdq_to_quantized_op.values import constant_array, dequantized, splat_value
from shlo_quant.passes.numerics.quantize import dequantize
from shlo_quant.passes.rewrite import single_user

REDUCTIONS = ("stablehlo.reduce", "stablehlo.reduce_window")


def fuse_reduction(op: ir.Operation) -> ir.Value | None:
    """A reduce or reduce_window over one dequantized operand, on stored integers; None if it has to stay float."""
    body = combining_op(op.regions[0])
    if len(op.operands) != 2 or body not in ("add", "maximum", "minimum"):
        return None
    source, init = dequantized(op.operands[0]), splat_value(op.operands[1])
    uniform = uniform_type(source) if source is not None else None
    count = _reduced_elements(op)
    if source is None or uniform is None or uniform.is_per_axis or init is None or count is None:
        return None
    if body == "add":
        planned = _plan_sum(op, uniform, init, count)
    else:
        planned = _plan_extreme(op, uniform, init, count, body == "maximum")
    if planned is None:
        return None
    element, stored_init = planned
    start = quantized_constant(np.asarray(stored_init), element)
    new = create(
        op.name, [source, start], [element.tensor_like(op.results[0].type)], dict(op.attributes.items()), regions=1
    )
    fill_body(new, element.element_type, lambda lhs, rhs: elementwise(body, lhs, rhs))
    return uniform_dequantize(new.results[0])


def _plan_sum(op: ir.Operation, uniform: UniformType, init: float, count: int) -> tuple[UniformType, int] | None:
    """Element type and start of an integer sum that cannot overflow 32 bits."""
    reach = max(abs(uniform.storage_min - uniform.zero_point), abs(uniform.storage_max - uniform.zero_point))
    if init != 0 or reach * count > integer_range(32, True)[1] or not _feeds_quantize(op.results[0]):
        return None
    return signed_type(32, uniform.scales, [0], expressed_type=uniform.expressed_type), 0


def _plan_extreme(
    op: ir.Operation, uniform: UniformType, init: float, count: int, is_maximum: bool
) -> tuple[UniformType, int] | None:
    """Element type and start of a maximum or minimum whose start value can never be the result."""
    if count == 0 or not _every_window_has_data(op):
        return None
    start = uniform.storage_min if is_maximum else uniform.storage_max
    limit = float(dequantize(np.asarray(start), uniform.scales, uniform.zero_points, None, np.float32))
    if stored_scalar(init, uniform) != start or not (init <= limit if is_maximum else init >= limit):
        return None
    return dataclasses.replace(uniform), start


def _reduced_elements(op: ir.Operation) -> int | None:
    """How many elements go into one result at most; None if dynamic."""
    if op.name == "stablehlo.reduce_window":
        return math.prod(int_list(op, "window_dimensions") or [])
    sizes = [op.operands[0].type.shape[d] for d in int_list(op, "dimensions") or []]
    return None if DYNAMIC in sizes else math.prod(sizes)


def _every_window_has_data(op: ir.Operation) -> bool:
    """Whether no window of a reduce_window lies in padding alone."""
    if op.name == "stablehlo.reduce" or "padding" not in op.attributes:
        return True
    if any(d != 1 for d in int_list(op, "base_dilations") or []):
        return False
    windows = int_list(op, "window_dimensions") or []
    dilations = int_list(op, "window_dilations") or [1] * len(windows)
    padding = to_numpy(op.attributes["padding"]).tolist()
    reaches = [dilation * (size - 1) for size, dilation in zip(windows, dilations, strict=True)]
    no_gaps = all(d == 1 or (low <= 0 and high <= 0) for d, (low, high) in zip(dilations, padding, strict=True))
    return no_gaps and all(max(low, high) <= r for (low, high), r in zip(padding, reaches, strict=True))


def _feeds_quantize(value: ir.Value) -> bool:
    """Whether a quantize takes `value` through reshapes, clamps and scaling by constants alone."""
    user = single_user(value)
    while user is not None and user.name != "stablehlo.uniform_quantize":
        scaled = user.name in ("stablehlo.divide", "stablehlo.multiply") and any(
            constant_array(v) is not None for v in user.operands
        )
        if not (scaled or user.name == "stablehlo.reshape" or clamp_of(user) is not None):
            return False
        user = single_user(user.results[0])
    return user is not None
