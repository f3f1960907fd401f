"""Small random programs in Q/DQ form: float ops of many kinds between dequantizes and quantizes, one program a seed.

A program starts from dequantized arguments and takes some random steps, each on a value that exists by then;
some of the last values are quantized and returned, next to quantized values from within and sometimes a float.
Types are per-tensor or per-axis, of any storage width, signed or not, with narrow bounds and zero points at the bounds.
"""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from shlo_quant.passes.dialects import stablehlo
from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.dialects.context import new_context
from shlo_quant.passes.dialects.quant import UniformType, integer_range
from shlo_quant.passes.dialects.stablehlo import DotDimensions, elementwise, i64s

ARGUMENT_SHAPES = ((1, 2, 4, 4), (2, 3), (3, 4), (1, 2, 5, 3), (2, 2, 3))
SCALES = (0.5, 0.25, 0.1, 0.03, 1.0, 0.0123, 0.3)
STORAGE_BITS = (8, 8, 8, 8, 4, 16, 32)
LARGEST_STORED = {4: 16, 8: 256, 16: 300, 32: 100_000}
"""Bounds of stored integers by width: sums of products of 16 bits or less stay below 2^24, where f32 is exact."""
MOST_ELEMENTS = 300
"""Steps that make tensors larger start from fewer elements than this."""
REDUCTIONS = {"add": 0.0, "maximum": -math.inf, "minimum": math.inf}
"""Bodies of reductions, and what each starts with."""


def random_program(seed: int) -> ir.Module:
    """A verified program in a context of its own: a function `main`, the same for the same seed."""
    with new_context(), ir.Location.unknown():
        module = ir.Module.create()
        draw = random.Random(seed)
        arguments = _argument_types(draw)
        with ir.InsertionPoint(module.body):
            function = ir.Operation.create("func.func", attributes=_header(arguments, []), regions=1)
        block = function.regions[0].blocks.append(*arguments, arg_locs=[ir.Location.unknown()] * len(arguments))
        with ir.InsertionPoint(block):
            results = _fill(Draft(draw, [stablehlo.uniform_dequantize(a) for a in block.arguments]))
            stablehlo.create("func.return", results, [])
        for name, attribute in _header(arguments, [r.type for r in results]).items():
            function.attributes[name] = attribute
        module.operation.verify()
    return module


def _argument_types(draw: random.Random) -> list[ir.Type]:
    shapes = [draw.choice(ARGUMENT_SHAPES) for _ in range(draw.randint(1, 3))]
    return [random_type(draw, shape, _axis(draw, shape, 0.15)).tensor_like(tensor(shape)) for shape in shapes]


def _header(arguments: Sequence[ir.Type], results: Sequence[ir.Type]) -> dict[str, ir.Attribute]:
    function_type = ir.FunctionType.get(list(arguments), list(results))
    return {"sym_name": ir.StringAttr.get("main"), "function_type": ir.TypeAttr.get(function_type)}


def _fill(draft: Draft) -> list[ir.Value]:
    """Take the steps; return the results of the program."""
    steps = list(STEPS)
    for step in draft.draw.choices(steps, [STEPS[step] for step in steps], k=draft.draw.randint(4, 14)):
        value = step(draft, draft.any_value())
        if value is not None:
            draft.values.append(value)
    last = draft.values[-1]
    results = [draft.quantize(value) for value in draft.values[-5:] if draft.chance(0.7)]
    results += draft.quantized[-2:]
    if draft.chance(0.2):
        results.append(last)
    return results or [draft.quantize(last)]


# ---- types and constants


def tensor(shape: Sequence[int]) -> ir.RankedTensorType:
    """A tensor type of f32."""
    return ir.RankedTensorType.get(list(shape), ir.F32Type.get())


def shape_of(value: ir.Value) -> list[int]:
    """The sizes of a value."""
    return list(value.type.shape)


def random_type(draw: random.Random, shape: Sequence[int], axis: int | None) -> UniformType:
    """A quantized type for tensors of `shape`: per-tensor, or per-axis on dimension `axis`."""
    bits, signed = draw.choice(STORAGE_BITS), draw.random() < 0.75
    lowest, highest = integer_range(bits, signed)
    if draw.random() < 0.3:
        lowest, highest = lowest + draw.randint(0, 3), highest - draw.randint(0, 2)
    lowest, highest = max(lowest, -LARGEST_STORED[bits]), min(highest, LARGEST_STORED[bits])
    count = 1 if axis is None else shape[axis]
    return UniformType(
        ir.IntegerType.get_signless(bits),
        signed,
        ir.F32Type.get(),
        tuple(float(np.float32(draw.choice(SCALES))) for _ in range(count)),
        tuple(draw.choice((max(lowest, 0), lowest, highest, draw.randint(lowest, highest))) for _ in range(count)),
        axis,
        lowest,
        highest,
    )


