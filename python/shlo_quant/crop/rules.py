"""Rules: which parts of its operands an op needs for a part of its result."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from shlo_quant.crop.boxes import Box, Range, Slide, box_shape, cut_out, full_box, union
from shlo_quant.passes.dialects.constants import Array, dense, numpy_dtype, to_numpy
from shlo_quant.passes.dialects.stablehlo import DotDimensions, conv_dimension_numbers, i64s, int_list, padding
from shlo_quant.passes.errors import Unsupported


@dataclass(frozen=True)
class Step:
    """How a part of an op's results is computed.

    Attributes:
      box: of the results; what was asked for, or more.
      operands: the part of each operand that it takes; None for one that it does without.
      attributes: makes those that differ from the op's.
      name: of the op, if it becomes another.
    """

    box: Box
    operands: tuple[Box | None, ...]
    attributes: Callable[[], Mapping[str, ir.Attribute]] = dict
    name: str = ""


def step_for(op: ir.Operation, wanted: Sequence[Box]) -> Step:
    """The step for the parts of an op's results that are wanted, of at least one.

    Raises: Unsupported for an op that can only be run in its place.
    """
    if not op.name.startswith("stablehlo.") or op.name in ("stablehlo.custom_call", "stablehlo.composite"):
        raise Unsupported(f"{op.name} cannot be computed by itself")
    shapes = {tuple(result.type.shape) for result in op.results}
    if len(shapes) == 1 and op.name in RULES:
        step = RULES[op.name](op, functools.reduce(union, wanted))
        if step is not None:
            return step
    (shape,) = shapes if len(shapes) == 1 else ((),)
    return Step(full_box(shape), tuple(full_box(value.type.shape) for value in op.operands))


def multiply_adds(op: ir.Operation, step: Step) -> int:
    """Multiply-adds of a convolution or dot, combinations of a reduction, of the part that is computed."""
    return math.prod(box_shape(step.box)) * math.prod(_combined(op, step))


def _combined(op: ir.Operation, step: Step) -> list[int]:
    """The sizes of what is combined to one element; [0] for an op that combines nothing."""
    if op.name == "stablehlo.convolution":
        kernel = step.operands[1]
        assert kernel is not None
        numbers = conv_dimension_numbers(op)
        summed = [numbers.kernel_input_feature_dimension, *numbers.kernel_spatial_dimensions]
        return [box_shape(kernel)[d] for d in summed]
    if op.name == "stablehlo.dot_general":
        return [op.operands[0].type.shape[d] for d in DotDimensions.of(op).lhs_contracting]
    if op.name == "stablehlo.reduce":
        return [op.operands[0].type.shape[d] for d in int_list(op, "dimensions") or ()]
    if op.name == "stablehlo.reduce_window":
        return int_list(op, "window_dimensions") or []
    return [0]


def cropped(tensor: ir.Type, box: Box) -> ir.RankedTensorType:
    """The type of a part of a tensor."""
    return ir.RankedTensorType.get(list(box_shape(box)), tensor.element_type)


Rule = Callable[[ir.Operation, Box], "Step | None"]
"""Returns None for "not by parts"."""


def _elementwise(op: ir.Operation, box: Box) -> Step | None:
    """Operands of the result's shape, or scalars."""
    shape = list(op.results[0].type.shape)
    if any(list(operand.type.shape) not in (shape, []) for operand in op.operands):
        return None
    return Step(box, tuple(box if operand.type.shape else () for operand in op.operands))


def _constant(op: ir.Operation, box: Box) -> Step:
    value = op.attributes["value"]

    def attributes() -> dict[str, ir.Attribute]:
        if value.is_splat:
            tensor = cropped(op.results[0].type, box)
            return {"value": ir.DenseElementsAttr.get_splat(tensor, value.get_splat_value())}
        return {"value": dense(cut_out(to_numpy(value), box), value.type.element_type)}

    return Step(box, (), attributes)


