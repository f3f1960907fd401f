"""The importer: what quantized PyTorch programs become, what is reported, and what is refused.

The judge of values is the PyTorch module that the program was exported from. PyTorch multiplies by the reciprocal of a
scale where StableHLO divides by it, and adds floats in another order: a value on the edge may be one step off.
"""

from __future__ import annotations

import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from torch import nn
from torch_mlir import ir
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from zoo import PATTERNS, Inputs, Network, image, quantize, quantizer

from shlo_quant.engines.reference import ReferenceEngine
from shlo_quant.importers.pt2e import ImportedProgram, import_program, load_program
from shlo_quant.passes.dialects.constants import Array, stored_constant
from shlo_quant.passes.dialects.locations import describe, module_path, tensor_name
from shlo_quant.passes.dialects.modules import copy_module
from shlo_quant.passes.dialects.quant import UniformType, uniform_type
from shlo_quant.passes.dot_like import DOT_LIKE
from shlo_quant.passes.errors import InputError, UnsupportedError
from shlo_quant.passes.rewrite import walk

pytestmark = pytest.mark.filterwarnings("ignore")  # torch and torchao warn of themselves

OPS = torch.ops.quantized_decomposed
ZOO = Path(__file__).with_name("zoo.py")  # where the forward of every Network is


def run(imported: ImportedProgram, inputs: Inputs) -> list[Array]:
    return ReferenceEngine().compile(imported.module).run([to_numpy(x) for x in inputs])


def to_numpy(tensor: torch.Tensor) -> Array:
    if tensor.dtype == torch.bfloat16:
        return tensor.view(torch.int16).numpy().view(ml_dtypes.bfloat16)
    return tensor.numpy()


def results(model: nn.Module, inputs: Inputs) -> list[Array]:
    with torch.no_grad():
        found = model(*inputs)
    found = found if isinstance(found, (tuple, list)) else [found]
    return [to_numpy(value) for value in found if isinstance(value, torch.Tensor)]


def uniform_types(imported: ImportedProgram, *op_names: str) -> list[UniformType]:
    """The quantized types of the results of ops, without repetition."""
    values = [result for op in walk(imported.module.operation, *op_names) for result in op.results]
    found = [uniform_type(value) for value in values]
    return list(dict.fromkeys(uniform for uniform in found if uniform is not None))


def check_form(imported: ImportedProgram) -> None:
    """StableHLO and func alone, valid, the same after printing and parsing; weights are dequantized constants."""
    module = imported.module
    module.operation.verify()
    dialects = {op.name.split(".")[0] for op in walk(module.operation)}
    assert dialects <= {"builtin", "func", "stablehlo"}
    assert not walk(module.operation, "stablehlo.dot")
    text = str(module)
    assert str(ir.Module.parse(text, module.context)) == text


# ---- quantized types


def program_of(
    compute: Callable[..., Any], inputs: Inputs, **buffers: torch.Tensor
) -> tuple[nn.Module, ImportedProgram]:
    """A module of one function and its buffers, and its import."""
    model = Network(compute)
    for name, buffer in buffers.items():
        model.register_buffer(name, buffer)
    return model, import_program(torch.export.export(model, inputs, strict=False))


def quantize_dequantize(x: torch.Tensor, *parameters: Any, **options: Any) -> torch.Tensor:
    return OPS.dequantize_per_tensor(OPS.quantize_per_tensor(x, *parameters), *parameters, **options)


X = torch.linspace(-2, 2, 12).reshape(3, 4)


