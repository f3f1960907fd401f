"""Clamp-like activations (relu, relu6, hardtanh, clamp) between a producer and a quantize.

%1 = stablehlo.maximum %0, %zero           quantize is monotone, so clamping the float and quantizing is quantizing
%2 = stablehlo.minimum %1, %six      ==>   and clamping the stored integers. Bounds that quantize to the storage
%q = stablehlo.uniform_quantize %2         bounds vanish: the quantize saturates there anyway.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from shlo_quant.passes.dialects.constants import float_dtype
from shlo_quant.passes.dialects.quant import UniformType
from shlo_quant.passes.dialects.stablehlo import elementwise, quantized_constant
from shlo_quant.passes.legalize_qdq_to_quantized_op.values import splat_value
from shlo_quant.passes.numerics.quantize import quantize
from shlo_quant.passes.rewrite import defining_op, single_user


@dataclass(frozen=True)
class Bounds:
    """min(max(x, low), high)."""

    low: float = -math.inf
    high: float = math.inf

    def after(self, inner: Bounds) -> Bounds:
        """These bounds applied to what `inner` has bounded."""
        return Bounds(self._apply(inner.low), self._apply(inner.high))

    def _apply(self, x: float) -> float:
        return min(max(x, self.low), self.high)


def clamp_of(op: ir.Operation) -> tuple[ir.Value, Bounds] | None:
    """The operand and the bounds of a clamp-like op with constant bounds; None if `op` is no such op."""
    if op.name == "stablehlo.clamp":
        low, high = splat_value(op.operands[0]), splat_value(op.operands[2])
        if low is None or high is None or not low <= high:
            return None
        return op.operands[1], Bounds(low, high)
    if op.name not in ("stablehlo.maximum", "stablehlo.minimum"):
        return None
    for operand, other in ((op.operands[0], op.operands[1]), (op.operands[1], op.operands[0])):
        bound = splat_value(other)
        if bound is not None and not math.isnan(bound):
            return operand, Bounds(low=bound) if op.name == "stablehlo.maximum" else Bounds(high=bound)
    return None


def strip_clamps(value: ir.Value) -> tuple[ir.Value, Bounds]:
    """What `value` was before its clamp-like ops, which nothing else may use, and the bounds they impose together."""
    bounds = Bounds()
    while single_user(value) is not None and (op := defining_op(value)) is not None:
        found = clamp_of(op)
        if found is None:
            break
        value, inner = found
        bounds = bounds.after(inner)
    return value, bounds


def quantize_behind_clamps(value: ir.Value) -> ir.Operation | None:
    """The `uniform_quantize` that takes `value` through clamp-like ops alone; None if anything else uses it."""
    user = single_user(value)
    while user is not None and clamp_of(user) is not None:
        user = single_user(user.results[0])
    return user if user is not None and user.name == "stablehlo.uniform_quantize" else None


def clamp_stored(value: ir.Value, uniform: UniformType, bounds: Bounds) -> ir.Value:
    """`value` (quantized, per-tensor type `uniform`) within the bounds; the value itself if they do not bind."""
    low, high = (stored_scalar(bound, uniform) for bound in (bounds.low, bounds.high))
    if low == uniform.storage_min and high == uniform.storage_max:
        return value
    minimum, maximum = (quantized_constant(np.asarray(bound), uniform) for bound in (low, high))
    return elementwise("clamp", minimum, value, maximum, result_type=value.type)


def stored_scalar(expressed: float, uniform: UniformType) -> int:
    """The stored integer of a number in a per-tensor type."""
    array = np.asarray(expressed, float_dtype(uniform.expressed_type))
    return int(quantize(array, uniform.scales, uniform.zero_points, None, uniform.storage_min, uniform.storage_max))
