"""Native kernels against formulas: products, windows, reductions, division by constants, tables, moves."""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

import numpy as np
import pytest
from test_fast_engine import machine as machine  # noqa: PLC0414 - a fixture
from torch_mlir import ir

from shlo_quant.engines.child import run_in_child
from shlo_quant.engines.fast import FastEngine
from shlo_quant.engines.fast.native import choices, program
from shlo_quant.engines.fast.native.kernels import Map
from shlo_quant.engines.fast.native.memory import Buffer, arrange
from shlo_quant.engines.fast.native.ranges import Range, result_range
from shlo_quant.engines.fast.native.views import View, loop_dimensions
from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.dialects.context import new_context

F32, I8, I32 = (np.dtype(name) for name in ("float32", "int8", "int32"))
MLIR = {"int16": "i16", "int8": "i8", "uint8": "ui8", "int32": "i32", "float32": "f32"}


def typed(array_or_shape: Any, dtype: Any = None) -> str:
    shape = array_or_shape.shape if dtype is None else array_or_shape
    name = np.dtype(array_or_shape.dtype if dtype is None else dtype).name
    return f"tensor<{''.join(f'{size}x' for size in shape)}{MLIR[name]}>"


def run(text: str, *inputs: Array, native_steps: int | None = None) -> list[Array]:
    """Run a program; `native_steps` is how many of its steps have to be native, all if it is not given."""
    executable = FastEngine().compile(ir.Module.parse(text, new_context()))
    results = executable.run(inputs)
    (compiled,) = executable._compiled.values()
    assert isinstance(compiled, program.Program)
    steps = compiled._plan.steps
    assert sum(isinstance(s, program.Task) for s in steps) == (len(steps) if native_steps is None else native_steps)
    return results


# ---- products


