"""`shlo-quant run PROGRAM`: evaluate a StableHLO program and show its results."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from shlo_quant.cli.terminal import Table, add_json_option, show, working

if TYPE_CHECKING:
    from torch_mlir import ir

    from shlo_quant.engines.base import Engine
    from shlo_quant.passes.dialects.constants import Array

NAME = "run"
HELP = "evaluate a StableHLO program in an engine"

ENGINES = ("fast", "reference")
SHOWN_VALUES = 4


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("program", metavar="PROGRAM", help="text, bytecode or portable artifact")
    parser.add_argument("--engine", choices=ENGINES, default="reference", help="which engine (default: reference)")
    inputs = parser.add_mutually_exclusive_group()
    inputs.add_argument("--inputs", metavar="FILE.npz", help="the arrays: arg0, arg1, ..., or in order under any names")
    inputs.add_argument(
        "--random",
        type=int,
        metavar="SEED",
        help="make inputs, the same for the same seed and program; to compare programs, give them --inputs",
    )
    parser.add_argument("-o", dest="output", metavar="FILE.npz", help="write the results: out0, out1, ...")
    parser.add_argument(
        "--arithmetic",
        choices=("spec", "xnnpack", "upstream"),
        default="spec",
        help="what quantized ops compute: the specification's (default), XNNPACK's (engine fast), or upstream's "
        "lowering, faults included (engine reference)",
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Read, evaluate, show."""
    from shlo_quant.files import read_program, write_arrays
    from shlo_quant.passes.dialects.context import new_context
    from shlo_quant.passes.dialects.modules import entry_function, signature

    program = read_program(arguments.program, new_context())
    inputs = _inputs(arguments, program)
    with working(f"evaluating {arguments.program} in the {arguments.engine} engine"):
        results = _engine(arguments).compile(program).run(inputs)
    if arguments.output:
        write_arrays({f"out{index}": array for index, array in enumerate(results)}, arguments.output)
    _, types = signature(entry_function(program))
    rows = [_row(index, tensor, array) for index, (tensor, array) in enumerate(zip(types, results, strict=True))]
    show(Table(arguments.program, ("output", "type", "min", "max", "first values"), rows), arguments.json)
    return 0


def _engine(arguments: argparse.Namespace) -> Engine:
    from shlo_quant.engines.fast import FastEngine
    from shlo_quant.engines.reference import ARITHMETICS, ReferenceEngine
    from shlo_quant.passes.errors import InputError
    from shlo_quant.passes.numerics.arithmetics import PROFILES

    known = {"fast": tuple(PROFILES), "reference": ARITHMETICS}[arguments.engine]
    if arguments.arithmetic not in known:
        names = " or ".join(known)
        raise InputError(f"--engine {arguments.engine} has --arithmetic {names}, got '{arguments.arithmetic}'")
    if arguments.engine == "fast":
        return FastEngine(arguments.arithmetic)
    return ReferenceEngine(arguments.arithmetic)


def _inputs(arguments: argparse.Namespace, program: ir.Module) -> list[Array]:
    from shlo_quant.files import read_arrays
    from shlo_quant.random_inputs import random_inputs

    if arguments.inputs is not None:
        return read_arrays(arguments.inputs)
    return [] if arguments.random is None else random_inputs(program, arguments.random)


def _row(index: int, tensor: ir.Type, array: Array) -> tuple[int, str, Any, Any, str]:
    first = ", ".join(f"{value:.6g}" for value in array.ravel()[:SHOWN_VALUES].astype(float))
    more = ", ..." if array.size > SHOWN_VALUES else ""
    lowest, highest = (array.min().item(), array.max().item()) if array.size else (None, None)
    return index, str(tensor), lowest, highest, first + more