@pytest.mark.parametrize(
    ("dtype", "bounds", "storage", "is_signed"),
    [
        (torch.int8, (-128, 127), 8, True),
        (torch.int8, (-127, 127), 8, True),
        (torch.int8, (0, 15), 8, True),
        (torch.int8, (-8, 7), 4, True),
        (torch.int8, (-7, 7), 4, True),
        (torch.uint8, (0, 255), 8, False),
        (torch.uint8, (0, 127), 8, False),
        (torch.uint8, (0, 15), 4, False),
        (torch.int16, (-32768, 32767), 16, True),
        (torch.int32, (-(2**31), 2**31 - 1), 32, True),
        (torch.int32, (0, 65535), 16, False),
        (torch.int32, (-65535, 65535), 32, True),
    ],
)
@pytest.mark.parametrize("moved", [False, True])
def test_storage_type_and_bounds(
    dtype: torch.dtype, bounds: tuple[int, int], storage: int, is_signed: bool, moved: bool
) -> None:
    zero_point = max(bounds[0], 3)
    parameters = (0.25, zero_point, *bounds, dtype)

    def compute(_: Any, x: torch.Tensor) -> torch.Tensor:
        if not moved:
            return quantize_dequantize(x, *parameters)
        return OPS.dequantize_per_tensor(OPS.quantize_per_tensor(x, *parameters).t(), *parameters)  # as integers

    model, imported = program_of(compute, (X,))
    check_form(imported)
    (uniform,) = uniform_types(imported)
    assert (uniform.storage_type.width, uniform.is_signed) == (storage, is_signed)
    assert (uniform.storage_min, uniform.storage_max) == bounds
    assert (uniform.scale, uniform.zero_point) == (0.25, zero_point)
    np.testing.assert_array_equal(run(imported, (X,))[0], results(model, (X,))[0])


def test_scale_is_the_float32_that_pytorch_computes_with() -> None:
    _, imported = program_of(lambda _, x: quantize_dequantize(x, 0.1, 0, -128, 127, torch.int8), (X,))
    assert [uniform.scale for uniform in uniform_types(imported)] == [float(np.float32(0.1))]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_expressed_type(dtype: torch.dtype) -> None:
    x = X.to(dtype)
    model, imported = program_of(
        lambda _, x: quantize_dequantize(x, 0.125, 3, -128, 127, torch.int8, out_dtype=dtype), (x,)
    )
    (uniform,) = uniform_types(imported)
    assert isinstance(uniform.expressed_type, ir.BF16Type if dtype == torch.bfloat16 else ir.F16Type)
    assert not [f for f in imported.findings if "exact" in f.reason]
    np.testing.assert_array_equal(run(imported, (x,))[0], results(model, (x,))[0])


def test_scale_that_the_expressed_type_rounds_is_reported() -> None:
    _, imported = program_of(
        lambda _, x: quantize_dequantize(x, 0.1, 3, -128, 127, torch.int8, out_dtype=torch.bfloat16), (X.bfloat16(),)
    )
    assert [f for f in imported.findings if "not exact in bf16" in f.reason]


def test_stored_integers_as_outputs_and_inputs() -> None:
    model, imported = program_of(
        lambda _, x, q: (
            OPS.quantize_per_tensor(x, 0.5, 1, -128, 127, torch.int8),
            OPS.dequantize_per_tensor(q, 0.5, 1, 0, 255, torch.uint8),
        ),
        (X, torch.arange(4, dtype=torch.uint8)),
    )
    inputs = (X, torch.arange(4, dtype=torch.uint8))
    for got, want in zip(run(imported, inputs), results(model, inputs), strict=True):
        np.testing.assert_array_equal(got, want)


def test_dequantize_with_other_parameters_reads_the_bits() -> None:
    model, imported = program_of(
        lambda _, x: OPS.dequantize_per_tensor(
            OPS.quantize_per_tensor(x, 0.5, 1, -128, 127, torch.int8), 2.0, -3, -128, 127, torch.int8
        ),
        (X,),
    )
    np.testing.assert_array_equal(run(imported, (X,))[0], results(model, (X,))[0])


STORED = torch.tensor([[1, 2, -3], [4, -5, 6]], dtype=torch.int8)
ROWS = torch.tensor([[1.0, 1.0], [2.0, -1.0]])


