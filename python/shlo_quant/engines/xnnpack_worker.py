"""The process in which executorch lowers and runs programs for `XnnpackEngine`; `main` is its whole life.

Only what crosses the pipe is imported with this module; executorch is imported by `main`.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.errors import EngineError, Finding, InputError

if TYPE_CHECKING:
    from torch.export import ExportedProgram

Request = tuple[int, str, tuple[Any, ...]]
"""Number of the request, what to do (a method of `_Programs`), with what."""

Reply = tuple[int, str, Any]
"""Number of the request, "value" | "refused" | "input", and the value or the reason."""

_ERROR = re.compile(r"^\[(?:XNN\w+|method)\.cpp:\d+\] (.*)", re.MULTILINE)
"""A line that executorch's runtime logs when a program does not load or run."""

Run = tuple[list[Array], dict[str, Array], list[float]]


@dataclass(frozen=True)
class Lowered:
    """What the parent learns about a program: its number here, seconds of lowering, and what XNNPACK computes of it."""

    number: int
    seconds: float
    delegates: int
    not_delegated: tuple[Finding, ...]


@dataclass(frozen=True)
class _Program:
    source: ExportedProgram
    outputs: tuple[int, ...]
    tensors: dict[str, int]
    loaded: Any
    method: Any


class _Programs:
    """The programs lowered so far; its public methods are what the parent may ask for."""

    def __init__(self) -> None:
        self._programs: list[_Program] = []

    def lower(self, path: str, tensors: Sequence[str]) -> Lowered:
        """Load, lower and load again, with the named quantized tensors as further results."""
        from executorch.runtime import Runtime

        from shlo_quant.engines.quantized_programs import opened, user_outputs
        from shlo_quant.engines.xnnpack_lowering import check_storage, lower, return_tensors

        program = _refusing("the program cannot be read", opened, Path(path))
        check_storage(program, tensors)
        outputs = tuple(user_outputs(program))
        positions = return_tensors(program, tensors)
        start = time.perf_counter()
        lowered = _refusing("lowering failed", lower, program)
        seconds = time.perf_counter() - start
        if not lowered.delegates:
            raise EngineError(f"no op of the program can be delegated, the first being {lowered.not_delegated[0]}")
        loaded = _refusing("the lowered program cannot be read", Runtime.get().load_program, lowered.buffer)
        method = _refusing("the lowered program does not load", loaded.load_method, "forward")
        self._programs.append(_Program(program, outputs, positions, loaded, method))
        return Lowered(len(self._programs) - 1, seconds, lowered.delegates, lowered.not_delegated)

    def run(self, number: int, inputs: Sequence[Array], repetitions: int) -> Run:
        """Run several times; the results of the last run, and the seconds of each."""
        from shlo_quant.engines.quantized_programs import input_tensors, to_array

        program = self._programs[number]
        tensors = input_tensors(program.source, inputs)
        seconds = []
        for _ in range(repetitions):
            start = time.perf_counter()
            results = _refusing("the run failed", program.method.execute, tensors)
            seconds.append(time.perf_counter() - start)
        outputs = [to_array(results[index]) for index in program.outputs]
        return outputs, {name: to_array(results[index]) for name, index in program.tensors.items()}, seconds


def main(pipe: int) -> None:
    """Answer requests until the parent closes the pipe."""
    connection = Connection(pipe)
    _import_executorch()
    programs = _Programs()
    while True:
        try:
            request: Request = connection.recv()
        except EOFError:
            return
        connection.send(_reply(programs, *request))


def _import_executorch() -> None:
    """Import it now, while the parent is busy with something else; no request needs more."""
    import shlo_quant.engines.xnnpack_lowering  # noqa: F401


def _reply(programs: _Programs, number: int, action: str, arguments: tuple[Any, ...]) -> Reply:
    try:
        return number, "value", getattr(programs, action)(*arguments)
    except InputError as error:
        return number, "input", str(error)
    except EngineError as error:
        return number, "refused", str(error)


def _refusing(what: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """Call something of executorch's; whatever it raises is an EngineError with what it said and wrote to stderr."""
    written = os.fstat(2).st_size
    try:
        return function(*arguments)
    except InputError:
        raise
    except Exception as error:
        raise EngineError(f"{what}: {_reason(error, os.pread(2, 1 << 16, written))}") from error


def _reason(error: Exception, written: bytes) -> str:
    """The first line of the innermost exception, and the first error that the runtime logged."""
    innermost: BaseException = error
    while innermost.__cause__ is not None:
        innermost = innermost.__cause__
    said = (str(innermost).strip() or type(innermost).__name__).splitlines()[0]
    logged = _ERROR.search(written.decode(errors="replace"))
    return said + (f" ({logged[1]})" if logged else "")
