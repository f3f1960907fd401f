"""Cases of quantized ops, for every storage type, per-tensor and per-axis, with narrow bounds."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from shlo_quant.passes.dialects import stablehlo
from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.dialects.quant import STORAGE_BITS, UniformType, integer_range
from shlo_quant.passes.dialects.stablehlo import elementwise, i64s

from .dot_like import convolution_shapes, dot_shapes
from .draft import Case, Draft, i64, tensor_type

SCALES = (0.5, 0.25, 0.1, 0.03, 1.0, 0.0123, 0.3, 2.0)
EXPRESSED = ("f32",) * 6 + ("f16", "bf16", "f64")
LARGEST_EXACT = {"f16": 1 << 8, "bf16": 1 << 5, "f32": 1 << 20, "f64": 1 << 32}
"""Bounds of stored integers and zero points by expressed type, within which unlike integers stay unlike as floats.

Beyond, a maximum, a comparison or a bound is one thing on integers and another on floats."""
LARGEST_FACTOR = {2: 4, 4: 16, 8: 256, 16: 300}
"""Bounds of stored integers whose products are summed up, so that f32 holds the sums."""
FUNCTIONS = (
    "abs cbrt ceil cosine exponential exponential_minus_one floor log log_plus_one logistic negate round_nearest_afz "
    "round_nearest_even rsqrt sign sine sqrt tan tanh"
).split()


# ---- types and values


def random_type(draft: Draft, expressed: str = "", axis: int | None = None, size: int = 1) -> UniformType:
    """Any type; per-axis if there is an axis, of that size."""
    return type_of_bits(draft, draft.draw.choice(STORAGE_BITS), expressed, axis, size)


def narrow_type(draft: Draft, expressed: str = "") -> UniformType:
    """A per-tensor type of at most 16 bits: how exact sums of wider ones are, is nowhere defined."""
    return type_of_bits(draft, draft.draw.choice(STORAGE_BITS[:-1]), expressed)


def type_of_bits(draft: Draft, bits: int, expressed: str, axis: int | None = None, size: int = 1) -> UniformType:
    """A type of that storage width."""
    kind = draft.draw.choice(("i", "i", "u", "ui"))
    lowest, highest = integer_range(bits, kind == "i")
    type_name = expressed or draft.draw.choice(EXPRESSED)
    if draft.chance(0.3) and highest < LARGEST_EXACT[type_name]:
        lowest, highest = lowest + draft.draw.randint(0, 1), highest - draft.draw.randint(0, 1)
    storage = ir.IntegerType.get_unsigned(bits) if kind == "ui" else ir.IntegerType.get_signless(bits)
    expressed_type, zero = ir.Type.parse(type_name), max(lowest, 0)
    made = UniformType(storage, kind == "i", expressed_type, (1.0,), (zero,), None, lowest, highest)
    return with_parameters(draft, made, axis, size)


def with_parameters(draft: Draft, uniform: UniformType, axis: int | None = None, size: int = 1) -> UniformType:
    """The same storage and expressed type with other scales and zero points."""
    lowest, highest = uniform.storage_min, uniform.storage_max
    largest = min(1000, LARGEST_EXACT[str(uniform.expressed_type)])
    near = (max(lowest, -largest), min(highest, largest))
    zeros = tuple(draft.draw.choice((max(lowest, 0), *near, draft.draw.randint(*near))) for _ in range(size))
    scales = tuple(float(np.float32(draft.draw.choice(SCALES))) for _ in range(size))
    return dataclasses.replace(uniform, scales=scales, zero_points=zeros, quantized_dimension=axis)


def argument(draft: Draft, uniform: UniformType, shape: Sequence[int], largest: int = 1 << 32) -> ir.Value:
    """Stored integers that the expressed type holds, a third of them the smallest or largest."""
    largest = min(largest, LARGEST_EXACT[str(uniform.expressed_type)])
    lowest, highest = max(uniform.storage_min, -largest), min(uniform.storage_max, largest)
    generator = draft.generator
    stored = generator.integers(lowest, highest, shape, endpoint=True)
    ends = generator.choice([lowest, highest, 0 if lowest <= 0 else lowest], shape)
    return draft.argument(
        np.where(generator.random(shape) < 0.3, ends, stored), uniform.tensor_like(tensor_type(shape, "f32"))
    )


def maybe_axis(draft: Draft, shape: Sequence[int]) -> tuple[int | None, int]:
    """None, or now and then a dimension; and the number of scales."""
    axes = [d for d, size in enumerate(shape) if size]
    if not axes or draft.chance(0.6):
        return None, 1
    axis = draft.draw.choice(axes)
    return axis, shape[axis]


# ---- quantize and dequantize


def quantize(draft: Draft) -> Sequence[ir.Value]:
    shape = draft.shape()
    uniform = random_type(draft, "", *maybe_axis(draft, shape))
    operand = draft.value(str(uniform.expressed_type), shape)
    if draft.chance(0.7) or uniform.storage_min > 0:  # NaN becomes 0, which is not in the range then
        draft.inputs[-1] = spread(draft, uniform, shape).astype(draft.inputs[-1].dtype)
    return [stablehlo.uniform_quantize(operand, uniform)]


def spread(draft: Draft, uniform: UniformType, shape: Sequence[int]) -> Array:
    """Floats that fall within the type's range and a bit beyond, many of them at half steps."""
    steps = draft.generator.integers(2 * max(uniform.storage_min, -300), 2 * min(uniform.storage_max, 300) + 3, shape)
    noise = draft.generator.choice((0, 0, 1e-3, -1e-7), shape)
    return (steps / 2 + noise - uniform.zero_points[0]) * uniform.scales[0]


