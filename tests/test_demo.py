from __future__ import annotations

import contextlib
from dataclasses import replace
from pathlib import Path

import pytest

from shlo_quant.cli.main import main
from shlo_quant.demo import Compared, DemoResult, run_demo

pytestmark = pytest.mark.filterwarnings("ignore")  # torch and torchao warn of themselves while they quantize

HELD = Compared("integer form", "quantized form", "logits", 1, 10, 0, 0, must_be_equal=True)
RESULT = DemoResult(16, 400, (), (HELD,), 1.0)


def test_demo_keeps_its_promise(tmp_path: Path) -> None:
    result = run_demo(3, tmp_path, lambda _: contextlib.nullcontext())
    assert result.images == 16
    assert all(judged.accuracy >= 15 / 16 for judged in result.programs)
    promised = [comparison for comparison in result.comparisons if comparison.must_be_equal]
    assert promised
    assert not any(comparison.is_broken for comparison in promised)
    assert promised[0].integers > 1000 * result.images
    measured = [comparison for comparison in result.comparisons if not comparison.must_be_equal]
    assert all(comparison.largest_difference <= 1 for comparison in measured)
    names = {f"digits.{form}.mlir" for form in ("qdq", "quantized", "integer")} | {"digits.pt2"}
    assert {path.name for path in tmp_path.iterdir()} == names


@pytest.mark.parametrize("images", ["0", "401"])
def test_impossible_number_of_images_is_bad_input(images: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["demo", "--images", images]) == 2
    assert f"the test set has 400 images, asked for {images}" in capsys.readouterr().err


@pytest.mark.parametrize(("mismatches", "code", "verdict"), [(0, 0, "equal: holds"), (1, 1, "BROKEN")])
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_exit_code_tells_of_a_broken_promise(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    mismatches: int,
    code: int,
    verdict: str,
    options: list[str],
) -> None:
    result = replace(RESULT, comparisons=(replace(HELD, mismatches=mismatches),))
    monkeypatch.setattr("shlo_quant.demo.run_demo", lambda *_: result)
    assert main(["demo", *options]) == code
    assert (f'"mismatches": {mismatches}' if options else verdict) in capsys.readouterr().out
