"""Data movement between dequantize and quantize, on stored integers.

    reshape(uniform_dequantize(%x))   ==>   uniform_dequantize(reshape(%x))        `sink_dequantize`, downwards
    uniform_quantize(reshape(%f))     ==>   reshape(uniform_quantize(%f))          `hoist_quantize`, upwards

Both are exact, as quantize and dequantize work element by element. They bring the quantize next to the arithmetic that
it ends, and the dequantize next to the arithmetic that it feeds.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

import numpy as np
from torch_mlir import ir

from shlo_quant.passes.dialects.constants import float_dtype
from shlo_quant.passes.dialects.quant import UniformType, uniform_type
from shlo_quant.passes.dialects.stablehlo import (
    clone_with,
    int_list,
    quantized_constant,
    uniform_dequantize,
    uniform_quantize,
)
from shlo_quant.passes.legalize_qdq_to_quantized_op.activations import stored_scalar
from shlo_quant.passes.legalize_qdq_to_quantized_op.values import constant_array, dequantized, splat_value
from shlo_quant.passes.numerics.arrays import ArrayOperations
from shlo_quant.passes.numerics.floats import float_format
from shlo_quant.passes.numerics.profiles import Profile
from shlo_quant.passes.numerics.quantize import dequantize
from shlo_quant.passes.rewrite import Rewriter, defining_op, single_user

# op -> the operands that are moved; the others are indices, sizes or predicates
DATA_OPERANDS: dict[str, slice] = {
    "stablehlo.broadcast_in_dim": slice(0, 1),
    "stablehlo.concatenate": slice(0, None),
    "stablehlo.dynamic_broadcast_in_dim": slice(0, 1),
    "stablehlo.dynamic_reshape": slice(0, 1),
    "stablehlo.dynamic_slice": slice(0, 1),
    "stablehlo.dynamic_update_slice": slice(0, 2),
    "stablehlo.gather": slice(0, 1),
    "stablehlo.pad": slice(0, 2),
    "stablehlo.reshape": slice(0, 1),
    "stablehlo.reverse": slice(0, 1),
    "stablehlo.select": slice(1, 3),
    "stablehlo.slice": slice(0, 1),
    "stablehlo.transpose": slice(0, 1),
}


def sink_dequantize(op: ir.Operation) -> ir.Value | None:
    """Data movement of dequantized values: move the stored integers, then dequantize.

    All moved operands must have one quantized type; float constants among them must be exact in it.
    """
    data = list(op.operands)[DATA_OPERANDS[op.name]]
    types = {uniform_type(q) for v in data if (q := dequantized(v)) is not None}
    if len(types) != 1 or (uniform := types.pop()) is None:
        return None
    result = moved_type(op, uniform)
    if result is None:
        return None
    moves = [_stored_operand(v, uniform) for v in data]
    if any(move is None for move in moves):
        return None
    new = clone_with(op, _with_data(op, [move() for move in moves if move]), [result.tensor_like(op.results[0].type)])
    return uniform_dequantize(new.results[0])


def hoist_quantize(rewriter: Rewriter, profile: Profile) -> None:
    """Move every quantize above the data movement that makes its operand, unless `sink_dequantize` can do it all.

    Args:
      profile: how constants are quantized.
    """
    pending = list(rewriter.ops("stablehlo.uniform_quantize"))
    while pending:
        quantize_op = pending.pop()
        op = defining_op(quantize_op.operands[0], *DATA_OPERANDS)
        uniform = uniform_type(quantize_op.results[0])
        if op is None or uniform is None or uniform.is_per_axis or single_user(op.results[0]) is None:
            continue
        data = list(op.operands)[DATA_OPERANDS[op.name]]
        sources = [q.type.element_type if (q := dequantized(v)) is not None else None for v in data]
        if None not in sources and len(set(sources)) == 1:
            continue
        with rewriter.before(quantize_op):
            values = [quantized_value(v, uniform, profile) for v in data]
            new = clone_with(op, _with_data(op, values), [quantize_op.results[0].type])
        rewriter.replace(quantize_op, new.results[0])
        rewriter.erase(op)
        pending += [made for v in values if (made := defining_op(v, "stablehlo.uniform_quantize")) is not None]


def quantized_value(value: ir.Value, uniform: UniformType, profile: Profile) -> ir.Value:
    """A float value in a per-tensor quantized type: a new constant if it is constant, else a quantize."""
    array = constant_array(value)
    is_small = array is not None and 0 not in array.strides and list(array.shape) == list(value.type.shape)
    if array is None or not is_small or array.dtype != float_dtype(uniform.expressed_type):
        return uniform_quantize(value, uniform)
    operations = ArrayOperations(float_format(array.dtype), array.ndim)
    return quantized_constant(profile.quantize(operations, array, uniform), uniform)


def moved_type(op: ir.Operation, uniform: UniformType) -> UniformType | None:
    """The quantized type of the result when a tensor of type `uniform` is moved; None if no type can hold it."""
    if uniform.quantized_dimension is None:
        return uniform
    dimension = _moved_dimension(op, uniform.quantized_dimension)
    return None if dimension is None else dataclasses.replace(uniform, quantized_dimension=dimension)


def _moved_dimension(op: ir.Operation, dimension: int) -> int | None:
    """Where the quantized dimension goes; spec constraints of transpose, reshape and broadcast_in_dim."""
    before, after = op.operands[0].type.shape, op.results[0].type.shape
    if op.name == "stablehlo.transpose":
        return (int_list(op, "permutation") or []).index(dimension)
    if op.name == "stablehlo.broadcast_in_dim":
        moved = (int_list(op, "broadcast_dimensions") or [])[dimension]
        return moved if after[moved] == before[dimension] else None
    if op.name == "stablehlo.reshape" and op.operands[0].type.has_static_shape:
        left = math.prod(before[:dimension])
        for candidate, size in enumerate(after):
            if size == before[dimension] and math.prod(after[:candidate]) == left:
                return candidate
    return None


def _stored_operand(value: ir.Value, uniform: UniformType) -> Callable[[], ir.Value] | None:
    """What builds the operand in quantized form; None if it cannot be had exactly."""
    source = dequantized(value)
    if source is not None:
        return lambda: source
    number = splat_value(value)
    if number is None or value.type.rank != 0 or uniform.is_per_axis:
        return None
    stored = stored_scalar(number, uniform)
    dtype = float_dtype(uniform.expressed_type)
    if dequantize(np.asarray(stored), uniform.scales, uniform.zero_points, None, dtype) != number:
        return None
    return lambda: quantized_constant(np.asarray(stored), uniform)


def _with_data(op: ir.Operation, data: list[ir.Value]) -> list[ir.Value]:
    operands = list(op.operands)
    operands[DATA_OPERANDS[op.name]] = data
    return operands
