"""The engines of a verification behind one face: inputs to outputs and quantized tensors."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from shlo_quant.engines.base import Engine, Executable, ProgramResults
from shlo_quant.observation import Observation
from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.errors import EngineError, Finding, ShloQuantError, UnsupportedError
from shlo_quant.verify.results import EngineReport, Status

Run = Callable[[Sequence[Array]], ProgramResults]
RunOpByOp = Callable[[Sequence[Array], Mapping[str, Array]], ProgramResults]


@dataclass(frozen=True)
class Compiled:
    """A program in an engine.

    Attributes:
      run: from the inputs on.
      run_op_by_op: each quantized tensor, and each output, from given quantized tensors; None if the engine cannot.
      seconds: of compilation, where the engine knows better than a clock around it.
      run_seconds: of each run so far; as for `seconds`.
      remark, notes: what the user should know, in one line and op by op.
    """

    run: Run
    run_op_by_op: RunOpByOp | None = None
    seconds: float | None = None
    run_seconds: Sequence[float] | None = None
    remark: str = ""
    notes: tuple[Finding, ...] = ()


@dataclass
class Runner:
    """An engine that takes part until something fails.

    Args:
      name, detail: see `EngineReport`.
      compile_program: compiles; raises EngineError or UnsupportedError.
    """

    name: str
    detail: str
    compile_program: Callable[[], Compiled]
    reason: str = ""
    status: Status = "ran"
    _compiled: Compiled | None = None
    _compile_seconds: float | None = None
    _run_seconds: list[float] = field(default_factory=list)

    def leave_out(self, reason: str) -> None:
        """Let it take no part."""
        self.status, self.reason = "left out", reason

    def compile(self) -> None:
        """Compile the program, unless the engine is left out."""
        if self.status != "ran":
            return
        start = time.perf_counter()
        try:
            self._compiled = self.compile_program()
        except (EngineError, UnsupportedError) as error:
            self._fail(error)
            return
        known = self._compiled.seconds
        self._compile_seconds = time.perf_counter() - start if known is None else known

    def run(self, inputs: Sequence[Array]) -> ProgramResults | None:
        """Outputs and quantized tensors; None if that fails."""
        if self._compiled is None:
            return None
        start = time.perf_counter()
        try:
            results = self._compiled.run(inputs)
        except (EngineError, UnsupportedError) as error:
            self._fail(error)
            return None
        self._run_seconds.append(time.perf_counter() - start)
        return results

    def run_op_by_op(self, inputs: Sequence[Array], given: Mapping[str, Array]) -> ProgramResults | None:
        """The same, each from given quantized tensors; None if the engine cannot, or fails."""
        if self._compiled is None or self._compiled.run_op_by_op is None:
            return None
        try:
            return self._compiled.run_op_by_op(inputs, given)
        except (EngineError, UnsupportedError) as error:
            self._fail(error)
            return None

    def report(self) -> EngineReport:
        """What has become of it."""
        known = None if self._compiled is None else self._compiled.run_seconds
        seconds = self._run_seconds if known is None else known
        return EngineReport(
            self.name,
            self.detail,
            self.status,
            self.reason,
            self._compile_seconds,
            statistics.median(seconds) if seconds else None,
            "" if self._compiled is None else self._compiled.remark,
            () if self._compiled is None else self._compiled.notes,
        )

    def _fail(self, error: ShloQuantError) -> None:
        self.status, self.reason = "failed", str(error)


def in_engine(engine: Engine, whole: Observation, cut: Observation | None) -> Compiled:
    """Compile a program that returns its quantized tensors, and the same cut at them."""
    run = _run(engine.compile(whole.module), whole)
    return Compiled(run, None if cut is None else _run_op_by_op(engine.compile(cut.module), cut))


def _run(executable: Executable, observation: Observation) -> Run:
    return lambda inputs: _results(executable.run(inputs), observation)


def _run_op_by_op(executable: Executable, observation: Observation) -> RunOpByOp:
    def run(inputs: Sequence[Array], given: Mapping[str, Array]) -> ProgramResults:
        return _results(executable.run([*inputs, *(given[t.name] for t in observation.tensors)]), observation)

    return run


def _results(results: Sequence[Array], observation: Observation) -> ProgramResults:
    names = [tensor.name for tensor in observation.tensors]
    outputs, tensors = results[: observation.own_results], results[observation.own_results :]
    return ProgramResults(list(outputs), dict(zip(names, tensors, strict=True)))