@pytest.mark.parametrize("zero_points", [torch.tensor([3, -4], dtype=torch.int32), torch.tensor([3, -4]), None])
def test_zero_points_per_channel(zero_points: torch.Tensor | None) -> None:
    def compute(m: Any, x: torch.Tensor) -> torch.Tensor:
        points = None if zero_points is None else m.points
        return x @ OPS.dequantize_per_channel(m.stored, m.scales, points, 0, -128, 127, torch.int8)

    buffers = {"stored": STORED, "scales": torch.tensor([0.5, 0.25])}
    if zero_points is not None:
        buffers["points"] = zero_points
    model, imported = program_of(compute, (ROWS,), **buffers)
    (uniform,) = uniform_types(imported)
    assert (uniform.quantized_dimension, uniform.scales) == (0, (0.5, 0.25))
    assert uniform.zero_points == ((0, 0) if zero_points is None else (3, -4))
    np.testing.assert_array_equal(run(imported, (ROWS,))[0], results(model, (ROWS,))[0])


def test_negative_axis() -> None:
    model, imported = program_of(
        lambda m, x: x @ OPS.dequantize_per_channel(m.stored, m.scales, m.points, -1, -128, 127, torch.int8),
        (ROWS,),
        stored=STORED,
        scales=torch.tensor([0.5, 0.25, 1.0]),
        points=torch.tensor([1, -2, 0]),
    )
    (uniform,) = uniform_types(imported)
    assert (uniform.quantized_dimension, uniform.zero_points) == (1, (1, -2, 0))
    np.testing.assert_array_equal(run(imported, (ROWS,))[0], results(model, (ROWS,))[0])


def test_stored_integers_beyond_the_bounds_widen_them() -> None:
    """dequantize ignores its bounds; a type whose constants leave them would be invalid."""
    _, imported = program_of(
        lambda m, x: x + OPS.dequantize_per_tensor(m.stored, 0.5, 0, -127, 127, torch.int8),
        (torch.zeros(2),),
        stored=torch.tensor([-128, 5], dtype=torch.int8),
    )
    (uniform,) = uniform_types(imported)
    assert (uniform.storage_min, uniform.storage_max) == (-128, 127)
    assert run(imported, (torch.zeros(2),))[0].tolist() == [-64.0, 2.5]


def test_quantized_parameter_is_folded_by_the_formula_of_pytorch() -> None:
    """0.5 steps above an odd zero point: x * (1 / s) rounds to even before the zero point is added."""
    weight = torch.tensor([[0.25, 0.75], [1.25, -0.25]])
    model, imported = program_of(
        lambda m, x: x @ quantize_dequantize(m.weight, 0.5, 1, -128, 127, torch.int8), (ROWS,), weight=weight
    )
    stored = OPS.quantize_per_tensor(weight, 0.5, 1, -128, 127, torch.int8)
    constants = [stored_constant(op.results[0]) for op in walk(imported.module.operation, "stablehlo.constant")]
    assert [c.tolist() for c in constants if c is not None] == [stored.tolist()]
    np.testing.assert_array_equal(run(imported, (ROWS,))[0], results(model, (ROWS,))[0])


def test_scale_and_zero_point_in_buffers() -> None:
    model, imported = program_of(
        lambda m, x: OPS.dequantize_per_tensor.tensor(
            OPS.quantize_per_tensor.tensor(x, m.s, m.z, -128, 127, torch.int8), m.s, m.z, -128, 127, torch.int8
        ),
        (X,),
        s=torch.tensor([0.5]),
        z=torch.tensor([3]),
    )
    (uniform,) = uniform_types(imported)
    assert (uniform.scale, uniform.zero_point) == (0.5, 3)
    np.testing.assert_array_equal(run(imported, (X,))[0], results(model, (X,))[0])


