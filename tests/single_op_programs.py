"""Random programs of one op each, over all ops, element types, shapes and values, by which engines are compared.

A case is made from its seed alone. Many cases share a module, as independent ops of one function, because that is how
the reference interpreter, which runs in a process of its own, gets through thousands of them.

    python -m tests.single_op_programs --count 20000

compares the engine `fast` with the reference interpreter and prints a table: cases and mismatches by op. Left out is
what the interpreter gets wrong or dies of: integer division by zero, contraction of no elements, unsigned indices
(read as signed), total order of floats (compared as numbers), sorting of NaN, unstable sorting.
"""

from __future__ import annotations

import argparse
import math
import random
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import ml_dtypes
import numpy as np
from torch_mlir import ir

from shlo_quant.compare import compare
from shlo_quant.engines.fast import FastEngine
from shlo_quant.engines.reference import ReferenceEngine
from shlo_quant.passes.dialects import stablehlo
from shlo_quant.passes.dialects.constants import Array, numpy_dtype
from shlo_quant.passes.dialects.context import new_context
from shlo_quant.passes.dialects.quant import integer_range
from shlo_quant.passes.errors import ShloQuantError

BATCH = 40
"""Cases a module."""

FLOATS = ("f16", "bf16", "f32", "f64")
SMALL_FLOATS = ("f8E5M2", "f8E4M3FN", "f8E4M3", "f8E3M4")
SIGNED = ("i2", "i4", "i8", "i16", "i32", "i64")
UNSIGNED = tuple(f"u{name}" for name in SIGNED)
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATS + INTEGERS
ANY = (*NUMBERS, "i1")


@dataclass
class Draft:
    """A function that is being written: the block to append to, the arguments so far and the choices to be made.

    Attributes:
      draw: the source of all choices.
      block: the function's body; arguments are added as they are asked for.
      inputs: the arrays for the arguments.
    """

    draw: random.Random
    block: ir.Block
    inputs: list[Array]

    @property
    def generator(self) -> np.random.Generator:
        """A source of arrays."""
        return np.random.default_rng(self.draw.randrange(1 << 32))

    def chance(self, probability: float) -> bool:
        return self.draw.random() < probability

    def shape(self, lowest_rank: int = 0, highest_rank: int = 4, zero: float = 0.04) -> list[int]:
        """Random sizes; with that probability one of them is 0."""
        sizes = [self.draw.randint(1, 4) for _ in range(self.draw.randint(lowest_rank, highest_rank))]
        if sizes and self.chance(zero):
            sizes[self.draw.randrange(len(sizes))] = 0
        return sizes

    def argument(self, array: Array, tensor: ir.Type) -> ir.Value:
        """An argument of the function that will be `array`."""
        self.inputs.append(np.asarray(array, numpy_dtype(tensor)))
        return self.block.add_argument(tensor, ir.Location.unknown())

    def value(self, element: str, shape: Sequence[int], values: Sequence[float] = ()) -> ir.Value:
        """An argument of random elements: of `values` if there are any, else of the whole type."""
        tensor = tensor_type(shape, element)
        array = self.generator.choice(values, shape) if values else random_array(self, tensor)
        return self.argument(array, tensor)

    def op(
        self,
        name: str,
        operands: Sequence[ir.Value],
        results: Sequence[ir.Type] | None = None,
        regions: int = 0,
        **attributes: ir.Attribute,
    ) -> ir.Operation:
        return stablehlo.create(f"stablehlo.{name}", operands, results, attributes, regions)


# ---- types and values


def element_type(name: str) -> ir.Type:
    return ir.Type.parse(name)


def tensor_type(shape: Sequence[int], element: str) -> ir.RankedTensorType:
    return ir.RankedTensorType.get(list(shape), element_type(element))


