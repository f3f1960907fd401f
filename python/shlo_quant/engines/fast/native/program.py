"""A compiled program: tasks for native kernels and calls of kernels on arrays, in order."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from shlo_quant.engines.fast.native import runtime
from shlo_quant.engines.fast.native.jit import MachineCode
from shlo_quant.engines.fast.native.kernels import Kernel
from shlo_quant.engines.fast.native.memory import Buffer, Layout, aligned
from shlo_quant.engines.fast.native.views import View
from shlo_quant.engines.fast.ops import Kernel as ArrayKernel
from shlo_quant.passes.dialects.constants import Array

PARTS_PER_THREAD = 4
SERIAL_WORK = 1 << 14
"""Work that is done before a second thread has begun."""


@dataclass(frozen=True)
class Task:
    """A native kernel on views.

    Attributes:
      work: roughly, vector operations.
    """

    kernel: Kernel
    operands: tuple[View, ...]
    work: int


@dataclass(frozen=True)
class Call:
    """A kernel on arrays. Operands and results are views, or numbers of slots that hold arrays during a run.

    Attributes:
      dead: slots that nobody reads any more.
    """

    kernel: ArrayKernel
    operands: tuple[View | int, ...]
    results: tuple[int, ...]
    dead: tuple[int, ...] = ()


@dataclass(frozen=True)
class Copy:
    """An array goes from a slot to a view."""

    source: int
    target: View


Step = Task | Call | Copy

Place = Array | int | View
"""An array, the number of a slot, or a view of the argument whose number stands for the buffer."""


@dataclass(frozen=True)
class Plan:
    """What a program does and where.

    Attributes:
      slots: the number of slots; the arguments are in the first.
      results: what is returned.
    """

    buffers: tuple[Buffer, ...]
    layout: Layout
    steps: tuple[Step, ...]
    slots: int
    results: tuple[View | int, ...]


class Program:
    """A plan with its machine code; may be run by several threads at a time, each in memory of its own."""

    def __init__(self, plan: Plan, threads: int) -> None:
        self._plan = plan
        self._threads = threads
        self._process = os.getpid()
        self._code = MachineCode([step.kernel for step in plan.steps if isinstance(step, Task)])
        self._idle: list[_Frame] = []
        self._lock = threading.Lock()

    def __call__(self, arguments: Sequence[Array]) -> list[Array]:
        with self._lock:
            frame = self._idle.pop() if self._idle else None
        if frame is None:
            frame = _Frame(self._plan, self._code, self._threads)
        threads = self._threads if os.getpid() == self._process else 1  # OpenMP's threads do not survive a fork
        results = frame.run(arguments, threads)
        with self._lock:
            self._idle.append(frame)
        return results


@dataclass(frozen=True)
class _Tasks:
    """A list of tasks, as `MachineCode.run` takes it.

    Attributes:
      are_shared: whether several threads work on any of them; if not, waking the others takes longer than it saves.
    """

    words: Array
    are_shared: bool


class _Frame:
    """The memory of one run at a time."""

    def __init__(self, plan: Plan, code: MachineCode, threads: int) -> None:
        self._plan = plan
        self._code = code
        self._memory = aligned(plan.layout.size)
        self._buffers = [self._place(i, buffer) for i, buffer in enumerate(plan.buffers)]
        self._tables: list[Array] = []
        self._patches: list[tuple[Array, int, int, int]] = []
        self._steps: list[_Tasks | tuple[Any, ...]] = []
        tasks: list[Array] = []
        for step in plan.steps:
            if isinstance(step, Task):
                tasks.append(self._task(step, threads))
                continue
            self._end_tasks(tasks)
            tasks = []
            self._steps.append(self._bound(step))
        self._end_tasks(tasks)
        self._results = [self._operand(r) for r in plan.results]

    def run(self, arguments: Sequence[Array], threads: int) -> list[Array]:
        for table, entry, slot, offset in self._patches:
            table[entry] = arguments[slot].ctypes.data + offset
        slots: list[Array | None] = [*arguments, *[None] * (self._plan.slots - len(arguments))]
        for step in self._steps:
            if isinstance(step, _Tasks):
                self._code.run(step.words, threads if step.are_shared else 1)
                continue
            kernel, operands, results, dead = step
            values = kernel([_found(o, slots, arguments) for o in operands])
            for slot, value in zip(results, values, strict=True):
                slots[slot] = value
            for slot in dead:
                slots[slot] = None
        return [np.array(_found(r, slots, arguments), order="C") for r in self._results]

    def _place(self, number: int, buffer: Buffer) -> Array:
        if buffer.is_constant and buffer.content is not None:
            return buffer.content
        if buffer.content is None:
            begin = self._plan.layout.offsets.get(number, 0)
            return self._memory[begin : begin + buffer.size]
        own = aligned(buffer.size)
        own[:] = buffer.content
        return own

    def _task(self, task: Task, threads: int) -> Array:
        offsets = [v.offset * v.dtype.itemsize for v in task.operands]
        addresses = [self._buffers[v.buffer].ctypes.data for v in task.operands]
        table = np.array(addresses, np.int64) + np.array(offsets, np.int64)
        self._tables.append(table)
        for entry, view in enumerate(task.operands):
            argument = self._plan.buffers[view.buffer].argument
            if argument is not None:
                self._patches.append((table, entry, argument, offsets[entry]))
        words = np.zeros(runtime.TASK_WORDS, np.int64)
        units = task.kernel.units
        parts = 1 if task.work < SERIAL_WORK else threads * PARTS_PER_THREAD
        words[runtime.FUNCTION] = self._code.address(task.kernel)
        words[runtime.OPERANDS] = table.ctypes.data
        words[runtime.UNITS] = units
        words[runtime.CHUNK] = -(-units // parts)
        return words

    def _end_tasks(self, tasks: list[Array]) -> None:
        if tasks:
            words = np.array(tasks)
            self._steps.append(_Tasks(words, bool((words[:, runtime.CHUNK] < words[:, runtime.UNITS]).any())))

    def _bound(self, step: Call | Copy) -> tuple[Any, ...]:
        if isinstance(step, Call):
            return step.kernel, [self._operand(o) for o in step.operands], step.results, step.dead
        target = self._array(step.target)

        def copy(values: Sequence[Array]) -> tuple[()]:
            np.copyto(target, values[0])
            return ()

        return copy, [step.source], (), ()

    def _operand(self, operand: View | int) -> Place:
        if isinstance(operand, int):
            return operand
        argument = self._plan.buffers[operand.buffer].argument
        return self._array(operand) if argument is None else replace(operand, buffer=argument)

    def _array(self, view: View) -> Array:
        """A view of this frame's memory as an array."""
        return _array(view, self._buffers[view.buffer])


def _found(place: Place, slots: Sequence[Array | None], arguments: Sequence[Array]) -> Array:
    """What is in a slot or view."""
    if isinstance(place, View):
        return _array(place, arguments[place.buffer])
    found = slots[place] if isinstance(place, int) else place
    assert found is not None, "a slot is read between its filling and its last use"
    return found


def _array(view: View, memory: Array) -> Array:
    """A view of contiguous memory as an array."""
    assert not view.biased, "only native kernels read biased views"
    size = view.dtype.itemsize
    base = memory.reshape(-1).view(np.uint8)[view.offset * size :]
    return np.ndarray(view.shape, view.dtype, base, 0, tuple(size * s for s in view.strides))
