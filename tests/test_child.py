"""Child processes: values come back, crashes and limits become errors, mistakes stay mistakes."""

from __future__ import annotations

import os
import signal
import time
from functools import partial

import pytest

from shlo_quant.engines.child import Limits, run_in_child, run_in_children
from shlo_quant.passes.errors import EngineError, Finding, UnsupportedError


def test_large_values_come_back() -> None:
    assert run_in_child(lambda: b"x" * 5_000_000) == b"x" * 5_000_000


def test_the_parent_does_not_see_changes() -> None:
    seen: list[int] = []
    run_in_child(lambda: seen.append(1))
    assert seen == []


def test_a_death_is_an_error_with_the_last_words() -> None:
    def die() -> None:
        os.write(2, b"LLVM ERROR: no such op\n")
        os.kill(os.getpid(), signal.SIGABRT)

    with pytest.raises(EngineError, match=r"crashed \(SIGABRT\): LLVM ERROR: no such op"):
        run_in_child(die)


def test_limits() -> None:
    with pytest.raises(EngineError, match="time limit of 1 s"):
        run_in_child(partial(time.sleep, 20), Limits(seconds=1))
    with pytest.raises(EngineError, match="memory limit of 64 MiB"):
        run_in_child(lambda: len(bytearray(1 << 30)), Limits(memory_bytes=64 << 20))


def test_user_errors_keep_their_text_and_mistakes_their_traceback() -> None:
    def refuse() -> None:
        raise UnsupportedError("step", [Finding("a.mlir:1:2", "stablehlo.rng", "is random")])

    with pytest.raises(EngineError, match=r"a\.mlir:1:2: stablehlo\.rng: is random"):
        run_in_child(refuse)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        run_in_child(lambda: 1 // 0)


def test_tasks_run_side_by_side_and_the_rest_survives_a_failure() -> None:
    tasks = [partial(time.sleep, 20), os.getpid, os.getpid]
    outcomes = dict(run_in_children(tasks, 2, Limits(seconds=1)))
    assert isinstance(outcomes[0], EngineError)
    assert isinstance(outcomes[1], int)
    assert len({outcomes[1], outcomes[2], os.getpid()}) == 3


def test_leaving_early_ends_the_children() -> None:
    pids = run_in_children([os.getpid, partial(time.sleep, 20)], 2)
    start = time.monotonic()
    next(pids)
    pids.close()  # type: ignore[attr-defined]
    assert time.monotonic() - start < 10
