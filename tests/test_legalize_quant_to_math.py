"""Values of `stablehlo-legalize-quant-to-math` in the reference interpreter.

Expected values come from numpy formulas written here from the specification, from integers worked out by hand, or, for
exact sums, from the interpreter's own float64 ops on the operands' differences from their zero points.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_mlir import ir

from shlo_quant.engines.reference import ReferenceEngine
from shlo_quant.passes.base import UpstreamPasses, run_passes
from shlo_quant.passes.dialects.context import new_context
from shlo_quant.passes.dialects.quant import is_quantized
from shlo_quant.passes.errors import UnsupportedError
from shlo_quant.passes.legalize_quant_to_math import LegalizeQuantToMath
from shlo_quant.passes.rewrite import walk

Array = np.ndarray[Any, np.dtype[Any]]
REFERENCE = ReferenceEngine()


def lower(text: str) -> ir.Module:
    """The integer program, verified and free of quantized types."""
    module = ir.Module.parse(text, new_context())
    run_passes(module, [LegalizeQuantToMath()])
    for op in walk(module.operation):
        assert not any(is_quantized(v) for v in op.results), str(op)
    return module


def ops(text: str) -> list[str]:
    """The ops of the lowered body of the only function, without its return."""
    _, _, *body, _ = (op.name.removeprefix("stablehlo.") for op in walk(lower(text).operation))
    return body


def evaluate(text: str, *inputs: Array) -> Array:
    (result,) = REFERENCE.compile(lower(text)).run(inputs)
    return result


def evaluate_plain(text: str, *inputs: Array) -> Array:
    """A program without quantized types, in the interpreter as it is."""
    (result,) = REFERENCE.compile(ir.Module.parse(text, new_context())).run(inputs)
    return result


def function(signature: str, *lines: str) -> str:
    return f"func.func @main{signature} {{\n" + "\n".join(lines) + "\n}"


def op_function(op: str, operands: list[str], result: str) -> str:
    """A function that applies one op, in generic form, to its arguments; types are those between `tensor<` and `>`."""
    arguments = ", ".join(f"%{i}: tensor<{t}>" for i, t in enumerate(operands))
    types = ", ".join(f"tensor<{t}>" for t in operands)
    values = ", ".join(f"%{i}" for i in range(len(operands)))
    name, _, attributes = op.partition(" ")
    return function(
        f"({arguments}) -> tensor<{result}>",
        f'%r = "stablehlo.{name}"({values}) {attributes} : ({types}) -> tensor<{result}>',
        f"return %r : tensor<{result}>",
    )


def constant(stored: Array, q: object) -> str:
    """`stablehlo.constant` of stored integers, for signed storage."""
    sizes = "x".join(map(str, (*stored.shape, "")))
    attribute = f"dense<{stored.tolist()}> : tensor<{sizes}i{stored.dtype.itemsize * 8}>"
    return f'"stablehlo.constant"() <{{value = {attribute}}}> : () -> tensor<{sizes}{q}>'


# ---- the specification's formulas, for per-tensor float32


@dataclass(frozen=True)
class Q:
    """A per-tensor type; its text is MLIR."""

    scale: float
    zero_point: int = 0
    storage: str = "i8"
    bounds: tuple[int, int] | None = None

    def __str__(self) -> str:
        bounds = f"<{self.bounds[0]}:{self.bounds[1]}>" if self.bounds else ""
        return f"!quant.uniform<{self.storage}{bounds}:f32, {self.scale!r}:{self.zero_point}>"

    @property
    def dtype(self) -> np.dtype[Any]:
        bits = max(int(self.storage.strip("ui")), 8)
        return np.dtype(f"{'u' if 'u' in self.storage else ''}int{bits}")

    @property
    def range(self) -> tuple[int, int]:
        bits = int(self.storage.strip("ui"))
        whole = (0, 2**bits - 1) if "u" in self.storage else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
        return self.bounds or whole

    def quantize(self, x: Array) -> Array:
        steps = x / np.float32(self.scale) + np.float32(self.zero_point)
        rounded = np.rint(np.clip(steps, *map(np.float32, self.range)))
        return np.clip(rounded.astype(np.float64), *self.range).astype(self.dtype)

    def dequantize(self, stored: Array) -> Array:
        return (stored.astype(np.int64) - self.zero_point).astype(np.float32) * np.float32(self.scale)

    def all_values(self) -> Array:
        return np.arange(self.range[0], self.range[1] + 1).astype(self.dtype)


# ---- quantize, dequantize, requantize


@pytest.mark.parametrize(
    "q",
    [
        Q(0.1, 3),
        Q(0.1, 3, bounds=(-20, 100)),
        Q(0.5, 200, "u8"),
        Q(0.5, 200, "ui8"),
        Q(0.3, -1, "i4"),
        Q(0.3, 9, "u4"),
        Q(0.7, 1, "u2"),
        Q(0.001, 5, "i16"),
        Q(1.0, 7, "i32"),
        Q(0.5, 3_000_000_000, "u32"),
    ],
    ids=str,
)
def test_quantize_and_dequantize(q):
    x = np.concatenate([np.linspace(-40, 40, 400), [0.15, -0.25, 1e9, -1e9, 5e9, np.inf, -np.inf]]).astype(np.float32)
    size = x.size
    text = function(
        f"(%x: tensor<{size}xf32>) -> (tensor<{size}x{q}>, tensor<{size}xf32>)",
        f"%q = stablehlo.uniform_quantize %x : (tensor<{size}xf32>) -> tensor<{size}x{q}>",
        f"%d = stablehlo.uniform_dequantize %q : (tensor<{size}x{q}>) -> tensor<{size}xf32>",
        f"return %q, %d : tensor<{size}x{q}>, tensor<{size}xf32>",
    )
    stored, expressed = REFERENCE.compile(lower(text)).run([x])
    assert np.array_equal(stored.view(q.dtype), q.quantize(x))
    assert np.array_equal(expressed, q.dequantize(q.quantize(x)))


def test_nan_is_stored_as_zero():
    text = op_function("uniform_quantize", ["1xf32"], f"1x{Q(0.5, 100)}")
    assert evaluate(text, np.float32([np.nan])).tolist() == [0]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (Q(0.333, 15), Q(0.468, 1)),
        (Q(0.1, 3), Q(0.1, -7)),
        (Q(0.1, 3), Q(0.1, 3, "i8", (-8, 7))),
        (Q(0.1, 3), Q(0.1, 131, "u8")),
        (Q(0.1, 3), Q(0.1, 0, "i32")),
        (Q(0.1, 128, "u8"), Q(0.1, 0)),
        (Q(0.1, 0, "i16"), Q(0.1, 0)),
        (Q(0.1, -60, "i8", (-100, -10)), Q(0.1, 20, "u8")),
        (Q(0.1, 0, "i8", (-10, 0)), Q(0.1, 0, "u8")),
        (Q(0.1, 3, "i4"), Q(0.05, 9, "u4")),
        (Q(0.002, 3, "i16"), Q(0.01, -3)),
    ],
    ids=str,
)
def test_requantize_of_every_stored_value(old, new):
    stored = old.all_values()
    text = op_function("uniform_quantize", [f"{stored.size}x{old}"], f"{stored.size}x{new}")
    assert np.array_equal(evaluate(text, stored), new.quantize(old.dequantize(stored)))


def test_requantize_to_the_same_scale_needs_no_float():
    text = op_function("uniform_quantize", [f"4x{Q(0.1, 3)}"], f"4x{Q(0.1, -7)}")
    assert ops(text) == [
        "convert",
        "constant",
        "add",
        "constant",
        "constant",
        "clamp",
        "convert",
    ]
    text = op_function("uniform_quantize", [f"4x{Q(0.1, 3)}"], f"4x{Q(0.1, 3, 'i32')}")
    assert ops(text) == ["convert"]


@pytest.mark.parametrize("dimension", [0, 1, 2])
def test_per_axis_quantize_on_any_dimension(dimension):
    scales, zero_points = [0.5, 0.1], [3, -4]
    q = f"!quant.uniform<i8:f32:{dimension}, {{0.5:3, 0.1:-4}}>"
    x = np.random.default_rng(dimension).normal(0, 10, (2, 2, 2)).astype(np.float32)
    shape = [1, 1, 1]
    shape[dimension] = 2
    steps = x / np.float32(scales).reshape(shape) + np.float32(zero_points).reshape(shape)
    expected = np.rint(np.clip(steps, -128, 127)).astype(np.int8)
    assert np.array_equal(evaluate(op_function("uniform_quantize", ["2x2x2xf32"], f"2x2x2x{q}"), x), expected)
    expressed = evaluate(op_function("uniform_dequantize", [f"2x2x2x{q}"], "2x2x2xf32"), expected)
    differences = (expected.astype(np.int32) - np.int32(zero_points).reshape(shape)).astype(np.float32)
    assert np.array_equal(expressed, differences * np.float32(scales).reshape(shape))


def test_requantize_between_dimensions():
    old, new = "!quant.uniform<i8:f32:0, {0.5, 1.0:1}>", "!quant.uniform<i8:f32:1, {0.25:3, 0.5}>"
    text = op_function("uniform_quantize", [f"2x2x{old}"], f"2x2x{new}")
    assert evaluate(text, np.int8([[2, 4], [3, 5]])).tolist() == [[7, 4], [11, 8]]


@pytest.mark.parametrize(
    ("name", "dtype"),
    [("f16", np.float16), ("bf16", ml_dtypes.bfloat16), ("f64", np.float64)],
    ids=["f16", "bf16", "f64"],
)
def test_other_expressed_types_are_computed_in_themselves(name, dtype):
    q = f"!quant.uniform<i8:{name}, 0.1:3>"
    x = np.linspace(-20, 20, 101).astype(dtype)
    scale, zero_point = np.array(0.1, dtype), np.array(3, dtype)
    steps = np.minimum(np.maximum(x / scale + zero_point, np.array(-128, dtype)), np.array(127, dtype))
    stored = np.rint(steps).astype(np.int8)
    assert np.array_equal(evaluate(op_function("uniform_quantize", [f"101x{name}"], f"101x{q}"), x), stored)
    expressed = evaluate(op_function("uniform_dequantize", [f"101x{q}"], f"101x{name}"), stored)
    assert np.array_equal(expressed, (stored.astype(np.int32) - 3).astype(dtype) * scale)


# ---- single values on which lowerings have been seen to differ, by hand from the specification


def dot(lhs: object, rhs: object, result: object) -> str:
    attribute = (
        "{dot_dimension_numbers = #stablehlo.dot<lhs_contracting_dimensions = [0], rhs_contracting_dimensions = [0]>}"
    )
    return op_function(f"dot_general {attribute}", [f"1x{lhs}", f"1x{rhs}"], str(result))


UNIT = Q(1.0)


@pytest.mark.parametrize(
    ("text", "inputs", "expected"),
    [
        (op_function("add", [f"1x{UNIT}"] * 2, f"1x{Q(2.0)}"), [1, 1], 1),
        (op_function("add", [f"1x{UNIT}"] * 2, f"1x{Q(2.0)}"), [3, 3], 3),
        (op_function("add", [f"1x{Q(0.27, -19)}", f"1x{Q(0.238, 15)}"], f"1x{Q(0.148, 3)}"), [-59, 24], -56),
        (op_function("multiply", [f"1x{Q(0.075, -13)}", f"1x{Q(0.195, 4)}"], f"1x{Q(0.027, 9)}"), [-9, -5], -10),
        (dot(UNIT, UNIT, Q(2.0)), [3, 1], 2),
        (dot(UNIT, UNIT, Q(2.0)), [-3, 1], -2),
        (dot(Q(1.0, 1), UNIT, Q(2.0)), [2, 1], 0),
        (dot(UNIT, UNIT, Q(2.0)), [100, 100], 127),
        (dot(UNIT, UNIT, Q(0.9995, 0, "i32")), [100, 100], 10005),
        (dot(UNIT, UNIT, Q(0.1, 0, "i8", (-16, 16))), [5, 1], 16),
        (op_function("uniform_quantize", [f"1x{UNIT}"], f"1x{Q(1.0, 0, 'i32', (-8, 7))}"), [100], 7),
    ],
)
def test_known_values(text, inputs, expected):
    assert evaluate(text, *(np.int8([i]) for i in inputs)).tolist() in (expected, [expected])


def test_dequantize_does_not_overflow():
    text = op_function("uniform_dequantize", [f"1x{Q(1.0, -5, 'i32')}"], "1xf32")
    assert evaluate(text, np.int32([2147483647])).tolist() == [2147483648.0]
    text = op_function("uniform_dequantize", [f"1x{Q(0.5, 1, 'u32')}"], "1xf32")
    assert evaluate(text, np.uint32([4294967295])).tolist() == [2147483648.0]


def test_bfloat16_add_is_bfloat16_arithmetic():
    q = "!quant.uniform<i8:bf16, 0.1:3>"
    assert evaluate(op_function("add", [f"1x{q}"] * 2, f"1x{q}"), np.int8([-49]), np.int8([-27])).tolist() == [-80]


# ---- convolution and dot: exact sums


@dataclass(frozen=True)
class Convolution:
    """A two-dimensional convolution; layouts are strings of the spec's letters."""

    lhs_layout: str
    rhs_layout: str
    result_layout: str
    sizes: dict[str, int]
    window: str
    groups: tuple[int, int]
    result_sizes: dict[str, int]

    def text(self, lhs: object, rhs: object, result: object, weights: str | None = None) -> str:
        layouts = [", ".join(layout) for layout in (self.lhs_layout, self.rhs_layout, self.result_layout)]
        x = "x".join(str(self.sizes["x" + d]) for d in self.lhs_layout) + f"x{lhs}"
        w = "x".join(str(self.sizes["w" + d]) for d in self.rhs_layout) + f"x{rhs}"
        r = "x".join(str(self.result_sizes[d]) for d in self.result_layout) + f"x{result}"
        argument = "" if weights else f", %w: tensor<{w}>"
        return function(
            f"(%x: tensor<{x}>{argument}) -> tensor<{r}>",
            f"%w = {weights}" if weights else "",
            f"%r = stablehlo.convolution(%x, %w) dim_numbers = [{layouts[0]}]x[{layouts[1]}]->[{layouts[2]}], "
            f"window = {{{self.window}}} "
            f"{{batch_group_count = {self.groups[0]} : i64, feature_group_count = {self.groups[1]} : i64}} "
            f": (tensor<{x}>, tensor<{w}>) -> tensor<{r}>",
            f"return %r : tensor<{r}>",
        )