def dequantize(draft: Draft) -> Sequence[ir.Value]:
    shape = draft.shape()
    return [stablehlo.uniform_dequantize(argument(draft, random_type(draft, "", *maybe_axis(draft, shape)), shape))]


def requantize(draft: Draft) -> Sequence[ir.Value]:
    shape = draft.shape()
    axis, size = maybe_axis(draft, shape)
    source = random_type(draft, "f32", axis, size)
    target = random_type(draft, "f32", axis, size)
    return [stablehlo.uniform_quantize(argument(draft, source, shape), target)]


# ---- elementwise


def operation(name: str, operands: int) -> Case:
    def case(draft: Draft) -> Sequence[ir.Value]:
        shape, base = draft.shape(), random_type(draft)
        types = [with_parameters(draft, base) if draft.chance(0.8) else base for _ in range(operands + 1)]
        if name == "add" and base.storage_bits == 32:
            types = [type_of_bits(draft, 32, "f32")] * (operands + 1)
        values = [argument(draft, uniform, shape, 1000 if name == "add" else 1 << 32) for uniform in types[:-1]]
        return draft.op(name, values, [types[-1].tensor_like(values[0].type)]).results

    return case


def compare(draft: Draft) -> Sequence[ir.Value]:
    shape, base = draft.shape(), random_type(draft)
    values = [argument(draft, draft.draw.choice((base, with_parameters(draft, base))), shape) for _ in range(2)]
    return [stablehlo.compare(*values, draft.draw.choice("EQ NE GE GT LE LT".split()))]


def select(draft: Draft) -> Sequence[ir.Value]:
    shape, uniform = draft.shape(), random_type(draft)
    values = [argument(draft, uniform, shape) for _ in range(2)]
    return draft.op("select", [draft.value("i1", draft.draw.choice((shape, []))), *values]).results


# ---- data movement