def random_array(draft: Draft, tensor: ir.Type) -> Array:
    """Elements over the whole type: some of it small, some at its ends; of floats, also halves, NaN and infinities."""
    element, dtype, shape = tensor.element_type, numpy_dtype(tensor), tuple(tensor.shape)
    generator = draft.generator
    if dtype.kind == "b":
        return generator.random(shape) < 0.5
    if dtype.kind in "iu":
        lowest, highest = integer_range(element.width, not element.is_unsigned)
        whole = generator.integers(lowest, highest, shape, dtype, endpoint=True)
        small = generator.integers(max(lowest, -3), min(highest, 3), shape, dtype, endpoint=True)
        ends = generator.choice(np.array([lowest, lowest + 1, 0, highest - 1, highest], dtype), shape)
        return np.choose(generator.integers(0, 3, shape), [whole, small, ends])
    limits = ml_dtypes.finfo(dtype)
    exponents = draft.draw.choice((0, 1, 4, 40))
    normal = generator.standard_normal(shape) * 2.0 ** generator.integers(-exponents, exponents, shape, endpoint=True)
    halves = generator.integers(-20, 20, shape) / 2
    special = [0.0, -0.0, math.inf, -math.inf, math.nan, float(limits.max), float(limits.smallest_subnormal), 1.0, -1.0]
    rare = generator.choice(special, shape)
    with np.errstate(all="ignore"):
        kinds = generator.choice(3, shape, p=draft.draw.choice(((1, 0, 0), (0.6, 0.4, 0), (0.5, 0.3, 0.2))))
        return np.choose(kinds, [normal, halves, rare]).astype(dtype)


def i64(value: int) -> ir.Attribute:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


i64s = stablehlo.i64s


# ---- elementwise


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


def compare_(draft: Draft) -> Sequence[ir.Value]:
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


def map_(draft: Draft) -> Sequence[ir.Value]:
    element, shape = draft.draw.choice(NUMBERS), draft.shape()
    operands = [draft.value(element, shape) for _ in range(2)]
    attributes = {"dimensions": i64s(range(len(shape)))}
    op = draft.op("map", operands, [tensor_type(shape, element)], regions=1, **attributes)
    body = lambda lhs, rhs: elementwise("add", elementwise("multiply", lhs, rhs), lhs)
    stablehlo.fill_body(op, element_type(element), body)
    return op.results


elementwise = stablehlo.elementwise


# ---- data movement


def iota(name: str) -> Case:
    def case(draft: Draft) -> Sequence[ir.Value]:
        shape = draft.shape(1)
        if draft.chance(0.1):
            shape[0] = 300
        tensor, axis = tensor_type(shape, draft.draw.choice(NUMBERS)), draft.draw.randrange(len(shape))
        operands = [integer_argument(draft, shape)] if name == "dynamic_iota" else []
        return draft.op(name, operands, [tensor], iota_dimension=i64(axis)).results

    return case


def integer_argument(draft: Draft, values: Sequence[int], element: str | None = None) -> ir.Value:
    """Numbers as an argument, a vector."""
    tensor = tensor_type([len(values)], element or draft.draw.choice(("i32", "i64")))
    return draft.argument(np.array(values, np.int64), tensor)


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


def starts(draft: Draft, rank: int) -> list[ir.Value]:
    """Start indices, also out of range."""
    index = draft.draw.choice(("i8", "i32", "i64"))
    return [draft.value(index, [], range(-3, 6)) for _ in range(rank)]


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


Case = Callable[[Draft], Sequence[ir.Value]]

FLOAT_FUNCTIONS = (
    "cbrt ceil cosine exponential exponential_minus_one floor is_finite log log_plus_one logistic "
    "round_nearest_afz round_nearest_even rsqrt sine sqrt tan tanh real imag"
).split()

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
    "small floats": binary("add", SMALL_FLOATS),
    "compare": compare_,
    "select": select,
    "clamp": clamp,
    "convert": convert,
    "bitcast_convert": bitcast_convert,
    "reduce_precision": reduce_precision,
    "constant": constant,
    "map": map_,
    "iota": iota("iota"),
    "dynamic_iota": iota("dynamic_iota"),
    "reshape": reshape("reshape"),
    "dynamic_reshape": reshape("dynamic_reshape"),
    "transpose": transpose,
    "broadcast_in_dim": broadcast_in_dim("broadcast_in_dim"),
    "dynamic_broadcast_in_dim": broadcast_in_dim("dynamic_broadcast_in_dim"),
    "slice": slice_,
    "pad": pad("pad"),
    "dynamic_pad": pad("dynamic_pad"),
    "concatenate": concatenate,
    "reverse": reverse,
    "dynamic_slice": dynamic_slice,
    "dynamic_update_slice": dynamic_update_slice,
    "get_dimension_size": get_dimension_size,
}