@st.composite
def convolutions(draw):
    pick = lambda values: draw(st.sampled_from(values))  # noqa: E731
    layouts = [pick(["".join(p) for p in itertools.permutations(letters)]) for letters in ("bf01", "oi01", "bf01")]
    groups = pick([(1, 1), (1, 1), (2, 1), (1, 2)])
    sizes = {"xb": 2 * groups[0], "xf": 2 * groups[1], "wi": 2, "wo": 2 * max(groups)}
    result = {"b": 2, "f": sizes["wo"]}
    window: dict[str, list[object]] = {"stride": [], "pad": [], "lhs_dilate": [], "rhs_dilate": [], "reverse": []}
    for d in "01":
        sizes["x" + d], sizes["w" + d] = pick([3, 4]), pick([1, 2, 3])
        low, high = pick([-1, 0, 1, 2]), pick([-1, 0, 1])
        stride, lhs_dilation, rhs_dilation = pick([1, 2]), pick([1, 1, 2]), pick([1, 1, 2])
        padded = (sizes["x" + d] - 1) * lhs_dilation + 1 + low + high
        span = (sizes["w" + d] - 1) * rhs_dilation + 1
        result[d] = (padded - span) // stride + 1 if padded >= span else 0
        values = (stride, [low, high], lhs_dilation, rhs_dilation, pick([0, 0, 1]))
        for key, value in zip(window, values, strict=True):
            window[key].append(value)
    return Convolution(*layouts, sizes, ", ".join(f"{k} = {v}" for k, v in window.items()), groups, result)


