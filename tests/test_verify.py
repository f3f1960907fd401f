"""Verification: engines that agree, one that is sabotaged at an op, engines that are missing or fail."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch_mlir import ir

import shlo_quant.engines.xnnpack
import shlo_quant.verify
from shlo_quant.cli.main import main
from shlo_quant.engines.fast import FastEngine, FastExecutable
from shlo_quant.engines.reference import ReferenceEngine
from shlo_quant.engines.torch_qdq import TorchEngine
from shlo_quant.importers.pt2e import import_program
from shlo_quant.passes.dialects.context import new_context
from shlo_quant.passes.dialects.modules import copy_module
from shlo_quant.passes.dialects.stablehlo import i64s
from shlo_quant.passes.errors import EngineError, InputError, MissingExtraError
from shlo_quant.passes.rewrite import walk
from shlo_quant.random_inputs import random_inputs
from shlo_quant.verify import Options, Program, Verification, verify
from tests.qdq_programs import conv_relu, export, qdq

IMAGE = torch.zeros(1, 3, 6, 6)

CONVOLUTION = """
  %w{n} = stablehlo.constant() <{{value = dense<[[[[1, -2, 3], [4, 5, -6], [7, 8, 9]]]]> : tensor<1x1x3x3xi8>}}>
    : () -> tensor<1x1x3x3x!w>
  %wd{n} = stablehlo.uniform_dequantize %w{n} : (tensor<1x1x3x3x!w>) -> tensor<1x1x3x3xf32>
  %d{n} = stablehlo.uniform_dequantize %q{n} : (tensor<1x1x6x6x!q>) -> tensor<1x1x6x6xf32>
  %c{n} = stablehlo.convolution(%d{n}, %wd{n}) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {{pad = [[1, 1], [1, 1]]}} {{batch_group_count = 1 : i64, feature_group_count = 1 : i64}}
    : (tensor<1x1x6x6xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x6x6xf32>
  %q{next} = stablehlo.uniform_quantize %c{n} : (tensor<1x1x6x6xf32>) -> tensor<1x1x6x6x!q>"""
TWO_CONVOLUTIONS = f"""
!q = !quant.uniform<i8:f32, 5.000000e-02:3>
!w = !quant.uniform<i8:f32, 2.000000e-02>
func.func @main(%x: tensor<1x1x6x6xf32>) -> tensor<1x1x6x6x!q> {{
  %q0 = stablehlo.uniform_quantize %x : (tensor<1x1x6x6xf32>) -> tensor<1x1x6x6x!q>
  {CONVOLUTION.format(n=0, next=1)}
  {CONVOLUTION.format(n=1, next=2)}
  return %q2 : tensor<1x1x6x6x!q>
}}"""


class SabotagedEngine:
    """Shifts the padding of the last convolution from one edge to the other."""

    name = "fast"

    def compile(self, module: ir.Module) -> FastExecutable:
        program = copy_module(module)
        with program.context:
            last = walk(program.operation, "stablehlo.pad")[-1]
            last.attributes["edge_padding_low"], last.attributes["edge_padding_high"] = (
                i64s([0, 0, 0, 1]),
                i64s([0, 0, 2, 1]),
            )
        return FastEngine().compile(program)


@pytest.fixture
def two_convolutions() -> Program:
    return Program("two convolutions", ir.Module.parse(TWO_CONVOLUTIONS, new_context()))


def pytorch_program(function: Any) -> Program:
    source = export(function, IMAGE)
    return Program("program", import_program(source).module, source)


def run(program: Program, engines: Sequence[str] = shlo_quant.verify.ENGINES, budget: float = 10.0) -> Verification:
    batches = [random_inputs(program.qdq, seed) for seed in range(2)]
    return verify(program, batches, Options(engines, budget=budget, workers=2))


def promised(found: Verification) -> list[bool | None]:
    return [promise.holds for promise in found.promises]


def test_engines_agree() -> None:
    found = run(pytorch_program(conv_relu))
    assert [(engine.name, engine.status) for engine in found.engines] == [
        (name, "ran") for name in ("reference", "xnnpack", "torch", "fast")
    ]
    assert promised(found) == [True, True, True]
    assert [(tensor.name, tensor.operands) for tensor in found.tensors] == [
        ("quantize_per_tensor", ()),
        ("quantize_per_tensor_1", ("quantize_per_tensor",)),
    ]
    judgement = found.judgement
    assert judgement is not None
    assert judgement.judged == {"output 0", "quantize_per_tensor", "quantize_per_tensor_1"}
    assert judgement.judged_kinds == judgement.op_kinds
    assert (judgement.mismatches, judgement.not_judged) == (0, {})
    assert (found.operands_from, len(found.whole), len(found.op_by_op)) == ("xnnpack", 6, 2)


def test_float_island_ends_what_is_promised_from_the_inputs_on() -> None:
    program = pytorch_program(lambda x: conv_relu(qdq(torch.softmax(qdq(x, 0.02, 0), 1), 1 / 256, -128)))
    found = run(program, ("torch", "fast"))
    flags = {tensor.name: (tensor.in_integers, tensor.before_islands) for tensor in found.tensors}
    assert list(flags.values()) == [(True, True), (False, False), (True, False), (True, False)]
    assert promised(found) == [None, None, None] and found.operands_from == "fast"


def test_what_xnnpack_computes_wrongly_is_named_and_promised_to_nobody() -> None:
    def clamped_pool(x: torch.Tensor) -> Any:
        pooled = qdq(torch.nn.functional.max_pool2d(qdq(x, 0.02, 0), 2), 0.02, 0)
        return qdq(torch.clamp(pooled, 0.1, 1.0), 0.01, -128)

    found = run(pytorch_program(clamped_pool), ("fast",))
    assert [tensor.wrong_in_xnnpack for tensor in found.tensors] == [False, False, True]
    assert not found.tensors[-1].before_islands
    (finding,) = found.rewrites
    assert "max pool" in finding.reason


@pytest.mark.parametrize("whole", [True, False])
def test_sabotaged_op_is_found(two_convolutions: Program, monkeypatch: pytest.MonkeyPatch, whole: bool) -> None:
    monkeypatch.setattr(shlo_quant.verify, "FastEngine", SabotagedEngine)
    monkeypatch.setattr(shlo_quant.verify, "WHOLE_SHARE", 1.0 if whole else 0.0)
    found = run(two_convolutions, ("reference", "fast"))
    assert not found.is_right
    assert promised(found) == [False, None, None]
    judgement = found.judgement
    assert judgement is not None
    wrong = [crop for crop in judgement.crops if crop.mismatches]
    assert {crop.result for crop in wrong} == {"tensor 2"}
    sample = wrong[0].sample
    assert sample is not None and sample.expected != sample.found
    if whole:
        (divergence,) = found.divergences
        assert (divergence.expected, divergence.found, divergence.op_by_op) == ("reference", "fast", False)
        assert (divergence.tensor.name, divergence.tensor.ops) == ("tensor 2", ("convolution",))
        assert divergence.tensor.operands == ("tensor 1",)
        assert divergence.samples[0].operands[0].startswith("tensor 1: [")
    else:
        assert found.divergences == () and "judges boxes" in found.engines[0].reason


def test_missing_and_failing_engines_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise MissingExtraError("engine xnnpack", "executorch", "xnnpack")

    def failing(*_: object) -> None:
        raise EngineError("torch: no kernel")

    program = pytorch_program(conv_relu)
    monkeypatch.setattr(shlo_quant.engines.xnnpack, "XnnpackEngine", missing)
    monkeypatch.setattr(TorchEngine, "compile", failing)
    found = run(program)
    statuses = {engine.name: (engine.status, engine.reason) for engine in found.engines}
    assert statuses["xnnpack"][0] == "left out" and "pip install 'shlo-quant[xnnpack]'" in statuses["xnnpack"][1]
    assert statuses["torch"] == ("failed", "torch: no kernel")
    assert promised(found) == [True, None, None] and found.is_right


def test_interpreter_that_dies_is_told_for_the_box_alone(
    two_convolutions: Program, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled = ReferenceEngine.compile

    def dying(engine: ReferenceEngine, module: ir.Module) -> Any:
        if walk(module.operation, "stablehlo.pad"):
            raise EngineError("refused")
        return compiled(engine, module)

    monkeypatch.setattr(ReferenceEngine, "compile", dying)
    monkeypatch.setattr(shlo_quant.verify, "WHOLE_SHARE", 0.0)
    judgement = run(two_convolutions, ("reference", "fast")).judgement
    assert judgement is not None and judgement.judged == {"output 0", "tensor 0"}
    assert judgement.not_judged == dict.fromkeys(("tensor 1", "tensor 2"), "refused")


def test_wrong_options_are_refused(two_convolutions: Program) -> None:
    with pytest.raises(InputError, match="no engine 'slow'"):
        run(two_convolutions, ("slow",))
    with pytest.raises(InputError, match="no inputs"):
        verify(two_convolutions, [])
    with pytest.raises(InputError, match="takes 1 input, got 0"):
        verify(two_convolutions, [[]], Options(("reference", "fast")))


# ---- command


def test_command_shows_tables_of_100_columns(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "two.mlir"
    path.write_text(TWO_CONVOLUTIONS)
    assert main(["verify", str(path), "--batches", "2", "--budget", "5"]) == 0
    text = capsys.readouterr().out
    assert "fast equals the StableHLO reference" in text and "what must be equal is equal" in text
    assert "left out: it runs PyTorch programs" in text
    assert max(map(len, text.splitlines())) <= 100


def test_sizes_of_dynamic_dimensions_are_no_floats() -> None:
    bias = torch.arange(4) / 4
    source = export(lambda x: conv_relu(x, bias=bias), torch.zeros(2, 3, 6, 6), is_batch_dynamic=True)
    program = Program("program", import_program(source).module, source)
    image = np.linspace(-6, 6, 5 * 3 * 36, dtype=np.float32).reshape(5, 3, 6, 6)
    found = verify(program, [[image]], Options(engines=("reference", "fast"), budget=5))
    assert found.is_right
    assert [(tensor.in_integers, tensor.before_islands) for tensor in found.tensors] == [(True, True)] * 2


@pytest.mark.parametrize("words", [["--budget", "nan"], ["--budget", "inf"], ["--batches", "0"], ["--random", "-1"]])
def test_numbers_out_of_range_are_2(words: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "two.mlir"
    path.write_text(TWO_CONVOLUTIONS)
    assert main(["verify", str(path), "--engines", "fast", *words]) == 2
    assert "at least" in capsys.readouterr().err


def test_command_gives_json_and_1_for_a_difference(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path, inputs = tmp_path / "two.mlir", tmp_path / "inputs.npz"
    path.write_text(TWO_CONVOLUTIONS)
    np.savez(inputs, arg0=np.linspace(-6, 6, 36, dtype=np.float32).reshape(1, 1, 6, 6))
    monkeypatch.setattr(shlo_quant.verify, "FastEngine", SabotagedEngine)
    words = ["verify", str(path), "--inputs", str(inputs), "--engines", "reference,fast", "--json"]
    assert main(words) == 1
    data = json.loads(capsys.readouterr().out)
    assert data["promises"][0]["holds"] is False
    assert data["divergences"][0]["tensor"]["name"] == "tensor 2"
    assert main([*words, "--engines", "other"]) == 2
