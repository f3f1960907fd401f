"""Profile `xnnpack` against XNNPACK itself: small graphs, through executorch's runtime and as integer programs.

Each graph has its quantize and dequantize nodes written out. Equal means equal bits, of integers and of floats.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.ao.quantization.fx import _decomposed  # defines the ops
from torch.export import ExportedProgram

from shlo_quant.engines.reference import ReferenceEngine
from shlo_quant.engines.xnnpack import XnnpackEngine
from shlo_quant.importers.pt2e import import_program
from shlo_quant.passes.apply_xnnpack_rewrites import Rewrites, rewrites
from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.numerics.arrays import ArrayOperations
from shlo_quant.passes.numerics.floats import F32
from shlo_quant.passes.numerics.operations import Parameters
from shlo_quant.passes.numerics.xnnpack import XNNPACK
from shlo_quant.pipelines import lower
from shlo_quant.pt2e.ptq import quantize_ptq
from shlo_quant.pt2e.quantizers import xnnpack_quantizer

assert _decomposed
QDQ = torch.ops.quantized_decomposed
BYTES = np.arange(-128, 128).astype(np.int8)
Graph = Callable[..., Any]


@dataclass(frozen=True)
class Q:
    """Scale and zero point of an activation."""

    scale: float
    zero_point: int

    def quantize(self, x: Tensor) -> Tensor:
        stored: Tensor = QDQ.quantize_per_tensor.default(x, self.scale, self.zero_point, -128, 127, torch.int8)
        return stored

    def dequantize(self, x: Tensor) -> Tensor:
        expressed: Tensor = QDQ.dequantize_per_tensor.default(x, self.scale, self.zero_point, -128, 127, torch.int8)
        return expressed

    @property
    def parameters(self) -> Parameters:
        return Parameters((self.scale,), (self.zero_point,), None, 8, True, -128, 127)


class Together(nn.Module):
    """Graphs side by side, each with inputs of its own."""

    def __init__(self, graphs: Sequence[Graph], sizes: Sequence[int]) -> None:
        super().__init__()
        self.graphs, self.sizes = graphs, sizes
        self.weighted = nn.ModuleList(graph for graph in graphs if isinstance(graph, nn.Module))

    def forward(self, *inputs: Tensor) -> list[Any]:
        left = iter(inputs)
        return [graph(*itertools.islice(left, size)) for graph, size in zip(self.graphs, self.sizes, strict=True)]


@pytest.fixture(scope="module")
def engine() -> Iterator[XnnpackEngine]:
    with XnnpackEngine() as started:
        yield started


Case = tuple[Graph, tuple[Array, ...]]


def export(*cases: Case) -> tuple[ExportedProgram, list[Array]]:
    """One program of several graphs and their inputs.

    What two ops share confuses XNNPACK, which takes each tensor to have one set of parameters, so nothing is shared.
    """
    arrays = [array for _, inputs in cases for array in inputs]
    module = Together([graph for graph, _ in cases], [len(inputs) for _, inputs in cases])
    return torch.export.export(module.eval(), tuple(map(torch.from_numpy, arrays))), arrays


def integers(program: ExportedProgram, inputs: list[Array]) -> list[Array]:
    module = lower(import_program(program).module, "integer", "xnnpack")
    return ReferenceEngine().compile(module).run(inputs)


def assert_same(engine: XnnpackEngine, *cases: Case) -> None:
    """Every result has the same bits in XNNPACK and in the reference interpreter."""
    program, inputs = export(*cases)
    same_bits(engine.compile(program).run(inputs).outputs, integers(program, inputs))


def same_bits(expected: Sequence[Array], actual: Sequence[Array]) -> None:
    assert len(expected) == len(actual)
    for x, y in zip(expected, actual, strict=True):
        assert (x.dtype, x.shape) == (y.dtype, y.shape)
        np.testing.assert_array_equal(x.view(f"i{x.itemsize}"), y.view(f"i{y.itemsize}"))


def random_bytes(*shape: int, seed: int = 0) -> Array:
    return np.random.default_rng(seed).integers(-128, 128, shape).astype(np.int8)


# ---- quantize, dequantize


def test_quantize_rounds_the_product_with_the_reciprocal(engine: XnnpackEngine) -> None:
    rng = np.random.default_rng(0)
    ties = (rng.integers(-300, 300, 500) + 0.5) * 0.0625
    extremes = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e30, -1e30, 1e-40, 2047.97, -2048.03]
    x = np.concatenate([rng.normal(0, 4, 500), ties, extremes]).astype(np.float32)
    scale = float(np.float32(0.0371))
    near_ties = ((rng.integers(-100, 100, 2000) + 0.5) * scale).astype(np.float32)
    near_ties = np.nextafter(near_ties, rng.choice([-9, 9], 2000).astype(np.float32))
    assert_same(engine, (Q(0.0625, 3).quantize, (x,)), (Q(scale, -100).quantize, (near_ties,)))


def test_dequantize_and_requantize(engine: XnnpackEngine) -> None:
    a, b = Q(float(np.float32(0.3)), 3), Q(float(np.float32(0.1)), -7)
    moved = Q(a.scale, -90)
    graphs = [a.dequantize, lambda x: b.quantize(a.dequantize(x)), lambda x: moved.quantize(a.dequantize(x))]
    assert_same(engine, *((graph, (BYTES,)) for graph in graphs))


# ---- two operands, all pairs of bytes

TIES = (Q(2.0**-5, 3), Q(2.0**-4, -6), Q(2.0**-2, 11))


def random_triples(seed: int, product: bool, count: int) -> list[tuple[Q, Q, Q]]:
    rng = np.random.default_rng(seed)

    def scale(low: float, high: float) -> float:
        return float(np.float32(2.0 ** rng.uniform(low, high)))

    triples = []
    for _ in range(count):
        a, b = (Q(scale(-7, -3), int(rng.integers(-128, 128))) for _ in range(2))
        ratio = scale(3, 8) * a.scale * b.scale if product else scale(-7, 9) * max(a.scale, b.scale)
        triples.append((a, b, Q(float(np.float32(ratio)), int(rng.integers(-128, 128)))))
    return [*triples, TIES]


@pytest.mark.parametrize(("name", "combine"), [("add", torch.add), ("subtract", torch.sub), ("multiply", torch.mul)])
def test_formulas_of_sums_and_products_on_all_pairs(engine: XnnpackEngine, name: str, combine: Graph) -> None:
    triples = random_triples(1, name == "multiply", 6)
    x, y = (v.reshape(-1) for v in np.meshgrid(BYTES, BYTES))

    def combined(a: Q, b: Q, r: Q) -> Graph:
        return lambda u, v: r.quantize(combine(a.dequantize(u), b.dequantize(v)))

    program, inputs = export(*((combined(*triple), (x, y)) for triple in triples))
    expected = engine.compile(program).run(inputs).outputs
    stored = x.astype(np.int64), y.astype(np.int64)
    for (a, b, r), found in zip(triples, expected, strict=True):
        operands = a.parameters, b.parameters
        ours = XNNPACK.combine(name, ArrayOperations(F32, 1), stored, operands, r.parameters)
        np.testing.assert_array_equal(ours, found)


def test_sums_and_products_as_programs(engine: XnnpackEngine) -> None:
    a, b, r = TIES
    other = Q(float(np.float32(0.0371)), -28)

    def combined(combine: Graph, second: Q, result: Q, activation: Graph = lambda v: v) -> Graph:
        return lambda u, v: result.quantize(activation(combine(a.dequantize(u), second.dequantize(v))))

    graphs = [combined(f, q, t) for f in (torch.add, torch.sub, torch.mul) for q, t in ((b, r), (other, other))]
    graphs += [combined(f, b, r, torch.relu) for f in (torch.add, torch.sub, torch.mul)]
    graphs.append(combined(torch.add, other, r, lambda v: F.hardtanh(v, -0.7, 3.3)))
    inputs = random_bytes(2, 3, 8, 5, seed=1), random_bytes(2, 1, 8, 1, seed=2)
    doubled = (lambda u: r.quantize(a.dequantize(u) + a.dequantize(u)), (BYTES,))
    assert_same(engine, doubled, *((graph, inputs) for graph in graphs))


# ---- convolution and linear


class Weighted(nn.Module):
    """dequantize, convolution or linear with quantized weights, quantize.

    Args:
      kind: name of the function in `torch.nn.functional`.
      x, y: parameters of input and result.
      weights: int8; `scales` one, or one an output channel, dimension 0 or (transposed) 1 of the weights.
    """

    def __init__(
        self,
        kind: str,
        x: Q,
        y: Q,
        weights: Array,
        scales: Array,
        bias: Array | None,
        **options: Any,
    ) -> None:
        super().__init__()
        self.kind, self.x, self.y, self.options = kind, x, y, options
        self.axis = 1 if "transpose" in kind else 0
        self.scale = float(scales[0])
        self.register_buffer("weights", torch.from_numpy(weights))
        self.register_buffer("scales", torch.from_numpy(scales))
        self.register_buffer("zero_points", torch.zeros(len(scales), dtype=torch.int64))
        self.bias = None if bias is None else nn.Parameter(torch.from_numpy(bias))

    def expressed(self, x: Tensor, before: Graph = lambda v: v) -> Tensor:
        if len(self.scales) > 1:
            arguments = (self.weights, self.scales, self.zero_points, self.axis, -127, 127, torch.int8)
            weights = QDQ.dequantize_per_channel.default(*arguments)
        else:
            arguments = (self.weights, self.scale, 0, -127, 127, torch.int8)
            weights = QDQ.dequantize_per_tensor.default(*arguments)
        y: Tensor = getattr(F, self.kind)(before(self.x.dequantize(x)), weights, self.bias, **self.options)
        return y

    def forward(self, x: Tensor) -> Tensor:
        return self.y.quantize(self.expressed(x))


def weighted(kind: str, shape: tuple[int, ...], channels: int, per_channel: bool, **options: Any) -> Weighted:
    """Random weights of a shape, scales and bias such that the result neither saturates nor vanishes."""
    rng = np.random.default_rng(len(shape) + channels)
    weights = rng.integers(-127, 128, shape).astype(np.int8)
    scales = (2.0 ** rng.uniform(-9, -6, channels if per_channel else 1)).astype(np.float32)
    inputs = Q(float(np.float32(0.0371)), 11)
    spread = float(inputs.scale * scales.mean() * 73 * 73 * np.sqrt(weights.size / channels))
    bias = rng.normal(0, spread / 3, channels).astype(np.float32)
    return Weighted(kind, inputs, Q(float(np.float32(spread / 40)), -9), weights, scales, bias, **options)


class WithActivation(nn.Module):
    def __init__(self, inner: Weighted, activation: Graph, result: Q | None = None) -> None:
        super().__init__()
        self.inner, self.activation, self.result = inner, activation, result or inner.y

    def forward(self, x: Tensor) -> Tensor:
        return self.result.quantize(self.activation(self.inner.expressed(x)))


CONVOLUTIONS = {
    "3x3": ("conv2d", (5, 3, 3, 3), 5, True, (1, 3, 9, 8), {"padding": 1}),
    "3x3 per tensor": ("conv2d", (5, 3, 3, 3), 5, False, (1, 3, 9, 8), {"padding": 1}),
    "5x3 stride 2": ("conv2d", (4, 3, 5, 3), 4, True, (1, 3, 11, 9), {"padding": (2, 1), "stride": 2}),
    "dilated": ("conv2d", (4, 3, 3, 3), 4, True, (1, 3, 9, 8), {"padding": 2, "dilation": 2}),
    "groups": ("conv2d", (6, 2, 3, 3), 6, True, (1, 4, 7, 7), {"groups": 2}),
    "depthwise": ("conv2d", (6, 1, 3, 3), 6, True, (2, 6, 7, 7), {"groups": 6, "padding": 1}),
    "depthwise, multiplier 2": ("conv2d", (6, 1, 3, 3), 6, False, (1, 3, 7, 7), {"groups": 3, "padding": 1}),
    "1d": ("conv1d", (5, 3, 3), 5, True, (2, 3, 20), {"padding": 1}),
    "transposed": ("conv_transpose2d", (3, 5, 3, 3), 5, True, (1, 3, 5, 4), {"stride": 2, "padding": 1}),
    "linear": ("linear", (7, 33), 7, True, (5, 33), {}),
    "linear per tensor": ("linear", (7, 33), 7, False, (2, 3, 33), {}),
}


def test_convolutions_and_linear(engine: XnnpackEngine) -> None:
    cases = [
        (weighted(kind, shape, channels, per_channel, **options), (random_bytes(*inputs, seed=3),))
        for kind, shape, channels, per_channel, inputs, options in CONVOLUTIONS.values()
    ]
    assert_same(engine, *cases)


def test_ties_and_large_sums(engine: XnnpackEngine) -> None:
    """Scales are powers of two, so that many results are ties; sums reach 2**26, beyond float32's integers."""
    rng = np.random.default_rng(4)
    cases = []
    for shift in (5, 19, 20):
        weights = rng.integers(-1, 2, (40, 8)).astype(np.int8)
        bias = ((rng.integers(32, 64, 40) + 0.5) * 2.0 ** (shift - 10)).astype(np.float32)
        scales = np.full(40, 2.0**-6, np.float32)
        module = Weighted("linear", Q(2.0**-4, 0), Q(2.0 ** (shift - 10), 0), weights, scales, bias)
        cases.append((module, (rng.integers(-1, 2, (20, 8)).astype(np.int8),)))
    assert_same(engine, *cases)