def draw_operands(convolution: Convolution, lhs: Q, rhs: Q, seed: int) -> tuple[Array, Array]:
    rng = np.random.default_rng(seed)
    x_shape = [convolution.sizes["x" + d] for d in convolution.lhs_layout]
    w_shape = [convolution.sizes["w" + d] for d in convolution.rhs_layout]
    x, w = (rng.integers(q.range[0], q.range[1] + 1, s) for q, s in ((lhs, x_shape), (rhs, w_shape)))
    return x.astype(lhs.dtype), w.astype(rhs.dtype)


def exact_sums(convolution: Convolution, lhs: Q, rhs: Q, x: Array, w: Array) -> Array:
    """The interpreter's float64 convolution of the differences from the zero points."""
    operands = x.astype(np.float64) - lhs.zero_point, w.astype(np.float64) - rhs.zero_point
    return evaluate_plain(convolution.text("f64", "f64", "f64"), *operands).astype(np.int64)


OPERANDS = [
    (Q(0.5), Q(0.25, 0, "i8", (-127, 127))),
    (Q(0.5, 7), Q(0.25, 0, "i8", (-127, 127))),
    (Q(0.5, -128), Q(0.25, 5)),
    (Q(0.5, 130, "u8"), Q(0.25, 0)),
    (Q(0.5, 130, "u8"), Q(0.25, 0, "u8")),
    (Q(0.5, 130, "ui8"), Q(0.25, 99, "ui8")),
    (Q(0.5, -3, "i4"), Q(0.25, 0, "i4")),
    (Q(0.5, -300, "i16"), Q(0.25, 0, "i16")),
    (Q(0.5, -300, "i16", (-400, 400)), Q(0.25, 0, "i16", (-255, 255))),
]


