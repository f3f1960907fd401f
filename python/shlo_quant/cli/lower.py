"""`shlo-quant lower`: a quantized PyTorch model to StableHLO in one of its forms."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch_mlir import ir

    from shlo_quant.passes.base import ModulePass

NAME = "lower"
HELP = "take a quantized PyTorch model (.pt2), or a StableHLO program in form qdq or quantized, to another form"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("model", metavar="MODEL", help="a .pt2 file, or a StableHLO program in form qdq or quantized")
    parser.add_argument("-o", "--output", default="-", metavar="FILE", help="where to write; stdout by default")
    parser.add_argument(
        "--to",
        choices=("qdq", "quantized", "integer"),
        default="quantized",
        help="qdq: float ops between dequantize and quantize; quantized (default): ops on !quant.uniform; "
        "integer: no quantized type left",
    )
    parser.add_argument(
        "--arithmetic", default="spec", choices=("spec", "xnnpack"), help="how requantizations are computed"
    )
    parser.add_argument(
        "--format", default="text", metavar="KIND", help="text (default), bytecode, portable or portable@VERSION"
    )


def run(arguments: argparse.Namespace) -> int:
    """Import, lower, write; what the user should know goes to stderr."""
    from shlo_quant.cli.terminal import working
    from shlo_quant.files import Format, write_program
    from shlo_quant.passes.apply_xnnpack_rewrites import rewrites
    from shlo_quant.passes.errors import InputError
    from shlo_quant.passes.legalize_qdq_to_quantized_op import LegalizeQdqToQuantizedOp, remarks
    from shlo_quant.pipelines import lower
    from shlo_quant.programs import is_pytorch_program, load

    form = Format.parse(arguments.format)
    with working(f"reading {arguments.model}"):
        module, findings = load(arguments.model)
    if not is_pytorch_program(arguments.model) and not _has_quantized_types(module):
        raise InputError(f"{arguments.model}: no quantized type in it, so there is nothing to lower")
    notes = [*findings]
    if arguments.arithmetic == "xnnpack":
        notes.extend(rewrites(module).findings)

    def after(step: ModulePass, program: ir.Module) -> None:
        if isinstance(step, LegalizeQdqToQuantizedOp):
            notes.extend(remarks(program))

    with working(f"lowering to {arguments.to}"):
        lower(module, arguments.to, arguments.arithmetic, after)
    for note in notes:
        print(f"shlo-quant: note: {note}", file=sys.stderr)
    write_program(module, arguments.output, form)
    return 0


def _has_quantized_types(module: ir.Module) -> bool:
    from shlo_quant.passes.dialects.quant import is_quantized
    from shlo_quant.passes.rewrite import walk

    return any(is_quantized(v) for op in walk(module.operation) for v in (*op.operands, *op.results))