def bias_next_to_ties(per_channel: bool) -> Weighted:
    """Weights are 0 and the multiplier is 1, so the results are the biases."""
    rng = np.random.default_rng(5)
    n, x = 1000, Q(float(np.float32(0.0371)), 0)
    scales = (2.0 ** rng.uniform(-7.01, -7, n if per_channel else 1)).astype(np.float32)
    steps = scales.astype(np.float64) * x.scale
    ties = ((rng.integers(-100, 100, n) + 0.5) * steps).astype(np.float32)
    bias = np.nextafter(ties, ties + rng.integers(-1, 2, n).astype(np.float32)).astype(np.float32)
    return Weighted("linear", x, Q(float(np.float32(steps[0])), 0), np.zeros((n, 2), np.int8), scales, bias)


def test_bias_is_multiplied_by_the_reciprocal(engine: XnnpackEngine) -> None:
    assert_same(engine, *((bias_next_to_ties(per_channel), (random_bytes(1, 2),)) for per_channel in (True, False)))


class Padded(nn.Module):
    """A convolution of zero-padded inputs."""

    def __init__(self, inner: Weighted) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        return self.inner.y.quantize(self.inner.expressed(x, lambda v: F.pad(v, (1, 2, 0, 3))))


def test_what_stands_around_convolutions(engine: XnnpackEngine) -> None:
    inner = weighted("conv2d", (5, 3, 3, 3), 5, True)
    low, high = (float(np.float32(inner.y.scale * steps)) for steps in (-20.5, 31.5))  # ties
    activations = (torch.relu, lambda v: F.hardtanh(v, low, high))
    modules = [*(WithActivation(inner, activation) for activation in activations), Padded(inner)]
    assert_same(engine, *((copy.deepcopy(module), (random_bytes(1, 3, 9, 8, seed=6),)) for module in modules))


