"""Golden programs: inputs, program and expected values in one file that needs nothing else.

A golden program is a StableHLO module whose entry function takes no arguments and calls a check on pairs of values,
`stablehlo.custom_call @check.eq(%expected, %actual)` and the like. No interpreter knows these calls: we take them out,
let the function return the pairs, and compare. A file may hold several programs, between `// -----` lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType

from torch_mlir import ir

from shlo_quant.compare import Comparison, compare_all
from shlo_quant.engines.base import Engine
from shlo_quant.engines.child import run_in_children
from shlo_quant.engines.fast import FastEngine
from shlo_quant.engines.reference import ReferenceEngine
from shlo_quant.files import decode, load_program, read_bytes, split_input
from shlo_quant.passes.base import ModulePass, run_passes
from shlo_quant.passes.dialects import stablehlo
from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.dialects.context import new_context
from shlo_quant.passes.dialects.locations import describe
from shlo_quant.passes.dialects.modules import copy_module, entry_function, signature
from shlo_quant.passes.dialects.quant import is_quantized, uniform_type, with_element_type
from shlo_quant.passes.errors import EngineError, InputError, ShloQuantError
from shlo_quant.passes.legalize_qdq_to_quantized_op import LegalizeQdqToQuantizedOp
from shlo_quant.passes.legalize_quant_to_math import LegalizeQuantToMath
from shlo_quant.passes.legalize_quantized_op_to_qdq import LegalizeQuantizedOpToQdq
from shlo_quant.passes.rewrite import Rewriter, walk
from shlo_quant.random_inputs import random_inputs

CHECK_PREFIX = "check."


@dataclass(frozen=True)
class Way:
    """How a program is evaluated: by which engine, after which passes."""

    engine: Engine
    passes: tuple[ModulePass, ...] = ()


WAYS: Mapping[str, Way] = MappingProxyType(
    {
        "spec": Way(ReferenceEngine()),
        "fast": Way(FastEngine()),
        "lowered": Way(ReferenceEngine(), (LegalizeQuantToMath(),)),
        "qdq, lowered": Way(ReferenceEngine(), (LegalizeQuantizedOpToQdq(), LegalizeQuantToMath())),
        "fused, lowered": Way(ReferenceEngine(), (LegalizeQdqToQuantizedOp(), LegalizeQuantToMath())),
    }
)
"""By name: by the reference engine's own arithmetic, by the fast engine, and through our passes."""


@dataclass(frozen=True)
class Outcome:
    """One way of evaluating one program: comparisons, one per check, or the reason why there are none."""

    way: str
    comparisons: tuple[Comparison, ...]
    error: str = ""

    @property
    def is_exact(self) -> bool:
        """Whether every check was evaluated and is bit-exact."""
        return not self.error and all(c.is_exact for c in self.comparisons)


@dataclass(frozen=True)
class FileReport:
    """What became of a golden file.

    Attributes:
      unread: the checks that could not be evaluated, each with its place and the reason.
      error: why the file could not be read at all, or "".
    """

    path: Path
    outcomes: tuple[Outcome, ...]
    unread: tuple[str, ...] = ()
    error: str = ""

    @property
    def is_exact(self) -> bool:
        """Whether every way of every program in the file is bit-exact."""
        return not self.error and all(o.is_exact for o in self.outcomes)


# ---- check


def golden_files(paths: Iterable[str | Path]) -> list[Path]:
    """The files named, and those named `*.mlir` in the directories named. Raises: InputError if there are none."""
    found: list[Path] = []
    for path in map(Path, paths):
        inside = sorted(path.glob("*.mlir")) if path.is_dir() else [path]
        if not inside:
            raise InputError(f"{path}: no .mlir files in this directory")
        found += inside
    return found


def check_files(paths: Sequence[Path], workers: int) -> Iterator[FileReport]:
    """Check golden files in parallel child processes; yield reports as they are done."""
    tasks = [partial(_check_file, path) for path in paths]
    for index, report in run_in_children(tasks, workers):
        yield FileReport(paths[index], (), error=str(report)) if isinstance(report, EngineError) else report


def _check_file(path: Path) -> FileReport:
    """Runs in a child."""
    try:
        context = new_context()
        context.allow_unregistered_dialects = True  # upstream's `check` dialect is in no wheel
        outcomes: list[Outcome] = []
        unread: list[str] = []
        with context, ir.Location.unknown():
            for text in split_input(decode(read_bytes(path), str(path))):
                program = load_program(text.encode(), str(path), context)
                left_out = expose_checks(program, path)
                unread += left_out
                _, values = signature(entry_function(program))
                if values:
                    has_quantized = _has_quantized(program)
                    ways = {name: way for name, way in WAYS.items() if has_quantized or not way.passes}
                    outcomes += [_evaluate(program, name, way) for name, way in ways.items()]
    except InputError as error:
        return FileReport(path, (), error=str(error))
    return FileReport(path, tuple(outcomes), tuple(unread))


def _evaluate(program: ir.Module, name: str, way: Way) -> Outcome:
    lowered = copy_module(program)
    try:
        run_passes(lowered, way.passes)
        if way.passes and _has_quantized(lowered):
            return Outcome(name, (), "quantized types are left after lowering")
        values = way.engine.compile(lowered).run([])
        return Outcome(name, compare_all(values[::2], values[1::2]))
    except ShloQuantError as error:
        return Outcome(name, (), str(error))
    except ir.MLIRError as error:
        return Outcome(name, (), f"a pass left invalid IR: {error}")


