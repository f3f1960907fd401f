"""Builders for StableHLO ops, typed, one function an op; each inserts at the current insertion point.

The wheel has no op classes for StableHLO. Functions return the op's value, or the op where a caller has to fill its
regions. Attributes are the spec's, under the spec's names. Ops are recognized by name (`op.name`) and read with
`attribute(op, name)`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from shlo_quant.passes.dialects.constants import Array, dense, without_sign
from shlo_quant.passes.dialects.quant import UniformType, with_element_type

DYNAMIC = ir.ShapedType.get_dynamic_size()


def elementwise(
    name: str, *operands: ir.Value, result_type: ir.Type | None = None, **attributes: ir.Attribute
) -> ir.Value:
    """`stablehlo.<name>`; the result type is inferred unless given (it must be for mixed quantized types)."""
    return create(f"stablehlo.{name}", operands, result_type and [result_type], attributes).results[0]


def create(
    name: str,
    operands: Sequence[ir.Value],
    result_types: Sequence[ir.Type] | None = None,
    attributes: Mapping[str, ir.Attribute] | None = None,
    regions: int = 0,
) -> ir.Operation:
    """Any op. `result_types=None` infers them: only safe when every required attribute and no region is given."""
    return ir.Operation.create(
        name,
        results=result_types,
        operands=operands,
        attributes=dict(attributes or {}),
        regions=regions,
        infer_type=result_types is None,
    )


def clone_with(op: ir.Operation, operands: Sequence[ir.Value], result_types: Sequence[ir.Type]) -> ir.Operation:
    """The same op (attributes, regions) on other operands, with other result types."""
    new = op.clone(ip=ir.InsertionPoint.current)
    for index, operand in enumerate(operands):
        new.operands[index] = operand
    for result, result_type in zip(new.results, result_types, strict=True):
        result.set_type(result_type)
    return new


# ---- constants


def constant(array: Any, element_type: ir.Type | None = None) -> ir.Value:
    """A plain constant; without an element type the array's own."""
    attribute = dense(array, element_type)
    return create("stablehlo.constant", [], [attribute.type], {"value": attribute}).results[0]


def quantized_constant(stored: Array, uniform: UniformType) -> ir.Value:
    """A constant of quantized type from its stored integers."""
    attribute = dense(without_sign(stored, uniform), uniform.storage_type)
    result = ir.RankedTensorType.get(attribute.type.shape, uniform.element_type)
    return create("stablehlo.constant", [], [result], {"value": attribute}).results[0]


def splat(value: float | int, tensor: ir.Type) -> ir.Value:
    """A constant of a static plain tensor type, every element `value`; costs no memory."""
    element = tensor.element_type
    attribute_class = ir.IntegerAttr if isinstance(element, ir.IntegerType) else ir.FloatAttr
    scalar = attribute_class.get(element, value)
    attribute = ir.DenseElementsAttr.get_splat(ir.RankedTensorType.get(tensor.shape, element), scalar)
    return create("stablehlo.constant", [], [attribute.type], {"value": attribute}).results[0]


# ---- quantization


def uniform_quantize(operand: ir.Value, uniform: UniformType) -> ir.Value:
    """float -> quantized, or quantized -> quantized (a requantize)."""
    return create("stablehlo.uniform_quantize", [operand], [uniform.tensor_like(operand.type)]).results[0]


def uniform_dequantize(operand: ir.Value) -> ir.Value:
    """quantized -> its expressed type."""
    return create("stablehlo.uniform_dequantize", [operand]).results[0]


def bitcast_convert(operand: ir.Value, result_type: ir.Type) -> ir.Value:
    """Reinterpret the bits; between quantized types and their storage integers in either direction."""
    return create("stablehlo.bitcast_convert", [operand], [result_type]).results[0]


# ---- elementwise


def convert(operand: ir.Value, element_type: ir.Type) -> ir.Value:
    """Convert elements; the operand itself if it has that element type already."""
    if operand.type.element_type == element_type:
        return operand
    return create("stablehlo.convert", [operand], [with_element_type(operand.type, element_type)]).results[0]


