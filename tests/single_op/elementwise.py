"""Cases of ops on elements."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch_mlir import ir

from shlo_quant.passes.dialects import stablehlo

from .draft import (
    ANY,
    FLOATS,
    INTEGERS,
    NUMBERS,
    SIGNED,
    SMALL_FLOATS,
    Case,
    Draft,
    element_type,
    random_array,
    tensor_type,
)

FLOAT_FUNCTIONS = (
    "cbrt ceil cosine exponential exponential_minus_one floor imag is_finite log log_plus_one logistic real "
    "round_nearest_afz round_nearest_even rsqrt sine sqrt tan tanh"
).split()


def unary(name: str, elements: Sequence[str]) -> Case:
    return lambda draft: draft.op(name, [draft.value(draft.draw.choice(elements), draft.shape())]).results


def binary(name: str, elements: Sequence[str]) -> Case:
    def case(draft: Draft) -> Sequence[ir.Value]:
        element, shape = draft.draw.choice(elements), draft.shape()
        lhs, rhs = draft.value(element, shape), draft.value(element, shape)
        if name in ("divide", "remainder") and element in INTEGERS:
            draft.inputs[-1] = np.where(draft.inputs[-1] == 0, 1, draft.inputs[-1]).astype(draft.inputs[-1].dtype)
        return draft.op(name, [lhs, rhs]).results

    return case


def compare(draft: Draft) -> Sequence[ir.Value]:
    element, shape = draft.draw.choice(ANY + SMALL_FLOATS), draft.shape()
    lhs, rhs = draft.value(element, shape), draft.value(element, shape)
    return [stablehlo.compare(lhs, rhs, draft.draw.choice("EQ NE GE GT LE LT".split()))]


def select(draft: Draft) -> Sequence[ir.Value]:
    element, shape = draft.draw.choice(ANY), draft.shape()
    pred = draft.value("i1", draft.draw.choice((shape, [])))
    return draft.op("select", [pred, draft.value(element, shape), draft.value(element, shape)]).results


def clamp(draft: Draft) -> Sequence[ir.Value]:
    element, shape = draft.draw.choice(ANY), draft.shape()
    low, high = (draft.value(element, draft.draw.choice((shape, []))) for _ in range(2))
    return draft.op("clamp", [low, draft.value(element, shape), high]).results


def convert(draft: Draft) -> Sequence[ir.Value]:
    source, target = (draft.draw.choice(ANY + SMALL_FLOATS) for _ in range(2))
    shape = draft.shape()
    return draft.op("convert", [draft.value(source, shape)], [tensor_type(shape, target)]).results


def bitcast_convert(draft: Draft) -> Sequence[ir.Value]:
    source, target = (draft.draw.choice(NUMBERS + SMALL_FLOATS) for _ in range(2))
    shape, widths = draft.shape(0, 3), [element_type(name).width for name in (source, target)]
    wide, narrow = max(widths), min(widths)
    longer = [*shape, wide // narrow] if wide > narrow else shape
    from_shape, to_shape = (shape, longer) if widths[0] == wide else (longer, shape)
    operand = draft.value(source, from_shape)
    return draft.op("bitcast_convert", [operand], [tensor_type(to_shape, target)]).results


def reduce_precision(draft: Draft) -> Sequence[ir.Value]:
    i32 = ir.IntegerType.get_signless(32)
    exponent, mantissa = draft.draw.randint(1, 9), draft.draw.randint(0, 12)
    return draft.op(
        "reduce_precision",
        [draft.value(draft.draw.choice(FLOATS), draft.shape())],
        exponent_bits=ir.IntegerAttr.get(i32, exponent),
        mantissa_bits=ir.IntegerAttr.get(i32, mantissa),
    ).results


def constant(draft: Draft) -> Sequence[ir.Value]:
    tensor = tensor_type(draft.shape(), draft.draw.choice(ANY))
    return [stablehlo.constant(random_array(draft, tensor), tensor.element_type)]


CASES: dict[str, Case] = {
    **{name: unary(name, FLOATS) for name in FLOAT_FUNCTIONS},
    **{name: unary(name, FLOATS + SIGNED) for name in ("abs", "sign")},
    "negate": unary("negate", NUMBERS),
    "not": unary("not", (*INTEGERS, "i1")),
    **{name: unary(name, INTEGERS) for name in ("popcnt", "count_leading_zeros")},
    **{name: binary(name, ANY) for name in ("add", "multiply", "maximum", "minimum")},
    **{name: binary(name, NUMBERS) for name in ("subtract", "divide", "remainder", "power")},
    "atan2": binary("atan2", FLOATS),
    **{name: binary(name, (*INTEGERS, "i1")) for name in ("and", "or", "xor")},
    **{name: binary(name, INTEGERS) for name in ("shift_left", "shift_right_arithmetic", "shift_right_logical")},
    **{f"{name} of small floats": binary(name, SMALL_FLOATS) for name in ("add", "multiply", "divide")},
    "bitcast_convert": bitcast_convert,
    "clamp": clamp,
    "compare": compare,
    "constant": constant,
    "convert": convert,
    "reduce_precision": reduce_precision,
    "select": select,
}