@pytest.mark.parametrize("shape", [(3, 4), ()])
def test_scale_at_run_time_is_float_arithmetic(shape: tuple[int, ...]) -> None:
    inputs = (torch.randn(shape), torch.tensor([0.1]), torch.tensor([3]))
    model, imported = program_of(
        lambda _, x, s, z: OPS.dequantize_per_tensor.tensor(
            OPS.quantize_per_tensor.tensor(x, s, z, -128, 127, torch.int8), s, z, -128, 127, torch.int8
        ),
        inputs,
    )
    assert uniform_types(imported) == []
    np.testing.assert_array_equal(run(imported, inputs)[0], results(model, inputs)[0])


@pytest.mark.parametrize("dtype", [torch.int8, torch.uint8])
@pytest.mark.parametrize("choose", [OPS.choose_qparams, OPS.choose_qparams_symmetric])
def test_choose_qparams_is_float_arithmetic(choose: Any, dtype: torch.dtype) -> None:
    bounds = (-128, 127) if dtype == torch.int8 else (0, 255)

    def compute(_: Any, x: torch.Tensor) -> torch.Tensor:
        scale, zero_point = choose.tensor(x, *bounds, 2.0**-12, dtype)
        stored = OPS.quantize_per_tensor.tensor(x, scale, zero_point, *bounds, dtype)
        return OPS.dequantize_per_tensor.tensor(stored, scale, zero_point, *bounds, dtype)

    x = torch.randn(6, 7, generator=torch.Generator().manual_seed(1))
    model, imported = program_of(compute, (x,))
    assert [f.reason for f in imported.findings] == ["quantization at run time: imported as float arithmetic"]
    np.testing.assert_array_equal(run(imported, (x,))[0], results(model, (x,))[0])


@pytest.mark.parametrize("choose", [OPS.choose_qparams_per_token, OPS.choose_qparams_per_token_asymmetric])
def test_scales_per_token_are_float_arithmetic(choose: Any) -> None:
    def compute(_: Any, x: torch.Tensor) -> torch.Tensor:
        parameters = (*choose(x, torch.int8), -128, 127, torch.int8)
        return OPS.dequantize_per_token(OPS.quantize_per_token(x, *parameters), *parameters, torch.float32)

    model, imported = program_of(compute, (X,))
    assert len(imported.findings) == 3
    np.testing.assert_array_equal(run(imported, (X,))[0], results(model, (X,))[0])


def test_scales_per_group_are_float_arithmetic() -> None:
    x = torch.tensor([[1.0, 1.0, 1.0, 1.0], [1.0, 0.0, -1.0, 2.0]])
    _, imported = program_of(
        lambda m, x: x @ OPS.dequantize_per_channel_group(m.w, m.s, m.z, -8, 7, torch.int8, 2, torch.float32).T,
        (x,),
        w=torch.tensor([[1, 2, -3, 4], [4, -5, 6, 7]], dtype=torch.int8),
        s=torch.tensor([[0.5, 0.25], [1.0, 2.0]]),
        z=torch.zeros(2, 2, dtype=torch.int64),
    )
    assert any("dequantize_per_channel_group" in f.op for f in imported.findings)
    assert run(imported, (x,))[0].tolist() == [[1.75, 25.0], [3.25, 20.0]]


# ---- form


def test_weights_of_products_are_dequantized_constants() -> None:
    """Whatever PyTorch does with the weight: transposed, reversed, broadcast over the batch."""
    for name in ("transposed_2d", "linear_permuted", "linear_3d", "linear_4d", "conv1d"):
        model, inputs = PATTERNS[name]()
        imported = import_program(quantize(model, inputs)[1])
        products = walk(imported.module.operation, *DOT_LIKE)
        assert products, name
        for op in products:
            dequantize = op.operands[1].owner
            assert dequantize.name == "stablehlo.uniform_dequantize", name
            assert stored_constant(dequantize.operands[0]) is not None, name
            assert not walk(
                imported.module.operation, "stablehlo.transpose", "stablehlo.reshape", "stablehlo.reverse"
            ) or (name == "linear_permuted")


