"""Write passes/README.md, the reference of the passes, from their docstrings.

python docs/make_passes.py            write it
python docs/make_passes.py --check    exit with 1 if it is not what would be written
"""

from __future__ import annotations

import argparse
import inspect
import itertools
import sys
import textwrap
from pathlib import Path

from shlo_quant.passes import PASSES, pass_class

PAGE = Path(__file__).parents[1] / "passes" / "README.md"
HEAD = """# Passes

Generated from the docstrings by `make docs`; do not edit.

Run one with `shlo-quant-opt FILE --PASS` or `shlo-quant-opt FILE --PASS=option=value`. First come those that
clean up an import, then those that lead from form to form.
"""


def page() -> str:
    """The text of the reference: one section a pass, in the order of `PASSES`."""
    return "\n".join([HEAD, *(f"## `{name}`\n\n{markdown(docstring(name))}" for name in PASSES)])


def docstring(name: str) -> str:
    """The docstring of the module that defines a pass."""
    module = inspect.getmodule(pass_class(name))
    assert module is not None
    text = inspect.getdoc(module)
    assert text is not None, f"{module.__name__} has no docstring"
    return text


def markdown(text: str) -> str:
    """A docstring with its IR, and its list of options, in code blocks."""
    prose, separator, options = text.partition("\nOptions:\n")
    blocks = []
    for is_code, lines in itertools.groupby(prose.strip().splitlines(), _is_code):
        block = "\n".join(line.removeprefix("    ") for line in lines).strip("\n")
        blocks.append(f"```mlir\n{block}\n```" if is_code else block)
    if separator and options.strip() != "none":
        blocks.append(f"Options:\n\n```text\n{textwrap.dedent(options).strip()}\n```")
    return "\n\n".join(block for block in blocks if block) + "\n"


def _is_code(line: str) -> bool:
    return line.startswith("    ") or line.strip() == "==>"


def main() -> int:
    """Write or check the page; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare instead of writing")
    if not parser.parse_args().check:
        PAGE.write_text(page())
        return 0
    if PAGE.exists() and PAGE.read_text() == page():
        return 0
    print(f"{PAGE} is stale; run `make docs`", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main())