@settings(max_examples=60)
@given(convolutions(), st.sampled_from(OPERANDS), st.booleans(), st.integers(0, 99))
def test_convolution_into_an_accumulator_is_exact(convolution, operands, is_constant, seed):
    lhs, rhs = operands
    x, w = draw_operands(convolution, lhs, rhs, seed)
    result = Q(0.125, 0, "i32")
    is_constant = is_constant and rhs.storage in ("i8", "i16")
    text = convolution.text(lhs, rhs, result, constant(w, rhs) if is_constant else None)
    expected = np.clip(exact_sums(convolution, lhs, rhs, x, w), -(2**31), 2**31 - 1)
    assert np.array_equal(evaluate(text, *([x] if is_constant else [x, w])), expected)


@settings(max_examples=40)
@given(
    convolutions(),
    st.sampled_from(OPERANDS),
    st.sampled_from([Q(9.3, -5), Q(31.0, 3, "i8", (-16, 16))]),
    st.integers(0, 99),
)
def test_convolution_rounds_once_and_saturates(convolution, operands, result, seed):
    lhs, rhs = operands
    x, w = draw_operands(convolution, lhs, rhs, seed)
    sums = exact_sums(convolution, lhs, rhs, x, w).astype(np.float32)
    expected = result.quantize(sums * np.float32(lhs.scale * rhs.scale))
    assert np.array_equal(evaluate(convolution.text(lhs, rhs, result), x, w), expected)


NHWC = Convolution(
    "b01f",
    "01io",
    "b01f",
    {"xb": 1, "x0": 4, "x1": 4, "xf": 2, "w0": 3, "w1": 3, "wi": 2, "wo": 3},
    "pad = [[1, 1], [1, 1]]",
    (1, 1),
    {"b": 1, "f": 3, "0": 4, "1": 4},
)
NCHW = Convolution("bf01", "oi01", "bf01", NHWC.sizes, NHWC.window, (1, 1), NHWC.result_sizes)
PER_AXIS_SCALES = (0.25, 0.1, 0.003)


@pytest.mark.parametrize("zero_points", [(0, 0, 0), (1, -2, 3)], ids=["symmetric", "asymmetric"])
@pytest.mark.parametrize(("convolution", "axes"), [(NHWC, (3, 3)), (NCHW, (0, 1))], ids=["nhwc", "nchw"])
@pytest.mark.parametrize(
    ("scales", "offsets"),
    [((0.125, 0.05, 0.0015), (0, 0, 0)), ((0.9, 2.0, 0.01), (0, 5, -7)), (None, (4,))],
    ids=["accumulator", "per-axis", "per-tensor"],
)
def test_per_axis_convolution(convolution, axes, zero_points, scales, offsets):
    lhs = Q(0.5, 7)
    x, w = draw_operands(convolution, lhs, Q(1.0), 0)
    pairs = zip(PER_AXIS_SCALES, zero_points, strict=True)
    rhs = f"!quant.uniform<i8:f32:{axes[0]}, {{{', '.join(f'{s}:{z}' for s, z in pairs)}}}>"
    shape = [1] * 4
    shape[axes[1]] = 3
    if scales is None:
        scales, result = (1.5,), "!quant.uniform<i8:f32, 1.5:4>"
    else:
        pairs = zip(scales, offsets, strict=True)
        storage = "i32" if scales[0] == 0.125 else "i8"
        result = f"!quant.uniform<{storage}:f32:{axes[1]}, {{{', '.join(f'{s}:{z}' for s, z in pairs)}}}>"
    w_shape = [1] * 4
    w_shape[axes[0]] = 3
    differences = w.astype(np.float64) - np.reshape(zero_points, w_shape)
    sums = evaluate_plain(convolution.text("f64", "f64", "f64"), x.astype(np.float64) - 7, differences)
    if scales[0] == 0.125:
        expected = sums
    else:
        real = sums.astype(np.float32) * np.float32([0.5 * s for s in PER_AXIS_SCALES]).reshape(shape)
        spread = [1] * 4 if len(scales) == 1 else shape
        steps = real / np.float32(scales).reshape(spread) + np.float32(offsets).reshape(spread)
        expected = np.rint(np.clip(steps, -128, 127))
    for weights in (None, constant(w, rhs)):
        found = evaluate(convolution.text(lhs, rhs, result, weights), *([x] if weights else [x, w]))
        assert np.array_equal(found, expected)


def dot_text(numbers: str, *types: str) -> str:
    return op_function(f"dot_general {{dot_dimension_numbers = #stablehlo.dot<{numbers}>}}", list(types[:2]), types[2])


BATCHED = (
    "lhs_batching_dimensions = [0], rhs_batching_dimensions = [2], "
    "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]"
)


@pytest.mark.parametrize("operands", OPERANDS, ids=lambda pair: f"{pair[0]} {pair[1]}")
def test_batched_dot_of_two_activations_is_exact(operands):
    lhs, rhs = operands
    rhs = Q(rhs.scale, 0, rhs.storage, rhs.bounds)  # the verifier wants rhs zero points of 0
    rng = np.random.default_rng(0)
    x = rng.integers(lhs.range[0], lhs.range[1] + 1, (2, 5, 3)).astype(lhs.dtype)
    w = rng.integers(rhs.range[0], rhs.range[1] + 1, (4, 5, 2)).astype(rhs.dtype)
    sums = np.einsum("bkm,nkb->bmn", x.astype(np.int64) - lhs.zero_point, w.astype(np.int64))
    text = dot_text(BATCHED, f"2x5x3x{lhs}", f"4x5x2x{rhs}", f"2x3x4x{Q(0.125, 0, 'i32')}")
    assert np.array_equal(evaluate(text, x, w), np.clip(sums, -(2**31), 2**31 - 1))
    text = dot_text(BATCHED, f"2x5x3x{lhs}", f"4x5x2x{rhs}", f"2x3x4x{Q(77.0, 3)}")
    assert np.array_equal(evaluate(text, x, w), Q(77.0, 3).quantize(sums.astype(np.float32) * np.float32(0.125)))


CONTRACT = "lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]"


