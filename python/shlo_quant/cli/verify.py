"""`shlo-quant verify`: engines side by side on one model, and the first op where they part."""

from __future__ import annotations

import argparse
import dataclasses
import json
import math
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from shlo_quant.cli.terminal import Cell, Table, add_json_option, progress_bar, quiet_libraries, show, working
from shlo_quant.passes.errors import InputError, MissingExtraError

if TYPE_CHECKING:
    from torch_mlir import ir

    from shlo_quant.compare import Comparison
    from shlo_quant.engines.xnnpack import XnnpackEngine
    from shlo_quant.passes.dialects.constants import Array
    from shlo_quant.verify import Verification
    from shlo_quant.verify.results import Divergence, EngineReport, Judgement, PairReport, Sample, TensorReport

NAME = "verify"
HELP = "compare engines on one model, integer by integer, and name the first op where they part"

WIDTH = 100
LONGEST_BUDGET = 1_000_000
MOVES = ("broadcast_in_dim", "convert", "reshape", "transpose")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("model", metavar="MODEL", help="a .pt2 file, or a StableHLO program in form qdq")
    inputs = parser.add_mutually_exclusive_group()
    inputs.add_argument(
        "--inputs",
        nargs="+",
        metavar="FILE.npz",
        help="one file a batch: arg0, arg1, ..., or in order under any names",
    )
    inputs.add_argument(
        "--random", type=int, default=0, metavar="SEED", help="make inputs within the calibrated range (default: 0)"
    )
    parser.add_argument("--batches", type=int, default=1, metavar="N", help="how many of random inputs (default: 1)")
    parser.add_argument(
        "--engines",
        metavar="A,B,...",
        help="of reference, xnnpack, torch, fast (default: all)",
    )
    parser.add_argument(
        "--arithmetic",
        default="xnnpack",
        choices=("spec", "xnnpack"),
        help="the profile of the integer form (default: xnnpack)",
    )
    parser.add_argument(
        "--budget",
        type=float,
        default=10.0,
        metavar="SECONDS",
        help="for the reference interpreter, which judges on small parts of the real data what would take it longer "
        "(default: 10)",
    )
    add_json_option(parser)


def run(arguments: argparse.Namespace) -> int:
    """Verify and show; 1 if anything differs that must be equal."""
    if arguments.batches < 1 or not 0 <= arguments.budget <= LONGEST_BUDGET:
        raise InputError(f"--batches is at least 1, --budget 0 to {LONGEST_BUDGET}")
    with quiet_libraries():
        verification = _verify(arguments)
    if arguments.json:
        print(json.dumps(_plain(verification), indent=2))
    else:
        _show(verification)
    return int(not verification.is_right)


def _verify(arguments: argparse.Namespace) -> Verification:
    from shlo_quant.verify import ENGINES, Options, Program, verify

    engines = tuple(arguments.engines.split(",")) if arguments.engines else ENGINES
    options = Options(engines, arguments.arithmetic, arguments.budget)
    with ExitStack() as stack:
        xnnpack = _started_xnnpack(arguments.model, engines, stack)  # its process starts while we read
        with working(f"reading {arguments.model}"):
            program = Program.read(arguments.model)
        batches = _batches(arguments, program.qdq)
        progress = stack.enter_context(progress_bar())
        return verify(program, batches, options, progress, xnnpack)


def _started_xnnpack(model: str, engines: Sequence[str], stack: ExitStack) -> XnnpackEngine | None:
    """The engine, if it is asked for and there; its absence is for `verify` to tell."""
    from shlo_quant.programs import is_pytorch_program

    if "xnnpack" not in engines or not is_pytorch_program(model):
        return None
    from shlo_quant.engines.xnnpack import XnnpackEngine

    try:
        return stack.enter_context(XnnpackEngine())
    except MissingExtraError:
        return None


def _batches(arguments: argparse.Namespace, module: ir.Module) -> list[list[Array]]:
    from shlo_quant.files import read_arrays
    from shlo_quant.random_inputs import random_inputs

    if arguments.inputs:
        return [read_arrays(path) for path in arguments.inputs]
    return [random_inputs(module, arguments.random + batch) for batch in range(arguments.batches)]


# ---- tables


def _show(found: Verification) -> None:
    for finding in (*found.findings, *found.rewrites):
        print(f"shlo-quant: note: {finding}", file=sys.stderr)
    batches = f"{found.batches} batch{'es' * (found.batches > 1)}"
    _table(
        f"{found.program}: {len(found.tensors)} quantized tensors, {batches}, arithmetic {found.arithmetic}",
        ("engine", "runs", "compile s", "ms a batch", "remark"),
        [_engine_row(engine) for engine in found.engines],
    )
    if found.whole:
        _pairs("From the inputs on", found.whole)
    if found.op_by_op:
        _pairs(f"Op by op, each from the integers of {found.operands_from}", found.op_by_op)
        _show_kinds(found)
    for group in _by_tensor(found.divergences):
        _show_divergence(group)
    if found.judgement is not None:
        _show_judgement(found.judgement)
    verdicts = {True: "holds", False: "BROKEN", None: "not checked"}
    _table(
        "Promises",
        ("what", "verdict", "found"),
        [(promise.what, verdicts[promise.holds], promise.detail) for promise in found.promises],
        f"{_verdict(found)}; done in {found.seconds:.1f} s",
    )


def _verdict(found: Verification) -> str:
    if not found.is_right:
        return "DIFFERENT"
    checked = any(promise.holds for promise in found.promises)
    return "what must be equal is equal" if checked else "nothing was compared that must be equal"


def _table(title: str, columns: tuple[str, ...], rows: Sequence[Sequence[Cell]], summary: str = "") -> None:
    show(Table(title, columns, rows, summary), as_json=False, width=WIDTH)


