"""`shlo-quant-opt`: what lit cannot see of it; the rest is in lit_tests/cli."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

from shlo_quant import passes
from shlo_quant.cli.diagnostics import Diagnostics, verify_diagnostics
from shlo_quant.cli.opt import main, split_pipeline
from shlo_quant.passes import PASSES, pass_class
from shlo_quant.passes.base import ModulePass, UpstreamPasses
from shlo_quant.passes.errors import Finding, ParameterError, UnsupportedError

PROGRAM = """func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.abs %x : tensor<2xf32>
  return %x : tensor<2xf32>
}
"""


@pytest.fixture
def program(tmp_path: Path) -> str:
    path = tmp_path / "program.mlir"
    path.write_text(PROGRAM)
    return str(path)


@pytest.mark.parametrize("name", PASSES)
def test_every_pass_has_its_name_and_a_summary(name: str) -> None:
    found = pass_class(name)
    assert issubclass(found, ModulePass)
    assert found.name == name
    summary = (sys.modules[found.__module__].__doc__ or "").splitlines()[0]
    assert summary.endswith(".")


def test_every_pass_is_listed() -> None:
    modules = [importlib.import_module(f"shlo_quant.passes.{m.name}") for m in pkgutil.iter_modules(passes.__path__)]
    found = {
        value.name
        for module in modules
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, ModulePass) and value not in (ModulePass, UpstreamPasses)
    }
    assert found == set(PASSES)


def test_neither_opt_nor_help_imports_torch(program: str) -> None:
    code = """import sys
from shlo_quant.cli import main, opt
names = [f"--{name}" for name in opt.PASSES]
assert opt.main([*names, sys.argv[1], "-o", sys.argv[1]]) == 0
try:
    main.main(["--help"])
except SystemExit as end:
    assert end.code == 0
assert "shlo_quant.cli.inspect" in sys.modules
for name in ("torch", "torchao", "executorch"):
    assert name not in sys.modules, name
"""
    subprocess.run([sys.executable, "-c", code, program], check=True, stdout=subprocess.DEVNULL)


def test_passes_run_in_their_order(program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--canonicalize", "--stablehlo-legalize-to-vhlo", program]) == 0
    assert "vhlo.func_v1" in capsys.readouterr().out
    assert main(["--pass-pipeline=builtin.module(func.func(canonicalize))", program]) == 0
    assert "stablehlo.abs" not in capsys.readouterr().out


def test_split_pipeline() -> None:
    assert split_pipeline("a{x=1 y=2},func.func(b,c), d,e{t=tensor<2x3xf32>,f32}") == [
        "a{x=1 y=2}",
        "func.func(b,c)",
        "d",
        "e{t=tensor<2x3xf32>,f32}",
    ]
    assert split_pipeline("") == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--no-such-pass"], "'no-such-pass' does not refer to a registered pass"),
        (["--canonicalize=no-such-option=1"], "no such option no-such-option"),
        (["--stablehlo-legalize-quant-to-math=arithmetic=none"], "is one of"),
        (["--pass-pipeline=builtin.module(cse)", "--cse"], "exclude each other"),
        (["--pass-pipeline=builtin.module(no-such-pass)"], "does not refer to a registered pass"),
        (["other.mlir"], "got 'other.mlir'"),
    ],
)
def test_wrong_usage_is_2(arguments: list[str], message: str, program: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([program, *arguments]) == 2
    error = capsys.readouterr().err
    assert error.startswith("shlo-quant-opt: error: ")
    assert message in error
    assert error.count("\n") == 1


def test_a_failure_is_1_and_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, target = tmp_path / "wrong.mlir", tmp_path / "out.mlir"
    path.write_text(PROGRAM.replace("stablehlo.abs %x : tensor<2xf32>", "stablehlo.abs %x : tensor<3xf32>"))
    assert main([str(path), "-o", str(target)]) == 1
    assert capsys.readouterr().err.startswith(f"{path}:2:22: error: use of value '%x' expects different type")
    assert not target.exists()


def test_output_goes_to_a_file_whole(program: str, tmp_path: Path) -> None:
    target = tmp_path / "out.mlirbc"
    assert main([program, "--emit-bytecode", "-o", str(target)]) == 0
    assert target.read_bytes().startswith(b"ML\xefR")
    assert main([program, "-o", str(tmp_path / "missing" / "out")]) == 2


def diagnostics_of(*findings: Finding) -> Diagnostics:
    diagnostics = Diagnostics("file.mlir")
    diagnostics.add_error(UnsupportedError("step", findings))
    return diagnostics


def test_errors_of_passes_are_diagnostics() -> None:
    diagnostics = diagnostics_of(Finding("-:3:4 (layer1)", "stablehlo.rng", "is random", "seed it"))
    diagnostics.add_error(ParameterError("scale must be positive"))
    assert [str(d) for d in diagnostics] == [
        "file.mlir:3:4 (layer1): error: stablehlo.rng: is random; seed it",
        "file.mlir: error: scale must be positive",
    ]
    assert [d.line for d in diagnostics] == [3, None]


@pytest.mark.parametrize(
    ("comment", "found"),
    [
        ("// expected-error {{is random}}", True),
        ("// expected-error@+0 {{stablehlo.rng: is}}", True),
        ("// expected-error-re {{is r.*m$}}", True),
        ("// expected-error {{is r.*m$}}", False),
        ("// expected-error @+1 {{is random}}", False),
        ("// expected-warning {{is random}}", False),
        ("", False),
        ("// expected-error {{is random}} expected-error {{is random}}", False),
    ],
)
def test_expectations(comment: str, found: bool) -> None:
    source = f"one\ntwo\nthree {comment}\n"
    problems = verify_diagnostics(source, diagnostics_of(Finding("file.mlir:3:4", "stablehlo.rng", "is random")))
    assert (problems == []) is found


def test_expectations_above_below_and_unknown() -> None:
    at = Finding("file.mlir:2:1", "op", "wrong")
    nowhere = Finding("unknown location", "op", "lost")
    for comment, line in (("@below", 1), ("@above", 3), ("@-1", 3), ("@+1", 1)):
        lines = ["", "", ""]
        lines[line - 1] = f"// expected-error {comment} {{{{wrong}}}}"
        assert verify_diagnostics("\n".join(lines), diagnostics_of(at)) == []
    assert verify_diagnostics("// expected-error @unknown {{lost}}", diagnostics_of(nowhere)) == []