def _iota(op: ir.Operation, box: Box) -> Step:
    dimension = op.attributes["iota_dimension"].value

    def attributes() -> dict[str, ir.Attribute]:
        shape = [1] * len(box)
        shape[dimension] = -1
        numbers = np.arange(*box[dimension]).astype(numpy_dtype(op.results[0])).reshape(shape)
        return {"value": dense(np.broadcast_to(numbers, box_shape(box)), op.results[0].type.element_type)}

    return Step(box, (), attributes, "stablehlo.constant")


def _broadcast_in_dim(op: ir.Operation, box: Box) -> Step:
    sizes, dimensions = op.operands[0].type.shape, int_list(op, "broadcast_dimensions") or []
    operand = tuple((0, 1) if size == 1 else box[d] for size, d in zip(sizes, dimensions, strict=True))
    return Step(box, (operand,))


def _reshape(op: ir.Operation, box: Box) -> Step:
    """By groups of dimensions that keep their number of elements; in each, by ranges of its first dimension."""
    sizes, new_sizes = list(op.operands[0].type.shape), list(op.results[0].type.shape)
    operand, result = list(full_box(sizes)), list(full_box(new_sizes))
    for old, new in _groups(sizes, new_sizes):
        first_old, first_new = (
            next((d for d in group if shape[d] > 1), None) for group, shape in ((old, sizes), (new, new_sizes))
        )
        if first_old is None or first_new is None:
            continue
        old_row = math.prod(sizes[d] for d in old if d > first_old)
        new_row = math.prod(new_sizes[d] for d in new if d > first_new)
        unit = math.lcm(old_row, new_row)
        start, stop = box[first_new]
        start, stop = start * new_row // unit * unit, -(-stop * new_row // unit) * unit
        operand[first_old] = (start // old_row, stop // old_row)
        result[first_new] = (start // new_row, stop // new_row)
    return Step(tuple(result), (tuple(operand),))


def _groups(old: Sequence[int], new: Sequence[int]) -> Iterable[tuple[list[int], list[int]]]:
    """The smallest runs of dimensions of two shapes that have as many elements as each other."""
    i = j = 0
    while i < len(old) and j < len(new):
        olds, news = [i], [j]
        old_size, new_size = old[i], new[j]
        i, j = i + 1, j + 1
        while old_size != new_size:
            if old_size < new_size:
                old_size, i = old_size * old[i], i + 1
                olds.append(i - 1)
            else:
                new_size, j = new_size * new[j], j + 1
                news.append(j - 1)
        yield olds, news


def _transpose(op: ir.Operation, box: Box) -> Step:
    permutation = int_list(op, "permutation") or []
    return Step(box, (tuple(box[permutation.index(d)] for d in range(len(box))),))


def _reverse(op: ir.Operation, box: Box) -> Step:
    reversed_, sizes = int_list(op, "dimensions") or [], op.results[0].type.shape
    return Step(
        box,
        (
            tuple(
                (sizes[d] - stop, sizes[d] - start) if d in reversed_ else (start, stop)
                for d, (start, stop) in enumerate(box)
            ),
        ),
    )


def _slice(op: ir.Operation, box: Box) -> Step:
    starts, strides = int_list(op, "start_indices") or [], int_list(op, "strides") or []
    rows = list(zip(box, starts, strides, strict=True))
    operand = tuple((low + start * stride, low + (stop - 1) * stride + 1) for (start, stop), low, stride in rows)
    return Step(
        box,
        (operand,),
        lambda: {"start_indices": i64s([0] * len(box)), "limit_indices": i64s(box_shape(operand))},
    )


def _concatenate(op: ir.Operation, box: Box) -> Step:
    dimension = op.attributes["dimension"].value
    operands: list[Box | None] = []
    offset = 0
    start, stop = box[dimension]
    for operand in op.operands:
        size = operand.type.shape[dimension]
        low, high = max(start - offset, 0), min(stop - offset, size)
        operands.append((*box[:dimension], (low, high), *box[dimension + 1 :]) if low < high else None)
        offset += size
    return Step(box, tuple(operands))


def _pad(op: ir.Operation, box: Box) -> Step:
    low, interior = int_list(op, "edge_padding_low") or [], int_list(op, "interior_padding") or []
    windows = [
        Slide(before, base_dilation=between + 1).window(bounds, size)
        for bounds, size, before, between in zip(box, op.operands[0].type.shape, low, interior, strict=True)
    ]
    return Step(
        box,
        (tuple(window.operand for window in windows), ()),
        lambda: {
            "edge_padding_low": i64s([window.low for window in windows]),
            "edge_padding_high": i64s([window.high for window in windows]),
        },
    )


def _reduce_window(op: ir.Operation, box: Box) -> Step:
    rank = len(box)
    sizes = int_list(op, "window_dimensions") or []
    strides, base, dilations = (
        int_list(op, name) or [1] * rank for name in ("window_strides", "base_dilations", "window_dilations")
    )
    low = _padding(op, rank)[:, 0]
    windows = [
        Slide(int(low[d]), sizes[d], strides[d], dilations[d], base[d]).window(box[d], op.operands[0].type.shape[d])
        for d in range(rank)
    ]
    part = tuple(window.operand for window in windows)
    return Step(
        box,
        tuple(part if operand.type.shape else () for operand in op.operands),
        lambda: {"padding": padding([(window.low, window.high) for window in windows])},
    )


def _padding(op: ir.Operation, rank: int) -> Array:
    """The `padding` attribute, [spatial dimensions, 2]."""
    if "padding" not in op.attributes:
        return np.zeros((rank, 2), np.int64)
    return to_numpy(op.attributes["padding"]).reshape(rank, 2)


def _reduce(op: ir.Operation, box: Box) -> Step:
    reduced, shape = int_list(op, "dimensions") or [], op.operands[0].type.shape
    kept = iter(box)
    part = tuple((0, size) if d in reduced else next(kept) for d, size in enumerate(shape))
    inputs = len(op.operands) // 2
    return Step(box, (*[part] * inputs, *[()] * inputs))


def _dot_general(op: ir.Operation, box: Box) -> Step:
    dimensions = DotDimensions.of(op)
    lhs, rhs = (list(full_box(operand.type.shape)) for operand in op.operands)
    ranges = iter(box)
    for of_lhs, of_rhs in zip(dimensions.lhs_batching, dimensions.rhs_batching, strict=True):
        lhs[of_lhs] = rhs[of_rhs] = next(ranges)
    for d in dimensions.lhs_free(len(lhs)):
        lhs[d] = next(ranges)
    for d in dimensions.rhs_free(len(rhs)):
        rhs[d] = next(ranges)
    return Step(box, (tuple(lhs), tuple(rhs)))


def _convolution(op: ir.Operation, box: Box) -> Step | None:
    if op.attributes["batch_group_count"].value != 1:
        return None
    numbers = conv_dimension_numbers(op)
    lhs_shape, rhs_shape = (operand.type.shape for operand in op.operands)
    lhs, rhs, result = list(full_box(lhs_shape)), list(full_box(rhs_shape)), list(box)
    lhs[numbers.input_batch_dimension] = box[numbers.output_batch_dimension]
    features = _Features.of(op, box[numbers.output_feature_dimension])
    result[numbers.output_feature_dimension] = rhs[numbers.kernel_output_feature_dimension] = features.outputs
    lhs[numbers.input_feature_dimension] = features.inputs
    spatial = list(numbers.input_spatial_dimensions)
    strides, base, dilations = (
        int_list(op, name) or [1] * len(spatial) for name in ("window_strides", "lhs_dilation", "rhs_dilation")
    )
    low = _padding(op, len(spatial))[:, 0]
    kernel = [rhs_shape[d] for d in numbers.kernel_spatial_dimensions]
    windows = [
        Slide(int(low[i]), kernel[i], strides[i], dilations[i], base[i]).window(
            box[numbers.output_spatial_dimensions[i]], lhs_shape[dimension]
        )
        for i, dimension in enumerate(spatial)
    ]
    for dimension, window in zip(spatial, windows, strict=True):
        lhs[dimension] = window.operand
    return Step(
        tuple(result),
        (tuple(lhs), tuple(rhs)),
        lambda: {
            "padding": padding([(window.low, window.high) for window in windows]),
            "feature_group_count": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), features.groups),
        },
    )


