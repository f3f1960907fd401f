"""Time and peak memory of lowering to integers, beside executorch's lowering of the same `.pt2` files.

    python benchmarks/bench.py [NAME ...] [--repetitions N] [--models DIR]

`lowering` is the time from a loaded program to a written file, in one process (`lower_with.py`); `process` is the whole
command with start, imports and loading: `shlo-quant lower --to integer` on our side. Repetitions alternate between the
two sides, so that both see the same machine; of each the best time and the largest peak count. Models that are missing
are built first. Exit code 1 if a ratio of lowering times is above the goal.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent.absolute()
NAMES = ("digits", "mobilenet_v2", "resnet18", "vit", "bert", "convnext_tiny")
GOAL = 0.25
COLUMNS = (
    "model",
    ".pt2, MB",
    "lowering: ours, s",
    "executorch, s",
    "ratio",
    "process: ours, s",
    "executorch, s",
    "ratio",
    "ours, peak MB",
    "executorch, peak MB",
)


@dataclass(frozen=True)
class Cost:
    """Seconds of the lowering alone and of a whole process, and the peak of its resident memory in bytes."""

    lowering: float
    process: float
    peak_bytes: int

    def combined(self, other: Cost) -> Cost:
        """The shorter times and the higher peak of two runs."""
        return Cost(
            min(self.lowering, other.lowering),
            min(self.process, other.process),
            max(self.peak_bytes, other.peak_bytes),
        )


def measure(command: list[str]) -> tuple[float, int, str]:
    """Run a command to its end: seconds, peak memory in bytes, what it printed. Leave if it fails."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=errors, cwd=HERE)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode != 0:
            sys.exit(f"{' '.join(command)}\nfailed with {process.returncode}:\n{errors.read()}")
        return seconds, usage.ru_maxrss * 1024, output.read()


def our_cost(model: Path, directory: str) -> Cost:
    """One lowering in a process of its own, and one run of the command."""
    lowering, _ = _lower_with("shlo-quant", model, directory)
    command = [sys.executable, "-m", "shlo_quant.cli.main", "lower", str(model), "--to", "integer"]
    seconds, peak, _ = measure([*command, "--format", "bytecode", "-o", f"{directory}/ours.mlirbc"])
    return Cost(lowering, seconds, peak)


def their_cost(model: Path, directory: str) -> Cost:
    """One run, which tells both times."""
    lowering, (seconds, peak) = _lower_with("executorch", model, directory)
    return Cost(lowering, seconds, peak)


def _lower_with(side: str, model: Path, directory: str) -> tuple[float, tuple[float, int]]:
    command = [sys.executable, str(HERE / "lower_with.py"), side, str(model), f"{directory}/{side}"]
    seconds, peak, printed = measure(command)
    return float(printed.split()[-1]), (seconds, peak)


def bench(model: Path, repetitions: int) -> tuple[Cost, Cost]:
    """Our cost and executorch's of lowering one model, measured in turn."""
    with tempfile.TemporaryDirectory() as directory:
        ours, theirs = our_cost(model, directory), their_cost(model, directory)
        for _ in range(repetitions - 1):
            ours = ours.combined(our_cost(model, directory))
            theirs = theirs.combined(their_cost(model, directory))
    return ours, theirs


def main() -> int:
    """Print the table; return the exit code."""
    arguments = _parser().parse_args()
    arguments.models = arguments.models.absolute()
    build_missing(arguments.names, arguments.models)
    print(f"best of {arguments.repetitions}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the start\n")
    print(f"| {' | '.join(COLUMNS)} |\n|---|{'--:|' * (len(COLUMNS) - 1)}", flush=True)
    above = []
    for name in arguments.names:
        model = arguments.models / f"{name}.pt2"
        ours, theirs = bench(model, arguments.repetitions)
        above += [name] if ours.lowering > GOAL * theirs.lowering else []
        print(
            f"| {name} | {model.stat().st_size / 1e6:.1f} "
            f"| {ours.lowering:.1f} | {theirs.lowering:.1f} | {ours.lowering / theirs.lowering:.2f} "
            f"| {ours.process:.1f} | {theirs.process:.1f} | {ours.process / theirs.process:.2f} "
            f"| {ours.peak_bytes / 1e6:.0f} | {theirs.peak_bytes / 1e6:.0f} |",
            flush=True,
        )
    outcome = f"missed by {', '.join(above)}" if above else "reached by all"
    print(f"\ngoal: lowering in at most {GOAL} of executorch's time: {outcome}")
    return 1 if above else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "names", nargs="*", default=NAMES, metavar="NAME", help=f"of: {', '.join(NAMES)}; all by default"
    )
    parser.add_argument("--repetitions", type=int, default=3, metavar="N", help="runs of each side (default: 3)")
    parser.add_argument("--models", type=Path, default=HERE / "models", metavar="DIR", help="where the .pt2 files are")
    return parser


def build_missing(names: list[str], directory: Path) -> None:
    """Build and save the models of those names that are not in the directory."""
    missing = [name for name in names if not (directory / f"{name}.pt2").exists()]
    if missing:
        subprocess.run([sys.executable, HERE / "models.py", *missing, "--out", directory], check=True)


if __name__ == "__main__":
    sys.exit(main())