def test_accumulators_are_as_wide_as_the_bounds_ask_for():
    for lhs, rhs, width in [
        (Q(0.5, 7), Q(0.5), 32),
        (Q(0.5, 0, "i16"), Q(0.5, 0, "i16"), 64),
        (Q(0.5, 0, "i16"), Q(0.5, 0, "i16", (-8, 8)), 32),
    ]:
        module = lower(dot_text(CONTRACT, f"1x100x{lhs}", f"1x100x{rhs}", f"1x1x{Q(0.7)}"))
        (op,) = walk(module.operation, "stablehlo.dot_general")
        assert op.results[0].type.element_type.width == width


def test_sums_beyond_64_bits_are_computed_literally():
    wide = Q(0.5, 0, "i32")
    module = lower(dot_text(CONTRACT, f"1x9x{wide}", f"1x9x{wide}", f"1x1x{wide}"))
    (op,) = walk(module.operation, "stablehlo.dot_general")
    assert isinstance(op.results[0].type.element_type, ir.F32Type)


def test_16_bit_sums_do_not_wrap():
    q = Q(1.0, 0, "i16")
    x = np.full((1, 4), 32767, np.int16)
    text = dot_text(CONTRACT, f"1x4x{q}", f"1x4x{q}", f"1x1x{Q(2_000_000.0, 0, 'i32')}")
    assert evaluate(text, x, x).tolist() == [[2147]]


def test_accumulator_type_may_have_a_zero_point_and_saturates():
    x = np.full((1, 2), -128, np.int8)
    text = dot_text(CONTRACT, f"1x2x{UNIT}", f"1x2x{UNIT}", f"1x1x{Q(1.0, 5, 'i32')}")
    assert evaluate(text, x, x).tolist() == [[32773]]
    text = dot_text(CONTRACT, f"1x2x{UNIT}", f"1x2x{UNIT}", f"1x1x{Q(1.0, 5)}")
    assert evaluate(text, x, x).tolist() == [[127]]
    text = dot_text(CONTRACT, f"1x2x{UNIT}", f"1x2x{UNIT}", f"1x1x{Q(1.0, 0, 'i32', (-8, 7))}")
    assert evaluate(text, x, x).tolist() == [[7]]


def test_dot_with_a_per_axis_rhs_and_a_constant():
    rhs = "!quant.uniform<i8:f32:0, {0.5, 0.1, 0.25}>"
    rng = np.random.default_rng(1)
    x, w = rng.integers(-128, 128, (2, 6)).astype(np.int8), rng.integers(-128, 128, (3, 6)).astype(np.int8)
    sums = (x.astype(np.int64) - 7) @ w.astype(np.int64).T
    real = sums.astype(np.float32) * np.float32([0.25 * s for s in (0.5, 0.1, 0.25)])
    for result, expected in [
        ("!quant.uniform<i8:f32:1, {11.0:3, 2.0, 7.5:-9}>", real / np.float32([11, 2, 7.5]) + np.float32([3, 0, -9])),
        (Q(9.0, 3), real / np.float32(9) + np.float32(3)),
    ]:
        text = dot_text(CONTRACT, f"2x6x{Q(0.25, 7)}", f"3x6x{rhs}", f"2x3x{result}")
        assert np.array_equal(evaluate(text, x, w), np.rint(np.clip(expected, -128, 127)))
        text = text.replace(f", %1: tensor<3x6x{rhs}>", "").replace("{\n", f"{{\n%1 = {constant(w, rhs)}\n", 1)
        assert np.array_equal(evaluate(text, x), np.rint(np.clip(expected, -128, 127)))


def test_legacy_dot():
    x, w = np.int8([[1, 2], [3, 4]]), np.int8([[5, 6], [7, 8]])
    text = op_function("dot", [f"2x2x{Q(1.0, 1)}", f"2x2x{Q(1.0, 2)}"], f"2x2x{Q(1.0, 0, 'i32')}")
    assert evaluate(text, x, w).tolist() == [[5, 6], [21, 26]]
    text = op_function("dot", [f"2x{UNIT}", f"2x{UNIT}"], str(UNIT))
    assert evaluate(text, np.int8([3, 4]), np.int8([5, 6])).tolist() == 39


@pytest.mark.parametrize("name", ["f32", "f16", "bf16", "f64"])
@pytest.mark.parametrize("dimension", [0, 1])
def test_hybrid_dot(name, dimension):
    dtype = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16, "f64": np.float64}[name]
    rhs = f"!quant.uniform<i8:{name}:{dimension}, {{0.5, 2.0}}>"
    numbers = f"lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [{1 - dimension}]"
    x, w = np.array([[1, 2], [3, -4]]).astype(dtype), np.int8([[1, 2], [-4, 5]])
    found = evaluate(dot_text(numbers, f"2x2x{name}", f"2x2x{rhs}", f"2x2x{name}"), x, w)
    real = w * (np.array([[0.5], [2.0]]) if dimension == 0 else np.array([0.5, 2.0]))
    assert np.array_equal(found.astype(np.float64), x.astype(np.float64) @ (real.T if dimension == 0 else real))


def test_accumulators_of_16_bit_floats_are_requantized_in_float32():
    q, result = "!quant.uniform<i8:f16, 0.001>", "!quant.uniform<i8:f16, 0.01:3>"
    x = np.full((1, 100), 100, np.int8)  # the sum, a million, is no f16
    assert evaluate(dot_text(CONTRACT, f"1x100x{q}", f"1x100x{q}", f"1x1x{result}"), x, x).tolist() == [[103]]


# ---- accumulator and bias


BIAS_TEXT = """
!w = tensor<3x2x!quant.uniform<i8:f32:1, {{0.25, 0.5}}>>
!b = tensor<2x!quant.uniform<i32:f32:0, {{0.125, 0.25}}>>
!x = tensor<{b}x3x!quant.uniform<i8:f32, 0.5:{z}>>
!a = tensor<{b}x2x!quant.uniform<i32:f32:1, {{0.125, 0.25}}>>
func.func @main(%x: !x) -> !a {{
  %w = "stablehlo.constant"() <{{value = dense<[[1, 2], [3, -4], [5, 127]]> : tensor<3x2xi8>}}> : () -> !w
  %b = "stablehlo.constant"() <{{value = dense<[{bias}, -7]> : tensor<2xi32>}}> : () -> !b
  %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (!x, !w) -> !a
  %c = {broadcast} -> !a
  %r = stablehlo.add %a, %c : !a
  return %r : !a
}}"""
STATIC = "stablehlo.broadcast_in_dim %b, dims = [1] : (!b)"
W = np.int64([[1, 2], [3, -4], [5, 127]])


