"""Engine `xnnpack`: executorch in a process of its own; every failure is a status with its reason."""

from __future__ import annotations

import importlib.util
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from qdq_programs import INT8, conv_relu, export, qdq, quantize
from torch.nn.functional import conv2d, max_pool2d

from shlo_quant.engines.torch_qdq import TorchEngine
from shlo_quant.engines.xnnpack import XnnpackEngine
from shlo_quant.passes.errors import EngineError, InputError, MissingExtraError

IMAGE = torch.linspace(-3, 3, 3 * 8 * 8).reshape(1, 3, 8, 8)
UINT8 = (0, 255, torch.uint8)


@pytest.fixture(scope="module")
def engine() -> Iterator[XnnpackEngine]:
    with XnnpackEngine() as engine:
        yield engine


def test_outputs_and_tensors_of_a_program_and_others_beside_it(engine: XnnpackEngine) -> None:
    program = export(conv_relu, IMAGE)
    names = ["quantize_per_tensor_1", "quantize_per_tensor"]
    first, second = engine.start(program), engine.start(program, names)
    whole, seen = first.result(), second.result()
    assert whole.delegates == 1 and whole.not_delegated == () and whole.lowering_seconds > 0
    expected = TorchEngine().compile(program, names).run([IMAGE.numpy()])
    results = seen.run([IMAGE.numpy()])
    assert list(results.tensors) == names
    for name in names:  # scales and sums are far from ties here, so PyTorch's integers are the same
        np.testing.assert_array_equal(results.tensors[name], expected.tensors[name])
    np.testing.assert_array_equal(whole.run([IMAGE.numpy()]).outputs[0], results.outputs[0])
    assert len(whole.time([IMAGE.numpy()], 3)) == 3 and len(whole.run_seconds) == 4
    assert len(program.graph_signature.output_specs) == 1, "the program itself is left as it is"


def test_a_program_from_a_file_that_returns_integers(engine: XnnpackEngine, tmp_path: Path) -> None:
    path = tmp_path / "program.pt2"
    torch.export.save(export(lambda x: quantize(torch.relu(qdq(x, 0.03, 3)), 0.03, 3), IMAGE), path)
    results = engine.compile(path, ["quantize_per_tensor_1"]).run([IMAGE.numpy()])
    assert results.outputs[0].dtype == np.int8
    np.testing.assert_array_equal(results.outputs[0], results.tensors["quantize_per_tensor_1"])


def test_what_is_not_delegated_is_told(engine: XnnpackEngine) -> None:
    def softmax_of_channels(x: torch.Tensor) -> Any:
        return qdq(torch.softmax(conv_relu(x), 1), 1 / 256, -128)

    executable = engine.compile(export(softmax_of_channels, IMAGE))
    assert executable.delegates == 2
    (finding,) = executable.not_delegated
    assert finding.op == "aten._softmax.default"


@pytest.mark.parametrize(
    ("function", "reason"),
    [
        (lambda x: qdq(max_pool2d(qdq(x, 0.02, 1), 2), 0.05, 3), r"does not load: .*Failed to create maxpool2d node"),
        (
            lambda x: conv_relu(x, UINT8),
            r"activations are int8 .*, quantize_per_tensor has uint8 in \[0, 255\]",
        ),
        (lambda x: qdq(x, 0.5, 0, (-8, 7, torch.int8)), r"quantize_per_tensor has int8 in \[-8, 7\]"),
        (lambda x: torch.cumsum(x, 1), r"no op of the program can be delegated, the first being .*cumsum"),
    ],
)
def test_refusals_have_a_reason(engine: XnnpackEngine, function: Any, reason: str) -> None:
    with pytest.raises(EngineError, match=reason):
        engine.compile(export(function, IMAGE))


def test_a_failing_lowering(engine: XnnpackEngine) -> None:
    def conv_of_int16(x: torch.Tensor) -> Any:
        kernel = torch.ops.quantized_decomposed.dequantize_per_tensor(WIDE_KERNEL, 0.1, 0, -32768, 32767, torch.int16)
        return qdq(conv2d(qdq(x, 0.03, 3), kernel), 0.1, 0)

    with pytest.raises(EngineError, match=r"lowering failed: .*Unsupported dtype for quantization"):
        engine.compile(export(conv_of_int16, IMAGE))


