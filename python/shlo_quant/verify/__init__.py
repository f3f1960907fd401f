"""Engines side by side on one program: where they give different integers, from which op on, and who is right.

Three questions:

1. Do engines agree on the program from the inputs on?
2. Do they agree on every op by itself, each given the same operands? A difference is then the op's own.
3. Does the engine `fast` compute what its program says? The StableHLO reference interpreter answers, on the whole
   program if time allows, else on small boxes of every quantized tensor (`judge`).
"""

from __future__ import annotations

import os
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from torch_mlir import ir

from shlo_quant.engines.base import ProgramResults
from shlo_quant.engines.fast import FastEngine
from shlo_quant.engines.reference import ReferenceEngine
from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.errors import EngineError, Finding, InputError, MissingExtraError
from shlo_quant.programs import is_pytorch_program, load, load_pytorch_program
from shlo_quant.verify.judge import Evidence, Judge
from shlo_quant.verify.promises import promises
from shlo_quant.verify.results import Judgement, Verification
from shlo_quant.verify.runners import Compiled, Runner, in_engine
from shlo_quant.verify.sides import Pair
from shlo_quant.verify.subject import Subject

if TYPE_CHECKING:
    from torch.export import ExportedProgram

    from shlo_quant.engines.xnnpack import XnnpackEngine, XnnpackLowering

__all__ = ["ENGINES", "Options", "Program", "Verification", "verify"]

ENGINES = ("reference", "xnnpack", "torch", "fast")
"""Of two engines the one that stands first here is the expected one."""

EVIDENCE_BATCHES = 2
"""More batches than that are not kept for the judge."""

WHOLE_SHARE = 0.3
"""Of the budget; a program that the interpreter runs in less, all batches together, it runs whole."""

Progress = Callable[[str, float], None]
"""Called with what is being done, and which share of it is."""


@dataclass(frozen=True)
class Program:
    """What is to be verified.

    Attributes:
      name: for people.
      qdq: as StableHLO.
      exported: as PyTorch has it; None if there is only StableHLO.
      path: the `.pt2` file that holds `exported`, if there is one.
      findings: what the importer said.
    """

    name: str
    qdq: ir.Module
    exported: ExportedProgram | None = None
    path: Path | None = None
    findings: tuple[Finding, ...] = ()

    @staticmethod
    def read(path: str | Path) -> Program:
        """The program in a file. Raises: InputError, UnsupportedError as `shlo_quant.programs.load`."""
        if not is_pytorch_program(path):
            module, findings = load(path)
            return Program(str(path), module, findings=findings)
        exported, imported = load_pytorch_program(path)
        return Program(str(path), imported.module, exported, Path(path), imported.findings)


@dataclass(frozen=True)
class Options:
    """How to verify.

    Attributes:
      engines: which of `ENGINES` take part.
      arithmetic: the profile of the integer form.
      budget: seconds for the reference interpreter.
      workers: how many processes it may use.
    """

    engines: Sequence[str] = ENGINES
    arithmetic: str = "xnnpack"
    budget: float = 10.0
    workers: int = len(os.sched_getaffinity(0))


def verify(
    program: Program,
    batches: Sequence[Sequence[Array]],
    options: Options | None = None,
    progress: Progress = lambda what, share: None,
    xnnpack: XnnpackEngine | None = None,
) -> Verification:
    """Run a program in several engines on the same inputs, and compare.

    Args:
      xnnpack: that engine, where the caller has started it already; else it starts here, and ends.

    An engine that is missing or fails is a line in the result, not an error.
    Raises: InputError for no batch or an unknown engine; UnsupportedError if the program has no integer form.
    """
    options = options or Options()
    unknown = [name for name in options.engines if name not in ENGINES]
    if unknown or not batches:
        raise InputError(f"no engine '{unknown[0]}'; there are: {', '.join(ENGINES)}" if unknown else "no inputs")
    with ExitStack() as stack:
        start = partial(_started, stack) if xnnpack is None else lambda: xnnpack
        return _Verifier(program, batches, options, progress, start).verify()


def _started(stack: ExitStack) -> XnnpackEngine:
    from shlo_quant.engines.xnnpack import XnnpackEngine

    return stack.enter_context(XnnpackEngine())