@pytest.mark.parametrize(("zero_point", "adds"), [(0, 1), (3, 1)])
def test_zero_point_correction_and_bias_are_one_addition(zero_point, adds):
    text = BIAS_TEXT.format(b=2, z=zero_point, bias=1000, broadcast=STATIC)
    assert ops(text).count("add") == adds
    x = np.int8([[1, 2, 3], [-128, 127, 0]])
    assert np.array_equal(evaluate(text, x), (x.astype(np.int64) - zero_point) @ W + [1000, -7])


def test_bias_that_could_overflow_saturates():
    text = BIAS_TEXT.format(b=1, z=3, bias=2147483000, broadcast=STATIC)
    assert evaluate(text, np.int8([[127, 127, 127]])).tolist() == [[2147483647, 15493]]


def test_bias_with_a_dynamic_batch():
    broadcast = "stablehlo.dynamic_broadcast_in_dim %b, %s, dims = [1] : (!b, tensor<2xi32>)"
    text = BIAS_TEXT.format(b="?", z=3, bias=1000, broadcast=broadcast).replace(
        "  %c =",
        "  %n = stablehlo.get_dimension_size %x, dim = 0 : (!x) -> tensor<i32>\n"
        "  %n1 = stablehlo.reshape %n : (tensor<i32>) -> tensor<1xi32>\n"
        "  %two = stablehlo.constant dense<2> : tensor<1xi32>\n"
        "  %s = stablehlo.concatenate %n1, %two, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>\n  %c =",
    )
    assert ops(text).count("add") == 1
    x = np.int8([[1, 2, 3], [-128, 127, 0], [5, 6, 7]])
    assert np.array_equal(evaluate(text, x), (x.astype(np.int64) - 3) @ W + [1000, -7])


# ---- dynamic dimensions


def test_dynamic_batch_of_a_convolution_and_an_elementwise_op():
    lhs, rhs, result = Q(0.5, 7), Q(0.25), Q(9.0, -5)
    x, w = draw_operands(NHWC, lhs, rhs, 3)
    x = np.concatenate([x, x[:, ::-1], x[:, :, ::-1]])
    text = NHWC.text(lhs, rhs, result).replace("tensor<1x4x4x", "tensor<?x4x4x")
    tensor = f"tensor<?x4x4x3x{result}>"
    text = text.replace(
        "return %r", f"%s = stablehlo.tanh %r : {tensor}\n%t = stablehlo.multiply %s, %r : {tensor}\nreturn %t"
    )
    one = NHWC.text("f64", "f64", "f64")
    sums = [evaluate_plain(one, x[i : i + 1].astype(np.float64) - 7, w.astype(np.float64)) for i in range(3)]
    convolved = result.quantize(np.concatenate(sums).astype(np.float32) * np.float32(0.125))
    real = result.dequantize(convolved)
    tanh = result.dequantize(result.quantize(np.tanh(real)))
    assert np.array_equal(evaluate(text, x, w), result.quantize(tanh * real))


# ---- elementwise


