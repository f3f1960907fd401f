"""Time and peak memory of `shlo-quant lower --to integer`, beside executorch's lowering of the same `.pt2` files.

    python benchmarks/bench.py [NAME ...] [--repetitions N] [--models DIR]

Both sides are whole processes: start, imports, loading, lowering, writing. Repetitions alternate between the two, so
that both see the same machine; of each the best time and the largest peak count. Models that are missing are built
first. Exit code 1 if a ratio of times is above the goal.
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

OURS = [sys.executable, "-m", "shlo_quant.cli.main", "lower"]
OUR_OPTIONS = ["--to", "integer", "--format", "bytecode", "-o"]
THEIRS = [sys.executable, str(HERE / "lower_with_executorch.py")]
OUR_IMPORTS = "import shlo_quant.importers.pt2e, shlo_quant.pipelines"
THEIR_IMPORTS = "import lower_with_executorch"


@dataclass(frozen=True)
class Cost:
    """What a process took: seconds on the wall clock and of the cores, and the peak of its resident memory in bytes."""

    seconds: float
    cpu_seconds: float
    peak_bytes: int

    def combined(self, other: Cost) -> Cost:
        """The shorter times and the higher peak of two runs."""
        return Cost(
            min(self.seconds, other.seconds),
            min(self.cpu_seconds, other.cpu_seconds),
            max(self.peak_bytes, other.peak_bytes),
        )


def measure(command: list[str]) -> Cost:
    """Run a command to its end; leave with its output if it fails."""
    with tempfile.TemporaryFile("w+") as output:
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=output, stderr=subprocess.STDOUT, cwd=HERE)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            output.seek(0)
            sys.exit(f"{' '.join(command)}\nfailed with {process.returncode}:\n{output.read()}")
    return Cost(seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024)


def measure_side_by_side(ours: list[str], theirs: list[str], repetitions: int) -> tuple[Cost, Cost]:
    """The costs of two commands, run in turn."""
    pairs = [(measure(ours), measure(theirs)) for _ in range(repetitions)]
    best = pairs[0]
    for pair in pairs[1:]:
        best = (best[0].combined(pair[0]), best[1].combined(pair[1]))
    return best


def bench(model: Path, repetitions: int) -> tuple[Cost, Cost]:
    """Our cost and executorch's of lowering one model."""
    with tempfile.TemporaryDirectory() as directory:
        ours = [*OURS, str(model), *OUR_OPTIONS, f"{directory}/ours.mlirbc"]
        theirs = [*THEIRS, str(model), f"{directory}/theirs.pte"]
        return measure_side_by_side(ours, theirs, repetitions)


def main() -> int:
    """Print the table; return the exit code."""
    arguments = _parser().parse_args()
    arguments.models = arguments.models.absolute()
    _build_missing(arguments.names, arguments.models)
    print(f"best of {arguments.repetitions}, whole processes, {os.cpu_count()} cores\n")
    print("| model | .pt2, MB | ours, s | executorch, s | ratio | of CPU times | ours, peak MB | executorch, peak MB |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|", flush=True)
    ratios = {}
    for name in arguments.names:
        model = arguments.models / f"{name}.pt2"
        ours, theirs = bench(model, arguments.repetitions)
        ratios[name] = ours.seconds / theirs.seconds
        print(
            f"| {name} | {model.stat().st_size / 1e6:.1f} | {ours.seconds:.1f} | {theirs.seconds:.1f} "
            f"| {ratios[name]:.2f} | {ours.cpu_seconds / theirs.cpu_seconds:.2f} "
            f"| {ours.peak_bytes / 1e6:.0f} | {theirs.peak_bytes / 1e6:.0f} |",
            flush=True,
        )
    _print_share_of_imports(arguments.repetitions)
    above = [name for name, ratio in ratios.items() if ratio > GOAL]
    print(f"goal: ratio at most {GOAL}: " + (f"missed by {', '.join(above)}" if above else "reached by all"))
    return 1 if above else 0


def _print_share_of_imports(repetitions: int) -> None:
    """Tell how much of the times above is start and imports alone."""
    ours, theirs = measure_side_by_side(
        [sys.executable, "-c", OUR_IMPORTS], [sys.executable, "-c", THEIR_IMPORTS], repetitions
    )
    print(
        f"\nof which process start and imports: ours {ours.seconds:.1f} s, {ours.peak_bytes / 1e6:.0f} MB; "
        f"executorch {theirs.seconds:.1f} s, {theirs.peak_bytes / 1e6:.0f} MB"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "names", nargs="*", default=NAMES, metavar="NAME", help=f"of: {', '.join(NAMES)}; all by default"
    )
    parser.add_argument("--repetitions", type=int, default=3, metavar="N", help="runs of each side (default: 3)")
    parser.add_argument("--models", type=Path, default=HERE / "models", metavar="DIR", help="where the .pt2 files are")
    return parser


def _build_missing(names: list[str], directory: Path) -> None:
    missing = [name for name in names if not (directory / f"{name}.pt2").exists()]
    if missing:
        subprocess.run([sys.executable, HERE / "models.py", *missing, "--out", directory], check=True)


if __name__ == "__main__":
    sys.exit(main())