def convolve(x: Array, w: Array, strides: int, dilation: int, groups: int) -> Array:
    """NCHW, OIHW, no padding, exact."""
    span = [(k - 1) * dilation + 1 for k in w.shape[2:]]
    sizes = [(n - s) // strides + 1 for n, s in zip(x.shape[2:], span, strict=True)]
    result = np.zeros((x.shape[0], w.shape[0], *sizes), np.int64)
    per_group = w.shape[0] // groups
    for channel in range(w.shape[0]):
        first = channel // per_group * w.shape[1]
        for row, column in np.ndindex(*w.shape[2:]):
            part = x[:, first : first + w.shape[1], row * dilation :, column * dilation :]
            part = part[:, :, : (sizes[0] - 1) * strides + 1 : strides, : (sizes[1] - 1) * strides + 1 : strides]
            result[:, channel] += np.tensordot(
                w[channel, :, row, column].astype(np.int64), part.astype(np.int64), (0, 1)
            )
    return result.astype(np.int32)


CONVOLUTIONS = {
    # input NCHW, output channels, window, stride, dilation, padding, groups
    "one_by_one": ((1, 16, 9, 7), 24, 1, 1, 1, 0, 1),
    "window": ((2, 8, 12, 12), 40, 3, 1, 1, 1, 1),
    "three_channels": ((1, 3, 15, 17), 17, 7, 2, 1, 3, 1),
    "few_results": ((1, 33, 5, 6), 3, 3, 1, 1, 0, 1),
    "dilated": ((1, 6, 14, 13), 32, 3, 1, 2, 2, 1),
    "strided": ((1, 20, 14, 20), 65, 3, 3, 1, 0, 1),
    "wide": ((1, 5, 3, 50), 16, 2, 1, 1, 0, 1),
    "depthwise": ((2, 24, 11, 10), 24, 3, 1, 1, 1, 24),
    "depthwise_strided": ((1, 70, 11, 10), 70, 5, 2, 1, 2, 70),
    "grouped": ((1, 8, 6, 6), 8, 3, 1, 1, 0, 2),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
@pytest.mark.usefixtures("machine")
def test_convolution(name: str) -> None:
    shape, channels, window, stride, dilation, padding, groups = CONVOLUTIONS[name]
    draw = np.random.default_rng(len(name))
    x = draw.integers(-128, 127, shape, np.int8, endpoint=True)
    w = draw.choice([-128, -1, 0, 1, 127], (channels, shape[1] // groups, window, window)).astype(np.int8)
    padded = np.pad(x, [(0, 0), (0, 0), (padding, padding), (padding, padding)])
    expected = convolve(padded, w, stride, dilation, groups)
    text = f"""
      func.func @main(%x: {typed(x)}) -> {typed(expected)} {{
        %w = stablehlo.constant dense<{w.tolist()}> : {typed(w)}
        %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
          window = {{stride = [{stride}, {stride}], pad = [[{padding}, {padding}], [{padding}, {padding}]],
                     rhs_dilate = [{dilation}, {dilation}]}}
          {{batch_group_count = 1 : i64, feature_group_count = {groups} : i64}}
          : ({typed(x)}, {typed(w)}) -> {typed(expected)}
        return %0 : {typed(expected)}
      }}"""
    (actual,) = FastEngine().compile(ir.Module.parse(text, new_context())).run([x])
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("sizes", [(1, 5, 3), (1, 512, 100), (49, 160, 33), (197, 65, 48), (3, 7, 1)])
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.usefixtures("machine")
def test_dot(sizes: tuple[int, int, int], dtype: str) -> None:
    rows, depth, columns = sizes
    draw = np.random.default_rng(depth)
    bounds = np.iinfo(dtype)
    x = draw.choice([bounds.min, 0, 1, bounds.max], (rows, depth)).astype(dtype)
    w = draw.integers(-128, 127, (depth, columns), np.int8, endpoint=True)
    expected = x.astype(np.int32) @ w.astype(np.int32)
    text = f"""
      func.func @main(%x: {typed(x)}) -> {typed(expected)} {{
        %w = stablehlo.constant dense<{w.tolist()}> : {typed(w)}
        %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ({typed(x)}, {typed(w)}) -> {typed(expected)}
        return %0 : {typed(expected)}
      }}"""
    (actual,) = FastEngine().compile(ir.Module.parse(text, new_context())).run([x])
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("depth", [1, 5, 64, 67])
@pytest.mark.usefixtures("machine")
def test_nothing_behind_an_argument_is_read(depth: int) -> None:
    """Its last element is the last one before a page that may not be read."""
    size = mmap.PAGESIZE
    memory = mmap.mmap(-1, 2 * size)
    page = ctypes.addressof(ctypes.c_char.from_buffer(memory)) + size
    assert ctypes.CDLL(None).mprotect(ctypes.c_void_p(page), size, 0) == 0
    x = np.frombuffer(memory, np.int8, 6 * depth, size - 6 * depth).reshape(6, depth)
    x[:] = np.arange(6 * depth).reshape(x.shape) % 256 - 128
    w = (np.arange(depth * 20) % 251 - 125).astype(np.int8).reshape(depth, 20)
    text = f"""
      func.func @main(%x: {typed(x)}) -> tensor<6x20xi32> {{
        %w = stablehlo.constant dense<{w.tolist()}> : {typed(w)}
        %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ({typed(x)}, {typed(w)}) -> tensor<6x20xi32>
        return %0 : tensor<6x20xi32>
      }}"""
    executable = FastEngine().compile(ir.Module.parse(text, new_context()))
    (actual,) = run_in_child(lambda: executable.run([x]))
    np.testing.assert_array_equal(actual, x.astype(np.int32) @ w.astype(np.int32))


@pytest.mark.usefixtures("machine")
def test_sums_wrap_at_32_bits() -> None:
    depth = 140_000
    x = np.full((1, depth), -128, np.int8)
    w = np.full((depth, 2), -128, np.int8)
    expected = np.full((1, 2), np.int64(depth) * 128 * 128).astype(np.int32)
    assert expected[0, 0] < 0
    text = f"""
      func.func @main(%x: {typed(x)}) -> tensor<1x2xi32> {{
        %w = stablehlo.constant dense<-128> : {typed(w)}
        %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ({typed(x)}, {typed(w)}) -> tensor<1x2xi32>
        return %0 : tensor<1x2xi32>
      }}"""
    (actual,) = FastEngine().compile(ir.Module.parse(text, new_context())).run([x])
    np.testing.assert_array_equal(actual, expected)


def test_a_network_of_two_layers_runs_in_two_kernels() -> None:
    draw = np.random.default_rng(0)
    x = draw.integers(-128, 127, (1, 16, 8, 8), np.int8, endpoint=True)
    w = draw.integers(-3, 3, (16, 16, 3, 3), np.int8, endpoint=True)
    layer = """
        %p{n} = stablehlo.pad %{x}, %z, low = [0, 0, 1, 1], high = [0, 0, 1, 1], interior = [0, 0, 0, 0]
          : (tensor<1x16x8x8xi8>, tensor<i8>) -> tensor<1x16x10x10xi8>
        %c{n} = stablehlo.convolution(%p{n}, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {{}}
          {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
          : (tensor<1x16x10x10xi8>, tensor<16x16x3x3xi8>) -> tensor<1x16x8x8xi32>
        %k{n} = stablehlo.clamp %low, %c{n}, %high
          : (tensor<i32>, tensor<1x16x8x8xi32>, tensor<i32>) -> tensor<1x16x8x8xi32>
        %y{n} = stablehlo.convert %k{n} : (tensor<1x16x8x8xi32>) -> tensor<1x16x8x8xi8>"""
    text = f"""
      func.func @main(%x: {typed(x)}) -> {typed(x)} {{
        %w = stablehlo.constant dense<{w.tolist()}> : {typed(w)}
        %z = stablehlo.constant dense<5> : tensor<i8>
        %low = stablehlo.constant dense<-128> : tensor<i32>
        %high = stablehlo.constant dense<127> : tensor<i32>
        {layer.format(n=1, x="x")}
        {layer.format(n=2, x="y1")}
        return %y2 : {typed(x)}
      }}"""
    expected = x
    for _ in range(2):
        padded = np.pad(expected, [(0, 0), (0, 0), (1, 1), (1, 1)], constant_values=5)
        expected = np.clip(convolve(padded, w, 1, 1, 1), -128, 127).astype(np.int8)
    (actual,) = run(text, x, native_steps=2)  # and the input goes into its border
    np.testing.assert_array_equal(actual, expected)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int32"])
def test_dot_of_two_arguments_of_any_integers(dtype: str) -> None:
    draw, bounds = np.random.default_rng(7), np.iinfo(dtype)
    x, y = (draw.integers(bounds.min, bounds.max, shape, dtype, endpoint=True) for shape in ((2, 9, 30), (2, 19, 30)))
    expected = np.einsum("bik,bjk->bij", x.astype(np.int64), y.astype(np.int64)).astype(np.int32)
    text = f"""
      func.func @main(%x: {typed(x)}, %y: {typed(y)}) -> {typed(expected)} {{
        %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [2]
          : ({typed(x)}, {typed(y)}) -> {typed(expected)}
        return %0 : {typed(expected)}
      }}"""
    executable = FastEngine().compile(ir.Module.parse(text, new_context()))
    np.testing.assert_array_equal(executable.run([x, y])[0], expected)


# ---- products of floats


def in_order(terms: Array) -> Array:
    """Sums of f32 along the last dimension, one term after the other."""
    total = np.zeros(terms.shape[:-1], F32)
    for index in range(terms.shape[-1]):
        total = total + terms[..., index]
    return total


def floats(draw: np.random.Generator, *shape: int) -> Array:
    """Of all magnitudes, so that every order of a sum gives another value."""
    return (draw.standard_normal(shape) * 10.0 ** draw.integers(-4, 5, shape)).astype(np.float32)


@pytest.mark.parametrize("columns", [1, 5, 16, 40])
@pytest.mark.parametrize("is_constant", [True, False])
def test_float_dot_adds_in_order(columns: int, is_constant: bool) -> None:
    draw = np.random.default_rng(columns)
    x, y = floats(draw, 70, 33), floats(draw, 33, columns)
    expected = in_order(np.einsum("ik,kj->ijk", x, y))
    dot = f"stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : ({typed(x)}, {typed(y)}) -> {typed(expected)}"
    bits = y.tobytes().hex().upper()
    argument, constant = f", %y: {typed(y)}", f'%y = stablehlo.constant dense<"0x{bits}"> : {typed(y)}'
    text = f"""
      func.func @main(%x: {typed(x)}{"" if is_constant else argument}) -> {typed(expected)} {{
        {constant if is_constant else ""}
        %0 = {dot}
        return %0 : {typed(expected)}
      }}"""
    (actual,) = run(text, *([x] if is_constant else [x, y]))
    np.testing.assert_array_equal(actual.view(np.int32), expected.view(np.int32))


def test_float_dot_of_batches_of_transposed_matrices() -> None:
    draw = np.random.default_rng(3)
    x, y = floats(draw, 2, 3, 7, 9), floats(draw, 2, 3, 20, 9)
    expected = in_order(np.einsum("abik,abjk->abijk", x, y))
    text = f"""
      func.func @main(%x: {typed(x)}, %y: {typed(y)}) -> {typed(expected)} {{
        %0 = stablehlo.dot_general %x, %y, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3]
          : ({typed(x)}, {typed(y)}) -> {typed(expected)}
        return %0 : {typed(expected)}
      }}"""
    executable = FastEngine().compile(ir.Module.parse(text, new_context()))
    np.testing.assert_array_equal(executable.run([x, y])[0].view(np.int32), expected.view(np.int32))


def test_float_convolution_adds_window_by_window_then_features() -> None:
    draw = np.random.default_rng(4)
    x, w = floats(draw, 1, 5, 8, 9), floats(draw, 6, 5, 3, 3)
    padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)])
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))[:, None, :, ::2, ::2]
    terms = np.moveaxis(windows * w[None, :, :, None, None], 2, -1)  # batch, output, row, column, window, feature
    expected = in_order(np.ascontiguousarray(terms).reshape(*terms.shape[:4], -1))
    text = f"""
      func.func @main(%x: {typed(x)}) -> {typed(expected)} {{
        %w = stablehlo.constant dense<"0x{w.tobytes().hex().upper()}"> : {typed(w)}
        %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
          window = {{stride = [2, 2], pad = [[1, 1], [1, 1]]}}
          {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}} : ({typed(x)}, {typed(w)}) -> {typed(expected)}
        return %0 : {typed(expected)}
      }}"""
    (actual,) = run(text, x, native_steps=1)
    np.testing.assert_array_equal(actual.view(np.int32), expected.view(np.int32))


