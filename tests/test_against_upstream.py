"""Where upstream's own lowering of quantized programs is exact, ours gives the same integers."""

from __future__ import annotations

import pytest
from torch_mlir import ir

from shlo_quant.compare import compare_all
from shlo_quant.engines.reference import ReferenceEngine
from shlo_quant.passes.dialects.context import new_context
from shlo_quant.passes.dialects.modules import copy_module
from shlo_quant.pipelines import lower
from shlo_quant.random_inputs import random_inputs

X = "!quant.uniform<i8:f32, 0.5:7>"
W = "!quant.uniform<i8<-127:127>:f32, 0.25>"
A = "!quant.uniform<i32:f32, 0.125>"
R = "!quant.uniform<i8:f32, 6.0:-5>"
PER_AXIS_W = "!quant.uniform<i8<-127:127>:f32:3, {0.25, 0.5}>"
PER_AXIS_A = "!quant.uniform<i32:f32:3, {0.125, 0.25}>"


def convolution(
    lhs: str, rhs: str, result: str, numbers: str, window: str = "", groups: tuple[int, int] = (1, 1)
) -> str:
    return (
        f"func.func @main(%x: tensor<{lhs}>, %w: tensor<{rhs}>) -> tensor<{result}> {{\n"
        f"  %0 = stablehlo.convolution(%x, %w) dim_numbers = {numbers}, window = {{{window}}} "
        f"{{feature_group_count = {groups[0]} : i64, batch_group_count = {groups[1]} : i64}} "
        f": (tensor<{lhs}>, tensor<{rhs}>) -> tensor<{result}>\n  return %0 : tensor<{result}>\n}}"
    )


def dot(lhs: str, rhs: str, result: str, contracting: str) -> str:
    return (
        f"func.func @main(%x: tensor<{lhs}>, %w: tensor<{rhs}>) -> tensor<{result}> {{\n"
        f"  %0 = stablehlo.dot_general %x, %w, contracting_dims = {contracting} "
        f": (tensor<{lhs}>, tensor<{rhs}>) -> tensor<{result}>\n  return %0 : tensor<{result}>\n}}"
    )


def unary(name: str) -> str:
    return (
        f"func.func @main(%x: tensor<4x5x{X}>) -> tensor<4x5x{R}> {{\n"
        f"  %0 = stablehlo.{name} %x : (tensor<4x5x{X}>) -> tensor<4x5x{R}>\n  return %0 : tensor<4x5x{R}>\n}}"
    )


NHWC, NCHW = "[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]", "[b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1]"
PROGRAMS = {
    "accumulator": convolution(f"1x5x5x3x{X}", f"3x3x3x2x{W}", f"1x3x3x2x{A}", NHWC),
    "accumulator_nchw": convolution(f"1x3x5x5x{X}", f"2x3x3x3x{W}", f"1x2x3x3x{A}", NCHW),
    "padding": convolution(f"1x5x5x3x{X}", f"3x3x3x2x{W}", f"1x5x5x2x{A}", NHWC, "pad = [[1, 1], [2, 0]]"),
    "strides_and_dilation": convolution(
        f"1x7x7x3x{X}", f"3x3x3x2x{W}", f"1x2x3x2x{A}", NHWC, "stride = [2, 1], rhs_dilate = [2, 2]"
    ),
    "depthwise": convolution(f"1x5x5x3x{X}", f"3x3x1x6x{W}", f"1x3x3x6x{A}", NHWC, groups=(3, 1)),
    "batch_groups": convolution(f"2x5x5x3x{X}", f"3x3x3x2x{W}", f"1x3x3x2x{A}", NHWC, groups=(1, 2)),
    "per_axis_last": convolution(f"1x5x5x3x{X}", f"3x3x3x2x{PER_AXIS_W}", f"1x3x3x2x{PER_AXIS_A}", NHWC),
    "per_axis_to_8_bits": convolution(f"1x5x5x3x{X}", f"3x3x3x2x{PER_AXIS_W}", f"1x3x3x2x{R}", NHWC),
    "other_layout": convolution(
        f"1x5x5x3x{X}", f"2x3x3x3x{W}", f"1x3x3x2x{R}", "[b, 0, 1, f]x[o, i, 0, 1]->[b, 0, 1, f]"
    ),
    "lhs_dilation": convolution(f"1x3x3x3x{X}", f"3x3x3x2x{W}", f"1x3x3x2x{R}", NHWC, "lhs_dilate = [2, 2]"),
    "dot": dot(f"4x8x{X}", f"8x3x{W}", f"4x3x{A}", "[1] x [0]"),
    "dot_of_transposed_weights": dot(f"4x8x{X}", f"3x8x{W}", f"4x3x{A}", "[1] x [1]"),
    **{name: unary(name) for name in ("abs", "logistic", "negate", "sine", "tanh")},
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_integer_form_gives_the_integers_of_upstreams_lowering(name: str) -> None:
    quantized = ir.Module.parse(PROGRAMS[name], new_context())
    integer = lower(copy_module(quantized), "integer")
    for seed in range(3):
        inputs = random_inputs(quantized, seed)
        upstream = ReferenceEngine(arithmetic="upstream").compile(quantized).run(inputs)
        assert all(output.is_exact for output in compare_all(upstream, ReferenceEngine().compile(integer).run(inputs)))