# ---- one operand, all bytes

FUNCTIONS: dict[str, Graph] = {
    "relu": torch.relu,
    "relu6": F.relu6,
    "hardtanh": F.hardtanh,
    "clamp at ties": lambda x: torch.clamp(x, -1.125, 2.375),
    "square": lambda x: x * x,
    "power": lambda x: x**2,
    "leaky_relu": lambda x: F.leaky_relu(x, 0.1),
    "hardswish": F.hardswish,
    "hardsigmoid": F.hardsigmoid,
    "abs": torch.abs,
    "neg": torch.neg,
    "ceil": torch.ceil,
    "floor": torch.floor,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "gelu": F.gelu,
    "gelu, tanh": lambda x: F.gelu(x, approximate="tanh"),  # executorch drops the flag
    "exp": torch.exp,
    "sqrt": lambda x: torch.sqrt(torch.abs(x)),
    "rsqrt": lambda x: torch.rsqrt(torch.abs(x) + 0.01),
    "log": lambda x: torch.log(torch.abs(x) + 0.01),
    "sin": torch.sin,
    "cos": torch.cos,
    "silu": F.silu,
    "elu": F.elu,  # executorch has no XNNPACK kernel for it
    "times a number": lambda x: x * 0.1 + 0.3,
}
PARAMETERS = (
    (Q(0.25, 5), Q(0.25, 5)),
    (Q(0.03125, 5), Q(0.015625, -3)),
    (Q(float(np.float32(0.0371)), 0), Q(float(np.float32(0.0219)), 1)),
)


