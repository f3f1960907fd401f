"""`shlo-quant`: exit codes, messages and output of the command frame, `run` and `golden`."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from shlo_quant.cli import main as cli
from shlo_quant.cli import run as run_command
from shlo_quant.cli.main import COMMANDS, main
from shlo_quant.cli.terminal import Table, show

ADD = """!q = !quant.uniform<u8:f32, 0.5:3>
func.func @main(%x: tensor<2x!q>, %y: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xi1>) {
  %0 = stablehlo.uniform_dequantize %x : (tensor<2x!q>) -> tensor<2xf32>
  %1 = stablehlo.add %0, %y : tensor<2xf32>
  %2 = stablehlo.compare GT, %0, %y : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return %1, %2 : tensor<2xf32>, tensor<2xi1>
}
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "add.mlir"
    path.write_text(ADD)
    return str(path)


def test_help_lists_every_command_and_version_is_the_projects(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert end.value.code == 0
    text = capsys.readouterr().out
    assert all(f"    {name}" in text for name in COMMANDS)
    with pytest.raises(SystemExit):
        main(["--version"])
    assert capsys.readouterr().out == "shlo-quant 0.1.0\n"


@pytest.mark.parametrize("words", [[], ["no-such-command"], ["run"], ["run", "x", "--engine", "none"], ["golden"]])
def test_wrong_usage_is_2(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    assert "usage: shlo-quant" in capsys.readouterr().err


def test_bad_input_is_2_and_one_message(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "missing.mlir"]) == 2
    assert capsys.readouterr().err == "shlo-quant: error: missing.mlir: no such file or directory\n"


def test_an_interrupt_is_130(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(run_command, "run", interrupted)
    assert cli.main(["run", "program.mlir"]) == 130


@pytest.mark.parametrize("engine", ["fast", "reference"])
def test_run_reads_inputs_and_writes_results(
    engine: str, program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs, outputs = tmp_path / "in.npz", tmp_path / "out.npz"
    np.savez(inputs, arg1=np.float32([1, 200]), arg0=np.uint8([3, 255]))
    files = ["--inputs", str(inputs), "-o", str(outputs)]
    assert main(["run", program, "--engine", engine, *files, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [(row["output"], row["type"], row["min"], row["max"]) for row in rows] == [
        (0, "tensor<2xf32>", 1.0, 326.0),
        (1, "tensor<2xi1>", False, False),
    ]
    with np.load(outputs) as results:
        assert results["out0"].tolist() == [1.0, 326.0]
        assert results["out1"].tolist() == [False, False]


def test_run_makes_inputs_and_shows_a_table(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", program, "--random", "3"]) == 0
    first = capsys.readouterr().out
    assert "tensor<2xf32>" in first
    assert main(["run", program, "--random", "3"]) == 0
    assert capsys.readouterr().out == first


def test_run_refuses_a_negative_seed(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", program, "--random", "-1"]) == 2
    assert "a seed is at least 0, got -1" in capsys.readouterr().err


def test_run_tells_what_inputs_are_missing(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", program]) == 2
    assert "takes 2 inputs, got 0" in capsys.readouterr().err


def test_run_refuses_an_arithmetic_that_the_engine_does_not_have(
    program: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["run", program, "--arithmetic", "xnnpack"]) == 2
    assert "--engine reference has --arithmetic spec or upstream, got 'xnnpack'" in capsys.readouterr().err
    assert main(["run", program, "--engine", "fast", "--arithmetic", "upstream"]) == 2


def test_run_knows_upstreams_arithmetic(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, inputs = tmp_path / "program.mlir", tmp_path / "in.npz"
    quantized = "tensor<1x!quant.uniform<u8:f32, 0.5:3>>"
    path.write_text(
        f"func.func @main(%x: tensor<1xf32>) -> {quantized} {{\n"
        f"  %0 = stablehlo.uniform_quantize %x : (tensor<1xf32>) -> {quantized}\n  return %0 : {quantized}\n}}"
    )
    np.savez(inputs, np.float32([100]))
    values = {}
    for arithmetic in ("spec", "upstream"):
        assert main(["run", str(path), "--inputs", str(inputs), "--arithmetic", arithmetic, "--json"]) == 0
        values[arithmetic] = json.loads(capsys.readouterr().out)["rows"][0]["max"]
    assert values == {"spec": 203, "upstream": 127}


def test_golden_make_and_check(program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    golden, wrong = tmp_path / "golden" / "a.mlir", tmp_path / "golden" / "b.mlir"
    golden.parent.mkdir()
    assert main(["golden", "make", program, "-o", str(golden), "--seed", "5"]) == 0
    assert main(["golden", "check", str(golden)]) == 0
    assert "1 of 1 bit-exact" in capsys.readouterr().out
    wrong.write_text(golden.read_text().replace("compare GT", "compare LE"))
    assert main(["golden", "check", str(golden.parent), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["summary"] == "1 of 2 bit-exact"
    assert [row["spec"] for row in found["rows"]] == ["bit-exact", "2 of 2 differ, by up to 1 steps"]


def test_golden_check_of_bad_input_is_2(program: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["golden", "check", program]) == 2
    assert "takes no arguments" in capsys.readouterr().err
    assert main(["golden", "check", str(tmp_path / "missing.mlir")]) == 2
    assert "no such file" in capsys.readouterr().err


def test_tables_show_what_json_holds(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("title", ("name", "count", "share"), [("[a]", 1, 0.5), ("b", None, True)], "summary")
    show(table, as_json=True)
    assert json.loads(capsys.readouterr().out)["rows"][1] == {"name": "b", "count": None, "share": True}
    show(table, as_json=False)
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["[a]", "1", "0.5"] in lines
    assert ["b", "-", "yes"] in lines
    assert lines[-1] == ["summary"]
