"""What stands behind a float value: a dequantize, or a constant."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch_mlir import ir

from shlo_quant.passes.dialects.constants import Array, to_numpy
from shlo_quant.passes.dialects.quant import uniform_type
from shlo_quant.passes.dialects.stablehlo import DYNAMIC, broadcast_in_dim, dynamic_broadcast_in_dim, int_list
from shlo_quant.passes.numerics.quantize import dequantize
from shlo_quant.passes.rewrite import defining_op

BROADCASTS = ("stablehlo.broadcast_in_dim", "stablehlo.dynamic_broadcast_in_dim")


def dequantized(value: ir.Value) -> ir.Value | None:
    """The quantized value that `value` is the dequantized form of; None if it is not a dequantize of a UniformType."""
    op = defining_op(value, "stablehlo.uniform_dequantize")
    if op is None or uniform_type(op.operands[0]) is None:
        return None
    return op.operands[0]


def constant_array(value: ir.Value) -> Array | None:
    """The elements of a value that is constant but for broadcasts, reshapes and dequantizes; None if it is not.

    Broadcasts are numpy views: strides of 0, no memory. A dimension of dynamic size, along which a broadcast repeats
    its operand, has size 1.
    """
    op = defining_op(value)
    if op is None:
        return None
    if op.name == "stablehlo.constant":
        return to_numpy(op.attributes["value"])
    if op.name not in (*BROADCASTS, "stablehlo.reshape", "stablehlo.uniform_dequantize"):
        return None
    operand = constant_array(op.operands[0])
    if operand is None:
        return None
    if op.name == "stablehlo.uniform_dequantize":
        return _dequantized_constant(op.operands[0], operand)
    if op.name == "stablehlo.reshape":
        return operand.reshape(value.type.shape)
    shape = [1] * len(value.type.shape)
    for size, dimension in zip(operand.shape, int_list(op, "broadcast_dimensions") or [], strict=True):
        shape[dimension] = size
    sizes = [own if size == DYNAMIC else size for own, size in zip(shape, value.type.shape, strict=True)]
    return np.broadcast_to(operand.reshape(shape), sizes)


def broadcast_as(value: ir.Value, dimensions: Sequence[int], broadcast: ir.Value, result_type: ir.Type) -> ir.Value:
    """Broadcast a value to `result_type`, whose shape is that of `broadcast`: with its sizes where they are dynamic."""
    if DYNAMIC not in result_type.shape:
        return broadcast_in_dim(value, result_type, dimensions)
    op = defining_op(broadcast, "stablehlo.dynamic_broadcast_in_dim")
    assert op is not None, "a constant gets a dynamic shape by a dynamic broadcast alone"
    return dynamic_broadcast_in_dim(value, op.operands[1], result_type, dimensions)


def splat_value(value: ir.Value) -> float | None:
    """The one number that all elements of a constant have; None if the value is not such a constant."""
    array = constant_array(value)
    if array is None or array.dtype.kind not in "fV" or array.size == 0:
        return None
    first = array.flat[0]
    uniform = all(stride == 0 for stride in array.strides) or bool((array == first).all())
    return float(first) if uniform else None


def along_dimension(array: Array, dimension: int) -> Array | None:
    """The 1-D array that `array` repeats over all dimensions but one; None if it varies over another one."""
    index = tuple(slice(None) if d == dimension else slice(0, 1) for d in range(array.ndim))
    line = array[index]
    if not bool((array == line).all()):
        return None
    return line.reshape(-1)


def _dequantized_constant(source: ir.Value, stored: Array) -> Array | None:
    uniform = uniform_type(source)
    if uniform is None or not isinstance(uniform.expressed_type, ir.F32Type) or not uniform.is_signed:
        return None
    return dequantize(stored, uniform.scales, uniform.zero_points, uniform.quantized_dimension, np.float32)
