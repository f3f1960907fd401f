"""Cases of control flow, with values captured from outside, and of ops that pass values on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch_mlir import ir

from shlo_quant.passes.dialects import stablehlo
from shlo_quant.passes.dialects.stablehlo import elementwise

from .draft import ANY, NUMBERS, Case, Draft, block, tensor_type


def if_(draft: Draft) -> Sequence[ir.Value]:
    element, shape = draft.draw.choice(NUMBERS), draft.shape()
    captured = [draft.value(element, shape) for _ in range(2)]
    op = draft.op("if", [draft.value("i1", [])], [captured[0].type] * 2, regions=2)
    for region in range(2):
        branch(draft, op, captured, region)
    return op.results


def case(draft: Draft) -> Sequence[ir.Value]:
    element, shape, branches = draft.draw.choice(NUMBERS), draft.shape(), draft.draw.randint(1, 4)
    captured = [draft.value(element, shape) for _ in range(2)]
    index = draft.value("i32", [], range(-1, branches + 2))
    op = draft.op("case", [index], [captured[0].type] * 2, regions=branches)
    for region in range(branches):
        branch(draft, op, captured, region)
    return op.results


def branch(draft: Draft, op: ir.Operation, captured: Sequence[ir.Value], region: int) -> None:
    """Return one op of captured values, and one of them as it is."""
    name, pair = draft.draw.choice("add multiply maximum subtract".split()), draft.draw.choices(captured, k=2)
    with block(op, [], region):
        stablehlo.create("stablehlo.return", [elementwise(name, *pair), draft.draw.choice(captured)], [])


def while_(draft: Draft) -> Sequence[ir.Value]:
    """Count to a captured number; add a captured tensor each time."""
    element, shape = draft.draw.choice(NUMBERS), draft.shape()
    step, end = draft.value(element, shape), draft.value("i32", [], range(-1, 6))
    start, one = draft.value("i32", [], range(4)), stablehlo.constant(np.array(1, np.int32))
    carried = [start, draft.value(element, shape)]
    types = [value.type for value in carried]
    op = draft.op("while", carried, types, regions=2)
    blocks = [region.blocks.append(*types, arg_locs=[ir.Location.unknown()] * 2) for region in op.regions]
    with ir.InsertionPoint(blocks[0]):
        stablehlo.create("stablehlo.return", [stablehlo.compare(blocks[0].arguments[0], end, "LT")], [])
    name = draft.draw.choice(("add", "multiply", "subtract"))
    with ir.InsertionPoint(blocks[1]):
        count, value = blocks[1].arguments
        stablehlo.create("stablehlo.return", [elementwise("add", count, one), elementwise(name, value, step)], [])
    return op.results


def optimization_barrier(draft: Draft) -> Sequence[ir.Value]:
    values = [draft.value(draft.draw.choice(ANY), draft.shape()) for _ in range(2)]
    return draft.op("optimization_barrier", values, [value.type for value in values]).results


def tuple_(draft: Draft) -> Sequence[ir.Value]:
    values = [draft.value(draft.draw.choice(ANY), draft.shape()) for _ in range(2)]
    made = draft.op("tuple", values, [ir.TupleType.get_tuple([value.type for value in values])]).results[0]
    index = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), draft.draw.randrange(2))
    return draft.op("get_tuple_element", [made], [values[index.value].type], index=index).results


def call(draft: Draft) -> Sequence[ir.Value]:
    """A function of its own that combines two arguments."""
    function, values, result = callee(draft)
    attributes = {"callee": ir.FlatSymbolRefAttr.get(function)}
    return ir.Operation.create("func.call", operands=values, results=[result], attributes=attributes).results


def composite(draft: Draft) -> Sequence[ir.Value]:
    function, values, result = callee(draft)
    attributes = {"name": ir.StringAttr.get("test.composite"), "decomposition": ir.FlatSymbolRefAttr.get(function)}
    return draft.op("composite", values, [result], **attributes).results


def callee(draft: Draft) -> tuple[str, list[ir.Value], ir.Type]:
    """A new private function, arguments for it, and its result type."""
    tensor = tensor_type(draft.shape(), draft.draw.choice(NUMBERS))
    name = f"callee{len(draft.inputs)}"
    signature = ir.TypeAttr.get(ir.FunctionType.get([tensor] * 2, [tensor]))
    attributes = {
        "sym_name": ir.StringAttr.get(name),
        "sym_visibility": ir.StringAttr.get("private"),
        "function_type": signature,
    }
    with ir.InsertionPoint(draft.block.owner.operation):
        function = ir.Operation.create("func.func", attributes=attributes, regions=1)
    body = function.regions[0].blocks.append(tensor, tensor, arg_locs=[ir.Location.unknown()] * 2)
    with ir.InsertionPoint(body):
        values = elementwise("add", elementwise("multiply", *body.arguments), body.arguments[0])
        stablehlo.create("func.return", [values], [])
    element = str(tensor.element_type)
    return name, [draft.value(element, tensor.shape) for _ in range(2)], tensor


CASES: dict[str, Case] = {
    "call": call,
    "case": case,
    "composite": composite,
    "if": if_,
    "optimization_barrier": optimization_barrier,
    "tuple": tuple_,
    "while": while_,
}
