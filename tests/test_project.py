"""The project itself: its pages are up to date, its wheel holds what it should."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

from shlo_quant.cli.main import COMMANDS

ROOT = Path(__file__).parents[1]


def test_pass_reference_is_fresh() -> None:
    subprocess.run([sys.executable, ROOT / "docs" / "make_passes.py", "--check"], check=True)


def test_readme_names_every_command() -> None:
    named = re.findall(r"^\| `shlo-quant (\w+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert dict.fromkeys(named) == dict.fromkeys(COMMANDS)


def test_wheel_holds_the_passes_and_no_tests(tmp_path: Path) -> None:
    tree = tmp_path / "tree"  # a copy, as a build leaves files behind that would get into the next one
    for folder in ("python", "passes"):
        shutil.copytree(ROOT / folder, tree / folder, symlinks=True, ignore=shutil.ignore_patterns("*.egg-info"))
    for file in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / file, tree)
    wheel = ["pip", "wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", tmp_path, tree]
    subprocess.run([sys.executable, "-m", *wheel], check=True)
    (built,) = tmp_path.glob("*.whl")
    packed = {name for name in zipfile.ZipFile(built).namelist() if name.endswith(".py")}
    sources = {path.relative_to(tree / "python").as_posix() for path in (tree / "python").rglob("*.py")}
    sources |= {f"shlo_quant/{path.relative_to(tree).as_posix()}" for path in (tree / "passes").rglob("*.py")}
    assert packed == sources