def test_functions_of_one_tensor(engine: XnnpackEngine) -> None:
    def quantized(function: Graph, a: Q, r: Q) -> Graph:
        return lambda x: r.quantize(function(a.dequantize(x)))

    functions = [quantized(function, *parameters) for function in FUNCTIONS.values() for parameters in PARAMETERS]
    assert_same(engine, *((function, (BYTES,)) for function in functions))


# ---- pools, means, data movement


def test_pools_and_means(engine: XnnpackEngine) -> None:
    a, r = Q(0.25, 5), Q(0.125, -3)

    def pool(result: Q, function: Graph, *arguments: int, **options: Any) -> Graph:
        return lambda x: result.quantize(function(a.dequantize(x), *arguments, **options))

    averages = ((2, 2, 0), (3, 1, 0), (3, 2, 1), (5, 2, 2), (4, 4, 0))
    graphs = [
        pool(a, F.max_pool2d, 3, 2, 1),
        pool(a, F.max_pool2d, 2),
        pool(a, lambda x: x.mean((2, 3), keepdim=True)),
        pool(r, lambda x: x.mean((2, 3), keepdim=True)),
        pool(r, lambda x: F.adaptive_avg_pool2d(x, 1)),
        *(pool(a, F.avg_pool2d, *sizes, count_include_pad=False) for sizes in averages),
    ]
    assert_same(engine, *((graph, (random_bytes(1, 3, 12, 9, seed=8),)) for graph in graphs))


