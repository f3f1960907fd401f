"""`BuilderOperations`: the operations of formulas as StableHLO ops. The profiles in `numerics` say what to compute."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch_mlir import ir

from shlo_quant.passes.dialects import stablehlo
from shlo_quant.passes.dialects.constants import Array, float_dtype
from shlo_quant.passes.dialects.quant import with_element_type
from shlo_quant.passes.errors import ParameterError, Unsupported
from shlo_quant.passes.numerics.floats import FloatFormat, float_format


class BuilderOperations:
    """Emits at the current insertion point; see `numerics.operations.Operations`.

    Args:
      float_type: the float type of the arithmetic.
      like: a value whose shape (sizes of dynamic dimensions, too) all values have.
    """

    def __init__(self, float_type: ir.Type, like: ir.Value) -> None:
        try:
            self._format = float_format(float_dtype(float_type))
        except (TypeError, ParameterError):
            raise Unsupported(f"the expressed type must be f16, bf16, f32 or f64, got {float_type}") from None
        self._float_type = float_type
        self._like = like
        self._shape: ir.Value | None = None

    @property
    def format(self) -> FloatFormat:
        return self._format

    def floats(self, values: Sequence[float], dimension: int | None) -> ir.Value:
        return self._along(self.format.rounded(values), dimension, self._float_type)

    def integers(self, values: Sequence[int], dimension: int | None, bits: int) -> ir.Value:
        return self._along(np.array(values), dimension, ir.IntegerType.get_signless(bits))

    def add(self, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        return stablehlo.elementwise("add", lhs, rhs)

    def subtract(self, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        return stablehlo.elementwise("subtract", lhs, rhs)

    def multiply(self, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        return stablehlo.elementwise("multiply", lhs, rhs)

    def divide(self, lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        return stablehlo.elementwise("divide", lhs, rhs)

    def round_nearest_even(self, value: ir.Value) -> ir.Value:
        return stablehlo.elementwise("round_nearest_even", value)

    def clamp(self, lowest: int, value: ir.Value, highest: int) -> ir.Value:
        element = value.type.element_type
        scalar = ir.RankedTensorType.get([], element)
        bounds = [lowest, highest]
        if not isinstance(element, ir.IntegerType):
            bounds = self.format.rounded(bounds).tolist()
        low, high = (stablehlo.splat(bound, scalar) for bound in bounds)
        return stablehlo.elementwise("clamp", low, value, high, result_type=value.type)  # inference drops bounds

    def at_most(self, value: ir.Value, highest: int) -> ir.Value:
        bound = self.floats([highest], None)
        return stablehlo.elementwise("select", stablehlo.compare(value, bound, "LT"), value, bound)

    def shift_right(self, value: ir.Value, bits: int) -> ir.Value:
        count = self.integers([bits], None, value.type.element_type.width)
        return stablehlo.elementwise("shift_right_arithmetic", value, count)

    def to_float(self, value: ir.Value) -> ir.Value:
        return stablehlo.convert(value, self._float_type)

    def to_integer(self, value: ir.Value, bits: int, is_signed: bool) -> ir.Value:
        make = ir.IntegerType.get_signless if is_signed else ir.IntegerType.get_unsigned
        return stablehlo.convert(value, make(bits))

    def broadcast(self, array: Array, dimensions: Sequence[int], element_type: ir.Type) -> ir.Value:
        """A constant: array dimension i lies along dimension `dimensions[i]`, the others repeat."""
        return self.broadcast_value(stablehlo.constant(array, element_type), dimensions)

    def broadcast_value(self, value: ir.Value, dimensions: Sequence[int]) -> ir.Value:
        """A value of lower rank broadcast to the common shape."""
        result_type = with_element_type(self._like.type, value.type.element_type)
        if stablehlo.DYNAMIC not in result_type.shape:
            return stablehlo.broadcast_in_dim(value, result_type, dimensions)
        if self._shape is None:
            self._shape = stablehlo.shape_tensor(self._like)
        return stablehlo.dynamic_broadcast_in_dim(value, self._shape, result_type, dimensions)

    def _along(self, values: Array, dimension: int | None, element_type: ir.Type) -> ir.Value:
        if dimension is not None and (values != values[0]).any():
            return self.broadcast(values, [dimension], element_type)
        value = values[0].item()
        tensor = with_element_type(self._like.type, element_type)
        if stablehlo.DYNAMIC not in tensor.shape:
            return stablehlo.splat(value, tensor)
        return self.broadcast_value(stablehlo.splat(value, ir.RankedTensorType.get([], element_type)), [])
