"""Cases of dot_general and convolution, in all layouts."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from shlo_quant.passes.dialects import stablehlo
from shlo_quant.passes.dialects.stablehlo import DotDimensions, i64s

from .draft import FLOATS, INTEGERS, Case, Draft, i64, tensor_type

PAIRS = (
    *(("f32", "f32"),) * 6,
    *((name, name) for name in (*FLOATS, *INTEGERS)),
    *(("i8", "i32"),) * 4,
    ("ui8", "i32"),
    ("i4", "i32"),
    ("i16", "i32"),
    ("i32", "i64"),
    ("i8", "f32"),
    ("bf16", "f32"),
    ("f16", "f32"),
)
"""Element types of operands and result."""
WHOLE = tuple(float(n) for n in range(-9, 10))


def operands(draft: Draft, element: str, shapes: Sequence[Sequence[int]]) -> list[ir.Value]:
    """Two operands; floats are now and then whole numbers."""
    values = WHOLE if element in FLOATS and draft.chance(0.3) else ()
    return [draft.value(element, shape, values) for shape in shapes]


def dot_general(draft: Draft) -> Sequence[ir.Value]:
    element, result = draft.draw.choice(PAIRS)
    lhs_shape, rhs_shape, dimensions, shape = dot_shapes(draft)
    lhs, rhs = operands(draft, element, (lhs_shape, rhs_shape))
    return [stablehlo.dot_general(lhs, rhs, dimensions, tensor_type(shape, result))]


def dot_shapes(draft: Draft) -> tuple[list[int], list[int], DotDimensions, list[int]]:
    """Shapes of lhs and rhs, their dimension numbers in any order, and the result's shape."""
    batch, contracting, lhs_free, rhs_free = (
        [draft.draw.randint(1, 5) for _ in range(draft.draw.randint(0, most))] for most in (2, 2, 2, 2)
    )
    for sizes in (contracting, lhs_free, rhs_free):
        if sizes and draft.chance(0.1):
            sizes[0] = draft.draw.randint(6, 40)
    if lhs_free and draft.chance(0.05):
        lhs_free[0] = 0
    sides = []
    for free in (lhs_free, rhs_free):
        roles = [*batch, *contracting, *free]
        where = draft.draw.sample(range(len(roles)), len(roles))
        kept = sorted(where[len(batch) + len(contracting) :])  # free dimensions keep their order
        where = [*where[: len(batch) + len(contracting)], *kept]
        shape = [0] * len(roles)
        for place, size in zip(where, roles, strict=True):
            shape[place] = size
        sides.append((shape, where[: len(batch)], where[len(batch) : len(batch) + len(contracting)]))
    (lhs, lhs_batch, lhs_depth), (rhs, rhs_batch, rhs_depth) = sides
    dimensions = DotDimensions(tuple(lhs_batch), tuple(rhs_batch), tuple(lhs_depth), tuple(rhs_depth))
    return lhs, rhs, dimensions, [*batch, *lhs_free, *rhs_free]


def convolution(draft: Draft) -> Sequence[ir.Value]:
    element, result = draft.draw.choice([pair for pair in PAIRS if pair != ("i8", "f32")])  # aborts when it pads
    shapes, shape, attributes = convolution_shapes(draft)
    op = draft.op("convolution", operands(draft, element, shapes), [tensor_type(shape, result)], **attributes)
    return op.results


def convolution_shapes(draft: Draft) -> tuple[list[list[int]], list[int], dict[str, ir.Attribute]]:
    """Shapes of image and kernel, the result's shape, and the attributes."""
    rank = draft.draw.choice((0, 1, 1, 2, 2, 3))
    feature_groups, batch_groups = draft.draw.choice(((1, 1), (1, 1), (2, 1), (3, 1), (1, 2)))
    batch, features = draft.draw.randint(1, 2) * batch_groups, draft.draw.choice((1, 2, 3, 3, 18))
    outputs = draft.draw.choice((1, 2, 2, 17)) * feature_groups * batch_groups
    kernel, strides, lhs_dilation, rhs_dilation = (
        draft.choices(rank, 1, 2, 3),
        draft.choices(rank, 1, 1, 2),
        draft.choices(rank, 1, 1, 2),
        draft.choices(rank, 1, 1, 2),
    )
    padding = [[draft.draw.choice((0, 0, 1, 2, -1)) for _ in range(2)] for _ in range(rank)]
    image, result = [], []
    for k, s, ld, rd, (low, high) in zip(kernel, strides, lhs_dilation, rhs_dilation, padding, strict=True):
        reach = (k - 1) * rd + 1
        size = draft.draw.randint(max(1, math.ceil((reach - low - high - 1) / ld) + 1), 7)
        image.append(size)
        result.append(((size - 1) * ld + 1 + low + high - reach) // s + 1)
    roles = [draft.draw.sample(range(rank + 2), rank + 2) for _ in range(3)]
    roles[2][:2] = sorted(roles[2][:2])  # the interpreter takes the first of the two for the batch
    shapes = [
        _laid_out(roles[0], [batch, features * feature_groups, *image]),
        _laid_out(roles[1], [features, outputs, *kernel]),
    ]
    numbers = itertools.chain(*((order[0], order[1], order[2:]) for order in roles))
    attributes = {
        "dimension_numbers": _stablehlo.ConvDimensionNumbers.get(*numbers),
        "feature_group_count": i64(feature_groups),
        "batch_group_count": i64(batch_groups),
        "window_strides": i64s(strides),
        "padding": stablehlo.padding(padding),
        "lhs_dilation": i64s(lhs_dilation),
        "rhs_dilation": i64s(rhs_dilation),
        "window_reversal": ir.DenseBoolArrayAttr.get([draft.chance(0.3) for _ in range(rank)]),
    }
    return shapes, _laid_out(roles[2], [batch // batch_groups, outputs, *result]), attributes


def _laid_out(layout: Sequence[int], sizes: Sequence[int]) -> list[int]:
    """Batch (or input feature), feature (or output feature) and spatial sizes, each where the layout puts it."""
    shape = [0] * len(layout)
    for place, size in zip(layout, sizes, strict=True):
        shape[place] = size
    return shape


CASES: dict[str, Case] = {"convolution": convolution, "dot_general": dot_general}
