"""`shlo-quant demo`: the whole road on real data, offline."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from shlo_quant.cli.terminal import Table, add_json_option, quiet_libraries, show, working

if TYPE_CHECKING:
    from shlo_quant.demo import DemoResult

NAME = "demo"
HELP = "train, quantize, lower to every form, and judge the integers, on real images"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command's arguments."""
    parser.add_argument(
        "--images",
        type=int,
        default=64,
        metavar="N",
        help="test images to run, at most 400, rounded up to batches of 16 (default: 64)",
    )
    parser.add_argument("-o", dest="directory", type=Path, metavar="DIR", help="write the programs of all forms there")
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Run the demo; 1 if integers differ that must be equal."""
    with quiet_libraries():
        with working("importing PyTorch"):
            from shlo_quant.demo import run_demo

        result = run_demo(arguments.images, arguments.directory, working)
    if arguments.json:
        print(json.dumps(asdict(result), indent=2))
    else:
        for table in _tables(result):
            show(table, as_json=False)
    return int(any(comparison.is_broken for comparison in result.comparisons))


def _tables(result: DemoResult) -> tuple[Table, Table]:
    judged = tuple(
        (p.program, p.runs_in, f"{p.accuracy:.2%}", None if p.accuracy_on_all is None else f"{p.accuracy_on_all:.2%}")
        for p in result.programs
    )
    compared = tuple(
        (
            f"{c.found} / {c.expected}",
            c.what,
            c.integers,
            c.mismatches,
            c.largest_difference,
            _verdict(c.must_be_equal, c.is_broken),
        )
        for c in result.comparisons
    )
    headings = ("program", "runs in", "accuracy", f"on all {result.all_images}")
    columns = ("programs", "what", "integers compared", "mismatches", "largest, in steps", "promise")
    return (
        Table(f"{result.images} test images of handwritten digits", headings, judged),
        Table("Stored integers side by side", columns, compared, f"done in {result.seconds:.1f} s"),
    )


def _verdict(must_be_equal: bool, is_broken: bool) -> str:
    if not must_be_equal:
        return "-"
    return "BROKEN: must be equal" if is_broken else "equal: holds"
