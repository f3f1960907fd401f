"""Compile time, run time and peak memory of the engines, on the same models and inputs, in the same minutes.

    python benchmarks/bench_runs.py [NAME ...] [--engines ENGINE ...] [--grow] [--seconds S] [--rounds N] [--threads N]

Each engine is a process (`run_with.py`) that stays while the others are measured: round after round, each in turn runs
for S seconds, so that all see the same machine. An engine whose first run takes longer than all rounds runs once.
Printed is the median of all runs of an engine, and its ratio to that of `fast`. With --grow, larger batches and images
follow, of the models that take them. An engine that is not installed, or cannot take a model, is a line with the
reason.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from bench import HERE, NAMES, build_missing

ENGINES = ("fast", "xnnpack", "torch", "xla", "iree", "reference")
GROWING_ENGINES = ("fast", "xnnpack")
GROWING = ("mobilenet_v2", "resnet18")
BATCHES, SIZES = (1, 2, 4, 8), (96, 160, 224, 320)
OURS = "fast"


@dataclass(frozen=True)
class Case:
    """A model on a batch of images of a size; None for its own size."""

    model: Path
    batch: int = 1
    size: int | None = None

    def options(self) -> list[str]:
        """As `run_with.py` takes it."""
        size = [] if self.size is None else ["--size", str(self.size)]
        return [str(self.model), "--batch", str(self.batch), *size]


@dataclass
class Measurement:
    """What was seen of an engine; `failure` says why there is nothing.

    Attributes:
      runs: seconds of each run.
    """

    engine: str
    compile_seconds: float = 0.0
    remark: str = ""
    failure: str = ""
    runs: list[float] = field(default_factory=list)
    peak_bytes: int = 0

    @property
    def median(self) -> float:
        """Seconds."""
        return statistics.median(self.runs)


class Runner:
    """The process of one engine."""

    def __init__(self, engine: str, case: Case, threads: int) -> None:
        command = [sys.executable, str(HERE / "run_with.py"), engine, *case.options(), "--threads", str(threads)]
        self.measurement = Measurement(engine)
        self._done = False
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )

    def compile(self, slow: float) -> None:
        """Wait until the engine has run once, or has said why it cannot; a run that took that long is the only one."""
        answer = self._answer() or {"failed": "crashed"}
        self.measurement.failure = answer.get("failed", "")
        self.measurement.compile_seconds = answer.get("compile", 0.0)
        self.measurement.remark = answer.get("remark", "")
        if answer.get("first_run", 0.0) > slow:
            self.measurement.runs = [answer["first_run"]]
            self.measurement.remark = self.measurement.remark or "one run"
            self._done = True

    def run(self, seconds: float) -> None:
        """Let it run for so long."""
        if self.measurement.failure or self._done:
            return
        stdin = self._stream(self._process.stdin)
        stdin.write(f"{seconds}\n")
        stdin.flush()
        self.measurement.runs += self._answer() or []

    def __enter__(self) -> Runner:
        return self

    def __exit__(self, *_: object) -> None:
        self._stream(self._process.stdin).close()
        answer = self._answer() or {}
        self.measurement.peak_bytes = answer.get("peak_bytes", 0)
        self._process.wait()
        self._stream(self._process.stdout).close()

    def _answer(self) -> Any:
        line = self._stream(self._process.stdout).readline()
        return json.loads(line) if line else None

    @staticmethod
    def _stream(stream: IO[str] | None) -> IO[str]:
        assert stream is not None
        return stream


def measure(case: Case, engines: Sequence[str], arguments: argparse.Namespace) -> list[Measurement]:
    """Compile one after the other, then run in turn."""
    with ExitStack() as stack:
        runners = []
        for engine in engines:
            runners.append(stack.enter_context(Runner(engine, case, arguments.threads)))
            runners[-1].compile(arguments.seconds * arguments.rounds)
        for _ in range(arguments.rounds):
            for runner in runners:
                runner.run(arguments.seconds)
    return [runner.measurement for runner in runners]


def rows(label: str, measurements: Sequence[Measurement]) -> Iterator[str]:
    """Lines of a table."""
    (ours,) = [m.median for m in measurements if m.engine == OURS and m.runs] or [float("nan")]
    for m in measurements:
        if not m.runs:
            yield f"| {label} | {m.engine} | | | | | {m.failure or 'crashed'} |"
            continue
        numbers = f"{m.compile_seconds:.1f} | {m.median * 1e3:.2f} | {m.median / ours:.2f} | {m.peak_bytes / 1e6:.0f}"
        yield f"| {label} | {m.engine} | {numbers} | {m.remark} |"


def main() -> None:
    """Print the tables."""
    arguments = _parser().parse_args()
    models = [arguments.models.absolute() / f"{name}.pt2" for name in arguments.names]
    build_missing(arguments.names, arguments.models.absolute())
    print(f"{arguments.threads} threads, load {os.getloadavg()[0]:.1f} at the start\n")
    print(
        "| model | engine | compile, s | run, ms | ratio to fast | peak MB | |\n|---|---|--:|--:|--:|--:|---|",
        flush=True,
    )
    for model in models:
        print(*rows(model.stem, measure(Case(model), arguments.engines, arguments)), sep="\n", flush=True)
    if arguments.grow:
        growing = [model for model in models if model.stem in GROWING]
        engines = [engine for engine in arguments.engines if engine in GROWING_ENGINES]
        cases = [Case(m, batch) for m in growing for batch in BATCHES]
        cases += [Case(m, 1, size) for m in growing for size in SIZES]
        for case in cases:
            label = f"{case.model.stem}, batch {case.batch}" + (f", {case.size}x{case.size}" if case.size else "")
            print(*rows(label, measure(case, engines, arguments)), sep="\n", flush=True)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "names", nargs="*", default=NAMES, metavar="NAME", help=f"of: {', '.join(NAMES)}; all by default"
    )
    parser.add_argument(
        "--engines", nargs="+", default=ENGINES, choices=ENGINES, metavar="ENGINE", help="all by default"
    )
    parser.add_argument("--grow", action="store_true", help="also larger batches and images, of fast and xnnpack")
    parser.add_argument("--seconds", type=float, default=1.0, metavar="S", help="of an engine in a round (default: 1)")
    parser.add_argument("--rounds", type=int, default=5, metavar="N", help="default: 5")
    parser.add_argument("--threads", type=int, default=2, metavar="N", help="default: 2")
    parser.add_argument("--models", type=Path, default=HERE / "models", metavar="DIR", help="where the .pt2 files are")
    return parser


if __name__ == "__main__":
    main()