# ---- windows and reductions


@pytest.mark.parametrize(("body", "init"), [("maximum", -128), ("minimum", 127), ("add", 0)])
def test_windows(body: str, init: int) -> None:
    x = np.random.default_rng(1).integers(-128, 127, (2, 40, 9, 8), np.int8, endpoint=True)
    padded = np.pad(x, [(0, 0), (0, 0), (1, 1), (1, 1)], constant_values=init)
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))[:, :, ::2, ::2]
    combine = {"maximum": np.maximum, "minimum": np.minimum, "add": np.add}[body]
    expected = combine.reduce(windows, axis=(4, 5), dtype=np.int8)
    text = f"""
      func.func @main(%x: {typed(x)}) -> {typed(expected)} {{
        %i = stablehlo.constant dense<{init}> : tensor<i8>
        %0 = "stablehlo.reduce_window"(%x, %i) <{{padding = dense<[[0, 0], [0, 0], [1, 1], [1, 1]]> : tensor<4x2xi64>,
            window_dimensions = array<i64: 1, 1, 3, 3>, window_strides = array<i64: 1, 1, 2, 2>}}> ({{
        ^bb0(%a: tensor<i8>, %b: tensor<i8>):
          %1 = stablehlo.{body} %a, %b : tensor<i8>
          stablehlo.return %1 : tensor<i8>
        }}) : ({typed(x)}, tensor<i8>) -> {typed(expected)}
        return %0 : {typed(expected)}
      }}"""
    np.testing.assert_array_equal(run(text, x, native_steps=1)[0], expected)


