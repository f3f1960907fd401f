"""reduce, reduce_window and map: a region on many elements.

Elements are combined one after the other in row-major order, the initial value first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from torch_mlir import ir

from shlo_quant.engines.fast.ops.data_movement import attribute, padded, padding_of
from shlo_quant.engines.fast.ops.elements import ElementType
from shlo_quant.engines.fast.ops.kernel import Build, CompileRegion, Kernel, shape_of
from shlo_quant.engines.fast.ops.region_functions import elementwise_region
from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.dialects.stablehlo import combining_op, int_list

Fold = Callable[[Sequence[Array], Sequence[Array], Sequence[Array]], Sequence[Array]]
"""From inputs [elements, results...], initial values, captured values to results."""

INTEGER_FOLDS = {
    "add": np.add,
    "and": np.bitwise_and,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "multiply": np.multiply,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}
BOOLEAN_FOLDS = {
    "add": np.logical_or,
    "and": np.logical_and,
    "maximum": np.logical_or,
    "minimum": np.logical_and,
    "multiply": np.logical_and,
    "or": np.logical_or,
    "xor": np.logical_xor,
}
FEW_RESULTS = 512
"""Below this many, float sums are left to numpy's `accumulate`, which keeps all partial sums."""


def _reduce(op: ir.Operation, compile_region: CompileRegion) -> Kernel:
    count, dimensions = len(op.results), attribute(op, "dimensions")
    shape, input_shape = shape_of(op.results[0]), shape_of(op.operands[0])
    order = [*sorted(dimensions), *(d for d in range(len(input_shape)) if d not in dimensions)]
    elements = math.prod(input_shape[d] for d in dimensions)
    fold = _fold(op, compile_region)

    def run(inputs: Sequence[Array]) -> Sequence[Array]:
        arrays = [array.transpose(order).reshape(elements, *shape) for array in inputs[:count]]
        return fold(arrays, inputs[count : 2 * count], inputs[2 * count :])

    return run


def _reduce_window(op: ir.Operation, compile_region: CompileRegion) -> Kernel:
    """The initial value also pads."""
    count, shape = len(op.results), shape_of(op.results[0])
    ones = [1] * len(shape)
    window = attribute(op, "window_dimensions")
    strides, base, dilation = (
        int_list(op, name) or ones for name in ("window_strides", "base_dilations", "window_dilations")
    )
    low, high = zip(*padding_of(op, len(shape)), strict=True) if shape else ((), ())
    fold = _fold(op, compile_region)

    def at(position: Sequence[int]) -> tuple[slice, ...]:
        starts = [place * step for place, step in zip(position, dilation, strict=True)]
        return tuple(
            slice(start, start + max(size - 1, 0) * stride + min(size, 1), stride)
            for start, size, stride in zip(starts, shape, strides, strict=True)
        )

    def run(inputs: Sequence[Array]) -> Sequence[Array]:
        initial = inputs[count : 2 * count]
        bordered = [
            padded(array, value, low, high, [step - 1 for step in base])
            for array, value in zip(inputs[:count], initial, strict=True)
        ]
        windows = [np.stack([array[at(position)] for position in np.ndindex(*window)]) for array in bordered]
        return fold(windows, initial, inputs[2 * count :])

    return run


def _map_(op: ir.Operation, compile_region: CompileRegion) -> Kernel:
    return elementwise_region(op.regions[0], compile_region)


# ---- folds


def _fold(op: ir.Operation, compile_region: CompileRegion) -> Fold:
    """How a region combines elements along the first dimension."""
    region, element, name = op.regions[0], ElementType.of(op.results[0]), combining_op(op.regions[0])
    if len(op.results) == 1 and name and element == ElementType.of(op.operands[0]):
        if element.is_float and name in ("maximum", "minimum") and element.dtype.kind == "f":
            return _extremes(name == "maximum")
        if element.is_float and name == "add" and element.dtype.kind == "f":
            return _float_sum
        table = BOOLEAN_FOLDS if element.is_bool else INTEGER_FOLDS
        if not element.is_float and name in table:
            return _any_order(element, table[name])
    return _in_order(elementwise_region(region, compile_region))


def _in_order(function: Kernel) -> Fold:
    def fold(arrays: Sequence[Array], initial: Sequence[Array], captured: Sequence[Array]) -> Sequence[Array]:
        shape = arrays[0].shape[1:]
        values: Sequence[Array] = [np.broadcast_to(value, shape) for value in initial]
        for elements in zip(*arrays, strict=True):
            values = function([*values, *map(np.asarray, elements), *captured])
        return values

    return fold


def _any_order(element: ElementType, function: np.ufunc) -> Fold:
    """Where the order changes nothing."""

    def fold(arrays: Sequence[Array], initial: Sequence[Array], _captured: Sequence[Array]) -> tuple[Array]:
        (array,), (value,) = arrays, initial
        if not len(array):
            return (np.broadcast_to(value, array.shape[1:]),)
        total = function.reduce(array, axis=0, dtype=element.dtype)
        combined = np.asarray(function(total, value))
        return (combined if element.is_bool else element.wrapped(combined),)

    return fold


def _float_sum(arrays: Sequence[Array], initial: Sequence[Array], _captured: Sequence[Array]) -> tuple[Array]:
    (array,), (value,) = arrays, initial
    total = np.broadcast_to(value, array.shape[1:])
    if len(array) and math.prod(array.shape[1:]) < FEW_RESULTS:
        return (np.asarray(np.add.accumulate(np.concatenate([total[None], array]), axis=0)[-1]),)
    for elements in array:
        total = np.add(total, elements)
    return (np.asarray(total),)


def _extremes(is_largest: bool) -> Fold:
    """NaN wins; among zeros, +0 is the largest and -0 the smallest."""
    function = np.maximum if is_largest else np.minimum

    def fold(arrays: Sequence[Array], initial: Sequence[Array], _captured: Sequence[Array]) -> tuple[Array]:
        (array,), (value,) = arrays, initial
        array = np.concatenate([np.broadcast_to(value, (1, *array.shape[1:])), array])
        result = np.asarray(function.reduce(array, axis=0))
        if not (result == 0).any():
            return (result,)
        negative = np.signbit(array) if is_largest else ~np.signbit(array)
        all_alike = np.all(negative | (array != 0), axis=0)
        zeros = np.where(all_alike == is_largest, result.dtype.type(-0.0), result.dtype.type(0.0))
        return (np.where(result == 0, zeros, result),)

    return fold


KERNELS: dict[str, Build] = {
    "stablehlo.map": _map_,
    "stablehlo.reduce": _reduce,
    "stablehlo.reduce_window": _reduce_window,
}