def compare(lhs: ir.Value, rhs: ir.Value, direction: str, compare_type: str | None = None) -> ir.Value:
    """Direction EQ, NE, GE, GT, LE, LT; compare_type FLOAT, TOTALORDER, SIGNED, UNSIGNED."""
    attributes = {"comparison_direction": _stablehlo.ComparisonDirectionAttr.get(direction)}
    if compare_type is not None:
        attributes["compare_type"] = _stablehlo.ComparisonTypeAttr.get(compare_type)
    return create("stablehlo.compare", [lhs, rhs], None, attributes).results[0]


def comparison(op: ir.Operation) -> tuple[str, str | None]:
    """Direction and compare_type of a compare op; None for the type if absent."""
    direction: str = _stablehlo.ComparisonDirectionAttr(op.attributes["comparison_direction"]).value
    if "compare_type" not in op.attributes:
        return direction, None
    return direction, _stablehlo.ComparisonTypeAttr(op.attributes["compare_type"]).value


# ---- data movement


def reshape(operand: ir.Value, result_type: ir.Type) -> ir.Value:
    """The same elements in another shape; the types carry the shapes."""
    return create("stablehlo.reshape", [operand], [result_type]).results[0]


def broadcast_in_dim(operand: ir.Value, result_type: ir.Type, dimensions: Sequence[int]) -> ir.Value:
    """Operand dimension i becomes result dimension `dimensions[i]`; the others repeat."""
    attributes = {"broadcast_dimensions": i64s(dimensions)}
    return create("stablehlo.broadcast_in_dim", [operand], [result_type], attributes).results[0]


def dynamic_broadcast_in_dim(
    operand: ir.Value, shape: ir.Value, result_type: ir.Type, dimensions: Sequence[int]
) -> ir.Value:
    """As `broadcast_in_dim`, to the sizes in `shape`, a 1-D integer tensor (see `shape_tensor`)."""
    attributes = {"broadcast_dimensions": i64s(dimensions)}
    return create("stablehlo.dynamic_broadcast_in_dim", [operand, shape], [result_type], attributes).results[0]


def transpose(operand: ir.Value, permutation: Sequence[int], result_type: ir.Type | None = None) -> ir.Value:
    """Result dimension i is operand dimension `permutation[i]`; the result type is inferred unless given."""
    attributes = {"permutation": i64s(permutation)}
    return create("stablehlo.transpose", [operand], result_type and [result_type], attributes).results[0]


def pad(
    operand: ir.Value, padding_value: ir.Value, low: Sequence[int], high: Sequence[int], interior: Sequence[int]
) -> ir.Value:
    """Pad with a scalar, one entry a dimension: at the low edge, at the high edge, between elements."""
    attributes = {"edge_padding_low": i64s(low), "edge_padding_high": i64s(high), "interior_padding": i64s(interior)}
    return create("stablehlo.pad", [operand, padding_value], None, attributes).results[0]


def slice_(operand: ir.Value, starts: Sequence[int], limits: Sequence[int], strides: Sequence[int]) -> ir.Value:
    """The elements from `starts` up to, and without, `limits` in steps of `strides`, one entry a dimension."""
    attributes = {"start_indices": i64s(starts), "limit_indices": i64s(limits), "strides": i64s(strides)}
    return create("stablehlo.slice", [operand], None, attributes).results[0]


