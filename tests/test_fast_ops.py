"""The kernels of the fast engine: equal to the reference interpreter, or right where that one is not."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from single_op.programs import CASES, batch, differences
from torch_mlir import ir

from shlo_quant.engines.base import Engine
from shlo_quant.engines.fast import FastEngine
from shlo_quant.engines.fast.ops.elements import ElementType
from shlo_quant.engines.fast.regions import free_values
from shlo_quant.engines.reference import ReferenceEngine
from shlo_quant.passes.dialects.context import new_context
from shlo_quant.passes.errors import UnsupportedError
from shlo_quant.passes.rewrite import walk

Array = np.ndarray[Any, np.dtype[Any]]
BFLOAT16 = ElementType(np.dtype(ml_dtypes.bfloat16), 16)


def evaluate(text: str, *inputs: Array) -> Array:
    """The only result of a program, which native code and kernels agree on."""
    module = ir.Module.parse(text, new_context())
    (native,), (result,) = (FastEngine(native=native).compile(module).run(inputs) for native in (True, False))
    np.testing.assert_array_equal(native, result)
    return result


def function(signature: str, *lines: str) -> str:
    return f"func.func @main{signature} {{\n" + "\n".join(lines) + "\n}"


# ---- against the reference interpreter


@pytest.mark.parametrize("kind", list(CASES))
def test_equals_the_reference(kind: str) -> None:
    """A dozen random cases; `python -m tests.single_op` runs as many as you like."""
    assert differences(batch(range(12), {kind: CASES[kind]})) == []


@settings(max_examples=10)
@given(st.lists(st.integers(0, 1 << 48), min_size=1, max_size=20, unique=True))
def test_mixtures_equal_the_reference(seeds: list[int]) -> None:
    """Any kinds side by side; a failure shrinks to the cases that it takes."""
    assert differences(batch(seeds, CASES)) == []


# ---- where the reference interpreter aborts or is wrong


def test_integer_division_by_zero() -> None:
    """All bits set, and the dividend as remainder: the specification leaves both open."""
    for name, expected in (("divide", [-1, -1, -3]), ("remainder", [7, -128, -1])):
        text = function(
            "(%a: tensor<3xi8>, %b: tensor<3xi8>) -> tensor<3xi8>",
            f"%0 = stablehlo.{name} %a, %b : tensor<3xi8>",
            "return %0 : tensor<3xi8>",
        )
        operands = np.array([7, -128, -7], np.int8), np.array([0, 0, 2], np.int8)
        assert evaluate(text, *operands).tolist() == expected


def test_total_order_tells_zeros_and_nans_apart() -> None:
    text = function(
        "(%a: tensor<4xf32>, %b: tensor<4xf32>) -> tensor<4xi1>",
        "%0 = stablehlo.compare LT, %a, %b, TOTALORDER : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>",
        "return %0 : tensor<4xi1>",
    )
    lhs, rhs = np.array([-0.0, 0.0, math.inf, -1], np.float32), np.array([0.0, -0.0, math.nan, -2], np.float32)
    assert evaluate(text, lhs, rhs).tolist() == [True, False, True, False]


def test_unsigned_indices_are_not_negative() -> None:
    """The interpreter reads 200 in ui8 as -56, and starts at 0."""
    text = function(
        "(%a: tensor<5xf32>, %i: tensor<ui8>) -> tensor<2xf32>",
        "%0 = stablehlo.dynamic_slice %a, %i, sizes = [2] : (tensor<5xf32>, tensor<ui8>) -> tensor<2xf32>",
        "return %0 : tensor<2xf32>",
    )
    assert evaluate(text, np.arange(5, dtype=np.float32), np.array(200, np.uint8)).tolist() == [3, 4]


def test_a_sum_of_no_products_is_zero() -> None:
    text = function(
        "(%a: tensor<2x0xf32>, %b: tensor<0x3xf32>) -> tensor<2x3xf32>",
        "%0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]"
        " : (tensor<2x0xf32>, tensor<0x3xf32>) -> tensor<2x3xf32>",
        "return %0 : tensor<2x3xf32>",
    )
    np.testing.assert_array_equal(evaluate(text, np.zeros((2, 0), np.float32), np.zeros((0, 3), np.float32)), 0)


def test_a_convolution_of_no_images() -> None:
    text = function(
        "(%a: tensor<0x4x2xf32>, %b: tensor<3x2x5xf32>) -> tensor<0x2x5xf32>",
        "%0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {}"
        " {batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
        " : (tensor<0x4x2xf32>, tensor<3x2x5xf32>) -> tensor<0x2x5xf32>",
        "return %0 : tensor<0x2x5xf32>",
    )
    assert evaluate(text, np.zeros((0, 4, 2), np.float32), np.zeros((3, 2, 5), np.float32)).shape == (0, 2, 5)


def test_a_convolution_may_have_its_feature_before_the_batch() -> None:
    """A window of one element is a product of matrices."""
    text = function(
        "(%a: tensor<3x4x2xf32>, %b: tensor<1x2x5xf32>) -> tensor<5x4x3xf32>",
        "%0 = stablehlo.convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[f, 0, b], window = {}"
        " {batch_group_count = 1 : i64, feature_group_count = 1 : i64}"
        " : (tensor<3x4x2xf32>, tensor<1x2x5xf32>) -> tensor<5x4x3xf32>",
        "return %0 : tensor<5x4x3xf32>",
    )
    lhs, rhs = np.arange(24.0).reshape(3, 4, 2), np.arange(10.0).reshape(1, 2, 5)
    result = evaluate(text, lhs.astype(np.float32), rhs.astype(np.float32))
    np.testing.assert_array_equal(result, np.einsum("bxi,io->oxb", lhs, rhs[0]))


def test_batch_norm_inference() -> None:
    text = function(
        "(%x: tensor<2x3xf32>, %p: tensor<3xf32>) -> tensor<2x3xf32>",
        '%0 = "stablehlo.batch_norm_inference"(%x, %p, %p, %p, %p) {epsilon = 0.5 : f32, feature_index = 1 : i64}'
        " : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>",
        "return %0 : tensor<2x3xf32>",
    )
    x, p = np.arange(6, dtype=np.float32).reshape(2, 3), np.array([1, 2, 3.5], np.float32)
    expected = (p * (x - p)) / np.sqrt(p + np.float32(0.5)) + p
    np.testing.assert_array_equal(evaluate(text, x, p), expected)


def test_sorting_numbers_and_nan_loses_none() -> None:
    text = function(
        "(%a: tensor<9xf32>) -> tensor<9xf32>",
        '%0 = "stablehlo.sort"(%a) ({',
        "^bb0(%x: tensor<f32>, %y: tensor<f32>):",
        "  %1 = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>",
        "  stablehlo.return %1 : tensor<i1>",
        "}) {dimension = 0 : i64, is_stable = false} : (tensor<9xf32>) -> tensor<9xf32>",
        "return %0 : tensor<9xf32>",
    )
    values = np.array([3, math.nan, 1, 2, math.nan, 0, 5, math.nan, 4], np.float32)
    np.testing.assert_array_equal(np.sort(evaluate(text, values)), np.sort(values))


def test_a_result_may_be_an_argument_that_is_only_moved() -> None:
    text = function(
        "(%a: tensor<16x16xf32>) -> tensor<12x16xf32>",
        "%0 = stablehlo.transpose %a, dims = [1, 0] : (tensor<16x16xf32>) -> tensor<16x16xf32>",
        "%1 = stablehlo.slice %0 [2:14, 0:16] : (tensor<16x16xf32>) -> tensor<12x16xf32>",
        "return %1 : tensor<12x16xf32>",
    )
    values = np.random.default_rng(0).random((16, 16)).astype(np.float32)
    np.testing.assert_array_equal(evaluate(text, values), values.T[2:14])


# ---- rounding and functions


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (np.float64(1 + 2**-8), 1.0),  # halfway: to even
        (np.float64(1 + 2**-8 + 2**-40), 1.0078125),  # f32 in between would make it halfway
        (np.float64(1 + 2**-8 - 2**-40), 1.0),
        (np.float64(-1 - 2**-8 - 2**-40), -1.0078125),
        (np.float64(1e300), math.inf),
        (np.int64((1 << 62) + (1 << 54) + 1), 2.0**62 * 1.0078125),
        (np.int64(-(1 << 62) - (1 << 54) - 1), -(2.0**62) * 1.0078125),
        (np.uint64((1 << 63) + (1 << 55)), 2.0**63),
        (np.int32((1 << 24) + (1 << 16) + 1), 2.0**24 * 1.0078125),
    ],
)
def test_bfloat16_is_rounded_to_once(value: Any, expected: float) -> None:
    with np.errstate(over="ignore"):
        assert float(BFLOAT16.rounded(np.array([value]))[0]) == expected


@pytest.mark.parametrize("name", ["tanh", "exponential", "log", "sine", "cosine", "cbrt", "log_plus_one"])
def test_functions_are_those_of_the_c_library(name: str) -> None:
    """Python's `math` calls it, in f64."""
    reference = {"exponential": "exp", "sine": "sin", "cosine": "cos", "log_plus_one": "log1p"}.get(name, name)
    text = function(
        "(%a: tensor<20000xf32>) -> tensor<20000xf32>",
        f"%0 = stablehlo.{name} %a : tensor<20000xf32>",
        "return %0 : tensor<20000xf32>",
    )
    values = np.random.default_rng(0).uniform(1e-3, 20, 20000).astype(np.float32)
    expected = np.array([getattr(math, reference)(float(v)) for v in values]).astype(np.float32)
    np.testing.assert_array_equal(evaluate(text, values), expected)