MOVES: dict[str, Graph] = {
    "permute": lambda x: x.permute(0, 3, 1, 2),
    "reshape": lambda x: x.reshape(3, -1),
    "flatten": lambda x: torch.flatten(x, 1),
    "slice": lambda x: x[:, 1:4],
    "pad": lambda x: F.pad(x, (1, 2, 3, 1)),
    "pad with a number": lambda x: F.pad(x, (1, 2, 3, 1), value=0.8),
    "bilinear": lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
    "bilinear, to any size": lambda x: F.interpolate(x, size=(30, 31), mode="bilinear"),
    "bilinear, aligned": lambda x: F.interpolate(x, size=(9, 5), mode="bilinear", align_corners=True),
}


def test_data_movement(engine: XnnpackEngine) -> None:
    a = Q(0.25, 5)

    def moved(move: Graph) -> Graph:
        return lambda x: a.quantize(move(a.dequantize(x)))

    x, y = random_bytes(2, 6, 5, 3, seed=9), random_bytes(2, 6, 5, 3, seed=10)
    joined = (lambda u, v: a.quantize(torch.cat([a.dequantize(u), a.dequantize(v)], 1)), (x, y))
    assert_same(engine, joined, *((moved(move), (x,)) for move in MOVES.values()))


# ---- rewrites of the whole graph


