"""Evaluate ops whose operands are all constants.

    %0 = stablehlo.convert %c : (tensor<1xi64>) -> tensor<1xf32>
    %1 = stablehlo.reshape %0 : (tensor<1xf32>) -> tensor<f32>      ==>      %1 = stablehlo.constant 6.0 : tensor<f32>

Only where the result is no larger than its largest operand: a broadcast that grows stays, and an elementwise op sees
through it. Floating-point functions are computed in float64 and rounded once, as the reference interpreter does.
Leaves alone: quantized types (weights stay stored integers), large integers converted to float, division of integers by
zero, conversions out of range.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch_mlir import ir

from shlo_quant.passes.base import ModulePass
from shlo_quant.passes.dialects.constants import Array, numpy_dtype, stored_constant
from shlo_quant.passes.dialects.quant import is_quantized
from shlo_quant.passes.dialects.stablehlo import constant, int_list, splat
from shlo_quant.passes.evaluation import ELEMENTWISE, EVALUATE, broadcast_view, is_splat
from shlo_quant.passes.rewrite import Rewriter, defining_op, erase_dead_ops

LARGE = 1 << 16  # bytes


def fold(op: ir.Operation) -> ir.Value | None:
    """The constant that an op's value is, or None."""
    result = op.results[0].type
    if is_quantized(result) or not result.has_static_shape:
        return None
    elementwise = op.name in ELEMENTWISE
    found = [constant_operand(operand) if elementwise else plain_constant(operand) for operand in op.operands]
    arrays = [array for array in found if array is not None]
    if len(arrays) < len(found):
        return None
    with np.errstate(all="ignore"):
        return _fold_splat(op, arrays) if elementwise and all(map(is_splat, arrays)) else _fold_arrays(op, arrays)


def _fold_splat(op: ir.Operation, arrays: list[Array]) -> ir.Value | None:
    """Every element of every operand is the same, so one is enough."""
    value = EVALUATE[op.name](op, *(array[(slice(0, 1),) * array.ndim] for array in arrays))
    return None if value is None else splat(value.reshape(-1)[0].item(), op.results[0].type)


def _fold_arrays(op: ir.Operation, arrays: list[Array]) -> ir.Value | None:
    result = op.results[0].type
    sizes = [stored_size(array) for array in arrays]
    if math.prod(result.shape) > (max(sizes) if op.name in ELEMENTWISE else sum(sizes)) or _widens(result, arrays[0]):
        return None
    value = EVALUATE[op.name](op, *arrays)
    return None if value is None else constant(value.reshape(result.shape), result.element_type)


def plain_constant(value: ir.Value) -> Array | None:
    """The elements of a constant that is not quantized."""
    return None if is_quantized(value) else stored_constant(value)


def constant_operand(value: ir.Value) -> Array | None:
    """The elements of a plain constant, or of a broadcast of one, as a view that costs no memory."""
    broadcast = defining_op(value, "stablehlo.broadcast_in_dim")
    if broadcast is None:
        return plain_constant(value)
    array = plain_constant(broadcast.operands[0])
    if array is None or not value.type.has_static_shape:
        return None
    return broadcast_view(array, value.type.shape, int_list(broadcast, "broadcast_dimensions") or [])


def stored_size(array: Array) -> int:
    """How many elements an array, possibly a broadcast view, holds in memory."""
    return math.prod(size for size, stride in zip(array.shape, array.strides, strict=True) if stride or size == 0)


def _widens(result: ir.Type, array: Array) -> bool:
    """Whether a large constant would take more memory (integer weights converted to float)."""
    return array.nbytes > LARGE and numpy_dtype(result).itemsize > array.itemsize


@dataclass(frozen=True)
class FoldConstants(ModulePass):
    """See the module docstring."""

    name: ClassVar[str] = "fold-constants"

    def run(self, module: ir.Module) -> None:
        with Rewriter(module) as rewriter:
            for op in rewriter.ops(*EVALUATE):
                with rewriter.before(op):
                    value = fold(op)
                if value is not None:
                    rewriter.replace(op, value)
        erase_dead_ops(module)
