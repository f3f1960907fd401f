"""`shlo-quant lower` and `inspect`: what they write, what they say, and how they refuse."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from torch import nn

from shlo_quant.cli.main import main
from shlo_quant.files import read_program
from shlo_quant.passes.dialects.context import new_context
from shlo_quant.passes.dialects.quant import is_quantized
from shlo_quant.passes.rewrite import walk
from shlo_quant.pt2e.ptq import quantize_ptq
from shlo_quant.pt2e.quantizers import xnnpack_quantizer

pytestmark = pytest.mark.filterwarnings("ignore")  # torch and torchao warn of themselves

FORMATS = ("text", "bytecode", "portable", "portable@1.0.0")


class Softened(nn.Module):
    """Two linear layers with a softmax, a float island, between them."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(8, 8)
        self.last = nn.Linear(8, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.last(torch.softmax(self.first(x), -1))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.manual_seed(0)
    example = (torch.randn(2, 8),)
    program = quantize_ptq(Softened().eval(), example, [example], xnnpack_quantizer())
    path = tmp_path_factory.mktemp("models") / "softened.pt2"
    torch.export.save(program, path)
    return path


@pytest.fixture(scope="module")
def float_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "float.pt2"
    torch.export.save(torch.export.export(nn.Linear(2, 2), (torch.randn(1, 2),)), path)
    return path


@pytest.mark.parametrize("form", ["qdq", "quantized", "integer"])
def test_every_form_is_written_and_reads_back(
    form: str, model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for kind in FORMATS:
        output = tmp_path / f"{form}.{kind}"
        assert main(["lower", str(model), "--to", form, "--format", kind, "-o", str(output)]) == 0
        module = read_program(output, new_context())
        values = [v for op in walk(module.operation) for v in (*op.operands, *op.results)]
        assert any(map(is_quantized, values)) == (form != "integer")
        assert len(walk(module.operation, "stablehlo.dot_general")) == 2
    assert capsys.readouterr().err == ""


def test_a_form_can_be_lowered_further(model: Path, tmp_path: Path) -> None:
    qdq, from_qdq, at_once = (tmp_path / name for name in ("qdq", "from_qdq", "at_once"))
    assert main(["lower", str(model), "--to", "qdq", "-o", str(qdq)]) == 0
    assert main(["lower", str(qdq), "--to", "integer", "-o", str(from_qdq)]) == 0
    assert main(["lower", str(model), "--to", "integer", "-o", str(at_once)]) == 0
    assert from_qdq.read_text() == at_once.read_text()


def test_the_quantized_form_can_be_written_out_and_the_integer_form_is_refused(
    model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    quantized, qdq, integer = (tmp_path / name for name in ("quantized", "qdq", "integer"))
    assert main(["lower", str(model), "-o", str(quantized)]) == 0
    assert main(["lower", str(quantized), "--to", "qdq", "-o", str(qdq)]) == 0
    dots = walk(read_program(qdq, new_context()).operation, "stablehlo.dot_general")
    assert len(dots) == 2
    assert "nothing to lower" not in capsys.readouterr().err
    assert main(["lower", str(quantized), "--to", "integer", "-o", str(integer)]) == 0
    assert main(["lower", str(integer), "--to", "qdq"]) == 2
    assert "no quantized type in it" in capsys.readouterr().err


def test_the_same_input_gives_the_same_file(model: Path, tmp_path: Path) -> None:
    files = [tmp_path / str(i) for i in range(2)]
    for file in files:
        assert main(["lower", str(model), "--format", "bytecode", "-o", str(file)]) == 0
    assert files[0].read_bytes() == files[1].read_bytes()


def test_inspect_counts_native_ops_and_names_islands(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(model), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["quantized_pairs"] == {"native": 2, "all": 2}
    assert found["multiply_adds"] == {"native": 2 * 8 * 8 + 2 * 8 * 4, "all": 2 * 8 * 8 + 2 * 8 * 4}
    (island,) = found["islands"]
    assert island["ops"]["exponential"] == 1
    assert "test_cli_lower.py" in island["location"]
    assert main(["inspect", str(model), "--islands"]) == 0
    table = capsys.readouterr().out
    assert "2 of 2" in table and "exponential" in table


@pytest.mark.parametrize("command", ["lower", "inspect"])
def test_a_float_model_is_refused(command: str, float_model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, str(float_model)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "not a quantized model" in captured.err and "quantize_()" in captured.err and "pt2e" in captured.err


@pytest.mark.parametrize("content", [b"", b"no archive", b"PK\x03\x04 cut short"])
def test_other_files_are_refused(content: bytes, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, output = tmp_path / "model.pt2", tmp_path / "out.mlir"
    path.write_bytes(content)
    assert main(["lower", str(path), "-o", str(output)]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"shlo-quant: error: {path}")
    assert not output.exists()
