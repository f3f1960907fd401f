"""Every pattern of the zoo, from PyTorch to integers: what the forms hold, and that they have the right values.

The judge of the imported program is the PyTorch module that it was exported from: it multiplies by the reciprocal of a
scale where StableHLO divides by it, and adds floats in another order, so a value on the edge may be one step off. The
judge of the integer form is the quantized form in the specification's arithmetic: equal. Between the integer and the
float form lies the rounding of biases, and the order of float sums.
"""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import torch
from torch import nn
from torch_mlir import ir
from zoo import PATTERNS, Inputs, Mode, quantize

from shlo_quant.engines.reference import ReferenceEngine
from shlo_quant.importers.pt2e import import_program
from shlo_quant.inspection import inspect
from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.dialects.modules import copy_module
from shlo_quant.passes.dialects.quant import is_quantized, uniform_type
from shlo_quant.passes.dot_like import DOT_LIKE
from shlo_quant.passes.legalize_qdq_to_quantized_op import remarks
from shlo_quant.passes.rewrite import walk
from shlo_quant.pipelines import lower

pytestmark = pytest.mark.filterwarnings("ignore")  # torch and torchao warn of themselves

OTHER_MODES: dict[Mode, tuple[str, ...]] = {
    "dynamic": ("conv2d", "conv1d", "linear", "linear_3d", "residual", "scores", "add", "embedding"),
    "qat": ("conv_batch_norm_relu", "linear_relu", "transposed_2d"),
    "per_tensor": ("conv2d", "linear"),
    "four_bits": ("conv2d", "linear"),
}
CASES = [(name, "static") for name in PATTERNS] + [
    (name, mode) for mode, names in OTHER_MODES.items() for name in names
]

# averages of few integers, which lie half-way between two again and again: there PyTorch's rounding and the spec's part
HALF_STEPS = frozenset({"adaptive_avg_pool_3"})
# executorch's quantizer gives transposed convolutions in training one scale an input channel, over which they sum
SCALES_ALONG_A_SUM = frozenset({"transposed_2d"})


@pytest.mark.parametrize(("name", "mode"), CASES)
def test_pattern(name: str, mode: Mode) -> None:
    torch.manual_seed(0)
    model, inputs = PATTERNS[name]()
    converted, program = quantize(model, inputs, mode)
    qdq = import_program(program).module
    check_form(qdq)
    quantized = lower(copy_module(qdq), "quantized")
    native, pairs = inspect(quantized).quantized_pairs
    assert pairs - native == (name in SCALES_ALONG_A_SUM and mode == "qat")
    assert len(remarks(quantized)) >= pairs - native
    integer = lower(copy_module(quantized), "integer")
    check_form(integer)
    assert not any(is_quantized(v) for op in walk(integer.operation) for v in (*op.operands, *op.results))

    step = largest_step(qdq)
    floats, exact, integers = (evaluate(module, inputs) for module in (qdq, quantized, integer))
    for got, want in zip(floats, results(converted, inputs), strict=True):
        assert close(got, want, step, off=0.5 if name in HALF_STEPS else 0.05)
    for got, want in zip(integers, exact, strict=True):
        np.testing.assert_array_equal(got, want)
    for got, want in zip(integers, floats, strict=True):
        assert close(got, want, step * max(1, len(walk(quantized.operation, *DOT_LIKE))))


def check_form(module: ir.Module) -> None:
    """StableHLO and func alone, valid, the same after printing and parsing."""
    module.operation.verify()
    assert {op.name.split(".")[0] for op in walk(module.operation)} <= {"builtin", "func", "stablehlo"}
    assert not walk(module.operation, "stablehlo.dot")
    text = str(module)
    assert str(ir.Module.parse(text, module.context)) == text


def close(got: Array, want: Array, tolerance: float, off: float = 0.1) -> bool:
    """Same shape and dtype, at most a share `off` of the elements off, and none by more than the tolerance."""
    assert got.shape == want.shape and got.dtype == want.dtype
    slack = 1e-5 * np.abs(want).max(initial=0)
    difference = np.abs(got.astype(np.float64) - want.astype(np.float64))
    return bool((difference > slack).mean() < off and difference.max(initial=0) <= 1.001 * tolerance + slack)


def largest_step(module: ir.Module) -> float:
    """The largest scale to which the program quantizes."""
    types = [uniform_type(op.results[0]) for op in walk(module.operation, "stablehlo.uniform_quantize")]
    return max((max(uniform.scales) for uniform in types if uniform is not None), default=0.0)


def evaluate(module: ir.Module, inputs: Inputs) -> list[Array]:
    return ReferenceEngine().compile(module).run([to_numpy(x) for x in inputs])


def results(model: nn.Module, inputs: Inputs) -> list[Array]:
    with torch.no_grad():
        found = model(*inputs)
    found = found if isinstance(found, (tuple, list)) else [found]
    return [to_numpy(value) for value in found if isinstance(value, torch.Tensor)]


def to_numpy(tensor: torch.Tensor) -> Array:
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()
