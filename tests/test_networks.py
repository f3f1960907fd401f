"""One small network per family of ops, from PyTorch to integers.

Promised: the integer form gives, for every quantized tensor, exactly the integers that the specification defines for
the quantized form. Against the float Q/DQ form, where the order of float sums decides: at most one step an op.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from shlo_quant.engines.reference import ReferenceEngine
from shlo_quant.importers.pt2e import import_program
from shlo_quant.inspection import Inspection, inspect
from shlo_quant.observation import observed
from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.dialects.modules import copy_module, entry_function, signature
from shlo_quant.passes.dialects.quant import is_quantized
from shlo_quant.passes.dot_like import DOT_LIKE
from shlo_quant.passes.rewrite import walk
from shlo_quant.pipelines import lower
from shlo_quant.pt2e.ptq import quantize_ptq
from shlo_quant.pt2e.quantizers import xnnpack_quantizer

pytestmark = pytest.mark.filterwarnings("ignore")  # torch and torchao warn of themselves


class Network(nn.Module):
    """A function of layers."""

    def __init__(self, compute: Callable[..., torch.Tensor], **layers: nn.Module) -> None:
        super().__init__()
        self.compute = compute
        for name, layer in layers.items():
            setattr(self, name, layer)

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        return self.compute(self, *inputs)


def image(channels: int = 3) -> tuple[torch.Tensor, ...]:
    return (torch.randn(2, channels, 8, 8),)


def tokens() -> tuple[torch.Tensor, ...]:
    return (torch.randn(2, 5, 8),)


def after_conv(compute: Callable[[torch.Tensor], torch.Tensor], channels: int = 4) -> Network:
    """conv, `compute`, conv: quantized on both sides."""
    return Network(
        lambda m, x: m.b(compute(m.a(x))), a=nn.Conv2d(3, 4, 3, padding=1), b=nn.Conv2d(channels, 4, 3, padding=1)
    )


def after_linear(compute: Callable[[torch.Tensor], torch.Tensor], **layers: nn.Module) -> Network:
    return Network(lambda m, x: m.b(compute(m.a(x))), a=nn.Linear(8, 8), b=nn.Linear(8, 8), **layers)


FAMILIES: dict[str, tuple[Callable[[], Network], Callable[[], tuple[torch.Tensor, ...]]]] = {
    "convolution": (lambda: Network(lambda m, x: F.relu(m.a(x)), a=nn.Conv2d(3, 6, 3, padding=1)), image),
    "convolution_1d": (
        lambda: Network(lambda m, x: m.a(x), a=nn.Conv1d(3, 4, 3, padding=1)),
        lambda: (torch.randn(2, 3, 9),),
    ),
    "depthwise": (
        lambda: Network(lambda m, x: F.hardtanh(m.a(x), 0.0, 1.0), a=nn.Conv2d(4, 8, 3, padding=1, groups=4)),
        lambda: image(4),
    ),
    "grouped_strided_dilated": (
        lambda: Network(lambda m, x: m.a(x), a=nn.Conv2d(4, 8, 3, stride=2, padding=2, dilation=2, groups=2)),
        lambda: image(4),
    ),
    "transposed": (
        lambda: Network(lambda m, x: m.a(x), a=nn.ConvTranspose2d(3, 4, 3, stride=2, padding=1, output_padding=1)),
        image,
    ),
    "linear": (lambda: Network(lambda m, x: F.relu(m.a(x)), a=nn.Linear(8, 6)), lambda: (torch.randn(4, 8),)),
    "linear_3d": (lambda: Network(lambda m, x: m.a(x), a=nn.Linear(8, 6, bias=False)), tokens),
    "matmul": (
        lambda: Network(
            lambda m, x: m.c(m.a(x) @ m.b(x).transpose(1, 2)),
            a=nn.Linear(8, 8),
            b=nn.Linear(8, 8),
            c=nn.Linear(5, 4),
        ),
        tokens,
    ),
    "residual": (lambda: Network(lambda m, x: F.relu(m.a(x) + x), a=nn.Conv2d(3, 3, 3, padding=1)), image),
    "multiply": (lambda: Network(lambda m, x: F.relu(m.a(x) * x), a=nn.Conv2d(3, 3, 1)), image),
    "subtract": (lambda: after_conv(lambda x: x - x.flip(1)), image),
    "max_pool": (lambda: after_conv(lambda x: F.max_pool2d(x, 3, 2, 1)), image),
    "average_pool": (lambda: after_conv(lambda x: F.avg_pool2d(x, 2)), image),
    "average_pool_padding_not_counted": (
        lambda: after_conv(lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False)),
        image,
    ),
    "mean": (
        lambda: Network(lambda m, x: m.b(m.a(x).mean((2, 3))), a=nn.Conv2d(3, 4, 3), b=nn.Linear(4, 5)),
        image,
    ),
    "flatten": (
        lambda: Network(lambda m, x: m.b(m.a(x).flatten(1)), a=nn.Conv2d(3, 2, 3), b=nn.Linear(72, 5)),
        image,
    ),
    "slice_concatenate_pad": (
        lambda: after_conv(lambda x: F.pad(torch.cat([x[:, 2:], x[:, :2]], 1)[:, :, 1:7], (0, 1, 2, 0))),
        image,
    ),
    "broadcast": (lambda: after_conv(lambda x: x[:, :1].expand(-1, 4, -1, -1)), image),
    "sigmoid": (lambda: after_conv(torch.sigmoid), image),
    "hardswish_island": (lambda: after_conv(F.hardswish), image),
    "softmax_island": (lambda: after_linear(lambda x: F.softmax(x, -1)), tokens),
    "layer_norm_island": (
        lambda: Network(lambda m, x: m.b(m.n(m.a(x))), a=nn.Linear(8, 8), b=nn.Linear(8, 8), n=nn.LayerNorm(8)),
        tokens,
    ),
    "embedding": (
        lambda: Network(lambda m, i: m.a(m.e(i)), e=nn.Embedding(10, 8), a=nn.Linear(8, 4)),
        lambda: (torch.randint(0, 10, (2, 5)),),
    ),
}


@pytest.fixture(scope="module", params=FAMILIES)
def forms(request: pytest.FixtureRequest) -> dict[str, Any]:
    """A family's network, quantized, in all forms, with inputs that calibration has not seen."""
    torch.manual_seed(0)
    build, inputs = FAMILIES[request.param]
    program = quantize_ptq(build().eval(), inputs(), [inputs() for _ in range(4)], xnnpack_quantizer())
    qdq = import_program(program).module
    quantized = lower(copy_module(qdq), "quantized")
    return {
        "program": program,
        "qdq": qdq,
        "quantized": quantized,
        "integer": lower(copy_module(quantized), "integer"),
        "inputs": inputs(),
    }