def _axis(draw: random.Random, shape: Sequence[int], probability: float) -> int | None:
    """A random dimension with that probability, else None: per-tensor."""
    return draw.randrange(len(shape)) if shape and draw.random() < probability else None


# ---- a program that is being written


class Draft:
    """A program at the insertion point, and the choices to be made for it.

    Attributes:
      draw: the source of all choices.
      values: the float values so far.
      quantized: the results of quantizes within the program.
      sums: the last result of a dot or convolution and its feature dimension; None before there is one.
    """

    def __init__(self, draw: random.Random, values: list[ir.Value]) -> None:
        self.draw = draw
        self.values = values
        self.quantized: list[ir.Value] = []
        self.sums: tuple[ir.Value, int] | None = None

    def chance(self, probability: float) -> bool:
        return self.draw.random() < probability

    def array(self) -> np.random.Generator:
        """A source of arrays."""
        return np.random.default_rng(self.draw.randrange(1 << 32))

    def any_value(self) -> ir.Value:
        """A random value; every other time the last one, so that chains come about."""
        return self.values[-1] if self.chance(0.5) else self.draw.choice(self.values)

    def alike(self, value: ir.Value) -> ir.Value:
        """A random value of the same type, maybe `value` itself."""
        return self.draw.choice([other for other in self.values if other.type == value.type])

    def quantize(self, value: ir.Value) -> ir.Value:
        """`value`, quantized to a random type: one in four is per-axis."""
        shape = shape_of(value)
        return stablehlo.uniform_quantize(value, random_type(self.draw, shape, _axis(self.draw, shape, 0.25)))

    def weights(self, shape: Sequence[int], axes: Sequence[int | None]) -> ir.Value:
        """A dequantized constant, per-axis on one of `axes`."""
        uniform = random_type(self.draw, shape, self.draw.choice(axes))
        stored = self.array().integers(uniform.storage_min, uniform.storage_max, shape, endpoint=True)
        return stablehlo.uniform_dequantize(stablehlo.quantized_constant(stored, uniform))

    def add_bias(self, value: ir.Value, dimension: int) -> ir.Value:
        """`value` and a float constant along a dimension; at the largest, it saturates most result types."""
        size = self.draw.choice((1, 5, 1000))
        bias = stablehlo.constant(_f32(self.array().standard_normal(shape_of(value)[dimension]) * size))
        return elementwise("add", value, stablehlo.broadcast_in_dim(bias, value.type, [dimension]))


def _f32(array: Array) -> Array:
    return array.astype(np.float32)


def _scalar(value: float) -> ir.Value:
    return stablehlo.splat(value, tensor([]))


def _i64(value: int) -> ir.Attribute:
    return ir.IntegerAttr.get(ir.IntegerType.get_signless(64), value)


# ---- steps: a float value becomes another; None where the kind of step does not apply


def requantize(draft: Draft, value: ir.Value) -> ir.Value:
    """Quantize and dequantize again."""
    draft.quantized.append(draft.quantize(value))
    return stablehlo.uniform_dequantize(draft.quantized[-1])


def unary(draft: Draft, value: ir.Value) -> ir.Value:
    return elementwise(draft.draw.choice("negate abs tanh logistic floor sign exponential".split()), value)


def binary(draft: Draft, value: ir.Value) -> ir.Value:
    name = draft.draw.choice("add subtract multiply maximum minimum divide".split())
    return elementwise(name, value, draft.alike(value))


def binary_with_constant(draft: Draft, value: ir.Value) -> ir.Value:
    """Either operand is a constant: one number, or many that may all be integers."""
    if draft.chance(0.6):
        constant = stablehlo.splat(draft.draw.choice((0.0, 1.0, -0.5, 2.0, 6.0, 0.1)), value.type)
    else:
        integers = draft.array().integers(-6, 7, shape_of(value))
        constant = stablehlo.constant(_f32(integers * draft.draw.choice((0.5, 1.0, 0.3))))
    operands = draft.draw.sample([value, constant], 2)
    return elementwise(draft.draw.choice("add subtract multiply maximum minimum divide".split()), *operands)


def clamp(draft: Draft, value: ir.Value) -> ir.Value:
    """Clamp with scalar bounds, once in a while the wrong way round."""
    bounds = ((0.0, 6.0), (-1.0, 1.0), (0.0, 0.3), (-math.inf, 1.0), (2.0, 1.0), (-100.0, 100.0))
    low, high = draft.draw.choice(bounds)
    return elementwise("clamp", _scalar(low), value, _scalar(high))


