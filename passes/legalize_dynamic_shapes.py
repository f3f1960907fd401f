"""Turn the shape, tensor and arith ops of a program with dynamic dimensions into StableHLO.

    %0 = shape.shape_of %conv : tensor<?x4xf32> -> tensor<2xindex>
    %1 = stablehlo.dynamic_broadcast_in_dim %bias, %0, dims = [1] : tensor<?x4xf32>
    ==>
    %0 = stablehlo.get_dimension_size %arg0, dim = 0 : tensor<i32>      (the argument that the size comes from)
    %1 = stablehlo.concatenate (reshape %0), 4, dim = 0 : tensor<2xi32>
    %2 = stablehlo.dynamic_broadcast_in_dim %bias, %1, dims = [1] : tensor<?x4xf32>

PyTorch's exporter promises that a dynamic dimension is never broadcast against another (torch-mlir's
`assume_strict_symbolic_shapes`), so `shape.assuming` regions are inlined and broadcasts to the same type removed.
Unsupported: sizes that depend on data.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, TypeAlias

import numpy as np
from torch_mlir import ir

from shlo_quant.passes.base import ModulePass
from shlo_quant.passes.dialects.constants import to_numpy
from shlo_quant.passes.dialects.locations import finding
from shlo_quant.passes.dialects.stablehlo import (
    DYNAMIC,
    DotDimensions,
    broadcast_in_dim,
    constant,
    conv_dimension_numbers,
    convert,
    create,
    elementwise,
    int_list,
    reshape,
)
from shlo_quant.passes.errors import Unsupported, UnsupportedError
from shlo_quant.passes.rewrite import Rewriter, defining_op, erase_dead_ops

Size: TypeAlias = Any  # an int if the size is known, else a tensor<i32> without dimensions

SHAPE_DIALECTS = ("shape.", "tensor.", "arith.")


# ---- rules


def inline_assuming(op: ir.Operation) -> list[ir.Value]:
    """The body of `shape.assuming` in its place; its witness always holds."""
    *body, end = list(op.regions[0].blocks[0].operations)
    for inner in body:
        inner.operation.move_before(op)
    return list(end.operation.operands)


def simplify_broadcast(op: ir.Operation) -> ir.Value | None:
    """A dynamic broadcast that changes nothing, or whose result is static."""
    operand, result, dimensions = op.operands[0], op.results[0].type, int_list(op, "broadcast_dimensions") or []
    if operand.type == result and dimensions == list(range(len(dimensions))):
        return operand
    return broadcast_in_dim(operand, result, dimensions) if result.has_static_shape else None


def simplify_reshape(op: ir.Operation) -> ir.Value | None:
    """A dynamic reshape that changes nothing (one unknown size follows from the others), or whose result is static."""
    operand, result = op.operands[0], op.results[0].type
    if operand.type == result and list(result.shape).count(DYNAMIC) <= 1:
        return operand
    return reshape(operand, result) if result.has_static_shape else None


def legalize_size_operands(op: ir.Operation) -> None:
    """Compute operands that hold sizes by StableHLO ops.

    Raises: Unsupported for a size that none of the known ops makes.
    """
    for index, operand in enumerate(op.operands):
        owner = defining_op(operand)
        if owner is not None and owner.name.startswith(SHAPE_DIALECTS):
            op.operands[index] = size_tensor(operand, op.results[0].type)


def size_tensor(value: ir.Value, result: ir.Type) -> ir.Value:
    """A vector of sizes, of element type i32 for index; known sizes of the result that they describe are constants."""
    element = value.type.element_type
    element = i32() if isinstance(element, ir.IndexType) else element
    if not value.type.shape:
        return _scalar_tensor(scalar_size(_maker(value, "tensor.from_elements").operands[0]), element)
    known = list(result.shape) if len(result.shape) == value.type.shape[0] else [DYNAMIC] * value.type.shape[0]
    sizes = [dimension(value, d) if size == DYNAMIC else size for d, size in enumerate(known)]
    one = ir.RankedTensorType.get([1], element)
    parts = [reshape(_scalar_tensor(size, element), one) for size in sizes]
    vector = ir.RankedTensorType.get([len(parts)], element)
    axis = {"dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 0)}
    return create("stablehlo.concatenate", parts, [vector], axis).results[0]


def i32() -> ir.IntegerType:
    """The type that sizes are computed in."""
    return ir.IntegerType.get_signless(32)


def _scalar_tensor(size: Size, element: ir.Type) -> ir.Value:
    return constant(np.array(size, np.int64), element) if isinstance(size, int) else convert(size, element)


# ---- sizes


def dimension(value: ir.Value, d: int) -> Size:
    """Element `d` of a vector of sizes."""
    op = _maker(value, *DIMENSION)
    return DIMENSION[op.name](op, d)


def _broadcast_dimension(op: ir.Operation, d: int) -> Size:
    """The one of several sizes, aligned at the last, that is not 1."""
    rank = op.results[0].type.shape[0]
    aligned = [(operand, d - (rank - operand.type.shape[0])) for operand in op.operands]
    sizes = [dimension(operand, own) for operand, own in aligned if own >= 0]
    return next((size for size in sizes if not (isinstance(size, int) and size == 1)), 1)


def _piece(op: ir.Operation, d: int) -> Size:
    """A size out of a vector that `size_tensor` made."""
    reshaped = _maker(op.operands[d], "stablehlo.reshape", "stablehlo.constant")
    if reshaped.name == "stablehlo.constant":
        return int(to_numpy(reshaped.attributes["value"]).item())
    known = defining_op(reshaped.operands[0], "stablehlo.constant")
    return int(to_numpy(known.attributes["value"]).item()) if known else convert(reshaped.operands[0], i32())


DIMENSION: dict[str, Callable[[ir.Operation, int], Size]] = {
    "shape.shape_of": lambda op, d: size_of(op.operands[0], d),
    "shape.broadcast": _broadcast_dimension,
    "shape.const_shape": lambda op, d: int(to_numpy(op.attributes["shape"])[d]),
    "tensor.from_elements": lambda op, d: scalar_size(op.operands[d]),
    "arith.index_cast": lambda op, d: dimension(op.operands[0], d),
    "arith.constant": lambda op, d: int(to_numpy(op.attributes["value"])[d]),
    "stablehlo.constant": lambda op, d: int(to_numpy(op.attributes["value"])[d]),
    "stablehlo.concatenate": _piece,
}


def scalar_size(value: ir.Value) -> Size:
    """An index or integer computed from sizes."""
    op = _maker(value, *SCALAR, *ARITHMETIC)
    if op.name in ARITHMETIC:
        return combine(ARITHMETIC[op.name], scalar_size(op.operands[0]), scalar_size(op.operands[1]))
    return SCALAR[op.name](op)


def _known(value: ir.Value) -> int:
    size = scalar_size(value)
    if not isinstance(size, int):
        raise Unsupported("an index into sizes must be a constant", STATIC_REMEDY)
    return size


def _num_elements(op: ir.Operation) -> Size:
    product: Size = 1
    for d in range(op.operands[0].type.shape[0]):
        product = combine("multiply", product, dimension(op.operands[0], d))
    return product


SCALAR: dict[str, Callable[[ir.Operation], Size]] = {
    "arith.constant": lambda op: int(ir.IntegerAttr(op.attributes["value"]).value),
    "arith.index_cast": lambda op: scalar_size(op.operands[0]),
    "arith.extsi": lambda op: scalar_size(op.operands[0]),
    "arith.trunci": lambda op: scalar_size(op.operands[0]),
    "tensor.dim": lambda op: size_of(op.operands[0], _known(op.operands[1])),
    "tensor.extract": lambda op: dimension(op.operands[0], _known(op.operands[1])),
    "shape.num_elements": _num_elements,
}
ARITHMETIC = {
    "arith.addi": "add",
    "arith.subi": "subtract",
    "arith.muli": "multiply",
    "arith.divui": "divide",
    "arith.divsi": "divide",
    "arith.floordivsi": "divide",
}
EVALUATE: dict[str, Callable[[int, int], int]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.floordiv,
}


def combine(name: str, lhs: Size, rhs: Size) -> Size:
    """Arithmetic on sizes, which are never negative."""
    if isinstance(lhs, int) and isinstance(rhs, int):
        return EVALUATE[name](lhs, rhs)
    return elementwise(name, _scalar_tensor(lhs, i32()), _scalar_tensor(rhs, i32()))


def _maker(value: ir.Value, *names: str) -> ir.Operation:
    op = defining_op(value)
    if op is None or op.name not in names:
        raise Unsupported(f"sizes that come from {op.name if op else 'arguments'} are not supported", STATIC_REMEDY)
    return op


STATIC_REMEDY = "export with static shapes"


# ---- where a size comes from


def size_of(value: ir.Value, d: int) -> Size:
    """The size of a dimension, read as near to the arguments as it can be, so that it is no further use of `value`."""
    while value.type.shape[d] == DYNAMIC and (found := _source(value, d)) is not None:
        value, d = found
    if value.type.shape[d] != DYNAMIC:
        return int(value.type.shape[d])
    resized = defining_op(value, "stablehlo.dynamic_reshape", "stablehlo.dynamic_broadcast_in_dim")
    if resized is not None:
        return dimension(resized.operands[1], d)
    attributes = {"dimension": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), d)}
    scalar = ir.RankedTensorType.get([], i32())
    return create("stablehlo.get_dimension_size", [value], [scalar], attributes).results[0]


Place = tuple[ir.Value, int]


def _source(value: ir.Value, d: int) -> Place | None:
    """An operand of the op that makes `value`, and its dimension that has the size of dimension `d`."""
    op = defining_op(value, *SOURCES)
    return None if op is None else SOURCES[op.name](op, d)


def _elementwise_source(op: ir.Operation, d: int) -> Place | None:
    """Any operand of the result's rank (clamp and select may take scalars)."""
    rank = len(op.results[0].type.shape)
    return next(((operand, d) for operand in op.operands if len(operand.type.shape) == rank), None)