@dataclass(frozen=True)
class _Features:
    """The input features that output features of a convolution are computed from, in how many groups."""

    outputs: Range
    inputs: Range
    groups: int

    @staticmethod
    def of(op: ir.Operation, wanted: Range) -> _Features:
        """Of one group as many output features as wanted, of several all."""
        numbers = conv_dimension_numbers(op)
        groups = op.attributes["feature_group_count"].value
        group_inputs = op.operands[1].type.shape[numbers.kernel_input_feature_dimension]
        group_outputs = op.operands[1].type.shape[numbers.kernel_output_feature_dimension] // groups
        first, last = wanted[0] // group_outputs, (wanted[1] - 1) // group_outputs
        outputs = wanted if first == last else (first * group_outputs, (last + 1) * group_outputs)
        return _Features(outputs, (first * group_inputs, (last + 1) * group_inputs), last - first + 1)


def _gather(op: ir.Operation, box: Box) -> Step | None:
    """By indices, and along dimensions of which every slice takes all."""
    numbers = _stablehlo.GatherDimensionNumbers(op.attributes["dimension_numbers"])
    if list(numbers.operand_batching_dims):
        return None
    table, indices = op.operands
    slice_sizes = list(op.attributes["slice_sizes"])
    operand, result = list(full_box(table.type.shape)), list(box)
    kept = [d for d in range(len(operand)) if d not in numbers.collapsed_slice_dims]
    for d, offset in zip(kept, numbers.offset_dims, strict=True):
        if slice_sizes[d] == table.type.shape[d]:
            operand[d] = box[offset]
            slice_sizes[d] = box[offset][1] - box[offset][0]
        else:
            result[offset] = (0, slice_sizes[d])
    of_batch = iter([bounds for d, bounds in enumerate(result) if d not in numbers.offset_dims])
    part = [(0, size) if d == numbers.index_vector_dim else next(of_batch) for d, size in enumerate(indices.type.shape)]
    return Step(tuple(result), (tuple(operand), tuple(part)), lambda: {"slice_sizes": i64s(slice_sizes)})


