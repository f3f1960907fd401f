"""`shlo-quant golden check PATH...` and `golden make PROGRAM`: programs that hold inputs and expected values."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from shlo_quant.cli.terminal import Table, add_json_option, show, working
from shlo_quant.passes.errors import InputError

if TYPE_CHECKING:
    from shlo_quant.golden import FileReport, Outcome

NAME = "golden"
HELP = "check golden programs (inputs, program and expected values in one file), or make one"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    verbs = parser.add_subparsers(dest="verb", metavar="check|make", required=True)
    check = verbs.add_parser("check", help="evaluate golden programs through our passes, every way there is")
    check.add_argument("paths", nargs="+", metavar="PATH", help="golden files, or directories of them")
    add_json_option(check)
    make = verbs.add_parser("make", help="make a golden program by the reference engine")
    make.add_argument("program", metavar="PROGRAM", help="a StableHLO program, with or without quantized types")
    make.add_argument("-o", dest="output", default="-", metavar="FILE", help="where it goes (default: stdout)")
    make.add_argument("--seed", type=int, default=0, help="of the inputs (default: 0)")


def run(arguments: argparse.Namespace) -> int:
    """Check or make."""
    return _check(arguments) if arguments.verb == "check" else _make(arguments)


def _make(arguments: argparse.Namespace) -> int:
    from shlo_quant.files import read_program, write_program
    from shlo_quant.golden import make_golden
    from shlo_quant.passes.dialects.context import new_context

    program = read_program(arguments.program, new_context())
    with working(f"evaluating {arguments.program}"):
        golden = make_golden(program, arguments.seed)
    write_program(golden, arguments.output)
    return 0


def _check(arguments: argparse.Namespace) -> int:
    from shlo_quant.golden import WAYS, check_files, golden_files

    paths = golden_files(arguments.paths)
    reports: dict[str, FileReport] = {}
    with working(f"checking {len(paths)} golden programs"):
        for report in check_files(paths, len(os.sched_getaffinity(0))):
            reports[str(report.path)] = report
    ordered = [reports[str(path)] for path in paths]
    unreadable = [report.error for report in ordered if report.error]
    if unreadable:
        raise InputError("\n".join(unreadable))
    rows = [_row(report, tuple(WAYS)) for report in ordered]
    exact = sum(report.is_exact for report in ordered)
    summary = f"{exact} of {len(ordered)} bit-exact"
    show(Table("", ("golden program", "checks", "elements", *WAYS), rows, summary), arguments.json)
    for report in ordered:
        for check in report.unread:
            print(f"shlo-quant: note: not evaluated: {check}", file=sys.stderr)
        for outcome in report.outcomes:
            if outcome.error:
                print(f"shlo-quant: {report.path} ({outcome.way}): {outcome.error}", file=sys.stderr)
    return 0 if exact == len(ordered) else 1


def _row(report: FileReport, ways: Sequence[str]) -> tuple[str | int, ...]:
    by_way = {way: [o for o in report.outcomes if o.way == way] for way in ways}
    first = next((outcomes for outcomes in by_way.values() if outcomes), [])
    comparisons = [c for outcome in first for c in outcome.comparisons]
    return (
        report.path.name,
        len(comparisons),
        sum(c.elements for c in comparisons),
        *(_cell(by_way[way]) for way in ways),
    )


def _cell(outcomes: Sequence[Outcome]) -> str:
    if not outcomes:
        return "-"
    if any(outcome.error for outcome in outcomes):
        return "error"
    return next((str(c) for outcome in outcomes for c in outcome.comparisons if not c.is_exact), "bit-exact")
