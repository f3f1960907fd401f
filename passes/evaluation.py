"""`EVALUATE`: what StableHLO ops make of numpy arrays, for ops that a pass computes itself.

Floating-point functions are computed in float64 and rounded once, as the reference interpreter does; the basic
operations in the type of their operands. None where the interpreter and numpy might differ.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from torch_mlir import ir

from shlo_quant.passes.dialects.constants import Array, numpy_dtype
from shlo_quant.passes.dialects.quant import integer_range
from shlo_quant.passes.dialects.stablehlo import comparison, int_list

Evaluate = Callable[..., Array | None]


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


def _pure(function: Evaluate) -> Evaluate:
    """A function of the operands alone."""
    return lambda _op, *operands: function(*operands)


def _float64(function: Callable[[Array], Array]) -> Evaluate:
    return lambda _op, operand: function(operand.astype(np.float64)).astype(operand.dtype)


def _power(lhs: Array, rhs: Array) -> Array | None:
    if lhs.dtype.kind in "iu":
        return None
    return np.power(lhs.astype(np.float64), rhs.astype(np.float64)).astype(lhs.dtype)


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
    "stablehlo.exponential": _float64(np.exp),
    "stablehlo.log": _float64(np.log),
    "stablehlo.logistic": _float64(lambda operand: 1 / (1 + np.exp(-operand))),
    "stablehlo.tanh": _float64(np.tanh),
    "stablehlo.sine": _float64(np.sin),
    "stablehlo.cosine": _float64(np.cos),
    "stablehlo.sign": _pure(np.sign),
    "stablehlo.power": _pure(_power),
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
