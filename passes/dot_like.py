"""`DotLike`: what convolution and dot_general have in common, seen as one multiply-accumulate with named dimensions."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from shlo_quant.passes.dialects.constants import Array, stored_constant
from shlo_quant.passes.dialects.quant import UniformType, uniform_type
from shlo_quant.passes.dialects.stablehlo import DYNAMIC, conv_dimension_numbers, dot_dimension_numbers
from shlo_quant.passes.rewrite import defining_op

DOT_LIKE = ("stablehlo.convolution", "stablehlo.dot_general")


@dataclass(frozen=True)
class DotLike:
    """A convolution or dot_general; operands may be quantized or float.

    Attributes:
      op: the op.
      summed_dimensions: the dimensions of rhs that are summed over (kernel input feature and spatial, or contracting).
      result_dimensions: rhs dimension -> the result dimension it becomes, for the dimensions that survive.
    """

    op: ir.Operation
    summed_dimensions: tuple[int, ...]
    result_dimensions: dict[int, int]

    @staticmethod
    def of(op: ir.Operation) -> DotLike:
        """The view of an op whose name is in `DOT_LIKE`."""
        return _convolution(op) if op.name == "stablehlo.convolution" else _dot_general(op)

    @property
    def lhs(self) -> ir.Value:
        return self.op.operands[0]

    @property
    def rhs(self) -> ir.Value:
        return self.op.operands[1]

    @property
    def result(self) -> ir.Value:
        return self.op.results[0]

    def multiply_adds(self) -> int | None:
        """Multiply-adds of one execution (padding counted as if it were data); None for dynamic shapes."""
        sizes: list[int] = [*self.result.type.shape, *(self.rhs.type.shape[d] for d in self.summed_dimensions)]
        return None if DYNAMIC in sizes else math.prod(sizes)

    def accumulator_bound(self, lhs: UniformType, rhs: UniformType, rhs_value: ir.Value) -> int | None:
        """The largest magnitude that a sum of (lhs - zero point) * (rhs - zero point) can have.

        Args:
          lhs, rhs: the quantized types of the operands.
          rhs_value: where a constant rhs is read from; its integers give a tighter bound than its type.
        Returns: None if the number of summed elements is not known and rhs is not constant.
        """
        lhs_reach = max(abs(lhs.storage_min - lhs.zero_point), abs(lhs.storage_max - lhs.zero_point))
        stored = stored_constant(rhs_value)
        if stored is not None:
            return lhs_reach * int(_magnitude_sums(stored, rhs, self.summed_dimensions).max(initial=0))
        sizes: list[int] = [self.rhs.type.shape[d] for d in self.summed_dimensions]
        if DYNAMIC in sizes:
            return None
        rhs_reach = max(max(abs(rhs.storage_min - z), abs(rhs.storage_max - z)) for z in rhs.zero_points)
        return lhs_reach * rhs_reach * math.prod(sizes)


def _magnitude_sums(stored: Array, uniform: UniformType, dimensions: tuple[int, ...]) -> Array:
    """Sums of |q - zero point|, without a wide copy of large weights where zero points are 0."""
    if uniform.has_zero_point:
        magnitudes = np.abs(stored.astype(np.int64) - broadcast_parameter(uniform.zero_points, uniform, stored.ndim))
        return np.asarray(magnitudes.sum(axis=dimensions))
    negative = np.minimum(stored, 0).sum(axis=dimensions, dtype=np.int64)
    return np.asarray(stored.sum(axis=dimensions, dtype=np.int64) - 2 * negative)


def accumulator_reach(value: ir.Value) -> int | None:
    """The largest magnitude of the accumulator of a quantized convolution or dot_general, also after data movement.

    Returns: None if `value` is nothing of the kind, or its bound is not known.
    """
    op = defining_op(value, *DOT_LIKE, "stablehlo.reshape", "stablehlo.transpose")
    if op is None:
        return None
    if op.name not in DOT_LIKE:
        return accumulator_reach(op.operands[0])
    dot = DotLike.of(op)
    lhs, rhs, result = (uniform_type(v) for v in (dot.lhs, dot.rhs, dot.result))
    if lhs is None or rhs is None or result is None or result.storage_type.width != 32 or result.has_zero_point:
        return None
    product = np.asarray(rhs.scales) * lhs.scale
    if len(result.scales) != len(product) or not np.allclose(result.scales, product, rtol=1e-6, atol=0):
        return None
    return dot.accumulator_bound(lhs, rhs, dot.rhs)


def broadcast_parameter(values: tuple[int, ...] | tuple[float, ...], uniform: UniformType, rank: int) -> Array:
    """Scales or zero points of a type as an array that broadcasts against a tensor of that rank."""
    shape = [1] * rank
    if uniform.quantized_dimension is not None:
        shape[uniform.quantized_dimension] = len(values)
    return np.asarray(values).reshape(shape)


def _convolution(op: ir.Operation) -> DotLike:
    numbers = conv_dimension_numbers(op)
    summed = (numbers.kernel_input_feature_dimension, *numbers.kernel_spatial_dimensions)
    result = {numbers.kernel_output_feature_dimension: numbers.output_feature_dimension}
    return DotLike(op, summed, result)


def _dot_general(op: ir.Operation) -> DotLike:
    numbers = dot_dimension_numbers(op)
    lhs_taken = {*numbers.lhs_batching_dimensions, *numbers.lhs_contracting_dimensions}
    batching, contracting = list(numbers.rhs_batching_dimensions), tuple(numbers.rhs_contracting_dimensions)
    free = [d for d in range(len(op.operands[1].type.shape)) if d not in batching and d not in contracting]
    first_free = len(op.operands[0].type.shape) - len(lhs_taken) + len(batching)
    result = {d: i for i, d in enumerate(batching)} | {d: first_free + i for i, d in enumerate(free)}
    return DotLike(op, contracting, result)
