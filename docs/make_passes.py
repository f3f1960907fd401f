"""Write passes/README.md, the reference of the passes, from their docstrings.

python docs/make_passes.py            write it
python docs/make_passes.py --check    exit with 1 if it is not what would be written
"""

from __future__ import annotations

import argparse
import dataclasses
import inspect
import sys
from pathlib import Path

from shlo_quant.passes import PASSES
from shlo_quant.passes.base import ModulePass

PAGE = Path(__file__).parents[1] / "passes" / "README.md"
HEAD = """# Passes

Generated from the docstrings by `make docs`; do not edit.

Run one with `shlo-quant-opt FILE --NAME` or `shlo-quant-opt FILE --NAME=option=value`.
"""


def page() -> str:
    """The text of the reference: one section a pass, in the order of `PASSES`."""
    return "\n".join([HEAD, *map(section, PASSES)])


def section(pass_class: type[ModulePass]) -> str:
    """Name, options and module docstring of a pass; indented lines become code blocks."""
    module = inspect.getmodule(pass_class)
    assert module is not None
    options = [option(field) for field in dataclasses.fields(pass_class)]
    lines = [f"## `{pass_class.name}`", "", inspect.getdoc(module) or "", ""]
    if options:
        lines += ["Options:", "", *options, ""]
    return "\n".join(lines)


def option(field: dataclasses.Field[object]) -> str:
    """One list item: name, choices, default."""
    choices = " | ".join(field.metadata.get("choices", ()))
    values = f"={choices}" if choices else ""
    return f"- `{field.name.replace('_', '-')}{values}` (default `{field.default}`)"


def main() -> int:
    """Write or check the page; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    if not parser.parse_args().check:
        PAGE.write_text(page())
        return 0
    if PAGE.exists() and PAGE.read_text() == page():
        return 0
    print(f"{PAGE} is stale; run `make docs`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