def move(draft: Draft) -> Sequence[ir.Value]:
    """One of the ops that move elements of one type."""
    shape, uniform = draft.shape(1), random_type(draft)
    operand, other = argument(draft, uniform, shape), argument(draft, uniform, shape)
    rank, axis = len(shape), draft.draw.randrange(len(shape))
    name = draft.draw.choice(("broadcast", "concatenate", "pad", "reverse", "slice", "transpose", "dynamic_slice"))
    if name == "broadcast":
        target = uniform.tensor_like(tensor_type([2, *shape], "f32"))
        return [stablehlo.broadcast_in_dim(operand, target, range(1, rank + 1))]
    if name == "concatenate":
        return [elementwise(name, operand, other, dimension=i64(axis))]
    if name == "pad":
        edges = [draft.choices(rank, 0, 1, 2) for _ in range(3)]
        return [stablehlo.pad(operand, argument(draft, uniform, []), *edges)]
    if name == "reverse":
        return [elementwise(name, operand, dimensions=i64s([axis]))]
    if name == "slice":
        ends = {"limit_indices": i64s(shape), "strides": i64s(draft.choices(rank, 1, 2))}
        return [elementwise(name, operand, start_indices=i64s([min(1, size) for size in shape]), **ends)]
    if name == "transpose":
        return [stablehlo.transpose(operand, draft.draw.sample(range(rank), rank))]
    starts = [draft.value("i32", [], range(-1, 4)) for _ in shape]
    sizes = i64s([draft.draw.randint(0, size) for size in shape])
    return draft.op("dynamic_slice", [operand, *starts], slice_sizes=sizes).results


# ---- sums


def dot_general(draft: Draft) -> Sequence[ir.Value]:
    """A per-axis rhs has its axis on a dimension that the result keeps."""
    lhs_shape, rhs_shape, dimensions, shape = dot_shapes(draft)
    axes = dimensions.rhs_free(len(rhs_shape))
    axis = draft.draw.choice(axes) if axes else None
    result_axis = None if axis is None else len(shape) - len(axes) + axes.index(axis)
    operands, result = factors(draft, (lhs_shape, rhs_shape, shape), (axis, result_axis))
    return [stablehlo.dot_general(*operands, dimensions, result)]


def convolution(draft: Draft) -> Sequence[ir.Value]:
    """A per-axis rhs has its axis on the output feature."""
    shapes, shape, attributes = convolution_shapes(draft)
    numbers = attributes["dimension_numbers"]
    axes = (numbers.kernel_output_feature_dimension, numbers.output_feature_dimension)
    operands, result = factors(draft, (*shapes, shape), axes)
    return draft.op("convolution", operands, [result], **attributes).results


def factors(
    draft: Draft, shapes: tuple[list[int], list[int], list[int]], axes: tuple[int | None, int | None]
) -> tuple[list[ir.Value], ir.Type]:
    """Operands and result type of a sum of products; the lhs, and then the result, may be float.

    Args:
      shapes: of lhs, rhs and result.
      axes: where a per-axis rhs, and a per-axis result, has its axis; None for neither.
    """
    lhs_type = narrow_type(draft, draft.draw.choice(("f32", "f32", "f64")))
    rhs_type = with_other_sign(lhs_type) if draft.chance(0.2) else lhs_type
    axis, result_axis = axes if draft.chance(0.4) else (None, None)
    size = 1 if axis is None else shapes[1][axis]
    rhs_type = with_parameters(
        draft, dataclasses.replace(rhs_type, storage_min=min(rhs_type.storage_min, 0)), axis, size
    )
    rhs_type = dataclasses.replace(rhs_type, zero_points=(0,) * size)
    bound, expressed = LARGEST_FACTOR[lhs_type.storage_bits], str(lhs_type.expressed_type)
    if draft.chance(0.15):
        operands = [draft.value(expressed, shapes[0]), argument(draft, rhs_type, shapes[1], bound)]
        return operands, tensor_type(shapes[2], expressed)
    operands = [argument(draft, t, s, bound) for t, s in zip((lhs_type, rhs_type), shapes[:2], strict=True)]
    if axis is None or draft.chance(0.5):
        result_axis, size = None, 1
    result = random_type(draft, expressed, result_axis, size)
    return operands, result.tensor_like(tensor_type(shapes[2], "f32"))


def with_other_sign(uniform: UniformType) -> UniformType:
    """`u8` for `i8` and the reverse, over the whole range; `ui8`, which is of another storage type, stays."""
    if uniform.storage_type.is_unsigned:
        return uniform
    lowest, highest = integer_range(uniform.storage_bits, not uniform.is_signed)
    bounds = {"storage_min": lowest, "storage_max": highest, "zero_points": (max(lowest, 0),)}
    return dataclasses.replace(uniform, is_signed=not uniform.is_signed, **bounds)