def _engine_row(engine: EngineReport) -> tuple[Cell, ...]:
    remark = engine.reason.splitlines()[0] if engine.reason else engine.remark
    return (
        engine.name,
        engine.detail,
        None if engine.compile_seconds is None else f"{engine.compile_seconds:.1f}",
        None if engine.run_seconds is None else f"{1000 * engine.run_seconds:.1f}",
        remark if engine.status == "ran" else f"{engine.status}: {remark}",
    )


def _pairs(title: str, pairs: Sequence[PairReport]) -> None:
    columns = ("expected", "found", "integers", "mismatches", "steps", "dB", "tensors that differ", "outputs")
    _table(title, columns, [_pair_row(pair) for pair in pairs])


def _pair_row(pair: PairReport) -> tuple[Cell, ...]:
    tensors = pair.all_tensors
    outputs = f"{sum(not c.is_exact for c in pair.outputs)} of {len(pair.outputs)} differ"
    if all(c.is_exact for c in pair.outputs):
        outputs = "equal"
    if tensors is None:
        return pair.expected, pair.found, 0, 0, 0, None, "-", outputs
    return (
        pair.expected,
        pair.found,
        f"{tensors.elements:,}",
        f"{tensors.mismatches:,}",
        int(tensors.largest_difference),
        _decibels(tensors),
        f"{len(pair.different)} of {len(pair.tensors)}",
        outputs,
    )


def _show_kinds(found: Verification) -> None:
    """Which kinds of ops the engines compute differently."""
    from shlo_quant.compare import total

    rows: list[tuple[Cell, ...]] = []
    for pair in found.op_by_op:
        kinds: dict[tuple[str, str], list[Comparison]] = {}
        for tensor in found.tensors:
            if tensor.name in pair.tensors:
                key = _ops(tensor), _why(tensor)
                kinds.setdefault(key, []).append(pair.tensors[tensor.name])
        for (ops, why), comparisons in kinds.items():
            both = total(comparisons)
            if not both.is_exact:
                tensors = f"{sum(not c.is_exact for c in comparisons)} of {len(comparisons)}"
                rate = f"{10000 * both.mismatches / both.elements:.3g}"
                steps = int(both.largest_difference)
                rows.append((f"{pair.expected}, {pair.found}", ops, why, tensors, f"{both.mismatches:,}", rate, steps))
    if rows:
        columns = ("engines", "ops", "in", "tensors", "mismatches", "in 10,000", "steps")
        _table("What they compute differently from the same operands", columns, rows)


def _ops(tensor: TensorReport) -> str:
    """The ops that compute a tensor, data movement aside."""
    ops = Counter(op for op in tensor.ops if op not in MOVES)
    return ", ".join(f"{n} {op}" if n > 1 else op for op, n in ops.items()) or ", ".join(tensor.ops) or "quantize"


def _why(tensor: TensorReport) -> str:
    if tensor.wrong_in_xnnpack:
        return "XNNPACK's defect"
    return "integers" if tensor.in_integers else "floats"


def _decibels(comparison: Comparison) -> str:
    decibels = comparison.sqnr_db
    return "-" if decibels is None else f"{decibels:.1f}"


def _by_tensor(divergences: Sequence[Divergence]) -> list[list[Divergence]]:
    """Those in the same tensor together."""
    groups: dict[tuple[bool, str], list[Divergence]] = {}
    for divergence in divergences:
        groups.setdefault((divergence.op_by_op, divergence.tensor.name), []).append(divergence)
    return list(groups.values())


def _show_divergence(group: Sequence[Divergence]) -> None:
    found = group[0]
    tensor = found.tensor
    how = "from the same operands" if found.op_by_op else "from the inputs on"
    facts = [
        ("who", ", ".join(f"{d.expected} and {d.found}" for d in group)),
        ("at", tensor.location),
        ("ops", _ops(tensor)),
        ("type", tensor.type),
        ("operands", "; ".join((*tensor.operands, *tensor.parameters)) or "the program's inputs"),
        ("differ", f"{found.expected} and {found.found}: {found.comparison}; of batch {found.batch}:"),
        *(("", _sample(found, sample)) for sample in found.samples),
    ]
    _table(f"First difference {how}: {tensor.name}", ("", ""), facts)


def _sample(found: Divergence, sample: Sample) -> str:
    operands = f"  from {'; '.join(sample.operands)}" if sample.operands else ""
    place = ", ".join(map(str, sample.index))
    return f"[{place}]: {found.expected} {sample.expected}, {found.found} {sample.found}{operands}"


def _show_judgement(found: Judgement) -> None:
    missing = sorted(kind.removeprefix("stablehlo.") for kind in found.op_kinds - found.judged_kinds)
    rows: list[tuple[Cell, ...]] = [
        ("results", f"{len(found.judged)} of {found.results}"),
        ("kinds of ops", f"{len(found.op_kinds) - len(missing)} of {len(found.op_kinds)}"),
        ("boxes", f"{len(found.crops):,}"),
        ("elements", f"{found.elements:,}"),
        ("mismatches", f"{found.mismatches:,}"),
    ]
    if missing:
        rows.append(("not judged, ops", ", ".join(missing)))
    for reason, count in Counter(found.not_judged.values()).items():
        rows.append((f"not judged, {count} results", reason))
    title = f"fast as the reference interpreter judges it, {found.seconds:.1f} of {found.budget:.0f} s"
    _table(title, ("", ""), rows)


def _plain(value: Any) -> Any:
    """Data that JSON has: sets are sorted lists, floats that are not finite are words."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted(_plain(item) for item in value)
    if isinstance(value, tuple | list):
        return [_plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
