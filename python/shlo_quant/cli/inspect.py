"""`shlo-quant inspect`: which ops of a program are native integer work, which are float islands, and why."""

from __future__ import annotations

import argparse
import json
import sys
from typing import TYPE_CHECKING

from shlo_quant.cli.terminal import Table, add_json_option, show, working

if TYPE_CHECKING:
    from shlo_quant.inspection import Inspection, Island, OpRow

NAME = "inspect"
HELP = "show which ops of a model or program are native quantized ops and which stay in float, and why"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("program", metavar="FILE", help="a .pt2 file (shown in form quantized) or a StableHLO program")
    parser.add_argument("--islands", action="store_true", help="list the float islands with their place in the model")
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Load, fuse if it is a PyTorch model, count, print."""
    from shlo_quant.inspection import inspect
    from shlo_quant.pipelines import lower
    from shlo_quant.programs import is_pytorch_program, load

    with working(f"reading {arguments.program}"):
        module, findings = load(arguments.program)
        if is_pytorch_program(arguments.program):
            lower(module, "quantized")
        inspection = inspect(module)
    if arguments.json:
        print(json.dumps(_data(inspection) | {"findings": [str(finding) for finding in findings]}, indent=2))
        return 0
    for finding in findings:
        print(f"shlo-quant: note: {finding}", file=sys.stderr)
    rows = [_row(name, row) for name, row in inspection.rows.items()]
    show(
        Table(arguments.program, ("op", "native", "float", "multiply-adds", "why float"), rows, _summary(inspection)),
        False,
    )
    if arguments.islands and inspection.islands:
        islands = [(_ops(i), i.location, "; ".join(i.reasons)) for i in inspection.islands]
        show(Table("float islands", ("ops", "from", "why"), islands), False)
    return 0


def _row(name: str, row: OpRow) -> tuple[str, int, int, str, str]:
    reasons = "; ".join(f"{reason} ({count})" for reason, count in row.reasons.most_common(2) if reason)
    rest = len(row.reasons) - 2
    multiply_adds = row.native_multiply_adds + row.float_multiply_adds
    return (
        name,
        row.native,
        row.floating,
        f"{multiply_adds:,}" if multiply_adds else "",
        reasons + (f"; and {rest} more reasons" if rest > 0 else ""),
    )


def _ops(island: Island) -> str:
    return ", ".join(f"{count} {name}" if count > 1 else name for name, count in island.ops.items())


def _summary(inspection: Inspection) -> str:
    native_pairs, pairs = inspection.quantized_pairs
    native, all_ = inspection.multiply_adds
    share = f"{native / all_:.1%} of {all_:,}" if all_ else "none"
    return "\n".join(
        [
            f"convolutions and dots with two quantized operands that are native: {native_pairs} of {pairs}",
            f"native multiply-adds: {share}",
            f"float islands: {len(inspection.islands)}",
            f"integer weights: {inspection.weight_bytes:,} bytes; "
            f"float constants: {inspection.float_weight_bytes:,} bytes",
        ]
    )


def _data(inspection: Inspection) -> dict[str, object]:
    native, all_ = inspection.multiply_adds
    return {
        "ops": {
            name: {
                "native": row.native,
                "float": row.floating,
                "native_multiply_adds": row.native_multiply_adds,
                "float_multiply_adds": row.float_multiply_adds,
                "reasons": dict(row.reasons),
            }
            for name, row in inspection.rows.items()
        },
        "islands": [
            {"location": i.location, "ops": dict(i.ops), "reasons": i.reasons, "multiply_adds": i.multiply_adds}
            for i in inspection.islands
        ],
        "quantized_pairs": {"native": inspection.quantized_pairs[0], "all": inspection.quantized_pairs[1]},
        "multiply_adds": {"native": native, "all": all_},
        "weight_bytes": inspection.weight_bytes,
        "float_constant_bytes": inspection.float_weight_bytes,
    }
