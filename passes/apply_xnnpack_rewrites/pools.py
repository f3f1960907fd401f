"""Average pools as sums in the order in which XNNPACK adds, times a reciprocal.

    %s = stablehlo.reduce_window(%x, 0.0) applies stablehlo.add, window_dimensions = [1, 1, 2, 2]
    %a = stablehlo.divide %s, 4.0
==>
    %a = ((x[0,1] + x[1,1]) + (x[0,0] + x[1,0])) * 0.25          // slices of %x, one for each place in the window

The elements of a window come column by column, in groups of nine; a group is added up as
((e2 + e3) + (e4 + e5)) + (((e0 + e1) + e8) + (e6 + e7)), and the groups one after the other. Padding does not count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from shlo_quant.passes.apply_xnnpack_rewrites.functions import repeated
from shlo_quant.passes.dialects import stablehlo
from shlo_quant.passes.dialects.constants import Array, to_numpy
from shlo_quant.passes.rewrite import Rewriter, defining_op

GROUP = 9


@dataclass(frozen=True)
class Pool:
    """An average pool over dimensions 2 and 3 of an image.

    Attributes:
      image: the float image.
      window, strides, padding: of the two dimensions; padding on both sides of each.
      counts: how many elements of the image each mean is taken of, as float32 [height, width] of the result.
    """

    image: ir.Value
    window: tuple[int, int]
    strides: tuple[int, int]
    padding: tuple[int, int]
    counts: Array


def spell_out_pools(rewriter: Rewriter) -> None:
    """Replace every average pool that XNNPACK computes."""
    for op in rewriter.ops("stablehlo.divide"):
        pool = _pool(op)
        if pool is not None:
            with rewriter.before(op):
                rewriter.replace(op, _spelt_out(pool, op.results[0].type))


def _pool(divide: ir.Operation) -> Pool | None:
    """The average pool that a divide ends; None if it ends none, or one that XNNPACK does not compute."""
    window_op = defining_op(divide.operands[0], "stablehlo.reduce_window")
    parts = None if window_op is None else _image_window(window_op)
    if window_op is None or parts is None:
        return None
    window, strides, padding = parts
    image = window_op.operands[0]
    counts = _counts(image.type.shape[2:], window, strides, padding)
    divisor = defining_op(divide.operands[1], "stablehlo.reduce_window")
    if divisor is None:
        number = repeated(divide.operands[1])
        if number is None or not bool((counts == number).all()):
            return None
    elif repeated(divisor.operands[0]) != 1 or _image_window(divisor) != parts:
        return None
    return Pool(image, window, strides, padding, counts)


def _image_window(op: ir.Operation) -> tuple[tuple[int, int], tuple[int, int], tuple[int, int]] | None:
    """Window, strides and padding of a reduce_window that adds up windows of images; None for any other."""
    window = stablehlo.int_list(op, "window_dimensions") or []
    strides = stablehlo.int_list(op, "window_strides") or [1] * len(window)
    dilations = (stablehlo.int_list(op, "window_dilations") or []) + (stablehlo.int_list(op, "base_dilations") or [])
    if stablehlo.combining_op(op.regions[0]) != "add" or len(window) != 4 or repeated(op.operands[1]) != 0:
        return None
    edges = np.zeros([4, 2], np.int64)
    if "padding" in op.attributes:
        edges = to_numpy(op.attributes["padding"])
    is_plain = window[:2] == strides[:2] == [1, 1] and not edges[:2].any() and all(d == 1 for d in dilations)
    is_f32 = isinstance(op.results[0].type.element_type, ir.F32Type) and op.operands[0].type.has_static_shape
    if not is_plain or not is_f32 or (edges[:, 0] != edges[:, 1]).any():
        return None
    return (window[2], window[3]), (strides[2], strides[3]), (int(edges[2, 0]), int(edges[3, 0]))


def _counts(sizes: Sequence[int], window: Sequence[int], strides: Sequence[int], padding: Sequence[int]) -> Array:
    """How many elements of the image lie in each window, float32 [height, width]."""
    lines = []
    for size, length, stride, pad in zip(sizes, window, strides, padding, strict=True):
        starts = np.arange(0, size + 2 * pad - length + 1, stride) - pad
        lines.append(np.minimum(starts + length, size) - np.maximum(starts, 0))
    counts: Array = np.outer(*lines).astype(np.float32)
    return counts


def _spelt_out(pool: Pool, result: ir.Type) -> ir.Value:
    padding = [0, 0, *pool.padding]
    zero = stablehlo.splat(0.0, ir.RankedTensorType.get([], result.element_type))
    image = stablehlo.pad(pool.image, zero, padding, padding, [0] * 4) if any(padding) else pool.image
    height, width = pool.window
    elements = [_element(image, pool, (y, x), result) for x in range(width) for y in range(height)]
    groups = [_group(elements[start : start + GROUP]) for start in range(0, len(elements), GROUP)]
    total = groups[0]
    for group in groups[1:]:
        total = stablehlo.elementwise("add", total, group)
    reciprocals = np.float32(1) / pool.counts
    return stablehlo.elementwise("multiply", total, _spread(reciprocals, result))


def _spread(numbers: Array, result: ir.Type) -> ir.Value:
    if bool((numbers == numbers[0, 0]).all()):
        return stablehlo.splat(numbers[0, 0].item(), result)
    return stablehlo.broadcast_in_dim(stablehlo.constant(numbers), result, [2, 3])


def _element(image: ir.Value, pool: Pool, place: tuple[int, int], result: ir.Type) -> ir.Value:
    """The elements at one place of every window."""
    starts = [0, 0, *place]
    spans = [(size - 1) * stride + 1 for size, stride in zip(result.shape[2:], pool.strides, strict=True)]
    limits = [*result.shape[:2], *(start + span for start, span in zip(place, spans, strict=True))]
    return stablehlo.slice_(image, starts, limits, [1, 1, *pool.strides])


def _group(elements: Sequence[ir.Value]) -> ir.Value:
    """The sum of up to nine elements."""
    e: list[ir.Value | None] = [*elements, *[None] * (GROUP - len(elements))]
    first = _sum(_sum(e[2], e[3]), _sum(e[4], e[5]))
    total = _sum(first, _sum(_sum(_sum(e[0], e[1]), e[8]), _sum(e[6], e[7])))
    assert total is not None, "a group has an element"
    return total


def _sum(lhs: ir.Value | None, rhs: ir.Value | None) -> ir.Value | None:
    """A sum in which missing elements are 0."""
    if lhs is None or rhs is None:
        return rhs if lhs is None else lhs
    return stablehlo.elementwise("add", lhs, rhs)