ELEMENTWISE = frozenset(
    f"stablehlo.{name}"
    for name in (
        "abs add and atan2 bitcast_convert cbrt ceil clamp compare convert cosine count_leading_zeros divide "
        "exponential exponential_minus_one floor is_finite log log_plus_one logistic maximum minimum multiply negate "
        "not or popcnt power reduce_precision remainder round_nearest_afz round_nearest_even rsqrt select shift_left "
        "shift_right_arithmetic shift_right_logical sign sine sqrt subtract tan tanh xor"
    ).split()
)

RULES: Mapping[str, Rule] = {
    **dict.fromkeys(ELEMENTWISE, _elementwise),
    "stablehlo.broadcast_in_dim": _broadcast_in_dim,
    "stablehlo.concatenate": _concatenate,
    "stablehlo.constant": _constant,
    "stablehlo.convolution": _convolution,
    "stablehlo.dot_general": _dot_general,
    "stablehlo.gather": _gather,
    "stablehlo.iota": _iota,
    "stablehlo.pad": _pad,
    "stablehlo.reduce": _reduce,
    "stablehlo.reduce_window": _reduce_window,
    "stablehlo.reshape": _reshape,
    "stablehlo.reverse": _reverse,
    "stablehlo.slice": _slice,
    "stablehlo.transpose": _transpose,
}