class BehindLinear(nn.Module):
    """linear, quantize, then a graph on its stored integers."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.linear = weighted("linear", (9, 17), 9, True)
        self.graph = graph

    def forward(self, x: Tensor) -> Any:
        return self.graph(self.linear(x))


LINEAR = weighted("linear", (9, 17), 9, True).y
CLAMPED = Q(float(np.float32(LINEAR.scale / 3)), 40)
SIGMOID = Q(1 / 256, -128)


def clamp(x: Tensor) -> Tensor:
    return CLAMPED.quantize(torch.clamp(LINEAR.dequantize(x), -30 * LINEAR.scale, 25.5 * LINEAR.scale))


REWRITES: dict[str, tuple[Graph, int]] = {
    "merged": (clamp, 1),
    "merged before data movement": (
        lambda x: CLAMPED.quantize(torch.permute(CLAMPED.dequantize(clamp(x)), (1, 0))),
        1,
    ),
    "clamp in a table with sigmoid": (lambda x: SIGMOID.quantize(torch.sigmoid(CLAMPED.dequantize(clamp(x)))), 0),
    "clamp in a table with relu": (lambda x: CLAMPED.quantize(torch.relu(CLAMPED.dequantize(clamp(x)))), 0),
    "second use": (lambda x: CLAMPED.quantize(CLAMPED.dequantize(clamp(x)) + LINEAR.dequantize(x)), 0),
    "also returned": (lambda x: (x, clamp(x)), 0),
}


def test_clamps_merged_into_what_is_before_them(engine: XnnpackEngine) -> None:
    x = random_bytes(40, 17, seed=11)
    assert_same(engine, *((BehindLinear(graph), (x,)) for graph, _ in REWRITES.values()))
    for graph, merged in REWRITES.values():
        assert len(found(BehindLinear(graph), x).merged) == merged


def found(graph: Graph, *inputs: Array) -> Rewrites:
    program, _ = export((graph, inputs))
    return rewrites(import_program(program).module)


def test_squares_alone_and_inside_a_table(engine: XnnpackEngine) -> None:
    a, r = Q(2.0**-3, -3), Q(0.5, 7)

    def square(x: Tensor) -> Tensor:
        y = a.dequantize(x)
        return r.quantize(y * y)

    graphs = [
        square,
        lambda x: square(a.quantize(torch.relu(a.dequantize(x)))),
        lambda x: square(a.quantize(torch.tanh(a.dequantize(x)))),
    ]
    assert_same(engine, *((graph, (BYTES,)) for graph in graphs))


def test_defects_are_named() -> None:
    a, r = Q(0.25, 5), Q(0.125, -3)

    def pool(x: Tensor) -> Tensor:
        return r.quantize(F.relu6(a.dequantize(a.quantize(F.max_pool2d(a.dequantize(x), 2)))))

    (finding,) = found(pool, random_bytes(1, 2, 4, 4)).findings
    assert "max pool" in finding.reason

    def tiny(x: Tensor) -> Tensor:
        y = a.dequantize(x)
        return Q(a.scale * 4096, 0).quantize(y + y)

    (finding,) = found(tiny, BYTES).findings
    assert "less than 2**-11" in finding.reason
    module = weighted("linear", (3, 4), 3, True)
    module.bias = nn.Parameter(torch.full([3], 1e9))
    (finding,) = found(module, random_bytes(2, 4)).findings
    assert "leave 32 bits" in finding.reason


# ---- networks of the quantizer


class Mobile(nn.Module):
    """relu6, depthwise, squeeze and excite with hardsigmoid, hardswish, residual add with relu, mean, linear."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(nn.Conv2d(3, 8, 3, 2, 1), nn.ReLU6())
        self.expand = nn.Sequential(nn.Conv2d(8, 12, 1), nn.Hardswish())
        self.depthwise = nn.Sequential(nn.Conv2d(12, 12, 3, 1, 1, groups=12), nn.ReLU())
        self.gate = nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Conv2d(12, 4, 1), nn.ReLU(), nn.Conv2d(4, 12, 1), nn.Hardsigmoid()
        )
        self.project = nn.Conv2d(12, 8, 1)
        self.classify = nn.Linear(8, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = self.stem(x)
        y = self.depthwise(self.expand(x))
        y = self.project(y * self.gate(y))
        logits: Tensor = self.classify(torch.relu(x + y).mean((2, 3), keepdim=True).flatten(1))
        return logits


class Branches(nn.Module):
    """Clamps with parameters of their own, cat, channel shuffle, pools, transposed convolution, x * x, bilinear."""

    def __init__(self) -> None:
        super().__init__()
        self.a, self.b = nn.Conv2d(3, 6, 3, padding=1), nn.Conv2d(6, 6, 3, padding=2, dilation=2)
        self.c, self.d = nn.Conv2d(6, 6, 3, padding=1, groups=3), nn.Conv2d(12, 4, 1)
        self.e = nn.ConvTranspose2d(4, 4, 3, 2, 1, 1)
        self.f, self.g, self.h = (nn.Conv2d(4, 4, 3, padding=1) for _ in range(3))
        self.first, self.second = nn.Linear(4 * 16, 16), nn.Linear(16, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = F.relu6(self.a(x))
        y = torch.cat([torch.clamp(self.b(x), -0.5, 0.7), F.leaky_relu(self.c(x), 0.1)], 1)
        y = y.view(-1, 2, 6, 8, 8).transpose(1, 2).reshape(-1, 12, 8, 8)
        y = F.max_pool2d(torch.relu(self.d(y)), 2)
        y = F.avg_pool2d(self.e(y), 2)
        z = self.f(y)
        y = z * z - y
        y = F.interpolate(self.g(y), scale_factor=2, mode="bilinear")[:, :, 2:6, 2:6]
        y = torch.relu(self.first(torch.sigmoid(self.h(y)).reshape(-1, 4 * 16)))
        logits: Tensor = self.second(y)
        return logits


@pytest.mark.parametrize(("network", "size"), [(Mobile, 16), (Branches, 8)])
def test_networks(engine: XnnpackEngine, network: Callable[[], nn.Module], size: int) -> None:
    torch.manual_seed(0)
    batches = [(torch.randn(2, 3, size, size),) for _ in range(3)]
    program = quantize_ptq(network().eval(), batches[0], batches, xnnpack_quantizer())
    executable = engine.compile(program)
    module = lower(import_program(program).module, "integer", "xnnpack")
    compiled = ReferenceEngine().compile(module)
    for (batch,) in batches[:2]:
        same_bits(executable.run([batch.numpy()]).outputs, compiled.run([batch.numpy()]))
