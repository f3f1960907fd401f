"""sort, by any comparator, many elements at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from torch_mlir import ir

from shlo_quant.engines.fast.ops.kernel import Build, CompileRegion, Kernel
from shlo_quant.engines.fast.ops.region_functions import elementwise_region
from shlo_quant.passes.dialects.constants import Array

Less = Callable[[Array, Array], Array]
"""Of two arrays of positions in the slices that are sorted, [slices..., n]: where the first goes before the second."""


def _sort(op: ir.Operation, compile_region: CompileRegion) -> Kernel:
    """Stable, whether it has to be or not."""
    dimension, comparator = op.attributes["dimension"].value, elementwise_region(op.regions[0], compile_region)
    count = len(op.results)

    def run(inputs: Sequence[Array]) -> list[Array]:
        arrays, captured = [np.moveaxis(a, dimension, -1) for a in inputs[:count]], inputs[count:]

        def is_less(lhs: Array, rhs: Array) -> Array:
            pairs = [np.take_along_axis(array, side, -1) for array in arrays for side in (lhs, rhs)]
            return comparator([*pairs, *captured])[0]

        order = _order(is_less, arrays[0].shape)
        return [np.moveaxis(np.take_along_axis(array, order, -1), -1, dimension) for array in arrays]

    return run


def _order(is_less: Less, shape: tuple[int, ...]) -> Array:
    """The positions of all slices in stable order."""
    *_, size = shape
    order, width = np.broadcast_to(np.arange(size), shape), 1
    while width < size and order.size:
        order = np.take_along_axis(order, np.argsort(_merged(is_less, order, width), -1, kind="stable"), -1)
        width *= 2
    return order


def _merged(is_less: Less, order: Array, width: int) -> Array:
    """Where each element goes when every two neighbouring sorted runs of `width` elements become one.

    That is its place in its own run, and the elements of the other run that go before it, found by bisection.
    """
    places = np.broadcast_to(np.arange(order.shape[-1]), order.shape)
    is_left = places // width % 2 == 0
    other = np.where(is_left, (places // width + 1) * width, (places // width - 1) * width)
    other = np.minimum(other, order.shape[-1])
    low, high = other, np.minimum(other + width, order.shape[-1])
    for _ in range(width.bit_length()):
        middle = np.minimum((low + high) // 2, order.shape[-1] - 1)
        probe = np.take_along_axis(order, middle, -1)
        less = is_less(np.where(is_left, probe, order), np.where(is_left, order, probe))
        goes_before = (less == is_left) & (low < high)  # the left one of equals goes first
        low, high = np.where(goes_before, middle + 1, low), np.where(goes_before | (low >= high), high, middle)
    return np.asarray(places + np.where(is_left, 0, -width) + (low - other))


KERNELS: dict[str, Build] = {"stablehlo.sort": _sort}