@pytest.mark.parametrize("batch", [1, 3])
@pytest.mark.parametrize("name", ["conv", "tokens"])
def test_dynamic_batch(name: str, batch: int) -> None:
    torch.manual_seed(0)
    layers: dict[str, nn.Module]
    if name == "conv":
        layers = {"a": nn.Conv2d(3, 4, 3, padding=1), "b": nn.Conv2d(4, 4, 3, padding=1), "l": nn.Linear(4 * 64, 5)}
        model = Network(lambda m, x: m.l((m.b(torch.relu(m.a(x))) + m.a(x)).flatten(1)), **layers)
        inputs = image()
    else:
        layers = {"a": nn.Linear(8, 8), "n": nn.LayerNorm(8), "b": nn.Linear(8, 4)}
        model = Network(lambda m, x: m.b((m.a(m.n(x)) @ x.transpose(1, 2)).softmax(-1) @ x), **layers)
        inputs = (torch.randn(2, 5, 8),)
    converted, imported = import_dynamic(model, inputs)
    check_form(imported)
    assert not any(t.has_static_shape for t in signature_types(imported))
    assert len(walk(imported.module.operation, "stablehlo.get_dimension_size")) == 1
    x = torch.randn(batch, *inputs[0].shape[1:])
    np.testing.assert_allclose(run(imported, (x,))[0], results(converted, (x,))[0], rtol=0, atol=1e-6)


def import_dynamic(model: nn.Module, inputs: Inputs) -> tuple[nn.Module, ImportedProgram]:
    batch = {0: torch.export.Dim("batch", min=1, max=64)}
    exported = torch.export.export(model.eval(), inputs, dynamic_shapes=((batch,),), strict=False)
    prepared = prepare_pt2e(exported.module(), quantizer("static"))
    prepared(*inputs)
    converted = convert_pt2e(prepared)
    return converted, import_program(torch.export.export(converted, inputs, dynamic_shapes=(batch,), strict=False))


def signature_types(imported: ImportedProgram) -> list[ir.Type]:
    (function,) = walk(imported.module.operation, "func.func")
    signature = function.attributes["function_type"].value
    return [*signature.inputs, *signature.results]