def test_sums_of_planes() -> None:
    x = np.random.default_rng(1).integers(-(2**31), 2**31, (3, 33, 7, 5), np.int64).astype(np.int32)
    expected = x.sum(axis=(2, 3), dtype=np.int32)
    text = f"""
      func.func @main(%x: {typed(x)}) -> {typed(expected)} {{
        %i = stablehlo.constant dense<0> : tensor<i32>
        %0 = stablehlo.reduce(%x init: %i) applies stablehlo.add across dimensions = [2, 3]
          : ({typed(x)}, tensor<i32>) -> {typed(expected)}
        return %0 : {typed(expected)}
      }}"""
    np.testing.assert_array_equal(run(text, x, native_steps=1)[0], expected)


@pytest.mark.parametrize("dimensions", [(2,), (0,), (0, 2), (0, 1, 2)])
@pytest.mark.parametrize(("body", "init"), [("add", 0.25), ("multiply", 1.5), ("maximum", -1.0), ("minimum", 1e9)])
def test_float_reductions_combine_in_order(dimensions: tuple[int, ...], body: str, init: float) -> None:
    x = floats(np.random.default_rng(6), 3, 25, 18)
    if body == "multiply":
        x = np.sign(x) * (1 + np.abs(x) % np.float32(0.1))
    kept = [d for d in range(3) if d not in dimensions]
    elements = x.transpose(*dimensions, *kept).reshape(-1, *(x.shape[d] for d in kept))
    expected = np.full(elements.shape[1:], init, F32)
    for element in elements:
        expected = {"add": np.add, "multiply": np.multiply, "maximum": np.maximum, "minimum": np.minimum}[body](
            expected, element
        )
    text = f"""
      func.func @main(%x: {typed(x)}) -> {typed(expected)} {{
        %i = stablehlo.constant dense<{init}> : tensor<f32>
        %0 = stablehlo.reduce(%x init: %i) applies stablehlo.{body} across dimensions = {list(dimensions)}
          : ({typed(x)}, tensor<f32>) -> {typed(expected)}
        return %0 : {typed(expected)}
      }}"""
    (actual,) = run(text, x, native_steps=1)
    np.testing.assert_array_equal(actual.view(np.int32), expected.view(np.int32))