# ---- programs


@dataclass(frozen=True)
class Batch:
    """A module of independent cases.

    Attributes:
      module: with one function; it returns the results of all cases.
      inputs: its arguments.
      kinds: the kind of case that each result is of.
    """

    module: ir.Module
    inputs: list[Array]
    kinds: list[str]


def batch(seeds: Iterable[int], cases: dict[str, Case]) -> Batch:
    """The cases of these seeds, in a context of their own; the same for the same seeds."""
    with new_context(), ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            attributes = {"sym_name": ir.StringAttr.get("main"), "function_type": function_type([], [])}
            function = ir.Operation.create("func.func", attributes=attributes, regions=1)
        block = function.regions[0].blocks.append()
        inputs: list[Array] = []
        results: list[ir.Value] = []
        kinds: list[str] = []
        names = list(cases)
        with ir.InsertionPoint(block):
            for seed in seeds:
                draw = random.Random(seed)
                kind = draw.choice(names)
                found = cases[kind](Draft(draw, block, inputs))
                results += found
                kinds += [kind] * len(found)
            stablehlo.create("func.return", results, [])
        types = ([value.type for value in values] for values in (block.arguments, results))
        function.attributes["function_type"] = function_type(*types)
        module.operation.verify()
    return Batch(module, inputs, kinds)


def function_type(arguments: Sequence[ir.Type], results: Sequence[ir.Type]) -> ir.Attribute:
    return ir.TypeAttr.get(ir.FunctionType.get(list(arguments), list(results)))


@dataclass
class Tally:
    """What came of many cases.

    Attributes:
      cases, mismatches: by kind; a mismatch is a case of which any element differs.
      faults: what differs or failed, each with its seed.
    """

    cases: Counter[str] = field(default_factory=Counter)
    mismatches: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def add(self, seeds: Sequence[int], cases: dict[str, Case]) -> None:
        """Compare the engines on the cases of these seeds; if anything is wrong, on each by itself."""
        made = batch(seeds, cases)
        try:
            wrong = differences(made)
        except ShloQuantError as error:
            wrong = [(kind, str(error)) for kind in made.kinds]
        if wrong and len(seeds) > 1:
            for seed in seeds:
                self.add([seed], cases)
            return
        self.cases.update(made.kinds)
        for kind, text in wrong:
            self.mismatches[kind] += 1
            self.faults.append(f"seed {seeds[0]}: {kind}: {text}")


def differences(made: Batch) -> list[tuple[str, str]]:
    """The results in which `fast` differs from the reference, with their kinds."""
    expected = ReferenceEngine().compile(made.module).run(made.inputs)
    actual = FastEngine().compile(made.module).run(made.inputs)
    compared = [(kind, compare(e, a)) for kind, e, a in zip(made.kinds, expected, actual, strict=True)]
    return [(kind, str(found)) for kind, found in compared if not found.is_exact]


def main(arguments: Sequence[str]) -> int:
    """Compare, print a table and every fault; 1 if there is any."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=20_000, help="cases (default: %(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="of the first case (default: %(default)s)")
    parser.add_argument("--kind", choices=CASES, nargs="*", help="only these kinds of case")
    options = parser.parse_args(arguments)
    cases = {kind: case for kind, case in CASES.items() if not options.kind or kind in options.kind}
    tally = Tally()
    for first in range(options.seed, options.seed + options.count, BATCH):
        tally.add(range(first, min(first + BATCH, options.seed + options.count)), cases)
    for kind in sorted(tally.cases):
        print(f"{kind:28}{tally.cases[kind]:8}{tally.mismatches[kind]:8}")
    print(f"{'all':28}{tally.cases.total():8}{tally.mismatches.total():8}")
    print(*tally.faults, sep="\n")
    return int(bool(tally.faults))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
