"""Run a function in a forked child, so that a crash or an endless loop in native code becomes an EngineError.

The child inherits all objects of the parent and can change them without the parent seeing it; only the pickled return
value comes back. A fork and return costs about 5 ms.
"""

from __future__ import annotations

import faulthandler
import os
import pickle
import resource
import select
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

from shlo_quant.passes.errors import EngineError, ShloQuantError

T = TypeVar("T")


@dataclass(frozen=True)
class Limits:
    """What a child may use: wall-clock seconds, and bytes of memory beyond what the parent had."""

    seconds: int = 600
    memory_bytes: int = 8 << 30


def run_in_child(task: Callable[[], T], limits: Limits | None = None) -> T:
    """Return `task()`, computed in a child.

    Raises: EngineError if the child died or hit a limit, with the cause, or if `task` raised a ShloQuantError, with
      its text.
    """
    ((_, outcome),) = run_in_children([task], 1, limits)
    if isinstance(outcome, EngineError):
        raise outcome
    return outcome


def run_in_children(
    tasks: Sequence[Callable[[], T]], workers: int, limits: Limits | None = None
) -> Generator[tuple[int, T | EngineError], None, None]:
    """Run tasks in one child each, at most `workers` at a time; yield (index, value or EngineError) as they end."""
    waiting = list(enumerate(tasks))[::-1]
    running: dict[int, tuple[int, _Child]] = {}
    try:
        while waiting or running:
            while waiting and len(running) < workers:
                index, task = waiting.pop()
                child = _Child(task, limits or Limits())
                running[child.pipe] = (index, child)
            for pipe in select.select(list(running), [], [])[0]:
                index, child = running[pipe]
                if not child.read():
                    del running[pipe]
                    yield index, child.outcome()
    finally:
        for _, child in running.values():
            child.kill()


class _Child:
    """A forked process that computes one value and sends it through a pipe."""

    def __init__(self, task: Callable[[], Any], limits: Limits) -> None:
        self.pipe, write_end = os.pipe()
        self._limits = limits
        self._data = bytearray()
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the child
        sys.stdout.flush()
        sys.stderr.flush()
        self._pid = os.fork()
        if self._pid == 0:
            _child_main(task, limits, write_end, self._log.fileno())
        os.close(write_end)

    def read(self) -> bool:
        """Take what the child has sent; False at the end."""
        chunk = os.read(self.pipe, 1 << 20)
        self._data += chunk
        return bool(chunk)

    def outcome(self) -> Any:
        """The task's value, or the EngineError that says why there is none. Call once, after the end."""
        with self._log:
            status = self._wait()
            if os.WIFSIGNALED(status):
                return EngineError(self._cause_of_death(os.WTERMSIG(status)))
        kind, value = pickle.loads(self._data)
        if kind == "refused":
            return EngineError(value)
        if kind == "mistake":
            raise RuntimeError(f"in a child process:\n{value}")
        return value

    def kill(self) -> None:
        with self._log:
            os.kill(self._pid, signal.SIGKILL)
            self._wait()

    def _wait(self) -> int:
        os.close(self.pipe)
        _, status = os.waitpid(self._pid, 0)
        return status

    def _cause_of_death(self, signal_number: int) -> str:
        if signal_number == signal.SIGALRM:
            return f"stopped at the time limit of {self._limits.seconds} s"
        name = signal.Signals(signal_number).name
        self._log.seek(0)
        lines = [line.strip() for line in self._log.read().decode(errors="replace").splitlines() if line.strip()]
        telling = [line for line in lines if "LLVM ERROR" in line or "rror:" in line] or lines
        if signal_number == signal.SIGFPE:
            return f"crashed ({name}): integer division by zero"
        if any("out of memory" in line or "bad_alloc" in line for line in lines):
            return f"stopped at the memory limit of {self._limits.memory_bytes >> 20} MiB"
        return f"crashed ({name})" + (f": {telling[0]}" if telling else "")


def _child_main(task: Callable[[], Any], limits: Limits, write_end: int, log: int) -> NoReturn:
    """Compute, send, and leave without any clean-up of what belongs to the parent."""
    try:
        os.dup2(log, 2)
        _apply(limits)
        try:
            answer = ("value", task())
        except ShloQuantError as error:
            answer = ("refused", str(error))
        except MemoryError:
            answer = ("refused", f"stopped at the memory limit of {limits.memory_bytes >> 20} MiB")
        except BaseException:  # noqa: BLE001 - the parent raises it again
            answer = ("mistake", traceback.format_exc())
        with os.fdopen(write_end, "wb") as stream:
            pickle.dump(answer, stream, pickle.HIGHEST_PROTOCOL)
    finally:
        os._exit(0)


def _apply(limits: Limits) -> None:
    faulthandler.disable()  # it may be set to the parent's stderr
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(limits.seconds)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    used_pages = int(Path("/proc/self/statm").read_text().split()[0])
    ceiling = used_pages * resource.getpagesize() + limits.memory_bytes
    resource.setrlimit(resource.RLIMIT_AS, (ceiling, resource.getrlimit(resource.RLIMIT_AS)[1]))