# ---- elementwise


@pytest.mark.parametrize("divisor", [0.1, 3.0, 0.0123456, 1.9999999, 7e-5, 255.0, 1.0000001])
def test_division_by_a_constant_is_division(divisor: float) -> None:
    scale, divisor32 = np.float32(0.0173), np.float32(divisor)
    x = np.random.default_rng(2).integers(-(2**31), 2**31, 400_000).astype(np.int32)
    x[:1000] = np.arange(-500, 500)
    product = x.astype(np.float32) * scale
    text = f"""
      func.func @main(%x: {typed(x)}) -> {typed(product)} {{
        %s = stablehlo.constant dense<{scale:.9e}> : {typed(product)}
        %d = stablehlo.constant dense<{divisor32:.9e}> : {typed(product)}
        %0 = stablehlo.convert %x : ({typed(x)}) -> {typed(product)}
        %1 = stablehlo.multiply %0, %s : {typed(product)}
        %2 = stablehlo.divide %1, %d : {typed(product)}
        return %2 : {typed(product)}
      }}"""
    executable = FastEngine().compile(ir.Module.parse(text, new_context()))
    (compiled,) = executable._compiled.values()
    (task,) = compiled._plan.steps  # type: ignore[attr-defined]
    assert isinstance(task.kernel, Map)
    assert [made.form for made in task.kernel.expression.instructions] == ["convert", "multiply", "divide_by_constant"]
    np.testing.assert_array_equal(executable.run([x])[0].view(np.int32), (product / divisor32).view(np.int32))


def test_division_of_anything_stays_division() -> None:
    x = np.array([0.0, -0.0, 1e-45, 3e-39, np.inf, -np.inf, np.nan, *range(1, 90)], F32)
    text = f"""
      func.func @main(%x: {typed(x)}) -> {typed(x)} {{
        %d = stablehlo.constant dense<3.0> : {typed(x)}
        %0 = stablehlo.divide %x, %d : {typed(x)}
        return %0 : {typed(x)}
      }}"""
    np.testing.assert_array_equal(run(text, x)[0], x / F32.type(3))


@pytest.mark.usefixtures("machine")
def test_functions_of_bytes() -> None:
    x = np.tile(np.arange(-128, 128).astype(np.int8), 3)
    text = f"""
      func.func @main(%x: {typed(x)}) -> {typed(x)} {{
        %z = stablehlo.constant dense<-7> : tensor<768xi32>
        %s = stablehlo.constant dense<0.37> : tensor<768xf32>
        %low = stablehlo.constant dense<-100.0> : tensor<f32>
        %high = stablehlo.constant dense<31.0> : tensor<f32>
        %0 = stablehlo.convert %x : ({typed(x)}) -> tensor<768xi32>
        %1 = stablehlo.subtract %0, %z : tensor<768xi32>
        %2 = stablehlo.convert %1 : (tensor<768xi32>) -> tensor<768xf32>
        %3 = stablehlo.multiply %2, %s : tensor<768xf32>
        %4 = stablehlo.clamp %low, %3, %high : (tensor<f32>, tensor<768xf32>, tensor<f32>) -> tensor<768xf32>
        %5 = stablehlo.round_nearest_even %4 : tensor<768xf32>
        %6 = stablehlo.convert %5 : (tensor<768xf32>) -> {typed(x)}
        return %6 : {typed(x)}
      }}"""
    product = (x.astype(np.int32) + 7).astype(np.float32) * np.float32(0.37)
    np.testing.assert_array_equal(run(text, x)[0], np.rint(np.clip(product, -100, 31)).astype(np.int8))