@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "divide", "maximum", "minimum"])
def test_binary_ops_on_all_pairs(name):
    lhs, rhs, result = Q(0.27, -19), Q(0.238, 15), Q(0.148, 3)
    x, y = np.meshgrid(lhs.all_values(), rhs.all_values()[1::3])
    numpy_name = {"add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide}
    with np.errstate(divide="ignore", invalid="ignore"):
        real = numpy_name.get(name, getattr(np, name, None))(lhs.dequantize(x), rhs.dequantize(y))
    expected = result.quantize(np.where(np.isnan(real), (0 - result.zero_point) * np.float32(result.scale), real))
    sizes = "x".join(map(str, x.shape))
    text = op_function(name, [f"{sizes}x{lhs}", f"{sizes}x{rhs}"], f"{sizes}x{result}")
    assert np.array_equal(evaluate(text, x, y), expected)


UNARY = (
    "abs cbrt ceil cosine exponential exponential_minus_one floor log log_plus_one logistic negate round_nearest_afz "
    "round_nearest_even rsqrt sign sine sqrt tan tanh"
).split()


@pytest.mark.parametrize("name", UNARY)
def test_unary_ops_equal_upstreams_dequantize_op_quantize(name):
    operand, result = Q(0.05, -19), Q(0.03, 3)
    text = op_function(name, [f"256x{operand}"], f"256x{result}")
    upstream = ir.Module.parse(text, new_context())
    run_passes(upstream, [UpstreamPasses(text="func.func(stablehlo-legalize-quantized-op-to-qdq)")])
    (expected,) = ReferenceEngine(arithmetic="upstream").compile(upstream).run([operand.all_values()])
    assert np.array_equal(evaluate(text, operand.all_values()), expected)


@pytest.mark.parametrize("q", [Q(0.1, 3), Q(0.1, 200, "u8"), Q(0.1, 2, "u4")], ids=str)
def test_maximum_of_one_type_is_that_of_stored_integers(q):
    x, y = np.meshgrid(q.all_values()[:16], q.all_values()[-16:])
    text = op_function("maximum", [f"16x16x{q}"] * 2, f"16x16x{q}")
    assert ops(text) == ["maximum"]
    assert np.array_equal(evaluate(text, x, y), np.maximum(x, y))


@pytest.mark.parametrize("kind", ["", ", compare_type = #stablehlo<comparison_type TOTALORDER>"])
@pytest.mark.parametrize("rhs", [Q(0.5, 100, "u8"), Q(0.25, 90, "u8")], ids=["one type", "two types"])
def test_compare(rhs, kind):
    lhs = Q(0.5, 100, "u8")
    x, y = np.meshgrid(lhs.all_values()[::5], rhs.all_values()[::5])
    attributes = f"{{comparison_direction = #stablehlo<comparison_direction LT>{kind}}}"
    text = op_function(f"compare {attributes}", [f"52x52x{lhs}", f"52x52x{rhs}"], "52x52xi1")
    assert np.array_equal(evaluate(text, x, y), lhs.dequantize(x) < rhs.dequantize(y))


def test_clamp_with_scalar_bounds():
    q = Q(0.5, 100, "u8")
    text = op_function("clamp", [str(q), f"256x{q}", str(q)], f"256x{q}")
    assert ops(text) == ["clamp"]
    found = evaluate(text, np.uint8(50), q.all_values(), np.uint8(200))
    assert np.array_equal(found, np.clip(q.all_values(), 50, 200))


def test_select_requantizes_to_its_result():
    q, r = Q(0.1, 3), Q(0.15, 7)
    text = op_function("select", ["2xi1", f"2x{q}", f"2x{q}"], f"2x{r}")
    assert evaluate(text, np.array([True, False]), np.int8([-100, 5]), np.int8([9, -100])).tolist() == [-62, -62]
    text = op_function("select", ["2xi1", f"2x{q}", f"2x{q}"], f"2x{q}")
    assert ops(text) == ["select"]


def test_iota_and_is_finite():
    q = Q(0.5, 1)
    assert evaluate(op_function("iota {iota_dimension = 0 : i64}", [], f"4x{q}")).tolist() == [1, 3, 5, 7]
    assert evaluate(op_function("is_finite", [f"2x{q}"], "2xi1"), np.int8([0, 127])).tolist() == [True, True]


# ---- data movement


def test_data_movement_is_the_op_alone():
    q, p, r = Q(0.1, 3), "!quant.uniform<i8:f32:0, {0.5, 0.25:7}>", "!quant.uniform<i8:f32:1, {0.5, 0.25:7}>"
    for op, operands, result in [
        ("transpose {permutation = array<i64: 1, 0>}", [f"2x3x{p}"], f"3x2x{r}"),
        ("reshape", [f"2x3x{p}"], f"1x2x3x{r}"),
        ("broadcast_in_dim {broadcast_dimensions = array<i64: 1>}", [f"2x{p}"], f"3x2x{r}"),
        ("reverse {dimensions = array<i64: 0>}", [f"2x{q}"], f"2x{q}"),
        ("concatenate {dimension = 0 : i64}", [f"2x{q}", f"2x{q}"], f"4x{q}"),
    ]:
        assert ops(op_function(op, operands, result)) == [op.split()[0]]


def test_per_axis_broadcast_of_one_slice_repeats_it():
    q, r = "!quant.uniform<i8:f32:0, {0.5:7}>", "!quant.uniform<i8:f32:0, {0.5:7, 0.5:7}>"
    text = op_function("broadcast_in_dim {broadcast_dimensions = array<i64: 0>}", [f"1x{q}"], f"2x{r}")
    assert evaluate(text, np.int8([5])).tolist() == [5, 5]


def test_dynamic_broadcast_to_other_parameters_requantizes():
    op = "dynamic_broadcast_in_dim {broadcast_dimensions = array<i64: 0>}"
    text = op_function(op, [f"1x{Q(0.1, 3)}", "1xi32"], f"2x{Q(0.15, 7)}")
    assert evaluate(text, np.int8([-100]), np.int32([2])).tolist() == [-62, -62]


def test_unsigned_storage_becomes_unsigned_integers():
    q = "!quant.uniform<u8:f32, 0.5:3>"
    text = function(
        f"() -> tensor<2x{q}>",
        f'%c = "stablehlo.constant"() <{{value = dense<[-56, 5]> : tensor<2xi8>}}> : () -> tensor<2x{q}>',
        f"return %c : tensor<2x{q}>",
    )
    module = lower(text)
    assert "tensor<2xui8>" in str(module)
    assert evaluate(text).tolist() == [200, 5]


def test_bitcasts_keep_the_bytes():
    q, u = Q(0.5, 0, "i32"), "!quant.uniform<u8:f32, 0.5:3>"
    assert evaluate(op_function("bitcast_convert", [f"1x{q}"], "1x4xi8"), np.int32([1])).tolist() == [[1, 0, 0, 0]]
    assert evaluate(op_function("bitcast_convert", ["2xi8"], f"2x{u}"), np.int8([-1, 3])).tolist() == [255, 3]
    assert ops(op_function("bitcast_convert", [f"1x{q}"], f"1x{Q(0.3, 5, 'i32')}")) == []


# ---- reductions, regions, control flow


REDUCE = """
func.func @main(%x: tensor<2x{n}x{operand}>) -> tensor<2x{combined}> {{
  %i = "stablehlo.constant"() <{{value = dense<{init}> : tensor<{storage}>}}> : () -> tensor<{combined}>
  %r = "stablehlo.reduce"(%x, %i) ({{
    ^bb0(%a: tensor<{combined}>, %b: tensor<{combined}>):
    %s = stablehlo.{body} %a, %b : tensor<{combined}>
    stablehlo.return %s : tensor<{combined}>
  }}) {{dimensions = array<i64: 1>}} : (tensor<2x{n}x{operand}>, tensor<{combined}>) -> tensor<2x{combined}>
  return %r : tensor<2x{combined}>
}}"""


def test_reduce_in_a_wider_type_is_an_exact_integer_sum():
    operand, combined = Q(0.5, 100, "u8"), Q(0.5, 0, "i32")
    text = REDUCE.format(n=300, operand=operand, combined=combined, init=0, storage="i32", body="add")
    x = np.random.default_rng(0).integers(0, 256, (2, 300)).astype(np.uint8)
    assert np.array_equal(evaluate(text, x), (x.astype(np.int64) - 100).sum(axis=1))
    assert ops(text) == [
        "constant",
        "convert",
        "constant",
        "add",
        "reduce",
        "add",
        "return",
    ]


def test_reduce_whose_sum_could_overflow_saturates():
    combined = Q(0.5, 0, "i32")
    text = REDUCE.format(n=3, operand=Q(0.5, 0, "i16"), combined=combined, init=2147483000, storage="i32", body="add")
    found = evaluate(text, np.int16([[1000, 1000, -5], [-1, -1, -1]]))
    assert found[1] == 2147482997
    assert found[0] in (2147483647, 2147483642)  # the order of a reduction is open


def test_reduce_of_one_type_follows_its_body():
    q = Q(0.5, 3)
    text = REDUCE.format(n=3, operand=q, combined=q, init=3, storage="i8", body="add")
    assert evaluate(text, np.int8([[100, 100, -120], [4, 5, 6]])).tolist() == [4, 9]
    text = REDUCE.format(n=3, operand=q, combined=q, init=-128, storage="i8", body="maximum")
    assert evaluate(text, np.int8([[100, 10, -120], [4, 5, 6]])).tolist() == [100, 6]


WINDOW = """
func.func @main(%x: tensor<1x{n}x{operand}>) -> tensor<1x{m}x{combined}> {{
  %i = "stablehlo.constant"() <{{value = dense<{init}> : tensor<{storage}>}}> : () -> tensor<{combined}>
  %r = "stablehlo.reduce_window"(%x, %i) ({{
    ^bb0(%a: tensor<{combined}>, %b: tensor<{combined}>):
    %s = stablehlo.{body} %a, %b : tensor<{combined}>
    stablehlo.return %s : tensor<{combined}>
  }}) {{window_dimensions = array<i64: 1, 2>, padding = dense<[[0, 0], [1, 0]]> : tensor<2x2xi64>}} :
    (tensor<1x{n}x{operand}>, tensor<{combined}>) -> tensor<1x{m}x{combined}>
  return %r : tensor<1x{m}x{combined}>
}}"""


def test_reduce_window():
    text = WINDOW.format(n=3, m=3, operand=Q(0.5, 3), combined=Q(0.5, 0, "i32"), init=0, storage="i32", body="add")
    assert evaluate(text, np.int8([[1, 2, -128]])).tolist() == [[-2, -3, -132]]
    text = WINDOW.format(n=1, m=1, operand=Q(0.1, 3), combined=Q(0.15, 7), init=-128, storage="i8", body="maximum")
    assert evaluate(text, np.int8([[-100]])).tolist() == [[-62]]


def test_sort_while_if_and_calls_carry_stored_integers():
    text = """
!q = tensor<3x!quant.uniform<u8:f32, 0.5:100>>
!s = tensor<!quant.uniform<u8:f32, 0.5:100>>
func.func private @double(%x: !q) -> !q {
  %r = stablehlo.add %x, %x : !q
  return %r : !q
}
func.func @main(%x: !q, %p: tensor<i1>) -> !q {
  %0 = "stablehlo.sort"(%x) ({
    ^bb0(%a: !s, %b: !s):
    %c = stablehlo.compare GT, %a, %b : (!s, !s) -> tensor<i1>
    stablehlo.return %c : tensor<i1>
  }) {dimension = 0 : i64} : (!q) -> !q
  %1 = "stablehlo.if"(%p) ({
    %2 = func.call @double(%0) : (!q) -> !q
    stablehlo.return %2 : !q
  }, {
    stablehlo.return %x : !q
  }) : (tensor<i1>) -> !q
  return %1 : !q
}"""
    x = np.uint8([104, 90, 200])
    assert evaluate(text, x, np.array(True)).tolist() == [255, 108, 80]
    assert evaluate(text, x, np.array(False)).tolist() == x.tolist()


def test_scatter_follows_its_body():
    q = Q(0.5, 3)
    text = f"""
func.func @main(%x: tensor<3x{q}>, %i: tensor<1x1xi32>, %u: tensor<1x{q}>) -> tensor<3x{q}> {{
  %0 = "stablehlo.scatter"(%x, %i, %u) ({{
    ^bb0(%a: tensor<{q}>, %b: tensor<{q}>):
    %n = stablehlo.add %a, %b : tensor<{q}>
    stablehlo.return %n : tensor<{q}>
  }}) {{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0],
        scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}} :
    (tensor<3x{q}>, tensor<1x1xi32>, tensor<1x{q}>) -> tensor<3x{q}>
  return %0 : tensor<3x{q}>
}}"""
    assert evaluate(text, np.int8([4, 5, 100]), np.int32([[1]]), np.int8([10])).tolist() == [4, 12, 100]


# ---- refusals


def test_all_unsupported_ops_are_named_in_one_error():
    q = Q(0.5, 3)
    text = f"""
func.func @main(%x: tensor<2x{q}>, %a: tensor<2x!quant.any<i8:f32>>) -> tensor<2x{q}> {{
  %0 = stablehlo.custom_call @f(%x) : (tensor<2x{q}>) -> tensor<2x{q}>
  %1 = stablehlo.custom_call @g(%0) : (tensor<2x{q}>) -> tensor<2x{q}>
  func.call @h(%a) : (tensor<2x!quant.any<i8:f32>>) -> ()
  return %1 : tensor<2x{q}>
}}
func.func private @h(tensor<2x!quant.any<i8:f32>>)"""
    module = ir.Module.parse(text, new_context())
    with pytest.raises(UnsupportedError, match="3 unsupported ops") as error:
        run_passes(module, [LegalizeQuantToMath()])
    assert [f.op for f in error.value.findings] == ["stablehlo.custom_call"] * 2 + ["func.call"]


def test_an_unused_argument_of_another_quantized_type_is_refused():
    text = "func.func @main(%a: tensor<2x!quant.any<i8:f32>>) { return }"
    with pytest.raises(UnsupportedError, match=r"per-tensor or per-axis uniform"):
        lower(text)


def test_custom_calls_of_plain_operands_are_left_alone():
    q = Q(0.5, 3)
    text = function(
        f"(%x: tensor<2x{q}>) -> tensor<i1>",
        f"%0 = stablehlo.uniform_dequantize %x : (tensor<2x{q}>) -> tensor<2xf32>",
        "%1 = stablehlo.custom_call @check.eq(%0, %0) : (tensor<2xf32>, tensor<2xf32>) -> tensor<i1>",
        "return %1 : tensor<i1>",
    )
    assert "custom_call" in ops(text)