def evaluate(module: Any, inputs: tuple[torch.Tensor, ...]) -> list[Array]:
    return ReferenceEngine().compile(module).run([x.numpy() for x in inputs])


def test_every_convolution_and_dot_of_quantized_operands_is_native(forms: dict[str, Any]) -> None:
    inspection: Inspection = inspect(forms["quantized"])
    native, all_ = inspection.quantized_pairs
    assert native == all_ > 0
    assert native == len(walk(forms["quantized"].operation, *DOT_LIKE))


def test_integer_form_has_no_quantized_type_and_prints_and_parses(forms: dict[str, Any]) -> None:
    module = forms["integer"]
    assert not any(is_quantized(v) for op in walk(module.operation) for v in (*op.operands, *op.results))
    text = str(module)
    assert str(type(module).parse(text, module.context)) == text
    assert str(copy_module(module)) == text


def test_integer_form_equals_the_specification(forms: dict[str, Any]) -> None:
    program = lower(observed(forms["qdq"]).module, "quantized")
    expected = evaluate(program, forms["inputs"])
    found = evaluate(lower(copy_module(program), "integer"), forms["inputs"])
    for tensor, other in zip(expected, found, strict=True):
        np.testing.assert_array_equal(other, tensor)


def test_integer_form_is_within_a_step_an_op_of_the_float_form(forms: dict[str, Any]) -> None:
    (integer,), (qdq,) = (evaluate(forms[form], forms["inputs"]) for form in ("integer", "qdq"))
    with torch.no_grad():
        pytorch = forms["program"].module()(*forms["inputs"]).numpy()
    step = smallest_difference(qdq)
    ops = len(walk(forms["quantized"].operation, *DOT_LIKE))
    assert np.abs(integer - qdq).max() <= 1.001 * step * ops
    assert np.abs(qdq - pytorch).max() <= 1.001 * step  # reciprocal and order of rounding differ between the two


@pytest.mark.parametrize("batch", [2, 5])
def test_dynamic_batch_is_native_throughout(batch: int) -> None:
    torch.manual_seed(0)
    network = Network(
        lambda m, x: m.l((m.b(F.relu(m.a(x))) + 0.5).mean((2, 3))),
        a=nn.Conv2d(3, 4, 3, padding=1),
        b=nn.Conv2d(4, 4, 3),
        l=nn.Linear(4, 5),
    )
    sizes = ({0: torch.export.Dim("batch", min=2, max=64)},)
    exported = torch.export.export(network.eval(), image(), dynamic_shapes=(sizes,), strict=False).module()
    prepared = prepare_pt2e(exported, xnnpack_quantizer())
    prepared(*image())
    program = torch.export.export(convert_pt2e(prepared), image(), dynamic_shapes=sizes, strict=False)
    quantized = lower(import_program(program).module, "quantized")
    floating = {name for name, row in inspect(quantized).rows.items() if row.floating}
    assert floating <= {"get_dimension_size", "uniform_dequantize", "uniform_quantize"}
    assert str(signature(entry_function(quantized))[0][0]) == "tensor<?x3x8x8xf32>"
    inputs = (torch.randn(batch, 3, 8, 8),)
    expected = evaluate(quantized, inputs)
    np.testing.assert_array_equal(evaluate(lower(copy_module(quantized), "integer"), inputs), expected)
    assert expected[0].shape == (batch, 5)


def smallest_difference(values: Array) -> float:
    """The step between neighbouring values of a dequantized tensor."""
    differences = np.diff(np.unique(values))
    return float(differences[differences > 1e-7].min())