def test_constants_of_every_dtype() -> None:
    floats = (torch.float32, torch.float64, torch.float16, torch.bfloat16)
    integers = (torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.bool)
    buffers = {f"c_{str(dtype)[6:]}": torch.tensor([0, 1, 1], dtype=dtype) for dtype in (*floats, *integers)}
    buffers |= {"scalar": torch.tensor(2.5), "splat": torch.full((40, 40), 7), "empty": torch.zeros(0, 3)}
    model, imported = program_of(lambda m, x: (x, *(getattr(m, name) for name in buffers)), (X,), **buffers)
    check_form(imported)
    for got, want in zip(run(imported, (X,)), results(model, (X,)), strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


def test_unused_float_parameters_are_not_imported() -> None:
    model, inputs = PATTERNS["linear"]()
    _, program = quantize(model, inputs)
    assert any(value.dtype == torch.float32 and value.ndim == 2 for value in program.state_dict.values())
    imported = import_program(program)
    constants = walk(imported.module.operation, "stablehlo.constant")
    assert [op for op in constants if len(op.results[0].type.shape) == 2 and uniform_type(op.results[0]) is None] == []


def test_locations_tell_module_path_and_line() -> None:
    model = nn.Sequential()
    model.add_module("stem", nn.Sequential(nn.Conv2d(3, 4, 1)))
    model.add_module("head", nn.Sequential(nn.Conv2d(4, 2, 1), nn.ReLU()))
    imported = import_program(quantize(model, image())[1])
    convolutions = walk(imported.module.operation, "stablehlo.convolution")
    assert [module_path(op.location) for op in convolutions] == ["stem.0", "head.0"]
    quantizes = walk(imported.module.operation, "stablehlo.uniform_quantize")
    assert [module_path(op.location) for op in quantizes] == ["", "stem.0", "head.1"]
    network = Network(lambda m, x: m.c(x), c=nn.Conv2d(3, 4, 1))
    imported = import_program(quantize(network, image())[1])
    (convolution,) = walk(imported.module.operation, "stablehlo.convolution")
    assert describe(convolution.location).startswith(f"{ZOO}:")


def test_quantized_tensors_have_the_names_of_their_nodes() -> None:
    _, program = quantize(Network(lambda m, x: m.c(x), c=nn.Conv2d(3, 4, 3)), image())
    nodes = [node for node in program.graph.nodes if node.target is OPS.quantize_per_tensor.default]
    for index, node in enumerate(nodes):
        node.name = f"tensor_{index}"
    module = copy_module(import_program(program).module)
    found = [op.location for op in walk(module.operation, "stablehlo.uniform_quantize")]
    assert [tensor_name(location) for location in found] == [node.name for node in nodes]
    assert ZOO.name in describe(found[-1])


def test_arguments_keep_their_names() -> None:
    class Model(nn.Module):
        def forward(self, pixels: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
            return pixels * mask

    imported = import_program(torch.export.export(Model(), (X, X)))
    (function,) = walk(imported.module.operation, "func.func")
    names = [argument.location.name_str for argument in function.regions[0].blocks[0].arguments]
    assert names == ["pixels", "mask"]


def test_integer_inputs_dictionaries_and_keyword_arguments() -> None:
    class Model(nn.Module):
        def forward(self, x: torch.Tensor, k: torch.Tensor, *, factor: int = 2) -> dict[str, torch.Tensor]:
            return {"sum": x * factor + k, "k": k}

    inputs = (X, torch.arange(4))
    imported = import_program(torch.export.export(Model(), inputs, {"factor": 3}))
    got = run(imported, inputs)
    np.testing.assert_array_equal(got[0], (X * 3 + torch.arange(4)).numpy())
    np.testing.assert_array_equal(got[1], np.arange(4))


def test_the_program_is_left_as_it_was() -> None:
    model, inputs = PATTERNS["residual"]()
    _, program = quantize(model, inputs)
    before = str(program.graph)
    first = str(import_program(program).module)
    assert str(program.graph) == before
    assert str(import_program(program).module) == first


# ---- findings


def test_float_program_is_reported() -> None:
    imported = import_program(torch.export.export(nn.Linear(4, 2), (X,)))
    (finding,) = imported.findings
    assert "pt2e" in finding.reason and "quantize_" in finding.remedy


def test_float_call_in_a_quantized_program_is_reported() -> None:
    model, inputs = PATTERNS["conv_called_twice"]()
    imported = import_program(quantize(model, inputs)[1])
    assert [f.op for f in imported.findings] == ["aten.conv2d.default"]


def test_dropped_outputs_are_reported() -> None:
    class Counter(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

        def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, None, int]:
            self.calls += 1
            return x + self.calls, None, 3

    imported = import_program(torch.export.export(Counter(), (X,)))
    assert [f.op for f in imported.findings] == ["main", "calls", "output 2", "output 3"]
    np.testing.assert_array_equal(run(imported, (X,))[0], (X + 1).numpy())


# ---- refusals


def test_all_ops_without_lowering_in_one_report() -> None:
    def compute(_: Any, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return torch.special.i0(x), torch.relu(x), torch.igamma(x.abs(), x.abs())

    with pytest.raises(UnsupportedError) as caught:
        program_of(compute, (X,))
    assert [f.op for f in caught.value.findings] == ["aten.i0", "aten.igamma"]
    assert all(f.location.startswith(f"{ZOO}:") for f in caught.value.findings)


def test_all_parameters_without_a_type_in_one_report() -> None:
    def compute(m: Any, x: torch.Tensor) -> torch.Tensor:
        y = x @ OPS.dequantize_per_channel(m.w, m.one, None, 0, -127, 127, torch.int8)
        y = y + OPS.dequantize_per_channel(m.w, m.s, m.halves, 0, -127, 127, torch.int8)[:3]
        return y * quantize_dequantize(y, 0.5, 300, -128, 127, torch.int8)

    with pytest.raises(UnsupportedError) as caught:
        program_of(
            compute,
            (X,),
            w=torch.ones(4, 3, dtype=torch.int8),
            one=torch.ones(1),
            s=torch.ones(4),
            halves=torch.full((4,), 0.5),
        )
    reasons = [f.reason for f in caught.value.findings]
    assert reasons[0] == "dimension 0 has 4 channels but 1 scales"
    assert reasons[1] == "zero points must be integers, got float32"
    assert reasons[2:] == ["zero point must lie in [-128, 127], got 300"] * 2
    assert "calibration" in caught.value.findings[0].remedy


def test_control_flow_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="cond: control flow"):
        program_of(lambda _, x: torch.cond(x.sum() > 0, lambda x: x + 1, lambda x: x - 1, (x,)), (X,))


def test_written_input_is_refused() -> None:
    with pytest.raises(UnsupportedError, match="writes to its input"):
        program_of(lambda _, x: x.add_(1) * 2, (X.clone(),))


def test_complex_numbers_are_refused() -> None:
    with pytest.raises(UnsupportedError, match="complex64"):
        program_of(lambda _, x: torch.fft.fft(x).real, (X,))


def test_trained_but_never_converted() -> None:
    with pytest.raises(InputError, match=r"1 fake-quantize ops.*never converted; call convert_pt2e"):
        program_of(lambda _, x: torch.fake_quantize_per_tensor_affine(x, 0.1, 0, -128, 127), (X,))


def test_prepared_but_never_converted() -> None:
    model = Network(lambda m, x: x + m.activation_post_process_0[0])
    model.activation_post_process_0 = nn.ParameterList([torch.ones(4)])
    with pytest.raises(InputError, match="never converted"):
        import_program(torch.export.export(model, (X,)))


# ---- files


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pt2") / "linear.pt2"
    model, inputs = PATTERNS["linear"]()
    torch.export.save(quantize(model, inputs)[1], path)
    return path


def test_saved_program_loads_and_imports(saved: Path) -> None:
    assert len(uniform_types(import_program(load_program(saved)))) == 3


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda path, _: None, "no such file"),
        (lambda path, _: path.mkdir(), "not a file"),
        (lambda path, _: path.touch(), "the file is empty"),
        (lambda path, _: path.write_text("module {}"), "no zip archive, or cut short"),
        (lambda path, saved: path.write_bytes(saved.read_bytes()[:4000]), "no zip archive, or cut short"),
        (lambda path, _: torch.save({"w": torch.ones(2)}, path), "a torch.save file"),
        (lambda path, _: torch.jit.script(nn.Linear(2, 2)).save(str(path)), "a TorchScript file"),
        (lambda path, _: zipfile.ZipFile(path, "w").writestr("a/b", "c"), "a zip"),
    ],
    ids=["missing", "directory", "empty", "text", "cut", "torch.save", "TorchScript", "zip"],
)
def test_files_that_are_no_programs(
    make: Callable[[Path, Path], None], message: str, saved: Path, tmp_path: Path
) -> None:
    path = tmp_path / "model.pt2"
    make(path, saved)
    with pytest.raises(InputError, match=message) as caught:
        load_program(path)
    assert str(caught.value).startswith(str(path)) and "\n" not in str(caught.value)


def test_damaged_archive(saved: Path, tmp_path: Path) -> None:
    path = tmp_path / "model.pt2"
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(path, "w") as new:
        for name in old.namelist():
            new.writestr(name, b"{" if name.endswith(".json") else old.read(name))
    with pytest.raises(InputError, match=r"torch\.export\.load failed"):
        load_program(path)
    shutil.copy(saved, path)
    content = bytearray(path.read_bytes())
    content[len(content) // 3 : len(content) // 2] = bytes(len(content) // 2 - len(content) // 3)
    path.write_bytes(content)
    with pytest.raises(InputError):
        load_program(path)
