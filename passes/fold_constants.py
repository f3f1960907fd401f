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
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from torch_mlir import ir

from shlo_quant.passes.base import ModulePass
from shlo_quant.passes.dialects.constants import Array, numpy_dtype, stored_constant
from shlo_quant.passes.dialects.quant import integer_range, is_quantized
from shlo_quant.passes.dialects.stablehlo import comparison, constant, int_list, splat
from shlo_quant.passes.rewrite import Rewriter, defining_op, erase_dead_ops

Evaluate = Callable[..., Array | None]

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


def broadcast_view(array: Array, shape: list[int], dimensions: list[int]) -> Array:
    """What broadcast_in_dim makes of an array, without a copy. Spec: broadcast_in_dim."""
    order = sorted(range(len(dimensions)), key=dimensions.__getitem__)
    sizes = [1] * len(shape)
    for dimension, size in zip(dimensions, array.shape, strict=True):
        sizes[dimension] = size
    return np.broadcast_to(array.transpose(order).reshape(sizes), shape)


def is_splat(array: Array) -> bool:
    """Whether all elements share one place in memory."""
    return array.size > 0 and all(
        stride == 0 or size == 1 for stride, size in zip(array.strides, array.shape, strict=True)
    )


def stored_size(array: Array) -> int:
    """How many elements an array, possibly a broadcast view, holds in memory."""
    return math.prod(size for size, stride in zip(array.shape, array.strides, strict=True) if stride or size == 0)


def _widens(result: ir.Type, array: Array) -> bool:
    """Whether a large constant would take more memory (integer weights converted to float)."""
    return array.nbytes > LARGE and numpy_dtype(result).itemsize > array.itemsize


# ---- evaluation, one function a kind of op


def _pure(function: Evaluate) -> Evaluate:
    """A function of the operands alone."""
    return lambda _op, *operands: function(*operands)


def _float64(function: Callable[[Array], Array]) -> Evaluate:
    return lambda _op, operand: function(operand.astype(np.float64)).astype(operand.dtype)


def _divide(lhs: Array, rhs: Array) -> Array | None:
    if lhs.dtype.kind not in "iu":
        return np.asarray(lhs / rhs)
    if not rhs.all():
        return None
    quotient = np.abs(lhs) // np.abs(rhs)
    return np.asarray(np.where((lhs < 0) == (rhs < 0), quotient, -quotient), lhs.dtype)


def _convert(op: ir.Operation, operand: Array) -> Array | None:
    element = op.results[0].type.element_type
    if not isinstance(element, ir.IntegerType):
        return operand
    if element.width == 1:
        return np.asarray(operand != 0)
    lowest, highest = integer_range(element.width, not element.is_unsigned)
    if operand.dtype.kind != "b" and not (
        np.isfinite(operand).all() and ((operand >= lowest) & (operand <= highest)).all()
    ):
        return None
    return operand.astype(f"{'u' if element.is_unsigned else ''}int{max(element.width, 8)}")


def _bitcast(op: ir.Operation, operand: Array) -> Array | None:
    dtype = numpy_dtype(op.results[0].type)
    return np.ascontiguousarray(operand).view(dtype) if dtype.itemsize == operand.itemsize else None


def _compare(op: ir.Operation, lhs: Array, rhs: Array) -> Array | None:
    direction, kind = comparison(op)
    return None if kind == "TOTALORDER" else np.asarray(COMPARE[direction](lhs, rhs))


COMPARE = {
    "EQ": np.equal,
    "NE": np.not_equal,
    "LT": np.less,
    "LE": np.less_equal,
    "GT": np.greater,
    "GE": np.greater_equal,
}


def _slice(op: ir.Operation, operand: Array) -> Array:
    bounds = zip(*(int_list(op, name) or [] for name in ("start_indices", "limit_indices", "strides")), strict=True)
    return np.asarray(operand[tuple(slice(*bound) for bound in bounds)])


ELEMENTWISE: dict[str, Evaluate] = {
    "stablehlo.add": _pure(np.add),
    "stablehlo.subtract": _pure(np.subtract),
    "stablehlo.multiply": _pure(np.multiply),
    "stablehlo.divide": _pure(_divide),
    "stablehlo.maximum": _pure(np.maximum),
    "stablehlo.minimum": _pure(np.minimum),
    "stablehlo.and": _pure(np.bitwise_and),
    "stablehlo.or": _pure(np.bitwise_or),
    "stablehlo.negate": _pure(np.negative),
    "stablehlo.abs": _pure(np.abs),
    "stablehlo.floor": _pure(np.floor),
    "stablehlo.ceil": _pure(np.ceil),
    "stablehlo.sqrt": _float64(np.sqrt),
    "stablehlo.rsqrt": _float64(lambda operand: 1 / np.sqrt(operand)),
    "stablehlo.convert": _convert,
    "stablehlo.bitcast_convert": _bitcast,
    "stablehlo.compare": _compare,
    "stablehlo.select": _pure(np.where),
    "stablehlo.clamp": _pure(lambda low, operand, high: np.minimum(np.maximum(low, operand), high)),
}

DATA_MOVEMENT: dict[str, Evaluate] = {
    "stablehlo.reshape": _pure(lambda operand: operand),
    "stablehlo.transpose": lambda op, operand: operand.transpose(int_list(op, "permutation")),
    "stablehlo.reverse": lambda op, operand: np.flip(operand, tuple(int_list(op, "dimensions") or [])),
    "stablehlo.slice": _slice,
    "stablehlo.concatenate": lambda op, *operands: np.concatenate(operands, op.attributes["dimension"].value),
    "stablehlo.broadcast_in_dim": lambda op, operand: broadcast_view(
        operand, op.results[0].type.shape, int_list(op, "broadcast_dimensions") or []
    ),
}

EVALUATE = ELEMENTWISE | DATA_MOVEMENT


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
