"""Golden programs: every form of check, what is exact and what is not, and that `make` and `check` agree."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import numpy as np
import pytest
from torch_mlir import ir

from shlo_quant.golden import WAYS, FileReport, check_files, expose_checks, golden_files, make_golden
from shlo_quant.passes.dialects.context import new_context
from shlo_quant.passes.errors import InputError
from shlo_quant.random_inputs import random_inputs

TESTDATA = Path(__file__).parent.parent / "testdata"

ADD = """
!q = !quant.uniform<i8:f32, 0.5>
func.func @main() -> tensor<2xf32> {{
  %x = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %expected = stablehlo.constant dense<[{}]> : tensor<2xf32>
  %0 = stablehlo.uniform_quantize %x : (tensor<2xf32>) -> tensor<2x!q>
  %1 = stablehlo.add %0, %0 : tensor<2x!q>
  %2 = stablehlo.uniform_dequantize %1 : (tensor<2x!q>) -> tensor<2xf32>
  %3 = stablehlo.custom_call @check.eq(%expected, %2) : (tensor<2xf32>, tensor<2xf32>) -> tensor<i1>
  return %2 : tensor<2xf32>
}}
"""


def check(text: str, tmp_path: Path) -> FileReport:
    path = tmp_path / "golden.mlir"
    path.write_text(text)
    (report,) = check_files([path], 1)
    return report


def test_a_right_program_is_exact_every_way(tmp_path: Path) -> None:
    report = check(ADD.format("2.0, 4.0"), tmp_path)
    assert report.is_exact
    assert [o.way for o in report.outcomes] == list(WAYS)
    assert [c.elements for o in report.outcomes for c in o.comparisons] == [2] * len(WAYS)


def test_a_wrong_value_is_found_every_way(tmp_path: Path) -> None:
    report = check(ADD.format("2.0, 4.5"), tmp_path)
    assert not report.is_exact
    assert {(c.mismatches, c.largest_difference) for o in report.outcomes for c in o.comparisons} == {(1, 0.5)}


def test_every_program_of_a_file_counts(tmp_path: Path) -> None:
    right, wrong = ADD.format("2.0, 4.0"), ADD.format("2.0, 4.5")
    assert check(f"{right}// -----\n{right}", tmp_path).is_exact
    report = check(f"{right}// -----\n{wrong}", tmp_path)
    assert [o.is_exact for o in report.outcomes] == [True] * len(WAYS) + [False] * len(WAYS)


@pytest.mark.parametrize(
    "call",
    [
        '"check.expect_eq_const"(%0) <{value = dense<[2, 4]> : tensor<2xi8>}> : (tensor<2xi8>) -> ()',
        '"check.expect_eq"(%0, %e) : (tensor<2xi8>, tensor<2xi8>) -> ()',
        "stablehlo.custom_call @check.expect_eq(%0, %e) {has_side_effect = true} : (tensor<2xi8>, tensor<2xi8>) -> ()",
        "%1 = stablehlo.custom_call @check.expect_close(%0, %e) : (tensor<2xi8>, tensor<2xi8>) -> tensor<i1>",
    ],
)
def test_every_form_of_check_is_understood(call: str, tmp_path: Path) -> None:
    text = f"""func.func @test() {{
      %x = stablehlo.constant dense<[1, 2]> : tensor<2xi8>
      %e = stablehlo.constant dense<[2, 4]> : tensor<2xi8>
      %0 = stablehlo.add %x, %x : tensor<2xi8>
      {call}
      return
    }}"""
    report = check(text, tmp_path)
    assert report.is_exact
    assert [o.way for o in report.outcomes] == ["spec", "fast"]  # nothing to lower
    assert not check(text.replace("[1, 2]", "[1, 3]"), tmp_path).is_exact


def test_checks_on_complex_numbers_are_told(tmp_path: Path) -> None:
    text = """func.func @test() {
      %0 = stablehlo.constant dense<(1.0, 2.0)> : tensor<complex<f32>>
      "check.expect_eq"(%0, %0) : (tensor<complex<f32>>, tensor<complex<f32>>) -> ()
      return
    }"""
    report = check(text, tmp_path)
    assert report.outcomes == ()
    assert len(report.unread) == 1
    assert ":3:7: " in report.unread[0]


def test_an_op_without_a_lowering_is_an_error_with_its_name(tmp_path: Path) -> None:
    text = ADD.format("2.0, 4.0").replace(
        "stablehlo.add %0, %0 : tensor<2x!q>", "stablehlo.custom_call @f(%0) : (tensor<2x!q>) -> tensor<2x!q>"
    )
    report = check(text, tmp_path)
    assert not report.is_exact
    assert all("stablehlo.custom_call" in o.error for o in report.outcomes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("func.func @main(", "golden.mlir:1:"),
        ("func.func @main() { return }", "no check"),
        ("func.func @main(%x: tensor<f32>) { return }", "takes no arguments"),
        ("func.func @f() { return }\nfunc.func @g() { return }", "it has: f, g"),
    ],
)
def test_what_is_no_golden_program_is_told(text: str, message: str, tmp_path: Path) -> None:
    report = check(text, tmp_path)
    assert message in report.error
    assert not report.is_exact


def test_golden_files_are_those_of_a_directory(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"no \.mlir files"):
        golden_files([tmp_path])
    (tmp_path / "b.mlir").touch()
    (tmp_path / "a.mlir").touch()
    (tmp_path / "c.txt").touch()
    assert [p.name for p in golden_files([tmp_path, "x/y.mlir"])] == ["a.mlir", "b.mlir", "y.mlir"]


def test_what_make_makes_holds_inputs_program_and_expected_values(context: ir.Context, tmp_path: Path) -> None:
    program = ir.Module.parse("""!q = !quant.uniform<u4:f32, 0.5:2>
    func.func @entry(%x: tensor<9xf32>, %y: tensor<9x!q>) -> (tensor<9x!q>, tensor<9xi1>) {
      %0 = stablehlo.uniform_quantize %x : (tensor<9xf32>) -> tensor<9x!q>
      %1 = stablehlo.maximum %0, %y : tensor<9x!q>
      %2 = stablehlo.compare GT, %0, %y : (tensor<9x!q>, tensor<9x!q>) -> tensor<9xi1>
      return %1, %2 : tensor<9x!q>, tensor<9xi1>
    }""")
    before = str(program)
    golden = make_golden(program, seed=7)
    assert str(program) == before
    assert golden.context is context
    x, y = random_inputs(program, 7)
    stored = np.round(np.clip(x / np.float32(0.5) + np.float32(2), 0, 15)).astype(np.uint8)
    assert check(str(golden), tmp_path).is_exact
    expose_checks(golden)
    from shlo_quant.engines.reference import ReferenceEngine

    expected, _, greater, _ = ReferenceEngine().compile(golden).run([])
    np.testing.assert_array_equal(expected, np.maximum(stored, y))
    np.testing.assert_array_equal(greater, stored > y)


def test_random_inputs_are_seeded_and_in_range(context: ir.Context) -> None:
    program = ir.Module.parse("""func.func @main(%a: tensor<999x!quant.uniform<i8<-5:4>:f32, 0.5>>, %b: tensor<999xi32>,
        %c: tensor<999xf32>, %d: tensor<999xf32>, %e: tensor<99xi1>) -> tensor<999x!quant.uniform<u8:f32, 0.5:20>> {
      %0 = stablehlo.uniform_quantize %c : (tensor<999xf32>) -> tensor<999x!quant.uniform<u8:f32, 0.5:20>>
      return %0 : tensor<999x!quant.uniform<u8:f32, 0.5:20>>
    }""")
    a, b, c, d, e = random_inputs(program, 1)
    assert (a.min(), a.max(), a.dtype) == (-5, 4, np.int8)
    assert -1000 <= b.min() < -900
    assert -11 < c.min() < -10
    assert 117.5 < c.max() < 129.5
    assert 0.9 < d.std() < 1.1
    assert e.dtype == np.bool_
    assert all((x == y).all() for x, y in zip(random_inputs(program, 1), (a, b, c, d, e), strict=True))
    assert (random_inputs(program, 2)[0] != a).any()
    with pytest.raises(InputError, match="dynamic"):
        random_inputs(ir.Module.parse("func.func @main(%a: tensor<?xf32>) { return }", context), 0)


@pytest.mark.parametrize("name", ["quantize_u8_per_tensor_64", "reduce_i8_per_tensor_3x5x4"])
def test_testdata_is_what_its_script_makes(name: str) -> None:
    spec = importlib.util.spec_from_file_location("make", TESTDATA / "make.py")
    assert spec is not None
    assert spec.loader is not None
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    source = TESTDATA / "programs" / f"{name}.mlir"
    golden = make_golden(make.read_program(source, new_context()), make.seed_of(source))
    assert str(golden) == (TESTDATA / f"{name}.mlir").read_text()


def test_every_program_in_testdata_has_its_golden_file() -> None:
    assert {p.name for p in TESTDATA.glob("*.mlir")} == {p.name for p in (TESTDATA / "programs").glob("*.mlir")}