def shape_tensor(value: ir.Value) -> ir.Value:
    """The sizes of a tensor of rank 1 or more as a 1-D tensor of i32; constants where they are static."""
    i32 = ir.IntegerType.get_signless(32)
    one = ir.RankedTensorType.get([1], i32)
    sizes = []
    for index, size in enumerate(value.type.shape):
        if size == DYNAMIC:
            dimension = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), index)
            scalar = create("stablehlo.get_dimension_size", [value], None, {"dimension": dimension}).results[0]
            sizes.append(reshape(scalar, one))
        else:
            sizes.append(constant(np.array([size], np.int32)))
    if len(sizes) == 1:
        return sizes[0]
    attributes = {"dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)}
    return create("stablehlo.concatenate", sizes, None, attributes).results[0]


# ---- dot_general


@dataclass(frozen=True)
class DotDimensions:
    """The `dot_dimension_numbers` of a dot_general."""

    lhs_batching: tuple[int, ...]
    rhs_batching: tuple[int, ...]
    lhs_contracting: tuple[int, ...]
    rhs_contracting: tuple[int, ...]

    @staticmethod
    def of(op: ir.Operation) -> DotDimensions:
        """Those of a dot_general, or the ones that a `stablehlo.dot` implies."""
        if op.name == "stablehlo.dot":
            return DotDimensions((), (), (len(op.operands[0].type.shape) - 1,), (0,))
        numbers = dot_dimension_numbers(op)
        return DotDimensions(
            tuple(numbers.lhs_batching_dimensions),
            tuple(numbers.rhs_batching_dimensions),
            tuple(numbers.lhs_contracting_dimensions),
            tuple(numbers.rhs_contracting_dimensions),
        )

    def lhs_free(self, rank: int) -> list[int]:
        return [d for d in range(rank) if d not in self.lhs_batching and d not in self.lhs_contracting]

    def rhs_free(self, rank: int) -> list[int]:
        return [d for d in range(rank) if d not in self.rhs_batching and d not in self.rhs_contracting]


def dot_general(lhs: ir.Value, rhs: ir.Value, dimensions: DotDimensions, result_type: ir.Type) -> ir.Value:
    """A dot_general; its result type is not inferred, since its element type is the caller's choice."""
    numbers = _stablehlo.DotDimensionNumbers.get(
        lhs_batching_dimensions=list(dimensions.lhs_batching),
        rhs_batching_dimensions=list(dimensions.rhs_batching),
        lhs_contracting_dimensions=list(dimensions.lhs_contracting),
        rhs_contracting_dimensions=list(dimensions.rhs_contracting),
    )
    return create("stablehlo.dot_general", [lhs, rhs], [result_type], {"dot_dimension_numbers": numbers}).results[0]


# ---- reductions


def reduce(operand: ir.Value, init: ir.Value, dimensions: Sequence[int], body: str) -> ir.Value:
    """Reduce over dimensions with a body of one StableHLO op (`add`, `maximum`, ...) in the element type of `init`."""
    removed = set(dimensions)
    shape = [size for index, size in enumerate(operand.type.shape) if index not in removed]
    result = ir.RankedTensorType.get(shape, init.type.element_type)
    op = create("stablehlo.reduce", [operand, init], [result], {"dimensions": i64s(dimensions)}, regions=1)
    fill_body(op, init.type.element_type, lambda lhs, rhs: elementwise(body, lhs, rhs))
    return op.results[0]


def fill_body(op: ir.Operation, element_type: ir.Type, combine: Callable[[ir.Value, ir.Value], ir.Value]) -> None:
    """Give a reduce-like op its region: a block of two scalars that returns `combine` of them."""
    scalar = ir.RankedTensorType.get([], element_type)
    location = ir.Location.current
    block = op.regions[0].blocks.append(scalar, scalar, arg_locs=[location, location])
    with ir.InsertionPoint(block):
        create("stablehlo.return", [combine(*block.arguments)], [])


# ---- attributes


def i64s(values: Sequence[int]) -> ir.Attribute:
    """An `array<i64: ...>` attribute."""
    return ir.DenseI64ArrayAttr.get([int(v) for v in values])


def padding(values: Any) -> ir.Attribute:
    """The `padding` attribute of convolution and reduce_window: [spatial dimensions, 2]."""
    return ir.DenseElementsAttr.get(np.asarray(values, np.int64).reshape(-1, 2))


def int_list(op: ir.Operation, name: str) -> list[int] | None:
    """An integer-list attribute, None if absent."""
    return list(op.attributes[name]) if name in op.attributes else None


def conv_dimension_numbers(op: ir.Operation) -> Any:
    """The `dimension_numbers` of a convolution, with the bindings' named fields."""
    return _stablehlo.ConvDimensionNumbers(op.attributes["dimension_numbers"])


def dot_dimension_numbers(op: ir.Operation) -> Any:
    """The `dot_dimension_numbers` of a dot_general, with the bindings' named fields."""
    return _stablehlo.DotDimensionNumbers(op.attributes["dot_dimension_numbers"])


def combining_op(region: ir.Region) -> str:
    """The name (without dialect) of the op if a region is just that op on its two arguments, in any order; or ""."""
    (block,) = region.blocks
    ops = [op.operation for op in block.operations]
    if len(ops) != 2 or len(block.arguments) != 2 or set(ops[0].operands) != set(block.arguments):
        return ""
    return str(ops[0].name).removeprefix("stablehlo.") if list(ops[1].operands) == list(ops[0].results) else ""
