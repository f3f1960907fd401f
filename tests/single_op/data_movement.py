"""Cases of ops that move elements."""

from __future__ import annotations

from collections.abc import Sequence

from torch_mlir import ir

from shlo_quant.passes.dialects import stablehlo
from shlo_quant.passes.dialects.stablehlo import i64s

from .draft import ANY, NUMBERS, Case, Draft, i64, integer_argument, starts, tensor_type


def iota(name: str) -> Case:
    def case(draft: Draft) -> Sequence[ir.Value]:
        shape = draft.shape(1)
        if draft.chance(0.1):
            shape[0] = 300
        tensor, axis = tensor_type(shape, draft.draw.choice(NUMBERS)), draft.draw.randrange(len(shape))
        operands = [integer_argument(draft, shape)] if name == "dynamic_iota" else []
        return draft.op(name, operands, [tensor], iota_dimension=i64(axis)).results

    return case


def reshape(name: str) -> Case:
    def case(draft: Draft) -> Sequence[ir.Value]:
        element, shape = draft.draw.choice(ANY), draft.shape()
        target = list(shape)
        draft.draw.shuffle(target)
        if len(target) > 1 and draft.chance(0.5):
            target = [target[0] * target[1], *target[2:]]
        if draft.chance(0.3):
            target.insert(draft.draw.randint(0, len(target)), 1)
        operands = [draft.value(element, shape)]
        if name == "dynamic_reshape":
            operands.append(integer_argument(draft, target))
        return draft.op(name, operands, [tensor_type(target, element)]).results

    return case


def transpose(draft: Draft) -> Sequence[ir.Value]:
    operand = draft.value(draft.draw.choice(ANY), draft.shape())
    rank = operand.type.rank
    return [stablehlo.transpose(operand, draft.draw.sample(range(rank), rank))]


def broadcast_in_dim(name: str) -> Case:
    def case(draft: Draft) -> Sequence[ir.Value]:
        element, target = draft.draw.choice(ANY), draft.shape()
        dimensions = draft.draw.sample(range(len(target)), draft.draw.randint(0, len(target)))
        shape = [draft.draw.choice((1, target[d])) for d in dimensions]
        operands = [draft.value(element, shape)]
        if name == "dynamic_broadcast_in_dim":
            operands.append(integer_argument(draft, target))
        attributes = {"broadcast_dimensions": i64s(dimensions)}
        return draft.op(name, operands, [tensor_type(target, element)], **attributes).results

    return case


def slice_(draft: Draft) -> Sequence[ir.Value]:
    shape = draft.shape()
    starts = [draft.draw.randint(0, size) for size in shape]
    limits = [draft.draw.randint(start, size) for start, size in zip(starts, shape, strict=True)]
    attributes = {
        "start_indices": i64s(starts),
        "limit_indices": i64s(limits),
        "strides": i64s([draft.draw.randint(1, 3) for _ in shape]),
    }
    return draft.op("slice", [draft.value(draft.draw.choice(ANY), shape)], **attributes).results


def pad(name: str) -> Case:
    def case(draft: Draft) -> Sequence[ir.Value]:
        element, shape = draft.draw.choice(ANY), draft.shape()
        interior = [draft.draw.choice((0, 0, 1, 2)) for _ in shape]
        whole = [max((size - 1) * (between + 1) + 1, 0) for size, between in zip(shape, interior, strict=True)]
        low = [draft.draw.randint(-min(size, 2), 2) for size in whole]
        high = [draft.draw.randint(-min(max(size + before, 0), 2), 2) for size, before in zip(whole, low, strict=True)]
        result = [sum(sizes) for sizes in zip(whole, low, high, strict=True)]
        operands = [draft.value(element, shape), draft.value(element, [])]
        if name == "pad":
            return [stablehlo.pad(*operands, low, high, interior)]
        index = draft.draw.choice(("i32", "i64"))
        operands += [integer_argument(draft, amounts, index) for amounts in (low, high, interior)]
        return draft.op(name, operands, [tensor_type(result, element)]).results

    return case


def concatenate(draft: Draft) -> Sequence[ir.Value]:
    element, shape = draft.draw.choice(ANY), draft.shape(1)
    axis = draft.draw.randrange(len(shape))
    parts = []
    for _ in range(draft.draw.randint(1, 4)):
        shape[axis] = draft.draw.randint(0, 3)
        parts.append(draft.value(element, shape))
    return draft.op("concatenate", parts, dimension=i64(axis)).results


def reverse(draft: Draft) -> Sequence[ir.Value]:
    operand = draft.value(draft.draw.choice(ANY), draft.shape())
    dimensions = draft.draw.sample(range(operand.type.rank), draft.draw.randint(0, operand.type.rank))
    return draft.op("reverse", [operand], dimensions=i64s(dimensions)).results


def dynamic_slice(draft: Draft) -> Sequence[ir.Value]:
    operand = draft.value(draft.draw.choice(ANY), draft.shape())
    sizes = [draft.draw.randint(0, size) for size in operand.type.shape]
    return draft.op("dynamic_slice", [operand, *starts(draft, len(sizes))], slice_sizes=i64s(sizes)).results


def dynamic_update_slice(draft: Draft) -> Sequence[ir.Value]:
    element, shape = draft.draw.choice(ANY), draft.shape()
    update = draft.value(element, [draft.draw.randint(0, size) for size in shape])
    return draft.op("dynamic_update_slice", [draft.value(element, shape), update, *starts(draft, len(shape))]).results


def get_dimension_size(draft: Draft) -> Sequence[ir.Value]:
    operand = draft.value(draft.draw.choice(ANY), draft.shape(1))
    return draft.op("get_dimension_size", [operand], dimension=i64(draft.draw.randrange(operand.type.rank))).results


CASES: dict[str, Case] = {
    "broadcast_in_dim": broadcast_in_dim("broadcast_in_dim"),
    "concatenate": concatenate,
    "dynamic_broadcast_in_dim": broadcast_in_dim("dynamic_broadcast_in_dim"),
    "dynamic_iota": iota("dynamic_iota"),
    "dynamic_pad": pad("dynamic_pad"),
    "dynamic_reshape": reshape("dynamic_reshape"),
    "dynamic_slice": dynamic_slice,
    "dynamic_update_slice": dynamic_update_slice,
    "get_dimension_size": get_dimension_size,
    "iota": iota("iota"),
    "pad": pad("pad"),
    "reshape": reshape("reshape"),
    "reverse": reverse,
    "slice": slice_,
    "transpose": transpose,
}