@pytest.mark.usefixtures("machine")
def test_functions_of_bytes_after_a_product() -> None:
    """One row of many channels: the most vectors of channels that a tile can have."""
    draw = np.random.default_rng(8)
    x, w = (draw.integers(-128, 127, shape, np.int8, endpoint=True) for shape in ((1, 64), (64, 384)))
    low = np.clip((x.astype(np.int32) @ w).astype(np.float32) * np.float32(0.01), -128, 127).astype(np.int8)
    half = np.clip(np.rint(np.clip(low.astype(np.float32) * np.float32(0.7) + 3, 0, 60)), -128, 127).astype(np.int8)
    wide, floating = "tensor<1x384xi32>", "tensor<1x384xf32>"
    text = f"""
      func.func @main(%x: {typed(x)}) -> {typed(half)} {{
        %w = stablehlo.constant dense<{w.tolist()}> : {typed(w)}
        %s = stablehlo.constant dense<0.01> : {floating}
        %r = stablehlo.constant dense<0.7> : {floating}
        %three = stablehlo.constant dense<3.0> : {floating}
        %zero = stablehlo.constant dense<0.0> : tensor<f32>
        %sixty = stablehlo.constant dense<60.0> : tensor<f32>
        %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : ({typed(x)}, {typed(w)}) -> {wide}
        %1 = stablehlo.convert %0 : ({wide}) -> {floating}
        %2 = stablehlo.multiply %1, %s : {floating}
        %3 = stablehlo.convert %2 : ({floating}) -> {typed(half)}
        %4 = stablehlo.convert %3 : ({typed(half)}) -> {floating}
        %5 = stablehlo.multiply %4, %r : {floating}
        %6 = stablehlo.add %5, %three : {floating}
        %7 = stablehlo.clamp %zero, %6, %sixty : (tensor<f32>, {floating}, tensor<f32>) -> {floating}
        %8 = stablehlo.round_nearest_even %7 : {floating}
        %9 = stablehlo.convert %8 : ({floating}) -> {typed(half)}
        return %9 : {typed(half)}
      }}"""
    np.testing.assert_array_equal(run(text, x, native_steps=1)[0], half)


def test_conversion_to_integers_saturates() -> None:
    x = np.array([np.nan, np.inf, -np.inf, -1e9, 300.5, -128.9, 127.9, -0.5, *np.linspace(-200, 200, 92)], F32)
    text = f"""
      func.func @main(%x: {typed(x)}) -> ({typed(x.shape, I8)}, {typed(x.shape, "uint8")}) {{
        %0 = stablehlo.convert %x : ({typed(x)}) -> {typed(x.shape, I8)}
        %1 = stablehlo.convert %x : ({typed(x)}) -> {typed(x.shape, "uint8")}
        return %0, %1 : {typed(x.shape, I8)}, {typed(x.shape, "uint8")}
      }}"""
    signed, unsigned = run(text, x)
    whole = np.trunc(np.nan_to_num(x, nan=0.0))
    np.testing.assert_array_equal(signed, np.clip(whole, -128, 127).astype(np.int8))
    np.testing.assert_array_equal(unsigned, np.clip(whole, 0, 255).astype(np.uint8))


@pytest.mark.parametrize(("low", "high"), [("0.0", "6.0"), ("-0.0", "0.0"), ("-1.0", "-0.0")])
def test_clamp_of_zeros_and_nan(low: str, high: str) -> None:
    x = np.array([0.0, -0.0, np.nan, np.inf, -np.inf, *np.linspace(-9, 9, 75)], F32)
    text = f"""
      func.func @main(%x: {typed(x)}) -> {typed(x)} {{
        %low = stablehlo.constant dense<{low}> : tensor<f32>
        %high = stablehlo.constant dense<{high}> : tensor<f32>
        %0 = stablehlo.clamp %low, %x, %high : (tensor<f32>, {typed(x)}, tensor<f32>) -> {typed(x)}
        return %0 : {typed(x)}
      }}"""
    (expected,) = FastEngine(native=False).compile(ir.Module.parse(text, new_context())).run([x])
    (actual,) = run(text, x)
    np.testing.assert_array_equal(np.isnan(actual), np.isnan(expected))
    np.testing.assert_array_equal(np.signbit(actual)[~np.isnan(x)], np.signbit(expected)[~np.isnan(x)])
    np.testing.assert_array_equal(actual, expected)


