"""Ops that move elements and change none."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch_mlir import ir

from shlo_quant.engines.fast.ops.elements import ElementType
from shlo_quant.engines.fast.ops.kernel import Build, CompileRegion, Kernel, shape_of
from shlo_quant.passes.dialects.constants import Array, to_numpy
from shlo_quant.passes.dialects.stablehlo import int_list


def attribute(op: ir.Operation, name: str) -> list[int]:
    """A required list of integers."""
    values = int_list(op, name)
    assert values is not None, f"{op.name} has `{name}`"
    return values


def padding_of(op: ir.Operation, rank: int) -> list[list[int]]:
    """The `padding` attribute of an op with windows: [low, high] for each of `rank` dimensions."""
    if "padding" not in op.attributes:
        return [[0, 0]] * rank
    pairs: list[list[int]] = to_numpy(op.attributes["padding"]).tolist()
    return pairs


def _reshape(op: ir.Operation, _compile_region: CompileRegion) -> Kernel:
    shape = shape_of(op.results[0])
    return lambda inputs: (inputs[0].reshape(shape),)


def _transpose(op: ir.Operation, _compile_region: CompileRegion) -> Kernel:
    permutation = attribute(op, "permutation")
    return lambda inputs: (inputs[0].transpose(permutation),)


def _broadcast_in_dim(op: ir.Operation, _compile_region: CompileRegion) -> Kernel:
    shape, aligned = shape_of(op.results[0]), [1] * len(op.results[0].type.shape)
    dimensions = attribute(op, "broadcast_dimensions")
    for dimension, size in zip(dimensions, shape_of(op.operands[0]), strict=True):
        aligned[dimension] = size
    order = np.argsort(dimensions)  # they need not ascend
    return lambda inputs: (np.broadcast_to(inputs[0].transpose(order).reshape(aligned), shape),)


def _broadcast(op: ir.Operation, _compile_region: CompileRegion) -> Kernel:
    shape = shape_of(op.results[0])
    return lambda inputs: (np.broadcast_to(inputs[0], shape),)


def _slice_(op: ir.Operation, _compile_region: CompileRegion) -> Kernel:
    bounds = (attribute(op, f"{part}") for part in ("start_indices", "limit_indices", "strides"))
    window = tuple(map(slice, *bounds))
    return lambda inputs: (inputs[0][window],)


def _reverse(op: ir.Operation, _compile_region: CompileRegion) -> Kernel:
    dimensions = tuple(attribute(op, "dimensions"))
    return lambda inputs: (np.flip(inputs[0], dimensions),)


def _concatenate(op: ir.Operation, _compile_region: CompileRegion) -> Kernel:
    dimension = op.attributes["dimension"].value
    return lambda inputs: (np.concatenate(inputs, dimension),)


def _pad(op: ir.Operation, _compile_region: CompileRegion) -> Kernel:
    low, high, interior = (attribute(op, n) for n in ("edge_padding_low", "edge_padding_high", "interior_padding"))
    return lambda inputs: (padded(inputs[0], inputs[1], low, high, interior),)


def padded(array: Array, value: Array, low: Sequence[int], high: Sequence[int], interior: Sequence[int]) -> Array:
    """Pad at the edges (a negative number crops) and between elements; an array of its own only if it changes."""
    if not any((*low, *high, *interior)):
        return array
    targets, sources, shape = [], [], []
    for size, before, after, between in zip(array.shape, low, high, interior, strict=True):
        step = between + 1
        length = before + max((size - 1) * step + 1, 0) + after
        first = max(0, -(before // step))
        last = min(size, (length - 1 - before) // step + 1)
        count = max(last - first, 0)
        sources.append(slice(first, first + count))
        start = before + first * step if count else 0
        targets.append(slice(start, start + count * step, step))
        shape.append(length)
    result = np.full(shape, value, array.dtype)
    result[tuple(targets)] = array[tuple(sources)]
    return result


def _iota(op: ir.Operation, _compile_region: CompileRegion) -> Kernel:
    result, shape = op.results[0], shape_of(op.results[0])
    element, dimension = ElementType.of(result), op.attributes["iota_dimension"].value
    numbers = np.arange(shape[dimension])
    if element.is_bool:
        values = np.asarray(numbers != 0)
    else:
        values = element.rounded(numbers) if element.is_float else element.wrapped(numbers)
    aligned = [1] * len(shape)
    aligned[dimension] = -1
    values = np.broadcast_to(values.reshape(aligned), shape)
    return lambda _inputs: (values,)


def _real_dynamic_slice(_op: ir.Operation, _compile_region: CompileRegion) -> Kernel:
    return lambda inputs: (inputs[0][tuple(map(slice, *(bounds.tolist() for bounds in inputs[1:])))],)


def _dynamic_pad(_op: ir.Operation, _compile_region: CompileRegion) -> Kernel:
    return lambda inputs: (padded(inputs[0], inputs[1], *(amounts.tolist() for amounts in inputs[2:])),)


def _get_dimension_size(op: ir.Operation, _compile_region: CompileRegion) -> Kernel:
    dimension = op.attributes["dimension"].value
    return lambda inputs: (np.asarray(inputs[0].shape[dimension], np.int32),)


def _dynamic_slice(op: ir.Operation, _compile_region: CompileRegion) -> Kernel:
    sizes = shape_of(op.results[0])
    return lambda inputs: (inputs[0][window_at(inputs[1:], sizes, inputs[0].shape)],)


def _dynamic_update_slice(op: ir.Operation, _compile_region: CompileRegion) -> Kernel:
    sizes = shape_of(op.operands[1])

    def updated(inputs: Sequence[Array]) -> tuple[Array]:
        result = inputs[0].copy()
        result[window_at(inputs[2:], sizes, result.shape)] = inputs[1]
        return (result,)

    return updated


def window_at(starts: Sequence[Array], sizes: Sequence[int], shape: Sequence[int]) -> tuple[slice, ...]:
    """The window of these sizes, moved inside a tensor of that shape."""
    corners = [min(max(int(s), 0), whole - n) for s, n, whole in zip(starts, sizes, shape, strict=True)]
    return tuple(slice(corner, corner + size) for corner, size in zip(corners, sizes, strict=True))


KERNELS: dict[str, Build] = {
    "stablehlo.broadcast": _broadcast,
    "stablehlo.broadcast_in_dim": _broadcast_in_dim,
    "stablehlo.concatenate": _concatenate,
    "stablehlo.dynamic_broadcast_in_dim": _broadcast_in_dim,
    "stablehlo.dynamic_iota": _iota,
    "stablehlo.dynamic_pad": _dynamic_pad,
    "stablehlo.dynamic_reshape": _reshape,
    "stablehlo.dynamic_slice": _dynamic_slice,
    "stablehlo.dynamic_update_slice": _dynamic_update_slice,
    "stablehlo.get_dimension_size": _get_dimension_size,
    "stablehlo.iota": _iota,
    "stablehlo.pad": _pad,
    "stablehlo.real_dynamic_slice": _real_dynamic_slice,
    "stablehlo.reshape": _reshape,
    "stablehlo.reverse": _reverse,
    "stablehlo.slice": _slice_,
    "stablehlo.transpose": _transpose,
}