def _transpose_source(op: ir.Operation, d: int) -> Place:
    return op.operands[0], (int_list(op, "permutation") or [])[d]


def _reduce_source(op: ir.Operation, d: int) -> Place:
    reduced = int_list(op, "dimensions") or []
    return op.operands[0], [i for i in range(len(op.operands[0].type.shape)) if i not in reduced][d]


def _convolution_source(op: ir.Operation, d: int) -> Place | None:
    numbers = conv_dimension_numbers(op)
    return (op.operands[0], numbers.input_batch_dimension) if d == numbers.output_batch_dimension else None


def _dot_source(op: ir.Operation, d: int) -> Place:
    lhs, rhs = op.operands
    dimensions = DotDimensions.of(op)
    from_lhs = [*dimensions.lhs_batching, *dimensions.lhs_free(len(lhs.type.shape))]
    if d < len(from_lhs):
        return lhs, from_lhs[d]
    return rhs, dimensions.rhs_free(len(rhs.type.shape))[d - len(from_lhs)]


def _window_source(op: ir.Operation, d: int) -> Place | None:
    """A dimension that the window does not move along or widen over."""
    window, strides = int_list(op, "window_dimensions") or [], int_list(op, "window_strides")
    return (op.operands[0], d) if window[d] == 1 and (strides is None or strides[d] == 1) else None