class _Verifier:
    """One verification.

    Args:
      start_xnnpack: gives the engine; raises MissingExtraError without its package.
    """

    def __init__(
        self,
        program: Program,
        batches: Sequence[Sequence[Array]],
        options: Options,
        progress: Progress,
        start_xnnpack: Callable[[], XnnpackEngine],
    ) -> None:
        self._start = time.perf_counter()
        self._program, self._batches, self._options, self._progress = program, batches, options, progress
        self._progress("lowering", 0.0)
        self._subject = Subject.of(program.qdq, options.arithmetic)
        self._judge = self._make_judge()
        makers = {
            "reference": self._reference,
            "xnnpack": lambda: self._xnnpack(start_xnnpack),
            "torch": self._torch,
            "fast": self._fast,
        }
        self._runners = [make() for name, make in makers.items() if name in options.engines]

    def verify(self) -> Verification:
        in_other_process = [runner for runner in self._runners if runner.name == "xnnpack"]
        self._compile([runner for runner in self._runners if runner not in in_other_process])
        judgement = self._judged()  # while the other process compiles
        self._compile(in_other_process)
        whole, op_by_op = self._run_batches()
        operands_from = op_by_op[0].expected if op_by_op else ""
        self._progress("done", 1.0)
        tensors = self._subject.tensors
        whole_reports, op_reports = ([pair.report() for pair in pairs] for pairs in (whole, op_by_op))
        divergences = [pair.divergence(tensors) for pair in (*op_by_op, *whole)]
        return Verification(
            program=self._program.name,
            arithmetic=self._options.arithmetic,
            batches=len(self._batches),
            engines=tuple(runner.report() for runner in self._runners),
            tensors=tensors,
            rewrites=self._subject.rewrites.findings,
            whole=tuple(whole_reports),
            op_by_op=tuple(op_reports),
            operands_from=operands_from,
            divergences=tuple(d for d in divergences if d is not None),
            judgement=judgement,
            promises=promises(self._options.arithmetic, tensors, whole_reports, op_reports, judgement),
            findings=self._program.findings,
            seconds=time.perf_counter() - self._start,
        )

    def _compile(self, runners: Sequence[Runner]) -> None:
        for index, runner in enumerate(runners):
            self._progress(f"compiling for {runner.name}", index / len(runners))
            runner.compile()

    # ---- engines

    def _make_judge(self) -> Judge | None:
        wanted = {"reference", "fast"} <= set(self._options.engines)
        if not wanted or not self._subject.is_static:
            return None
        others = int("xnnpack" in self._options.engines and self._program.exported is not None)  # lowers meanwhile
        workers = max(1, self._options.workers - others)
        return Judge(self._subject.cut.module, self._subject.result_names, workers)

    def _reference(self) -> Runner:
        subject = self._subject
        runner = Runner("reference", "integer form", lambda: in_engine(ReferenceEngine(), subject.whole, None))
        if self._judge is not None:
            seconds = self._judge.seconds_for_all() * len(self._batches)
            if seconds > WHOLE_SHARE * self._options.budget:
                runner.leave_out(f"the whole program would take it about {seconds:,.0f} s; it judges boxes instead")
        return runner

    def _fast(self) -> Runner:
        subject = self._subject
        return Runner(
            "fast", f"integer form, {subject.arithmetic}", lambda: in_engine(FastEngine(), subject.whole, subject.cut)
        )

    def _torch(self) -> Runner:
        program = self._program.exported

        def compile_program() -> Compiled:
            from shlo_quant.engines.torch_qdq import TorchEngine

            assert program is not None
            executable = TorchEngine().compile(program, list(self._subject.types))
            return Compiled(executable.run, executable.run_op_by_op)

        return self._of_pytorch(Runner("torch", "Q/DQ graph", compile_program))

    def _xnnpack(self, start: Callable[[], XnnpackEngine]) -> Runner:
        lowering: XnnpackLowering | None = None
        source = self._program.path or self._program.exported

        def compile_program() -> Compiled:
            assert lowering is not None
            executable = lowering.result()
            others = Counter(finding.op for finding in executable.not_delegated)
            leaves = ", ".join(f"{count} {op}" for op, count in others.items())
            return Compiled(
                executable.run,
                seconds=executable.lowering_seconds,
                run_seconds=executable.run_seconds,
                remark=f"not delegated: {leaves}" if leaves else "all delegated",
                notes=executable.not_delegated,
            )

        runner = self._of_pytorch(Runner("xnnpack", "delegate", compile_program))
        if source is not None:
            try:
                lowering = start().start(source, self._subject.cut_names)
            except (MissingExtraError, EngineError) as error:
                runner.leave_out(str(error))
        return runner

    def _of_pytorch(self, runner: Runner) -> Runner:
        if self._program.exported is None:
            runner.leave_out("it runs PyTorch programs, this is StableHLO")
        return runner

    # ---- runs

    def _run_batches(self) -> tuple[list[Pair], list[Pair]]:
        """Run every batch in every engine, whole and op by op; compare and let go."""
        whole: dict[tuple[str, str], Pair] = {}
        op_by_op: dict[tuple[str, str], Pair] = {}
        for batch, inputs in enumerate(self._batches):
            self._progress(f"batch {batch + 1} of {len(self._batches)}", batch / len(self._batches))
            runs = {runner.name: run for runner in self._runners if (run := runner.run(inputs)) is not None}
            for expected, found in combinations(runs, 2):
                self._pair(whole, expected, found, False).add(batch, runs[expected], runs[found])
            giver = next((name for name in ("xnnpack", "fast") if name in runs), None)
            if giver is None:
                continue
            for runner in self._runners:
                found_run = None if runner.name == giver else runner.run_op_by_op(inputs, runs[giver].tensors)
                if found_run is not None:
                    self._pair(op_by_op, giver, runner.name, True).add(batch, runs[giver], found_run)
        return list(whole.values()), list(op_by_op.values())

    def _pair(self, pairs: dict[tuple[str, str], Pair], expected: str, found: str, op_by_op: bool) -> Pair:
        if (expected, found) not in pairs:
            pairs[expected, found] = Pair(expected, found, self._subject.types, op_by_op, self._subject.explain)
        return pairs[expected, found]

    # ---- the judge

    def _judged(self) -> Judgement | None:
        """What the reference interpreter says of single results of the engine fast, run whole and op by op."""
        if self._judge is None:
            return None
        (runner,) = [runner for runner in self._runners if runner.name == "fast"]
        evidence = []
        for inputs in self._batches[:EVIDENCE_BATCHES]:
            run = runner.run(inputs)
            again = None if run is None else runner.run_op_by_op(inputs, run.tensors)
            if run is not None and again is not None:
                evidence += [self._evidence(inputs, run, run), self._evidence(inputs, run, again)]
        judgement = None
        for judgement in self._judge.judge(evidence, self._options.budget) if evidence else ():
            self._progress("asking the reference interpreter", min(1.0, judgement.seconds / self._options.budget))
        return judgement

    def _evidence(self, inputs: Sequence[Array], operands: ProgramResults, results: ProgramResults) -> Evidence:
        given, found = ([run.tensors[name] for name in self._subject.cut_names] for run in (operands, results))
        return Evidence([*inputs, *given], [*results.outputs, *found])