WIDE_KERNEL = torch.ones(4, 3, 3, 3, dtype=torch.int16)


def test_dynamic_tensors_cannot_be_seen(engine: XnnpackEngine) -> None:
    def dynamic(x: torch.Tensor) -> Any:
        operations = torch.ops.quantized_decomposed
        scale, zero_point = operations.choose_qparams.tensor(x, *INT8[:2], 1e-5, torch.int8)
        stored = operations.quantize_per_tensor.tensor(x, scale, zero_point, *INT8)
        return operations.dequantize_per_tensor.tensor(stored, scale, zero_point, *INT8)

    with pytest.raises(EngineError, match="integers of quantize_per_tensor cannot be returned"):
        engine.compile(export(dynamic, IMAGE), ["quantize_per_tensor"])


def test_input_errors(engine: XnnpackEngine, tmp_path: Path) -> None:
    program = export(conv_relu, IMAGE)
    with pytest.raises(InputError, match="no quantize node named nowhere"):
        engine.compile(program, ["nowhere"])
    with pytest.raises(InputError, match=r"input 0 must be float32\[1, 3, 8, 8\], got float32\[3\]"):
        engine.compile(program).run([np.zeros(3, np.float32)])
    (tmp_path / "text.pt2").write_text("not a program")
    with pytest.raises(InputError, match=r"text\.pt2: not a \.pt2 file"):
        engine.compile(tmp_path / "text.pt2")


def test_the_death_of_the_worker_is_an_error_and_the_next_program_gets_a_new_one() -> None:
    program = export(lambda x: qdq(x, 0.03, 3), IMAGE)
    with XnnpackEngine() as engine:
        executable = engine.compile(program)
        os.kill(engine._worker._process.pid, signal.SIGKILL)
        with pytest.raises(EngineError, match=r"its process crashed \(SIGKILL\)"):
            executable.run([IMAGE.numpy()])
        assert engine.compile(program).run([IMAGE.numpy()]).outputs[0].shape == IMAGE.shape
    with pytest.raises(EngineError, match="the engine is closed"):
        executable.run([IMAGE.numpy()])


def test_the_time_limit() -> None:
    with XnnpackEngine(limit_seconds=0.01) as engine, pytest.raises(EngineError, match="time limit"):
        engine.compile(export(conv_relu, IMAGE))


def test_the_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match=r"pip install 'shlo-quant\[xnnpack\]'"):
        XnnpackEngine()


def test_what_is_left_out_of_executorch_changes_nothing() -> None:
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
    from executorch.exir import to_edge_transform_and_lower

    from shlo_quant.engines.xnnpack_lowering import lower

    program = export(conv_relu, IMAGE)
    plain = to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()]).to_executorch().buffer
    assert lower(export(conv_relu, IMAGE)).buffer == plain


def test_tensors_that_are_copies_of_others(engine: XnnpackEngine) -> None:
    def twice(x: torch.Tensor) -> Any:
        stored = quantize(torch.dropout(conv_relu(x), 0.1, False), 0.05, -128)
        dequantize = torch.ops.quantized_decomposed.dequantize_per_tensor
        one, other = (dequantize(stored, 0.05, -128, *INT8) for _ in range(2))  # as pt2e does it: one for each user
        outside = qdq(torch.softmax(one, 1), 1 / 256, -128)
        return qdq(torch.add(other, outside), 0.05, -128)  # in another delegate than the convolution

    names = [f"quantize_per_tensor{suffix}" for suffix in ("_1", "_2", "_3")]
    tensors = engine.compile(export(twice, IMAGE), names).run([IMAGE.numpy()]).tensors
    assert list(tensors) == names
    np.testing.assert_array_equal(tensors["quantize_per_tensor_1"], tensors["quantize_per_tensor_2"])
