"""Engine `torch`: programs run as PyTorch runs them, and any quantized tensor can be seen."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
import torch
from qdq_programs import conv_relu, export, qdq

from shlo_quant.engines.torch_qdq import TorchEngine
from shlo_quant.passes.errors import InputError

IMAGE = torch.linspace(-3, 3, 3 * 8 * 8).reshape(1, 3, 8, 8)


def test_outputs_are_those_of_the_module() -> None:
    program = export(conv_relu, IMAGE)
    results = TorchEngine().compile(program).run([IMAGE.numpy()])
    assert len(results.outputs) == 1 and results.tensors == {}
    np.testing.assert_array_equal(results.outputs[0], program.module()(IMAGE).numpy())


def test_tensors_come_as_integers_in_the_order_asked_for() -> None:
    program = export(conv_relu, IMAGE)
    names = ["quantize_per_tensor_1", "quantize_per_tensor"]
    tensors = TorchEngine().compile(program, names).run([IMAGE.numpy()]).tensors
    assert list(tensors) == names
    expected = np.clip(np.rint(IMAGE.numpy() * np.float32(1 / 0.03)) + 3, -128, 127)
    np.testing.assert_array_equal(tensors["quantize_per_tensor"], expected.astype(np.int8))
    assert tensors["quantize_per_tensor_1"].dtype == np.int8


def test_a_program_from_a_file(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("torch") / "program.pt2"
    torch.export.save(export(conv_relu, IMAGE), path)
    assert TorchEngine().compile(path).run([IMAGE.numpy()]).outputs[0].shape == (1, 4, 6, 6)


def test_bfloat16() -> None:
    def double(x: torch.Tensor) -> torch.Tensor:
        return x + x

    value = np.array([1.5, -2.25], ml_dtypes.bfloat16)
    program = export(double, torch.zeros(2, dtype=torch.bfloat16))
    (output,) = TorchEngine().compile(program).run([value]).outputs
    assert output.dtype == ml_dtypes.bfloat16
    np.testing.assert_array_equal(output, value + value)


def test_refusals() -> None:
    program = export(lambda x: qdq(x, 0.5, 0), IMAGE)
    with pytest.raises(InputError, match="no quantize node named quantize_per_tensor_7"):
        TorchEngine().compile(program, ["quantize_per_tensor_7"])
    executable = TorchEngine().compile(program)
    with pytest.raises(InputError, match="takes 1 input, got 0"):
        executable.run([])
    with pytest.raises(InputError, match=r"input 0 must be float32\[1, 3, 8, 8\], got float32\[1, 3, 8\]"):
        executable.run([np.zeros((1, 3, 8), np.float32)])
    with pytest.raises(InputError, match=r"input 0 must be float32\[1, 3, 8, 8\], got int8"):
        executable.run([np.zeros((1, 3, 8, 8), np.int8)])
    with pytest.raises(InputError, match=r"input 0 must be float32\[1, 3, 8, 8\], got an array of <U1"):
        executable.run([np.full((1, 3, 8, 8), "x")])