# ---- moves


def test_moves_are_views() -> None:
    x = np.arange(2 * 3 * 4 * 5, dtype=np.float32).reshape(2, 3, 4, 5)
    text = """
      func.func @main(%x: tensor<2x3x4x5xf32>) -> tensor<5x2x12xf32> {
        %a = stablehlo.add %x, %x : tensor<2x3x4x5xf32>
        %0 = stablehlo.transpose %a, dims = [3, 0, 1, 2] : (tensor<2x3x4x5xf32>) -> tensor<5x2x3x4xf32>
        %1 = stablehlo.reshape %0 : (tensor<5x2x3x4xf32>) -> tensor<5x2x12xf32>
        %2 = stablehlo.add %1, %1 : tensor<5x2x12xf32>
        return %2 : tensor<5x2x12xf32>
      }"""
    np.testing.assert_array_equal(run(text, x)[0], (4 * x).transpose(3, 0, 1, 2).reshape(5, 2, 12))


def test_reshape_of_a_view_needs_no_copy_where_strides_can_say_it() -> None:
    view = View.dense(0, (2, 3, 4), (0, 1, 2), F32)
    reshaped = view.reshaped((6, 4))
    assert reshaped is not None and reshaped.strides == (4, 1)
    assert view.transposed((2, 1, 0)).reshaped((12, 2)) is None


def test_loop_dimensions_merge_what_all_operands_walk_as_one() -> None:
    assert loop_dimensions((1, 7, 5, 4), [(0, 20, 4, 1), (0, 20, 4, 1)]) == ((140,), [(1,), (1,)])
    assert loop_dimensions((7, 5, 4), [(20, 4, 1), (0, 0, 1)]) == ((35, 4), [(4, 1), (0, 1)])
    assert loop_dimensions((1, 1), [(0, 0)]) == ((1,), [(0,)])


# ---- memory and ranges


def test_buffers_share_memory_only_at_different_times() -> None:
    sizes_and_lives = [(100, 0, 2), (50, 1, 3), (70, 3, 4), (30, 5, 6), (100, 4, 6)]
    buffers = [Buffer(size, first=first, last=last) for size, first, last in sizes_and_lives]
    layout = arrange(buffers)
    for i, (size, first, last) in enumerate(sizes_and_lives):
        for j, (other_size, other_first, other_last) in enumerate(sizes_and_lives[:i]):
            apart = layout.offsets[i] >= layout.offsets[j] + other_size or layout.offsets[j] >= layout.offsets[i] + size
            assert apart or first > other_last or other_first > last
    assert layout.size < sum(size for size, _, _ in sizes_and_lives) + 64 * 2 * len(buffers)


def test_ranges_of_floats_allow_for_rounding() -> None:
    tenth = Range.of_array(np.array([0.1], F32))
    third = result_range("divide", [tenth, Range(3, 3)], F32)
    exact = np.float32(0.1) / np.float32(3)
    assert third.low < exact < third.high
    assert not third.has_nan
    assert 0 < third.least <= exact


def test_a_range_that_may_overflow_is_that_of_the_type() -> None:
    large = Range(-3e38, 3e38)
    assert result_range("add", [large, large], F32) == Range.of_type(F32)
    assert result_range("add", [Range.of_type(I32), Range(1, 1)], I32) == Range.of_type(I32)
    assert result_range("clamp", [Range(0, 0), Range.of_type(F32), Range(6, 6)], F32).has_nan


def test_small_tensors_are_left_to_kernels_on_arrays() -> None:
    text = """
      func.func @main(%x: tensor<3xf32>) -> tensor<3xf32> {
        %0 = stablehlo.add %x, %x : tensor<3xf32>
        return %0 : tensor<3xf32>
      }"""
    assert choices.SMALLEST > 3
    np.testing.assert_array_equal(run(text, np.ones(3, np.float32), native_steps=0)[0], [2, 2, 2])
