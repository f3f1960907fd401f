"""A quantized PyTorch program through executorch's XNNPACK partitioner and runtime, in a process of its own.

Executorch and its thread pool live in the worker process (`xnnpack_worker.py`), which stays for many programs and
runs. Whatever happens there, an exception, a crash or no end, is an EngineError here. The worker starts with the
engine and lowers while the caller does something else: see `XnnpackEngine.start`.
"""

from __future__ import annotations

import importlib.util
import multiprocessing
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, ClassVar

import torch
from torch.export import ExportedProgram

from shlo_quant.engines.base import ProgramResults
from shlo_quant.engines.xnnpack_worker import Lowered, Reply, Request
from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.errors import EngineError, Finding, InputError, MissingExtraError


class XnnpackEngine:
    """Executorch with XNNPACK; its worker process starts at once and ends with `close` or the `with` block.

    Args:
      limit_seconds: how long one request to the worker may take.
    Raises: MissingExtraError without executorch (extra `xnnpack`).
    """

    name: ClassVar[str] = "xnnpack"

    def __init__(self, limit_seconds: float = 600) -> None:
        if importlib.util.find_spec("executorch") is None:
            raise MissingExtraError("engine xnnpack", "executorch", "xnnpack")
        self._limit_seconds = limit_seconds
        self._worker = _Worker(limit_seconds)

    def start(self, program: ExportedProgram | Path, tensors: Sequence[str] = ()) -> XnnpackLowering:
        """Begin to lower a program in the worker, and return; arguments as for `compile`."""
        if not self._worker.is_alive():
            self._worker.close()
            self._worker = _Worker(self._limit_seconds)
        if isinstance(program, Path):
            return XnnpackLowering(self._worker, self._worker.send("lower", str(program.absolute()), tuple(tensors)))
        directory = tempfile.TemporaryDirectory()
        path = Path(directory.name) / "program.pt2"
        torch.export.save(program, path)
        number = self._worker.send("lower", str(path), tuple(tensors))
        return XnnpackLowering(self._worker, number, directory)

    def compile(self, program: ExportedProgram | Path, tensors: Sequence[str] = ()) -> XnnpackExecutable:
        return self.start(program, tensors).result()

    def close(self) -> None:
        """End the worker; its programs can run no more."""
        self._worker.close()

    def __enter__(self) -> XnnpackEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass
class XnnpackLowering:
    """A lowering under way."""

    _worker: _Worker
    _number: int
    _directory: tempfile.TemporaryDirectory[str] | None = None

    def result(self) -> XnnpackExecutable:
        """Wait for its end.

        Raises: EngineError with the reason why the program cannot be lowered or loaded; InputError for a tensor that
          it does not have.
        """
        try:
            lowered = self._worker.receive(self._number)
        finally:
            if self._directory is not None:
                self._directory.cleanup()
        return XnnpackExecutable(self._worker, lowered)


@dataclass
class XnnpackExecutable:
    """A program loaded in the worker.

    Attributes:
      run_seconds: the time of each run so far, as the worker measured it.
    """

    _worker: _Worker
    _lowered: Lowered
    run_seconds: list[float] = field(default_factory=list)

    @property
    def lowering_seconds(self) -> float:
        """Time from the loaded program to the executorch program, without start and imports of the worker."""
        return self._lowered.seconds

    @property
    def not_delegated(self) -> tuple[Finding, ...]:
        """The ops that XNNPACK does not compute, executorch's portable kernels do."""
        return self._lowered.not_delegated

    @property
    def delegates(self) -> int:
        """How many parts of the program XNNPACK computes, each from its inputs to its outputs."""
        return self._lowered.delegates

    def run(self, inputs: Sequence[Array]) -> ProgramResults:
        outputs, tensors, seconds = self._worker.ask("run", self._lowered.number, list(inputs), 1)
        self.run_seconds += seconds
        return ProgramResults(outputs, tensors)

    def time(self, inputs: Sequence[Array], repetitions: int) -> list[float]:
        """Seconds of each of several runs in a row; results are dropped."""
        _, _, seconds = self._worker.ask("run", self._lowered.number, list(inputs), repetitions)
        self.run_seconds += seconds
        return list(seconds)


class _Worker:
    """The worker process: numbered requests go in, numbered replies come back in that order."""

    def __init__(self, limit_seconds: float) -> None:
        self._limit_seconds = limit_seconds
        self._requests = 0
        self._replies: dict[int, Reply] = {}
        self._log: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the worker
        self._connection, theirs = multiprocessing.Pipe()
        code = f"from shlo_quant.engines.xnnpack_worker import main; main({theirs.fileno()})"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.DEVNULL,
            stdout=self._log,
            stderr=self._log,
            pass_fds=[theirs.fileno()],
        )
        theirs.close()

    def is_alive(self) -> bool:
        return self._process.poll() is None

    def send(self, action: str, *arguments: Any) -> int:
        """Send a request; return its number."""
        self._requests += 1
        request: Request = (self._requests, action, arguments)
        try:
            self._connection.send(request)
        except OSError:
            raise self._death() from None
        return self._requests

    def ask(self, action: str, *arguments: Any) -> Any:
        """Send a request and wait for its reply."""
        return self.receive(self.send(action, *arguments))

    def receive(self, number: int) -> Any:
        """Wait for the reply to a request.

        Raises: EngineError or InputError as the worker says, or if it died or took too long.
        """
        end = time.monotonic() + self._limit_seconds
        while number not in self._replies:
            try:
                if not self._connection.poll(max(0.0, end - time.monotonic())):
                    self._process.kill()
                    raise EngineError(f"xnnpack: stopped at the time limit of {self._limit_seconds:.0f} s")
                reply: Reply = self._connection.recv()
            except (EOFError, OSError):
                raise self._death() from None
            self._replies[reply[0]] = reply
        _, kind, value = self._replies.pop(number)
        if kind == "value":
            return value
        if kind == "input":
            raise InputError(value)
        raise EngineError(f"xnnpack: {value}")

    def close(self) -> None:
        self._connection.close()
        self._process.kill()
        self._process.wait()
        self._log.close()

    def _death(self) -> EngineError:
        if self._log.closed:
            return EngineError("xnnpack: the engine is closed")
        status = self._process.wait()
        how = f"crashed ({signal.Signals(-status).name})" if status < 0 else f"ended with exit code {status}"
        self._log.seek(0)
        lines = [line.strip() for line in self._log.read().decode(errors="replace").splitlines() if line.strip()]
        return EngineError(f"xnnpack: its process {how}" + (f": {lines[-1]}" if lines else ""))