def _has_quantized(module: ir.Module) -> bool:
    return any(is_quantized(v) for op in walk(module.operation) for v in (*op.operands, *op.results))


def expose_checks(module: ir.Module, path: str | Path = "program") -> list[str]:
    """Take the checks out of the entry function, and let it return the pairs they compare instead of what it did.

    Returns: the checks that cannot be evaluated, each with place and reason; they are left out.
    Raises: InputError if the function takes arguments or calls no check.
    """
    entry = entry_function(module)
    block = entry.regions[0].blocks[0]
    if len(block.arguments):
        raise InputError(f"{path}: a golden program takes no arguments; `golden make` turns a program into one")
    pairs: list[ir.Value] = []
    unread: list[str] = []
    with Rewriter(module) as rewriter:
        for op in rewriter.ops():
            if _is_check(op):
                with rewriter.before(op):
                    compared = _compared(op)
                if not compared:
                    unread.append(f"{describe(op.location)}: the bindings cannot read complex constants")
                pairs += compared
                rewriter.erase(op)
        if not pairs and not unread:
            raise InputError(f"{path}: no check of expected values")
        old_return = _terminator(block)
        with rewriter.before(old_return):
            ir.Operation.create("func.return", operands=pairs)
        rewriter.erase(old_return)
    _set_signature(entry, [], [value.type for value in pairs])
    return unread


def _terminator(block: ir.Block) -> ir.Operation:
    """The terminator of a function body."""
    return list(block.operations)[-1].operation


def _is_check(op: ir.Operation) -> bool:
    """Whether the op is one of upstream's checks, as a custom call or of its test dialect."""
    if op.name == "stablehlo.custom_call":
        return str(ir.StringAttr(op.attributes["call_target_name"]).value).startswith(CHECK_PREFIX)
    return str(op.name).startswith(CHECK_PREFIX)


def _compared(op: ir.Operation) -> list[ir.Value]:
    """The two values that a check compares, expected and actual; nothing for complex numbers."""
    if any(isinstance(value.type.element_type, ir.ComplexType) for value in op.operands):
        return []
    if "value" in op.attributes:
        value = op.attributes["value"]
        pair = [stablehlo.create("stablehlo.constant", [], [value.type], {"value": value}).results[0], op.operands[0]]
    else:
        pair = list(op.operands)
    if len(pair) != 2:
        raise InputError(f"{describe(op.location)}: a check compares two values, got {len(pair)}")
    return pair


def _set_signature(function: ir.Operation, inputs: Sequence[ir.Type], results: Sequence[ir.Type]) -> None:
    """Change a function's type; attributes of its arguments and results go."""
    function.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(list(inputs), list(results)))
    for name in ("arg_attrs", "res_attrs"):
        if name in function.attributes:
            del function.attributes[name]


# ---- make


def make_golden(program: ir.Module, seed: int) -> ir.Module:
    """A golden program from a program with inputs: seeded inputs and the reference engine's results become constants.

    Quantized results are checked by their stored integers. `program` is not changed.
    Raises: InputError for dynamic shapes; EngineError, UnsupportedError if the program cannot be evaluated.
    """
    inputs = random_inputs(program, seed)
    expected = ReferenceEngine().compile(program).run(inputs)
    golden = copy_module(program)
    with golden.context, ir.Location.unknown():
        entry = entry_function(golden)
        block = entry.regions[0].blocks[0]
        _bind_arguments(block, inputs)
        end = _terminator(block)
        with ir.InsertionPoint(end):
            for value, array in zip(list(end.operands), expected, strict=True):
                _check_equal(value, array)
        _, results = signature(entry)
        _set_signature(entry, [], results)
        golden.operation.verify()
    return golden


def _bind_arguments(block: ir.Block, inputs: Sequence[Array]) -> None:
    """Replace arguments by constants."""
    with ir.InsertionPoint.at_block_begin(block):
        for argument, array in zip(block.arguments, inputs, strict=True):
            argument.replace_all_uses_with(_constant_like(argument.type, array))
    for index in reversed(range(len(block.arguments))):
        block.erase_argument(index)


def _constant_like(tensor: ir.Type, array: Array) -> ir.Value:
    uniform = uniform_type(tensor)
    return (
        stablehlo.constant(array, tensor.element_type)
        if uniform is None
        else stablehlo.quantized_constant(array, uniform)
    )


def _check_equal(actual: ir.Value, expected: Array) -> None:
    """`custom_call @check.eq(expected, actual)`; of a quantized value, on its stored integers."""
    uniform = uniform_type(actual)
    if uniform is not None:
        actual = stablehlo.bitcast_convert(actual, with_element_type(actual.type, uniform.integer_type))
    boolean = ir.RankedTensorType.get([], ir.IntegerType.get_signless(1))
    attributes = {"call_target_name": ir.StringAttr.get("check.eq")}
    stablehlo.create("stablehlo.custom_call", [_constant_like(actual.type, expected), actual], [boolean], attributes)
