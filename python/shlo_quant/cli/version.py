"""`--version` of both tools; the version is looked up only when asked for, as the look-up takes 40 ms."""

from __future__ import annotations

import argparse
from typing import Any


class ShowVersion(argparse.Action):
    """An option that prints program and version, and exits."""

    def __init__(self, option_strings: list[str], dest: str) -> None:
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, help="show the version and exit")

    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        from importlib.metadata import version

        print(f"{parser.prog} {version('shlo-quant')}")
        parser.exit()
