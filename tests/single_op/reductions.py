"""Cases of ops that combine elements by a region."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch_mlir import ir

from shlo_quant.passes.dialects import stablehlo
from shlo_quant.passes.dialects.stablehlo import elementwise, i64s

from .draft import ANY, FLOATS, INTEGERS, NUMBERS, Case, Draft, block, element_type, i64, tensor_type

Combine = Callable[..., ir.Value]


def combination(draft: Draft, element: str) -> Combine:
    """What a region does with two scalars: mostly one op; or two, not symmetric, with a captured value or a reshape."""
    names = ["add", "multiply", "maximum", "minimum"]
    if element in INTEGERS or element == "i1":
        names += ["and", "or", "xor"]
    first, second = draft.draw.choice(names), draft.draw.choice(names)
    kind = draft.draw.choices(("one", "two", "captured", "reshaped"), (7, 1, 1, 1))[0]
    if kind == "one":
        return lambda lhs, rhs: elementwise(first, lhs, rhs)
    if kind == "two":
        return lambda lhs, rhs: elementwise(first, elementwise(second, lhs, rhs), rhs)
    captured, vector = draft.value(element, []), tensor_type([1], element)
    if kind == "captured":
        return lambda lhs, rhs: elementwise(first, elementwise(second, lhs, captured), rhs)

    def through_vectors(lhs: ir.Value, rhs: ir.Value) -> ir.Value:
        vectors = [stablehlo.reshape(value, vector) for value in (lhs, rhs)]
        return stablehlo.reshape(elementwise(first, *vectors), captured.type)

    return through_vectors


def reduce(draft: Draft) -> Sequence[ir.Value]:
    element, shape = draft.draw.choice((*ANY, "f32", "f32")), draft.shape()
    if draft.chance(0.1):
        shape = [draft.draw.randint(5, 40), *shape[:2]]
    dimensions = draft.draw.sample(range(len(shape)), draft.draw.randint(0, len(shape)))
    result = tensor_type([n for d, n in enumerate(shape) if d not in dimensions], element)
    operands = [draft.value(element, shape), draft.value(element, [])]
    op = draft.op("reduce", operands, [result], regions=1, dimensions=i64s(dimensions))
    stablehlo.fill_body(op, element_type(element), combination(draft, element))
    return op.results


def reduce_with_positions(draft: Draft) -> Sequence[ir.Value]:
    """The largest or smallest element and where it is, the first of equals."""
    element, shape = draft.draw.choice(NUMBERS), draft.shape(1)
    axis = draft.draw.randrange(len(shape))
    left = [n for d, n in enumerate(shape) if d != axis]
    operands = [*(draft.value(t, shape) for t in (element, "i32")), *(draft.value(t, []) for t in (element, "i32"))]
    results = [tensor_type(left, t) for t in (element, "i32")]
    op = draft.op("reduce", operands, results, regions=1, dimensions=i64s([axis]))
    direction = draft.draw.choice(("GE", "LT"))
    with block(op, [element, "i32"] * 2) as (value, position, other, other_position):
        keeps = stablehlo.compare(value, other, direction)
        picked = [elementwise("select", keeps, *pair) for pair in ((value, other), (position, other_position))]
        stablehlo.create("stablehlo.return", picked, [])
    return op.results


def reduce_window(draft: Draft) -> Sequence[ir.Value]:
    element, shape = draft.draw.choice((*ANY, "f32", "f32")), draft.shape(0, 4, zero=0)
    window, strides, base, dilations = (
        draft.choices(len(shape), 1, 2, 3),
        draft.choices(len(shape), 1, 1, 2),
        draft.choices(len(shape), 1, 1, 2),
        draft.choices(len(shape), 1, 1, 2),
    )
    padding, result = [], []
    for size, w, s, b, d in zip(shape, window, strides, base, dilations, strict=True):
        low, high = draft.draw.randint(-1, 2), draft.draw.randint(0, 2)
        whole = (size - 1) * b + 1 + low + high
        reach = (w - 1) * d + 1
        high += max(reach - whole, 0)
        padding.append([low, high])
        result.append((max(whole, reach) - reach) // s + 1)
    attributes = {
        "window_dimensions": i64s(window),
        "window_strides": i64s(strides),
        "base_dilations": i64s(base),
        "window_dilations": i64s(dilations),
        "padding": stablehlo.padding(padding),
    }
    operands = [draft.value(element, shape), draft.value(element, [])]
    op = draft.op("reduce_window", operands, [tensor_type(result, element)], regions=1, **attributes)
    stablehlo.fill_body(op, element_type(element), combination(draft, element))
    return op.results


def select_and_scatter(draft: Draft) -> Sequence[ir.Value]:
    element, shape = draft.draw.choice((*NUMBERS, "f32")), draft.shape(1, 3, zero=0)
    window = [draft.draw.randint(1, size) for size in shape]
    strides = [draft.draw.randint(1, 2) for _ in shape]
    padding = [[draft.draw.randint(0, w - 1) for _ in range(2)] for w in window]
    columns = zip(shape, window, strides, padding, strict=True)
    source = [(size + sum(pads) - w) // s + 1 for size, w, s, pads in columns]
    attributes = {
        "window_dimensions": i64s(window),
        "window_strides": i64s(strides),
        "padding": stablehlo.padding(padding),
    }
    operands = [draft.value(element, shape), draft.value(element, source), draft.value(element, [])]
    op = draft.op("select_and_scatter", operands, [tensor_type(shape, element)], regions=2, **attributes)
    direction, name = draft.draw.choice(("GE", "GT", "LE", "LT")), draft.draw.choice(("add", "maximum", "multiply"))
    with block(op, [element] * 2) as (lhs, rhs):
        stablehlo.create("stablehlo.return", [stablehlo.compare(lhs, rhs, direction)], [])
    with block(op, [element] * 2, region=1) as (lhs, rhs):
        stablehlo.create("stablehlo.return", [elementwise(name, lhs, rhs)], [])
    return op.results


def map_(draft: Draft) -> Sequence[ir.Value]:
    element, shape = draft.draw.choice(NUMBERS), draft.shape()
    operands = [draft.value(element, shape) for _ in range(2)]
    attributes = {"dimensions": i64s(range(len(shape)))}
    op = draft.op("map", operands, [tensor_type(shape, element)], regions=1, **attributes)
    stablehlo.fill_body(op, element_type(element), combination(draft, element))
    return op.results


def sort(draft: Draft) -> Sequence[ir.Value]:
    """Up to three tensors by the first, or by the first and, where equal, the second."""
    keys, shape = draft.draw.choice(NUMBERS), draft.shape(1)
    axis = draft.draw.randrange(len(shape))
    if draft.chance(0.2):
        shape[axis] = draft.draw.randint(5, 40)
    values = [n / 2 for n in range(-6, 7)] if keys in FLOATS else ()
    elements = [keys, *(draft.draw.choice(ANY) for _ in range(draft.draw.randint(0, 2)))]
    operands = [draft.value(keys, shape, values), *(draft.value(element, shape) for element in elements[1:])]
    attributes = {
        "dimension": i64(draft.draw.choice((axis, axis - len(shape)))),
        "is_stable": ir.BoolAttr.get(True),
    }
    op = draft.op("sort", operands, [o.type for o in operands], regions=1, **attributes)
    direction, ties = draft.draw.choice(("LT", "GT")), len(elements) > 1 and elements[1] not in FLOATS
    with block(op, [element for element in elements for _ in range(2)]) as (lhs, rhs, *others):
        before = stablehlo.compare(lhs, rhs, direction)
        if ties and draft.chance(0.5):
            second = elementwise("and", stablehlo.compare(lhs, rhs, "EQ"), stablehlo.compare(*others[:2], "LT"))
            before = elementwise("or", before, second)
        stablehlo.create("stablehlo.return", [before], [])
    return op.results


CASES: dict[str, Case] = {
    "map": map_,
    "reduce": reduce,
    "reduce with positions": reduce_with_positions,
    "reduce_window": reduce_window,
    "select_and_scatter": select_and_scatter,
    "sort": sort,
}
