"""The judge: its reading of the spec against numpy formulas, hand values and upstream, and that it survives crashes."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from torch_mlir import ir

from shlo_quant.engines.child import Limits
from shlo_quant.engines.reference import Arithmetic, ReferenceEngine
from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.errors import EngineError, InputError, UnsupportedError


def evaluate(text: str, *inputs: Any, arithmetic: Arithmetic = "spec") -> list[Array]:
    module = ir.Module.parse(text)
    before = str(module)
    results = ReferenceEngine(arithmetic).compile(module).run([np.asarray(i) for i in inputs])
    assert str(module) == before
    return results


def unary(line: str, argument: str, result: str) -> str:
    """A program of one line that makes %r of %x."""
    return f"func.func @main(%x: {argument}) -> {result} {{\n  {line}\n  return %r : {result}\n}}"


def quantize_program(shape: str, element: str, quantized: str) -> str:
    argument, result = f"tensor<{shape}x{element}>", f"tensor<{shape}x!quant.uniform<{quantized}>>"
    return unary(f"%r = stablehlo.uniform_quantize %x : ({argument}) -> {result}", argument, result)


# ---- quantize and dequantize


@pytest.mark.parametrize(
    ("quantized", "scale", "zero_point", "bounds", "dtype"),
    [
        ("i8:f32, 0.1:3", 0.1, 3, (-128, 127), np.int8),
        ("i8<-127:127>:f32, 0.1", 0.1, 0, (-127, 127), np.int8),
        ("u8:f32, 0.1:130", 0.1, 130, (0, 255), np.uint8),
        ("ui8:f32, 0.1:130", 0.1, 130, (0, 255), np.uint8),
        ("i4:f32, 1.5:-2", 1.5, -2, (-8, 7), np.int8),
        ("u4:f32, 1.5:8", 1.5, 8, (0, 15), np.uint8),
        ("i16:f32, 0.0007:100", 0.0007, 100, (-32768, 32767), np.int16),
    ],
)
@pytest.mark.usefixtures("context")
def test_quantize_is_the_formula_of_the_spec(
    quantized: str, scale: float, zero_point: int, bounds: tuple[int, int], dtype: type
) -> None:
    expressed = np.linspace(-30, 30, 1001, dtype=np.float32)
    steps = expressed / np.float32(scale) + np.float32(zero_point)
    expected = np.round(np.clip(steps, *map(np.float32, bounds))).astype(dtype)
    (actual,) = evaluate(quantize_program("1001", "f32", quantized), expressed)
    assert actual.dtype == expected.dtype
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize(
    "quantized", ["i8:f32, 0.1:3", "i16:f32, 0.3:-7", "i32:f32, 0.01:5", "i8:f32:1, {0.1:3, 0.7, 2.0:-9}"]
)
@pytest.mark.usefixtures("context")
def test_quantize_and_dequantize_agree_with_upstream(quantized: str) -> None:
    text = f"""!q = !quant.uniform<{quantized}>
    func.func @main(%x: tensor<400x3xf32>) -> (tensor<400x3x!q>, tensor<400x3xf32>) {{
      %q = stablehlo.uniform_quantize %x : (tensor<400x3xf32>) -> tensor<400x3x!q>
      %d = stablehlo.uniform_dequantize %q : (tensor<400x3x!q>) -> tensor<400x3xf32>
      return %q, %d : tensor<400x3x!q>, tensor<400x3xf32>
    }}"""
    expressed = np.random.default_rng(0).normal(0, 20, (400, 3)).astype(np.float32)
    for ours, theirs in zip(evaluate(text, expressed), evaluate(text, expressed, arithmetic="upstream"), strict=True):
        np.testing.assert_array_equal(ours, theirs)


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.usefixtures("context")
def test_per_axis_quantize_works_on_any_axis(axis: int) -> None:
    scales, zero_points = np.float32([0.5, 0.25, 0.3]), np.float32([1, 0, -5])
    quantized = f"i8:f32:{axis}, {{0.5:1, 0.25, 0.3:-5}}"
    expressed = np.random.default_rng(1).normal(0, 20, (3, 3, 3)).astype(np.float32)
    shape = [-1 if d == axis else 1 for d in range(3)]
    steps = expressed / scales.reshape(shape) + zero_points.reshape(shape)
    (actual,) = evaluate(quantize_program("3x3x3", "f32", quantized), expressed)
    np.testing.assert_array_equal(actual, np.round(np.clip(steps, -128, 127)).astype(np.int8))


@pytest.mark.usefixtures("context")
def test_nan_and_infinities_quantize_to_zero_and_the_bounds() -> None:
    (actual,) = evaluate(quantize_program("3", "f32", "i8:f32, 0.5:3"), np.float32([np.nan, np.inf, -np.inf]))
    assert actual.tolist() == [0, 127, -128]


@pytest.mark.usefixtures("context")
def test_bf16_is_computed_in_bf16() -> None:
    text = """!q = !quant.uniform<i8:bf16, 0.1:3>
    func.func @main(%a: tensor<1x!q>, %b: tensor<1x!q>) -> tensor<1x!q> {
      %r = stablehlo.add %a, %b : tensor<1x!q>
      return %r : tensor<1x!q>
    }"""
    (actual,) = evaluate(text, np.int8([-49]), np.int8([-27]))
    assert actual.tolist() == [-80]  # -79 in f32


# ---- where the spec and upstream's lowering part: the values of both


def binary(op: str, *quantized: str) -> str:
    a, b, c = (f"tensor<1x!quant.uniform<{q}>>" for q in quantized)
    return f"""func.func @main(%a: {a}, %b: {b}) -> {c} {{
      %r = "stablehlo.{op}"(%a, %b) : ({a}, {b}) -> {c}
      return %r : {c}
    }}"""


def dot(lhs: str, rhs: str, result: str) -> str:
    a, b, c = (f"tensor<1x1x!quant.uniform<{q}>>" for q in (lhs, rhs, result))
    return f"""func.func @main(%a: {a}, %b: {b}) -> {c} {{
      %r = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : ({a}, {b}) -> {c}
      return %r : {c}
    }}"""


ONE, TWO = "i8:f32, 1.0", "i8:f32, 2.0"


@pytest.mark.parametrize(
    ("text", "inputs", "spec", "upstream"),
    [
        pytest.param(binary("add", ONE, ONE, TWO), ([1], [1]), 1, 0, id="add rounds once"),
        pytest.param(binary("add", ONE, ONE, TWO), ([3], [3]), 3, 4, id="add rounds once, other way"),
        pytest.param(dot(ONE, ONE, TWO), ([[3]], [[1]]), 2, 1, id="dot rounds to nearest even"),
        pytest.param(dot(ONE, ONE, TWO), ([[-3]], [[1]]), -2, -1, id="dot rounds negatives to nearest even"),
        pytest.param(dot("i8:f32, 1.0:1", ONE, TWO), ([[2]], [[1]]), 0, 1, id="dot rounds once"),
        pytest.param(dot(ONE, ONE, TWO), ([[100]], [[100]]), 127, -120, id="dot saturates"),
        pytest.param(dot(ONE, ONE, "i32:f32, 0.9995"), ([[100]], [[100]]), 10005, 10000, id="scale near one counts"),
        pytest.param(dot(ONE, ONE, "i8<-16:16>:f32, 1.0"), ([[100]], [[1]]), 16, 100, id="dot keeps the storage range"),
    ],
)
@pytest.mark.usefixtures("context")
def test_spec_and_upstream_arithmetic_part(text: str, inputs: tuple[Any, Any], spec: int, upstream: int) -> None:
    arrays = [np.asarray(i, np.int8) for i in inputs]
    assert evaluate(text, *arrays)[0].item() == spec
    assert evaluate(text, *arrays, arithmetic="upstream")[0].item() == upstream


@pytest.mark.usefixtures("context")
def test_requantize_is_dequantize_then_quantize() -> None:
    a, b = "tensor<1x!quant.uniform<i8:f32, 0.333:15>>", "tensor<1x!quant.uniform<i8:f32, 0.468:1>>"
    text = unary(f"%r = stablehlo.uniform_quantize %x : ({a}) -> {b}", a, b)
    assert evaluate(text, np.int8([-63]))[0].tolist() == [-55]
    assert evaluate(text, np.int8([-63]), arithmetic="upstream")[0].tolist() == [-54]


@pytest.mark.usefixtures("context")
def test_select_requantizes_where_the_result_has_other_parameters() -> None:
    text = """!a = !quant.uniform<i8:f32, 0.1:3>
    !b = !quant.uniform<i8:f32, 0.15:7>
    func.func @main(%p: tensor<1xi1>, %x: tensor<1x!a>) -> tensor<1x!b> {
      %r = stablehlo.select %p, %x, %x : (tensor<1xi1>, tensor<1x!a>, tensor<1x!a>) -> tensor<1x!b>
      return %r : tensor<1x!b>
    }"""
    assert evaluate(text, np.array([True]), np.int8([-100]))[0].tolist() == [-62]


# ---- exact sums


@pytest.mark.usefixtures("context")
def test_dot_sums_integers_exactly() -> None:
    text = """!x = !quant.uniform<i8:f32, 0.0123:-77>
    !w = !quant.uniform<i8:f32:0, {0.001, 0.0507}>
    !sum = !quant.uniform<i32:f32:1, {1.23e-5, 6.2361e-4}>
    func.func @main(%x: tensor<2x3000x!x>, %w: tensor<2x3000x!w>) -> tensor<2x2x!sum> {
      %r = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1]
        : (tensor<2x3000x!x>, tensor<2x3000x!w>) -> tensor<2x2x!sum>
      return %r : tensor<2x2x!sum>
    }"""
    generator = np.random.default_rng(2)
    x = np.full((2, 3000), 127, np.int8)
    w = generator.integers(100, 128, (2, 3000)).astype(np.int8)
    exact = (x.astype(np.int64) + 77) @ w.astype(np.int64).T
    assert exact.min() > 2**24  # f32 could not count this far
    np.testing.assert_array_equal(evaluate(text, x, w)[0], exact)


@pytest.mark.usefixtures("context")
def test_add_of_wide_integers_is_exact() -> None:
    text = binary("add", *["i32:f32, 0.013"] * 3)
    assert evaluate(text, np.int32([2**25 + 1]), np.int32([-1000]))[0].tolist() == [2**25 - 999]


@pytest.mark.usefixtures("context")
def test_padding_of_a_convolution_counts_as_zero() -> None:
    text = """!x = !quant.uniform<i8:f32, 1.0:10>
    !sum = !quant.uniform<i32:f32, 1.0>
    func.func @main(%x: tensor<1x2x1x!x>, %w: tensor<3x1x1x!quant.uniform<i8:f32, 1.0>>) -> tensor<1x2x1x!sum> {
      %r = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]}
        {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
        : (tensor<1x2x1x!x>, tensor<3x1x1x!quant.uniform<i8:f32, 1.0>>) -> tensor<1x2x1x!sum>
      return %r : tensor<1x2x1x!sum>
    }"""
    x, w = np.int8([[[15], [7]]]), np.int8([[[2]], [[3]], [[4]]])
    assert evaluate(text, x, w)[0].ravel().tolist() == [3 * 5 + 4 * -3, 2 * 5 + 3 * -3]


# ---- programs


@pytest.mark.parametrize(
    ("element", "values"),
    [
        ("i1", np.array([True, False])),
        ("i2", np.int8([-2, 1])),
        ("i4", np.int8([-8, 7])),
        ("ui4", np.uint8([0, 15])),
        ("i8", np.int8([-128, 127])),
        ("ui8", np.uint8([0, 255])),
        ("i16", np.int16([-32768, 32767])),
        ("ui16", np.uint16([0, 65535])),
        ("i32", np.int32([-(2**31), 2**31 - 1])),
        ("ui32", np.uint32([0, 2**32 - 1])),
        ("i64", np.int64([-(2**63), 2**63 - 1])),
        ("ui64", np.uint64([0, 2**64 - 1])),
        ("f16", np.float16([np.nan, 1.5])),
        ("bf16", np.array([np.nan, 1.5], ml_dtypes.bfloat16)),
        ("f32", np.float32([-0.0, np.inf])),
        ("f64", np.float64([1e300, 5e-324])),
        ("f8E4M3FN", np.array([1.5, 448], ml_dtypes.float8_e4m3fn)),
        ("!quant.uniform<u8:f32, 0.5>", np.uint8([200, 3])),
        ("!quant.uniform<i32:f32, 0.5>", np.int32([-(2**31), 2**31 - 1])),
    ],
)
@pytest.mark.parametrize("arithmetic", ["spec", "upstream"])
@pytest.mark.usefixtures("context")
def test_every_element_type_goes_in_and_out(element: str, values: Array, arithmetic: Arithmetic) -> None:
    tensor, reshaped = f"tensor<2x{element}>", f"tensor<2x1x{element}>"
    text = unary(f"%r = stablehlo.reshape %x : ({tensor}) -> {reshaped}", tensor, reshaped)
    (actual,) = evaluate(text, values, arithmetic=arithmetic)
    assert actual.dtype == values.dtype
    assert actual.tobytes() == values.tobytes()


@pytest.mark.usefixtures("context")
def test_dynamic_shapes() -> None:
    text = """!q = !quant.uniform<i8:f32:1, {0.5:1, 0.25}>
    func.func @main(%x: tensor<?x2xf32>) -> tensor<?x2x!q> {
      %0 = stablehlo.uniform_quantize %x : (tensor<?x2xf32>) -> tensor<?x2x!q>
      return %0 : tensor<?x2x!q>
    }"""
    assert evaluate(text, np.float32([[1, 1], [2, 2], [3, 3]]))[0].tolist() == [[3, 4], [5, 8], [7, 12]]


@pytest.mark.usefixtures("context")
def test_quantized_values_in_loops_and_calls() -> None:
    text = """!q = !quant.uniform<i8:f32, 0.5:1>
    func.func private @double(%x: tensor<!q>) -> tensor<!q> {
      %0 = stablehlo.add %x, %x : tensor<!q>
      return %0 : tensor<!q>
    }
    func.func @main(%x: tensor<!q>, %n: tensor<i32>) -> tensor<!q> {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %zero = stablehlo.constant dense<0> : tensor<i32>
      %0:2 = stablehlo.while(%value = %x, %left = %n) : tensor<!q>, tensor<i32>
        cond {
          %1 = stablehlo.compare GT, %left, %zero : (tensor<i32>, tensor<i32>) -> tensor<i1>
          stablehlo.return %1 : tensor<i1>
        } do {
          %1 = func.call @double(%value) : (tensor<!q>) -> tensor<!q>
          %2 = stablehlo.subtract %left, %one : tensor<i32>
          stablehlo.return %1, %2 : tensor<!q>, tensor<i32>
        }
      return %0#0 : tensor<!q>
    }"""
    assert evaluate(text, np.int8(3), np.int32(3))[0].item() == (3 - 1) * 8 + 1


@pytest.mark.usefixtures("context")
def test_composites_and_sorts_of_quantized_values() -> None:
    text = """!q = !quant.uniform<u8:f32, 0.5:100>
    func.func private @shift(%x: tensor<3x!q>) -> tensor<3x!q> {
      %0 = stablehlo.negate %x : tensor<3x!q>
      return %0 : tensor<3x!q>
    }
    func.func @main(%x: tensor<3x!q>) -> tensor<3x!q> {
      %0 = stablehlo.composite "shlo.shift" %x {decomposition = @shift} : (tensor<3x!q>) -> tensor<3x!q>
      %1 = "stablehlo.sort"(%0) <{dimension = 0 : i64, is_stable = true}> ({
        ^bb0(%a: tensor<!q>, %b: tensor<!q>):
          %2 = stablehlo.compare LT, %a, %b : (tensor<!q>, tensor<!q>) -> tensor<i1>
          stablehlo.return %2 : tensor<i1>
      }) : (tensor<3x!q>) -> tensor<3x!q>
      return %1 : tensor<3x!q>
    }"""
    assert evaluate(text, np.uint8([10, 200, 100]))[0].tolist() == [0, 100, 190]


# ---- refusals


@pytest.mark.parametrize("arithmetic", ["spec", "upstream"])
@pytest.mark.usefixtures("context")
def test_ops_that_would_abort_are_named_all_at_once(arithmetic: Arithmetic) -> None:
    text = """func.func @main(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
      %0 = stablehlo.custom_call @f(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32>
      %1 = stablehlo.cholesky %0 : tensor<2x2xf32>
      %2 = arith.addf %1, %1 : tensor<2x2xf32>
      return %2 : tensor<2x2xf32>
    }"""
    with pytest.raises(UnsupportedError) as caught:
        evaluate(text, np.zeros((2, 2), np.float32), arithmetic=arithmetic)
    assert [f.op for f in caught.value.findings] == ["stablehlo.custom_call", "stablehlo.cholesky", "arith.addf"]
    assert [f.location for f in caught.value.findings] == ["-:2:12", "-:3:12", "-:4:12"]


@pytest.mark.usefixtures("context")
def test_a_crash_is_an_error_with_its_cause() -> None:
    text = unary("%r = stablehlo.divide %x, %x : tensor<i32>", "tensor<i32>", "tensor<i32>")
    with pytest.raises(EngineError, match="integer division by zero"):
        evaluate(text, np.int32(0))


@pytest.mark.usefixtures("context")
def test_time_and_memory_are_limited() -> None:
    text = unary("%r = stablehlo.broadcast_in_dim %x, dims = [] : (tensor<f32>) -> tensor<1000x1000x1000xf32>",
                 "tensor<f32>", "tensor<1000x1000x1000xf32>")  # fmt: skip
    module = ir.Module.parse(text)
    for limits, message in (
        (Limits(seconds=1), "time limit of 1 s"),
        (Limits(memory_bytes=64 << 20), "limit of 64 MiB"),
    ):
        with pytest.raises(EngineError, match=message):
            ReferenceEngine(limits=limits).compile(module).run([np.float32(1)])


@pytest.mark.usefixtures("context")
def test_inputs_are_checked_before_anything_runs() -> None:
    program = ReferenceEngine().compile(
        ir.Module.parse(quantize_program("2", "f32", "i8:f32, 0.5").replace("(%x", "(%i: tensor<?xi4>, %x"))
    )
    ok = np.float32([1, 2])
    with pytest.raises(InputError, match="takes 2 inputs, got 1"):
        program.run([ok])
    with pytest.raises(InputError, match=r"input 1 must be float32\[2\] for tensor<2xf32>, got float64\[2\]"):
        program.run([np.int8([1]), np.float64([1, 2])])
    with pytest.raises(InputError, match=r"input 0 must be int8\[\?\] for tensor<\?xi4>, got int8\[1, 1\]"):
        program.run([np.int8([[1]]), ok])
    with pytest.raises(InputError, match=r"holds -8..7, got 1..8"):
        program.run([np.int8([1, 8]), ok])


@pytest.mark.usefixtures("context")
def test_bf16_may_come_as_npz_files_hold_it() -> None:
    values = np.array([1.5, -2], ml_dtypes.bfloat16)
    text = unary("%r = stablehlo.negate %x : tensor<2xbf16>", "tensor<2xbf16>", "tensor<2xbf16>")
    assert evaluate(text, values.view("V2"))[0].tolist() == [-1.5, 2]


@pytest.mark.usefixtures("context")
def test_programs_without_an_entry_are_refused() -> None:
    with pytest.raises(InputError, match="one function only; it has: f, g"):
        evaluate("func.func @f() { return }\nfunc.func @g() { return }")
