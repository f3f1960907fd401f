"""A box of a result, computed alone, has the elements that the whole program has there."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_mlir import ir

from shlo_quant.crop import Cropper, cut_out
from shlo_quant.crop.rules import RULES
from shlo_quant.engines.reference import ReferenceEngine
from shlo_quant.passes.dialects.context import new_context
from shlo_quant.passes.dialects.modules import entry_function, signature
from shlo_quant.passes.errors import Unsupported
from shlo_quant.passes.rewrite import walk
from shlo_quant.random_inputs import random_inputs

PROGRAMS = {
    "elementwise": """
      func.func @main(%x: tensor<3x4xf32>, %lo: tensor<f32>, %hi: tensor<f32>) -> tensor<3x4xi8> {
        %c = stablehlo.constant dense<[[1., 2., 3., 4.], [5., 6., 7., 8.], [9., 10., 11., 12.]]> : tensor<3x4xf32>
        %s = stablehlo.constant dense<2.0> : tensor<3x4xf32>
        %0 = stablehlo.add %x, %c : tensor<3x4xf32>
        %1 = stablehlo.clamp %lo, %0, %hi : (tensor<f32>, tensor<3x4xf32>, tensor<f32>) -> tensor<3x4xf32>
        %2 = stablehlo.multiply %1, %s : tensor<3x4xf32>
        %3 = stablehlo.convert %2 : (tensor<3x4xf32>) -> tensor<3x4xi8>
        return %3 : tensor<3x4xi8>
      }""",
    "iota, broadcast, transpose, reverse": """
      func.func @main(%x: tensor<4x1xi32>) -> tensor<5x4x3xi32> {
        %0 = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<4x1xi32>) -> tensor<4x3x5xi32>
        %1 = stablehlo.iota dim = 1 : tensor<4x3x5xi32>
        %2 = stablehlo.multiply %0, %1 : tensor<4x3x5xi32>
        %3 = stablehlo.transpose %2, dims = [2, 0, 1] : (tensor<4x3x5xi32>) -> tensor<5x4x3xi32>
        %4 = stablehlo.reverse %3, dims = [0, 2] : tensor<5x4x3xi32>
        return %4 : tensor<5x4x3xi32>
      }""",
    "slice, pad, concatenate": """
      func.func @main(%x: tensor<3x9xi32>, %y: tensor<3x2xi32>, %p: tensor<i32>) -> tensor<6x10xi32> {
        %0 = stablehlo.slice %x [0:3, 1:8:3] : (tensor<3x9xi32>) -> tensor<3x3xi32>
        %1 = stablehlo.pad %0, %p, low = [2, -1], high = [-1, 2], interior = [1, 2]
          : (tensor<3x3xi32>, tensor<i32>) -> tensor<6x8xi32>
        %2 = stablehlo.pad %y, %p, low = [2, 0], high = [1, 0], interior = [0, 0]
          : (tensor<3x2xi32>, tensor<i32>) -> tensor<6x2xi32>
        %3 = stablehlo.concatenate %2, %1, dim = 1 : (tensor<6x2xi32>, tensor<6x8xi32>) -> tensor<6x10xi32>
        return %3 : tensor<6x10xi32>
      }""",
    "reshape merges": """
      func.func @main(%x: tensor<2x3x4x1x5xi32>) -> tensor<1x6x20xi32> {
        %0 = stablehlo.reshape %x : (tensor<2x3x4x1x5xi32>) -> tensor<1x6x20xi32>
        return %0 : tensor<1x6x20xi32>
      }""",
    "reshape splits": """
      func.func @main(%x: tensor<6x12xi32>) -> tensor<6x3x1x4xi32> {
        %0 = stablehlo.reshape %x : (tensor<6x12xi32>) -> tensor<6x3x1x4xi32>
        return %0 : tensor<6x3x1x4xi32>
      }""",
    "reshape mixes": """
      func.func @main(%x: tensor<4x6x1xi32>) -> tensor<3x8xi32> {
        %0 = stablehlo.reshape %x : (tensor<4x6x1xi32>) -> tensor<3x8xi32>
        return %0 : tensor<3x8xi32>
      }""",
    "convolution": """
      func.func @main(%x: tensor<2x3x7x6xi8>, %w: tensor<4x3x3x2xi8>) -> tensor<2x4x4x6xi32> {
        %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
          window = {stride = [2, 1], pad = [[1, 1], [0, 1]]}
          {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
          : (tensor<2x3x7x6xi8>, tensor<4x3x3x2xi8>) -> tensor<2x4x4x6xi32>
        return %0 : tensor<2x4x4x6xi32>
      }""",
    "convolution of groups, dilated": """
      func.func @main(%x: tensor<1x8x7x6xi8>, %w: tensor<3x2x2x6xi8>) -> tensor<1x7x8x6xi32> {
        %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
          window = {pad = [[2, 1], [1, 2]], rhs_dilate = [2, 2]}
          {batch_group_count = 1 : i64, feature_group_count = 3 : i64}
          : (tensor<1x8x7x6xi8>, tensor<3x2x2x6xi8>) -> tensor<1x7x8x6xi32>
        return %0 : tensor<1x7x8x6xi32>
      }""",
    "convolution, transposed": """
      func.func @main(%x: tensor<1x2x3x4xi8>, %w: tensor<2x2x3x3xi8>) -> tensor<1x2x7x9xi32> {
        %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
          window = {pad = [[2, 2], [2, 2]], lhs_dilate = [2, 2], reverse = [true, true]}
          {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
          : (tensor<1x2x3x4xi8>, tensor<2x2x3x3xi8>) -> tensor<1x2x7x9xi32>
        return %0 : tensor<1x2x7x9xi32>
      }""",
    "dot_general": """
      func.func @main(%x: tensor<2x3x4xi8>, %y: tensor<5x4x2xi8>) -> tensor<2x3x5xi32> {
        %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [2], contracting_dims = [2] x [1]
          : (tensor<2x3x4xi8>, tensor<5x4x2xi8>) -> tensor<2x3x5xi32>
        return %0 : tensor<2x3x5xi32>
      }""",
    "softmax": """
      func.func @main(%x: tensor<4x3x5xf32>) -> tensor<4x3x5xf32> {
        %zero = stablehlo.constant dense<0.0> : tensor<f32>
        %least = stablehlo.constant dense<0xFF800000> : tensor<f32>
        %0 = stablehlo.reduce(%x init: %least) applies stablehlo.maximum across dimensions = [2]
          : (tensor<4x3x5xf32>, tensor<f32>) -> tensor<4x3xf32>
        %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<4x3xf32>) -> tensor<4x3x5xf32>
        %2 = stablehlo.subtract %x, %1 : tensor<4x3x5xf32>
        %3 = stablehlo.exponential %2 : tensor<4x3x5xf32>
        %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [2]
          : (tensor<4x3x5xf32>, tensor<f32>) -> tensor<4x3xf32>
        %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<4x3xf32>) -> tensor<4x3x5xf32>
        %6 = stablehlo.divide %3, %5 : tensor<4x3x5xf32>
        return %6 : tensor<4x3x5xf32>
      }""",
    "reduce_window": """
      func.func @main(%x: tensor<2x7x6xi32>, %least: tensor<i32>) -> tensor<2x4x5xi32> {
        %0 = "stablehlo.reduce_window"(%x, %least) <{
          padding = dense<[[0, 0], [1, 1], [0, 1]]> : tensor<3x2xi64>, window_dilations = array<i64: 1, 1, 2>,
          window_dimensions = array<i64: 1, 3, 2>, window_strides = array<i64: 1, 2, 1>}> ({
        ^bb0(%a: tensor<i32>, %b: tensor<i32>):
          %m = stablehlo.maximum %a, %b : tensor<i32>
          stablehlo.return %m : tensor<i32>
        }) : (tensor<2x7x6xi32>, tensor<i32>) -> tensor<2x4x5xi32>
        return %0 : tensor<2x4x5xi32>
      }""",
    "gather": """
      func.func @main(%t: tensor<7x5xi32>, %i: tensor<2x3xi8>) -> tensor<2x3x5xi32> {
        %0 = stablehlo.convert %i : (tensor<2x3xi8>) -> tensor<2x3xi32>
        %1 = "stablehlo.gather"(%t, %0) <{dimension_numbers = #stablehlo.gather<offset_dims = [2],
          collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>,
          slice_sizes = array<i64: 1, 5>}> : (tensor<7x5xi32>, tensor<2x3xi32>) -> tensor<2x3x5xi32>
        return %1 : tensor<2x3x5xi32>
      }""",
    "an op without a rule": """
      func.func @main(%x: tensor<3x4xi32>) -> tensor<3x4xi32> {
        %0 = "stablehlo.sort"(%x) <{dimension = 0 : i64}> ({
        ^bb0(%a: tensor<i32>, %b: tensor<i32>):
          %m = stablehlo.compare LT, %a, %b : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %m : tensor<i1>
        }) : (tensor<3x4xi32>) -> tensor<3x4xi32>
        return %0 : tensor<3x4xi32>
      }""",
    "a region with values from outside": """
      func.func @main(%x: tensor<3x4xi32>, %y: tensor<i32>, %p: tensor<i1>) -> tensor<3x4xi32> {
        %z = stablehlo.broadcast_in_dim %y, dims = [] : (tensor<i32>) -> tensor<3x4xi32>
        %0 = "stablehlo.if"(%p) ({
          %1 = stablehlo.add %x, %z : tensor<3x4xi32>
          stablehlo.return %1 : tensor<3x4xi32>
        }, {
          stablehlo.return %x : tensor<3x4xi32>
        }) : (tensor<i1>) -> tensor<3x4xi32>
        return %0 : tensor<3x4xi32>
      }""",
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_box_equals_the_box_of_the_whole(name: str) -> None:
    program = ir.Module.parse(PROGRAMS[name], new_context())
    arguments = random_inputs(program, 0)
    (whole,) = ReferenceEngine().compile(program).run(arguments)
    cropper = Cropper(program)

    @settings(max_examples=12)
    @given(st.tuples(*(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)) for n in whole.shape)))
    def check(corners: tuple[tuple[int, int], ...]) -> None:
        box = tuple((min(pair), max(pair) + 1) for pair in corners)
        crop = cropper.build(cropper.plan(0, box))
        crop.module.operation.verify()
        (part,) = ReferenceEngine().compile(crop.module).run(crop.cut_inputs(arguments))
        np.testing.assert_array_equal(part, cut_out(whole, box))

    check()


def test_every_rule_is_tested() -> None:
    context = new_context()
    used = {op.name for text in PROGRAMS.values() for op in walk(ir.Module.parse(text, context).operation)}
    families = {RULES[name] for name in used if name in RULES}
    assert families == set(RULES.values())


def test_small_boxes_need_little() -> None:
    program = ir.Module.parse(PROGRAMS["convolution"], new_context())
    cropper = Cropper(program)
    corner = cropper.plan(0, ((0, 1), (2, 3), (0, 1), (0, 2)))
    assert (corner.elements, corner.multiply_adds, corner.ops) == (2, 2 * 18, {"stablehlo.convolution"})
    crop = cropper.build(corner)
    assert dict(crop.inputs) == {0: ((0, 1), (0, 3), (0, 2), (0, 3)), 1: ((2, 3), (0, 3), (0, 3), (0, 2))}
    _, whole = signature(entry_function(program))
    everything = cropper.plan(0, tuple((0, size) for size in cropper.shape(0)))
    assert everything.multiply_adds == math.prod(whole[0].shape) * 18


def test_op_that_runs_in_its_place_only_is_refused() -> None:
    text = """func.func @main(%x: tensor<2xi32>) -> tensor<2xi32> {
      %0 = stablehlo.custom_call @f(%x) : (tensor<2xi32>) -> tensor<2xi32>
      return %0 : tensor<2xi32>
    }"""
    program = ir.Module.parse(text, new_context())
    with pytest.raises(Unsupported, match="custom_call"):
        Cropper(program).plan(0, ((0, 1),))
