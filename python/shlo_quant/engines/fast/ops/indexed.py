"""gather and scatter, and what else picks its elements by index."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from shlo_quant.engines.fast.ops.data_movement import attribute, padding_of
from shlo_quant.engines.fast.ops.kernel import Build, CompileRegion, Kernel, shape_of
from shlo_quant.engines.fast.ops.region_functions import elementwise_region
from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.dialects.stablehlo import int_list


@dataclass(frozen=True)
class IndexedWindows:
    """How index vectors place windows in an operand: the dimension numbers that gather and scatter have in common.

    Attributes:
      index_vector_dimension: of the tensor of indices.
      indexed: the operand dimensions that the entries of an index vector stand for.
      operand_batching, index_batching: operand dimensions, and those of the indices that they run along with.
      window: the operand dimensions that a window extends along.
      window_dimensions: where they stand in the gathered (or update) tensor.
    """

    index_vector_dimension: int
    indexed: tuple[int, ...]
    operand_batching: tuple[int, ...]
    index_batching: tuple[int, ...]
    window: tuple[int, ...]
    window_dimensions: tuple[int, ...]

    @staticmethod
    def of_gather(op: ir.Operation) -> IndexedWindows:
        """Those of a gather or dynamic_gather."""
        numbers = _stablehlo.GatherDimensionNumbers(op.attributes["dimension_numbers"])
        return IndexedWindows(
            numbers.index_vector_dim,
            tuple(numbers.start_index_map),
            tuple(numbers.operand_batching_dims),
            tuple(numbers.start_indices_batching_dims),
            _others(op.operands[0], (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)),
            tuple(numbers.offset_dims),
        )

    @staticmethod
    def of_scatter(op: ir.Operation) -> IndexedWindows:
        """Those of a scatter."""
        numbers = _stablehlo.ScatterDimensionNumbers(op.attributes["scatter_dimension_numbers"])
        return IndexedWindows(
            numbers.index_vector_dim,
            tuple(numbers.scattered_dims_to_operand_dims),
            tuple(numbers.input_batching_dims),
            tuple(numbers.scatter_indices_batching_dims),
            _others(op.operands[0], (*numbers.inserted_window_dims, *numbers.input_batching_dims)),
            tuple(numbers.update_window_dims),
        )

    def indices(
        self, vectors: Array, sizes: Sequence[int], last: Sequence[int] | None, rank: int
    ) -> tuple[list[Array], tuple[int, ...]]:
        """Where each element of the gathered (or update) tensor lies in the operand.

        Args:
          vectors: the tensor of indices.
          sizes: of the window, one an operand dimension in `window`.
          last: the largest start in each operand dimension, to which starts are clamped; None leaves them.
          rank: of the operand.
        Returns: one array an operand dimension, and the shape [batch..., window...] that they broadcast to.
        """
        starts = _as_int64(vectors)
        if self.index_vector_dimension == starts.ndim:
            starts = starts[..., None]
        starts = np.moveaxis(starts, self.index_vector_dimension, -1)
        batch_rank, window_rank = starts.ndim - 1, len(self.window)
        found = [np.zeros([1] * (batch_rank + window_rank), np.int64)] * rank
        for entry, dimension in enumerate(self.indexed):
            corner = starts[..., entry] if last is None else np.clip(starts[..., entry], 0, last[dimension])
            found[dimension] = corner.reshape((*corner.shape, *[1] * window_rank))
        for dimension, along in zip(self.operand_batching, self.index_batching, strict=True):
            axis = along - (along > self.index_vector_dimension)
            found[dimension] = found[dimension] + _along(axis, batch_rank + window_rank, starts.shape[axis])
        for position, (dimension, size) in enumerate(zip(self.window, sizes, strict=True)):
            found[dimension] = found[dimension] + _along(batch_rank + position, batch_rank + window_rank, size)
        return found, (*starts.shape[:-1], *sizes)

    def from_batch_first(self, tensor: Array) -> Array:
        """The gathered (or update) tensor from its elements as [batch..., window...]."""
        count = len(self.window_dimensions)
        return np.moveaxis(tensor, range(tensor.ndim - count, tensor.ndim), self.window_dimensions)


def _others(operand: ir.Value, dimensions: Sequence[int]) -> tuple[int, ...]:
    return tuple(d for d in range(operand.type.rank) if d not in dimensions)


def _along(axis: int, rank: int, size: int) -> Array:
    """0, 1, ... along one of `rank` dimensions."""
    shape = [1] * rank
    shape[axis] = size
    return np.arange(size).reshape(shape)


def _as_int64(indices: Array) -> Array:
    """Indices beyond int64 are as good as its largest."""
    if indices.dtype == np.uint64:
        indices = np.minimum(indices, np.uint64(np.iinfo(np.int64).max))
    return indices.astype(np.int64)


# ---- gather


def _gather(op: ir.Operation, _compile_region: CompileRegion) -> Kernel:
    windows, sizes, shape = IndexedWindows.of_gather(op), attribute(op, "slice_sizes"), shape_of(op.operands[0])
    return lambda inputs: (_gathered(windows, sizes, shape, inputs),)


def _dynamic_gather(op: ir.Operation, _compile_region: CompileRegion) -> Kernel:
    windows, shape = IndexedWindows.of_gather(op), shape_of(op.operands[0])
    return lambda inputs: (_gathered(windows, inputs[2].tolist(), shape, inputs),)


def _gathered(windows: IndexedWindows, sizes: Sequence[int], shape: Sequence[int], inputs: Sequence[Array]) -> Array:
    last = [whole - size for whole, size in zip(shape, sizes, strict=True)]
    indices, batch_first = windows.indices(inputs[1], [sizes[d] for d in windows.window], last, len(shape))
    return windows.from_batch_first(np.broadcast_to(inputs[0][tuple(indices)], batch_first))


# ---- scatter


def _scatter(op: ir.Operation, compile_region: CompileRegion) -> Kernel:
    """Updates outside of the operand are left out, the others done one after the other, in row-major order."""
    windows, count = IndexedWindows.of_scatter(op), len(op.results)
    function, shape = elementwise_region(op.regions[0], compile_region), shape_of(op.operands[0])

    def run(inputs: Sequence[Array]) -> list[Array]:
        results = [array.flatten() for array in inputs[:count]]
        updates = inputs[count + 1 : 2 * count + 1]
        sizes = [updates[0].shape[d] for d in windows.window_dimensions]
        indices, batch_first = windows.indices(inputs[count], sizes, None, len(shape))
        targets = windows.from_batch_first(_linear(indices, shape, batch_first)).ravel()
        _update(function, results, targets, [u.ravel() for u in updates], inputs[2 * count + 1 :])
        return [result.reshape(shape) for result in results]

    return run


def _linear(indices: Sequence[Array], shape: Sequence[int], result_shape: Sequence[int]) -> Array:
    """Positions in row-major order; -1 for indices outside of the shape."""
    position, is_inside = np.zeros(result_shape, np.int64), np.ones(result_shape, bool)
    for index, size in zip(indices, shape, strict=True):
        is_inside &= (index >= 0) & (index < size)
        position = position * size + index
    return np.where(is_inside, position, -1)


def _update(
    function: Kernel, results: Sequence[Array], targets: Array, updates: Sequence[Array], captured: Sequence[Array]
) -> None:
    """Combine updates into flat results, in place and in order: first the first update of every target, and so on."""
    order = np.argsort(targets, kind="stable")
    order = order[targets[order] >= 0]
    _, first, counts = np.unique(targets[order], return_index=True, return_counts=True)
    turns = np.arange(len(order)) - np.repeat(first, counts)
    by_turn = order[np.argsort(turns, kind="stable")]
    for chosen in np.split(by_turn, np.cumsum(np.bincount(turns))[:-1]) if len(order) else ():
        places = targets[chosen]
        values = function([*(r[places] for r in results), *(u[chosen] for u in updates), *captured])
        for result, value in zip(results, values, strict=True):
            result[places] = value


def _select_and_scatter(op: ir.Operation, compile_region: CompileRegion) -> Kernel:
    """Each source is combined with the initial value, then with what its selected element has become so far."""
    select, scatter = (elementwise_region(region, compile_region) for region in op.regions)
    operand, source = shape_of(op.operands[0]), shape_of(op.operands[1])
    ones = [1] * len(operand)
    window, strides = int_list(op, "window_dimensions") or ones, int_list(op, "window_strides") or ones
    low = [pair[0] for pair in padding_of(op, len(operand))]
    corners = [
        _along(axis, len(source), size) * stride - before
        for axis, (size, stride, before) in enumerate(zip(source, strides, low, strict=True))
    ]

    def run(inputs: Sequence[Array]) -> tuple[Array]:
        flat, captured = inputs[0].ravel(), inputs[3:]
        selected = np.full(source, -1)
        for position in np.ndindex(*window):
            places = _linear([c + p for c, p in zip(corners, position, strict=True)], operand, source)
            selected = np.where(selected < 0, places, selected)
            keeps = select([flat[selected], flat[places], *captured])[0] if flat.size else selected < 0
            selected = np.where((places < 0) | keeps, selected, places)
        initial = np.broadcast_to(inputs[2], source)
        updates = scatter([initial, inputs[1], *captured])[0].ravel()
        result = np.full(math.prod(operand), inputs[2], flat.dtype)
        _update(lambda v: scatter([v[1], v[0], *v[2:]]), [result], selected.ravel(), [updates], captured)
        return (result.reshape(operand),)

    return run


KERNELS: dict[str, Build] = {
    "stablehlo.dynamic_gather": _dynamic_gather,
    "stablehlo.gather": _gather,
    "stablehlo.scatter": _scatter,
    "stablehlo.select_and_scatter": _select_and_scatter,
}