def _pad_source(op: ir.Operation, d: int) -> Place | None:
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    return None if any((int_list(op, name) or [])[d] for name in names) else (op.operands[0], d)


def _concatenate_source(op: ir.Operation, d: int) -> Place | None:
    return None if op.attributes["dimension"].value == d else (op.operands[0], d)


ELEMENTWISE = (
    "abs add clamp compare convert divide exponential logistic maximum minimum multiply negate power reverse rsqrt "
    "select sqrt subtract tanh uniform_dequantize uniform_quantize"
)
SOURCES: dict[str, Callable[[ir.Operation, int], Place | None]] = {
    **{f"stablehlo.{name}": _elementwise_source for name in ELEMENTWISE.split()},
    "stablehlo.transpose": _transpose_source,
    "stablehlo.reduce": _reduce_source,
    "stablehlo.convolution": _convolution_source,
    "stablehlo.dot": _dot_source,
    "stablehlo.dot_general": _dot_source,
    "stablehlo.reduce_window": _window_source,
    "stablehlo.pad": _pad_source,
    "stablehlo.concatenate": _concatenate_source,
}


# ---- pass

RULES: dict[str, Callable[[ir.Operation], ir.Value | list[ir.Value] | None]] = {
    "shape.assuming": inline_assuming,
    "stablehlo.dynamic_broadcast_in_dim": simplify_broadcast,
    "stablehlo.dynamic_reshape": simplify_reshape,
}


@dataclass(frozen=True)
class LegalizeDynamicShapes(ModulePass):
    """See the module docstring."""

    name: ClassVar[str] = "legalize-dynamic-shapes"

    def run(self, module: ir.Module) -> None:
        findings = []
        with Rewriter(module) as rewriter:
            for op in rewriter.ops():
                if not op.name.startswith(("stablehlo.", "shape.assuming")):
                    continue
                with rewriter.before(op):
                    values = RULES[op.name](op) if op.name in RULES else None
                    if values is not None:
                        rewriter.replace(op, values)
                        continue
                    try:
                        legalize_size_operands(op)
                    except Unsupported as problem:
                        findings.append(finding(op, problem.reason, problem.remedy))
        if findings:
            raise UnsupportedError(self.name, findings)
        erase_dead_ops(module)