# ---- regions, refusals


def test_free_values_are_those_from_outside_in_the_order_of_use() -> None:
    module = ir.Module.parse(
        function(
            "(%p: tensor<i1>, %a: tensor<f32>, %b: tensor<f32>) -> tensor<f32>",
            '%0 = "stablehlo.if"(%p) ({',
            '  %1 = "stablehlo.if"(%p) ({',
            "    stablehlo.return %b : tensor<f32>",
            "  }, {",
            "    stablehlo.return %a : tensor<f32>",
            "  }) : (tensor<i1>) -> tensor<f32>",
            "  stablehlo.return %1 : tensor<f32>",
            "}, {",
            "  %2 = stablehlo.add %a, %b : tensor<f32>",
            "  stablehlo.return %2 : tensor<f32>",
            "}) : (tensor<i1>) -> tensor<f32>",
            "return %0 : tensor<f32>",
        ),
        new_context(),
    )
    outer, inner = walk(module.operation, "stablehlo.if")
    pred, first, second = outer.parent.regions[0].blocks[0].arguments
    assert free_values(outer) == [pred, second, first]
    assert free_values(inner) == [second, first]


def test_what_has_no_kernel_is_named() -> None:
    text = function(
        "(%a: tensor<3x3xf32>) -> tensor<3x3xf32>",
        '%0 = "stablehlo.cholesky"(%a) {lower = true} : (tensor<3x3xf32>) -> tensor<3x3xf32>',
        "return %0 : tensor<3x3xf32>",
    )
    with pytest.raises(UnsupportedError, match=r"stablehlo\.cholesky"):
        FastEngine().compile(ir.Module.parse(text, new_context()))


@pytest.mark.parametrize("engine", [FastEngine(), ReferenceEngine()], ids=lambda engine: engine.name)
def test_constants_in_resources_are_refused(engine: Engine) -> None:
    text = function(
        "() -> tensor<2xf32>", "%0 = stablehlo.constant dense_resource<x> : tensor<2xf32>", "return %0 : tensor<2xf32>"
    )
    resources = '{-# dialect_resources: { builtin: { x: "0x040000000000803F00000040" } } #-}'
    with pytest.raises(UnsupportedError, match="a constant in a resource"):
        engine.compile(ir.Module.parse(f"{text}\n{resources}", new_context()))