def add_per_axis(draft: Draft) -> Sequence[ir.Value]:
    shape = draft.shape(1, zero=0)
    axis = draft.draw.randrange(len(shape))
    base = narrow_type(draft, "f32")
    types = [with_parameters(draft, base, axis, shape[axis]) for _ in range(3)]
    values = [argument(draft, uniform, shape) for uniform in types[:2]]
    return draft.op("add", values, [types[2].tensor_like(values[0].type)]).results


def reduce(draft: Draft) -> Sequence[ir.Value]:
    shape, uniform = draft.shape(1), narrow_type(draft, "f32")
    axis = draft.draw.randrange(len(shape))
    result = uniform.tensor_like(tensor_type(shape[:axis] + shape[axis + 1 :], "f32"))
    operands = [argument(draft, uniform, shape), argument(draft, uniform, [])]
    op = draft.op("reduce", operands, [result], regions=1, dimensions=i64s([axis]))
    name = draft.draw.choice(("add", "maximum", "minimum"))
    stablehlo.fill_body(op, uniform.element_type, lambda lhs, rhs: elementwise(name, lhs, rhs))
    return op.results


def reduce_window(draft: Draft) -> Sequence[ir.Value]:
    """Windows along the last dimension, padded with the initial value."""
    shape, uniform = draft.shape(1, zero=0), narrow_type(draft, "f32")
    window, stride, padding = draft.draw.randint(1, shape[-1]), draft.draw.choice((1, 2)), draft.choices(2, 0, 1, 2)
    ones = [1] * (len(shape) - 1)
    attributes = {
        "window_dimensions": i64s([*ones, window]),
        "window_strides": i64s([*ones, stride]),
        "padding": stablehlo.padding([[0, 0]] * len(ones) + [padding]),
    }
    sizes = [*shape[:-1], (shape[-1] + sum(padding) - window) // stride + 1]
    operands = [argument(draft, uniform, shape), argument(draft, uniform, [])]
    result = uniform.tensor_like(tensor_type(sizes, "f32"))
    op = draft.op("reduce_window", operands, [result], regions=1, **attributes)
    name = draft.draw.choice(("add", "maximum", "minimum"))
    stablehlo.fill_body(op, uniform.element_type, lambda lhs, rhs: elementwise(name, lhs, rhs))
    return op.results


def gather(draft: Draft) -> Sequence[ir.Value]:
    """Slices of the first dimension."""
    shape, uniform = draft.shape(1, zero=0), narrow_type(draft)
    count, rank = draft.draw.randint(1, 4), len(shape)
    numbers = _stablehlo.GatherDimensionNumbers.get(list(range(1, rank)), [0], [], [], [0], 1)
    attributes = {"dimension_numbers": numbers, "slice_sizes": i64s([1, *shape[1:]])}
    operands = [argument(draft, uniform, shape), draft.value("i32", [count, 1], range(-1, 5))]
    return draft.op(
        "gather", operands, [uniform.tensor_like(tensor_type([count, *shape[1:]], "f32"))], **attributes
    ).results


CASES: dict[str, Case] = {
    "uniform_quantize": quantize,
    "uniform_dequantize": dequantize,
    "uniform_quantize again": requantize,
    **{f"quantized {name}": operation(name, 1) for name in FUNCTIONS},
    **{
        f"quantized {name}": operation(name, 2)
        for name in "add atan2 divide maximum minimum multiply power remainder subtract".split()
    },
    "quantized add per-axis": add_per_axis,
    "quantized clamp": operation("clamp", 3),
    "quantized compare": compare,
    "quantized convolution": convolution,
    "quantized dot_general": dot_general,
    "quantized gather": gather,
    "quantized movement": move,
    "quantized reduce": reduce,
    "quantized reduce_window": reduce_window,
    "quantized select": select,
}