def relu(_draft: Draft, value: ir.Value) -> ir.Value:
    return elementwise("maximum", value, stablehlo.splat(0.0, value.type))


def select(draft: Draft, value: ir.Value) -> ir.Value:
    """Elements of two values, by a constant mask."""
    mask = stablehlo.constant(np.asarray(draft.array().random(shape_of(value)) > 0.5))
    return elementwise("select", mask, value, draft.alike(value))


def reshape(draft: Draft, value: ir.Value) -> ir.Value:
    elements = math.prod(shape_of(value))
    first = draft.draw.choice([n for n in range(1, elements + 1) if elements % n == 0])
    shape = [first, elements // first]
    return stablehlo.reshape(value, tensor(shape if draft.chance(0.7) else [1, *shape]))


def transpose(draft: Draft, value: ir.Value) -> ir.Value:
    rank = value.type.rank
    return stablehlo.transpose(value, draft.draw.sample(range(rank), rank))


def broadcast(_draft: Draft, value: ir.Value) -> ir.Value | None:
    """Twice the value, along a new first dimension."""
    shape = shape_of(value)
    if 2 * math.prod(shape) > MOST_ELEMENTS:
        return None
    return stablehlo.broadcast_in_dim(value, tensor([2, *shape]), range(1, len(shape) + 1))


def slice_(draft: Draft, value: ir.Value) -> ir.Value:
    shape = shape_of(value)
    starts = [draft.draw.randrange(size) for size in shape]
    limits = [draft.draw.randint(start + 1, size) for start, size in zip(starts, shape, strict=True)]
    strides = [draft.draw.choice((1, 2)) for _ in shape]
    return elementwise("slice", value, start_indices=i64s(starts), limit_indices=i64s(limits), strides=i64s(strides))


def pad(draft: Draft, value: ir.Value) -> ir.Value | None:
    """Pad at the edges and within, also by a negative amount, with numbers that a type may not hold."""
    shape = shape_of(value)
    if math.prod(shape) > MOST_ELEMENTS:
        return None
    number = _scalar(draft.draw.choice((0.0, 0.0, 1.0, 0.1, -math.inf)))
    low = [draft.draw.randint(-1 if size > 2 else 0, 1) for size in shape]
    high, interior = ([draft.draw.choice(sizes) for _ in shape] for sizes in ((0, 1), (0, 0, 1)))
    return stablehlo.pad(value, number, low, high, interior)


def concatenate(draft: Draft, value: ir.Value) -> ir.Value | None:
    shape = shape_of(value)
    if not shape or math.prod(shape) > MOST_ELEMENTS:
        return None
    dimension = draft.draw.randrange(len(shape))
    return elementwise("concatenate", value, draft.alike(value), dimension=_i64(dimension))


def reverse(draft: Draft, value: ir.Value) -> ir.Value | None:
    if not value.type.rank:
        return None
    return elementwise("reverse", value, dimensions=i64s([draft.draw.randrange(value.type.rank)]))


def convolution(draft: Draft, value: ir.Value) -> ir.Value | None:
    """Convolve an image with constant weights: plain, depthwise, padded, strided, dilated, reversed."""
    images = [v for v in (value, *draft.values) if v.type.rank == 4 and math.prod(shape_of(v)) <= MOST_ELEMENTS]
    if not images:
        return None
    value = _maybe_requantize(draft, images[0])
    batch, channels, *image = shape_of(value)
    groups = draft.draw.choice((1, 1, channels))
    kernel = [draft.draw.randint(1, min(3, size)) for size in image]
    features = draft.draw.choice((1, 2)) * groups
    weights = draft.weights([features, channels // groups, *kernel], (0, 0, None, 1))
    crops = image[0] > kernel[0] + 1
    padding = [[draft.draw.randint(low, high) for low in (-1 if high == 2 and crops else 0, 0)] for high in (2, 1)]
    strides, dilation = [draft.draw.choice((1, 2)) for _ in image], [draft.draw.choice((1, 1, 2)), 1]
    window = zip(image, kernel, padding, strides, dilation, strict=True)
    sizes = [((n - 1) * d + 1 + sum(p) - k) // s + 1 for n, k, p, s, d in window]
    numbers = _stablehlo.ConvDimensionNumbers.get(0, 1, [2, 3], 1, 0, [2, 3], 0, 1, [2, 3])
    attributes = {
        "dimension_numbers": numbers,
        "feature_group_count": _i64(groups),
        "batch_group_count": _i64(1),
        "window_strides": i64s(strides),
        "padding": stablehlo.padding(padding),
        "lhs_dilation": i64s(dilation),
        "window_reversal": ir.DenseBoolArrayAttr.get([draft.chance(0.3), False]),
    }
    result = [tensor([batch, features, *sizes])]
    op = stablehlo.create("stablehlo.convolution", [value, weights], result, attributes)
    return _sums(draft, op.results[0], 1)


def dot_general(draft: Draft, value: ir.Value) -> ir.Value | None:
    """Multiply with a constant, or with a value, on either of its dimensions; per-axis on any dimension."""
    *batch, depth = shape_of(value) or [0]
    if not batch or depth > 40:
        return None
    contracting = draft.draw.choice((0, 1))
    if draft.chance(0.7):
        features = draft.draw.randint(1, 4)
        shape = (depth, features) if contracting == 0 else (features, depth)
        other = 1 - contracting
        rhs = draft.weights(shape, (other, other, other, None, None, contracting))
    else:
        fitting = [v for v in draft.values if v.type.rank == 2 and v.type.shape[contracting] == depth]
        if not fitting:
            return None
        rhs = draft.draw.choice(fitting)
    value = _maybe_requantize(draft, value)
    dimensions = DotDimensions((), (), (len(batch),), (contracting,))
    result = tensor([*batch, rhs.type.shape[1 - contracting]])
    return _sums(draft, stablehlo.dot_general(value, rhs, dimensions, result), len(batch))


def _sums(draft: Draft, sums: ir.Value, dimension: int) -> ir.Value:
    """Remember the result of a dot or convolution; mostly, add a bias, apply relu and quantize as networks do."""
    draft.sums = (sums, dimension)
    value = draft.add_bias(sums, dimension) if draft.chance(0.65) else sums
    if draft.chance(0.2):
        draft.values.append(value)  # so that it can get a second user
    return _maybe_requantize(draft, relu(draft, value) if draft.chance(0.3) else value)


def _maybe_requantize(draft: Draft, value: ir.Value) -> ir.Value:
    return requantize(draft, value) if draft.chance(0.5) else value


def another_bias(draft: Draft, _value: ir.Value) -> ir.Value | None:
    """Add a bias to the last dot or convolution, which may have one already."""
    return None if draft.sums is None else draft.add_bias(*draft.sums)


def reduce(draft: Draft, value: ir.Value) -> ir.Value | None:
    """Reduce one dimension; a sum may become a mean."""
    if not value.type.rank:
        return None
    dimension, body = draft.draw.randrange(value.type.rank), draft.draw.choice(("add", *REDUCTIONS))
    result = stablehlo.reduce(value, _scalar(REDUCTIONS[body]), [dimension], body)
    if body != "add" or draft.chance(0.3):
        return result
    return elementwise("divide", result, stablehlo.splat(float(value.type.shape[dimension]), result.type))


def reduce_window(draft: Draft, value: ir.Value) -> ir.Value | None:
    """Reduce windows along the last dimension, padding included; a sum may become a mean."""
    if value.type.rank < 2:
        return None
    *batch, size = shape_of(value)
    window, stride = draft.draw.randint(1, min(3, size)), draft.draw.choice((1, 2))
    padding = [draft.draw.randint(0, 2), draft.draw.randint(0, 2)]
    body = draft.draw.choice(tuple(REDUCTIONS))
    ones = [1] * len(batch)
    attributes = {
        "window_dimensions": i64s([*ones, window]),
        "window_strides": i64s([*ones, stride]),
        "padding": stablehlo.padding([[0, 0]] * len(batch) + [padding]),
    }
    result = tensor([*batch, (size + sum(padding) - window) // stride + 1])
    operands = [value, _scalar(REDUCTIONS[body])]
    op = stablehlo.create("stablehlo.reduce_window", operands, [result], attributes, regions=1)
    stablehlo.fill_body(op, ir.F32Type.get(), lambda lhs, rhs: elementwise(body, lhs, rhs))
    if body != "add" or draft.chance(0.3):
        return op.results[0]
    return elementwise("multiply", op.results[0], stablehlo.splat(1 / window, result))


STEPS: dict[Callable[[Draft, ir.Value], ir.Value | None], int] = {
    requantize: 4,
    unary: 1,
    binary: 2,
    binary_with_constant: 1,
    clamp: 1,
    relu: 1,
    select: 1,
    reshape: 1,
    transpose: 1,
    broadcast: 1,
    slice_: 1,
    pad: 1,
    concatenate: 2,
    reverse: 1,
    convolution: 5,
    dot_general: 3,
    another_bias: 1,
    reduce: 1,
    reduce_window: 1,
}
"""The kinds of step, and how often each is taken."""
