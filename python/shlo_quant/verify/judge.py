"""The reference interpreter as judge of the engine `fast` on programs that are too big for it.

Every result of the program cut at its quantized tensors is computed once more, in small boxes, from the real operands:
at the low corner, where padding is, then at the high corner, then anywhere, until the time is up.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import partial

import numpy as np
from torch_mlir import ir

from shlo_quant.compare import mismatches
from shlo_quant.crop import Box, Cropper, Plan, cut_out, full_box
from shlo_quant.engines.child import Limits, run_in_children
from shlo_quant.engines.reference import ReferenceEngine
from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.errors import EngineError, ShloQuantError, Unsupported
from shlo_quant.verify.results import CropReport, Judgement, Sample

SECONDS_PER_ELEMENT, SECONDS_PER_MULTIPLY_ADD = 1.3e-6, 1.6e-6
"""What the interpreter takes on a CPU of 2024; estimates decide on sizes and nothing else."""
BOX_SECONDS = 0.05
TASK_SECONDS = 0.5


@dataclass(frozen=True)
class Evidence:
    """One run of the engine that is judged.

    Attributes:
      arguments: of the cut program, from that run.
      results: what the engine computed from them.
    """

    arguments: Sequence[Array]
    results: Sequence[Array]


def seconds(plan: Plan) -> float:
    """How long the interpreter may need."""
    return plan.elements * SECONDS_PER_ELEMENT + plan.multiply_adds * SECONDS_PER_MULTIPLY_ADD


class Judge:
    """Judges one program.

    Args:
      program: integer form, cut at its quantized tensors, of static shapes.
      names: what its results are called.
      workers: how many children at a time.
    """

    def __init__(self, program: ir.Module, names: Sequence[str], workers: int) -> None:
        self._cropper = Cropper(program)
        self._names = names
        self._workers = workers
        self._boxes = _Boxes(self._cropper, range(len(names)))

    def seconds_for_all(self) -> float:
        """What the interpreter may take for the whole program."""
        if self._boxes.impossible:
            return math.inf
        shapes = map(self._cropper.shape, range(len(self._names)))
        return sum(seconds(self._cropper.plan(result, full_box(shape))) for result, shape in enumerate(shapes))

    def judge(self, evidence: Sequence[Evidence], budget: float) -> Iterator[Judgement]:
        """Judge until every element was, or the time is up.

        Args:
          evidence: one run or more, of different batches or ways to run.
          budget: in seconds.
        Yields: all that was found so far, again and again.
        """
        start = time.monotonic()
        crops: list[CropReport] = []
        kinds = frozenset[str]().union(*(self._cropper.ops_of(result) for result in range(len(self._names))))
        yield self._judgement(crops, kinds, 0.0, budget)
        for batch, plans in self._boxes.rounds(len(evidence)):
            limits = Limits(seconds=max(1, math.ceil(start + budget - time.monotonic())))
            for reports in self._compute_all(plans, batch, evidence[batch], limits):
                crops += reports
                spent = time.monotonic() - start
                yield self._judgement(crops, kinds, spent, budget)
                if spent > budget:
                    return

    def _judgement(self, crops: Sequence[CropReport], kinds: frozenset[str], spent: float, budget: float) -> Judgement:
        judged = {crop.result for crop in crops if not crop.error}
        errors = {crop.result: crop.error for crop in crops if crop.error}
        errors |= {self._names[result]: reason for result, reason in self._boxes.impossible.items()}
        missing = {name: errors.get(name, "no time left") for name in self._names if name not in judged}
        return Judgement(tuple(crops), len(self._names), kinds, missing, spent, budget)

    def _compute_all(
        self, plans: Sequence[Plan], batch: int, evidence: Evidence, limits: Limits
    ) -> Iterator[list[CropReport]]:
        """Compute boxes in children, several in one; if one dies, each of its boxes in a child of its own."""
        shares = _shares(plans)
        tasks = [partial(self._compare_all, share, batch, evidence) for share in shares]
        with closing(run_in_children(tasks, self._workers, limits)) as answers:
            for index, answer in answers:
                if not isinstance(answer, EngineError):
                    yield answer
                elif len(shares[index]) == 1:
                    (plan,) = shares[index]
                    yield [CropReport(self._names[plan.result], batch, plan.box, plan.ops, 0, 0, str(answer))]
                else:
                    for plan in shares[index]:
                        yield from self._compute_all([plan], batch, evidence, limits)

    def _compare_all(self, plans: Sequence[Plan], batch: int, evidence: Evidence) -> list[CropReport]:
        """Runs in a child."""
        return [self._compare(plan, batch, evidence) for plan in plans]

    def _compare(self, plan: Plan, batch: int, evidence: Evidence) -> CropReport:
        crop = self._cropper.build(plan)
        name, found = self._names[plan.result], cut_out(evidence.results[plan.result], plan.box)
        try:
            (expected,) = ReferenceEngine().compile(crop.module).run_here(crop.cut_inputs(evidence.arguments))
        except ShloQuantError as error:
            return CropReport(name, batch, plan.box, plan.ops, 0, 0, str(error))
        differ = mismatches(expected, found)
        sample = None
        if differ.any():
            first = tuple(int(i) for i in np.argwhere(differ)[0])
            index = tuple(i + low for i, (low, _) in zip(first, plan.box, strict=True))
            sample = Sample(index, expected[first].item(), found[first].item())
        return CropReport(name, batch, plan.box, plan.ops, found.size, int(differ.sum()), "", sample)


class _Boxes:
    """Which boxes of which results are judged, in which order.

    Attributes:
      impossible: the results that can only be computed in their place, and why.
    """

    def __init__(self, cropper: Cropper, results: Sequence[int]) -> None:
        self._cropper = cropper
        self._generator = np.random.default_rng(0)
        self._sizes: dict[int, tuple[int, ...]] = {}
        self.impossible: dict[int, str] = {}
        for result in results:
            try:
                self._sizes[result] = _box_sizes(cropper, result)
            except Unsupported as problem:
                self.impossible[result] = problem.reason

    def rounds(self, batches: int) -> Iterator[tuple[int, list[Plan]]]:
        """Batch and boxes: every result at its low corner, at its high corner, then anywhere, each of the next batch.

        Ends when all results have been taken whole, of every batch.
        """
        seen: set[tuple[int, int, Box]] = set()
        for turn in itertools.count():
            batch = turn % batches
            boxes = {result: self._box(result, turn) for result in self._order()}
            new = {result: box for result, box in boxes.items() if (batch, result, box) not in seen}
            seen |= {(batch, result, box) for result, box in new.items()}
            if not new and turn >= batches:
                return
            yield batch, [self._cropper.plan(result, box) for result, box in new.items()]

    def _box(self, result: int, turn: int) -> Box:
        room = [n - size for n, size in zip(self._cropper.shape(result), self._sizes[result], strict=True)]
        starts = [0 if turn == 0 else n if turn == 1 else int(self._generator.integers(n + 1)) for n in room]
        return tuple((start, start + size) for start, size in zip(starts, self._sizes[result], strict=True))

    def _order(self) -> list[int]:
        """In program order, but first those that have ops which none before them has."""
        first: list[int] = []
        kinds: set[str] = set()
        for result in self._sizes:
            new = self._cropper.ops_of(result) - kinds
            kinds |= new
            first += [result] if new else []
        return first + [result for result in self._sizes if result not in first]


def _box_sizes(cropper: Cropper, result: int) -> tuple[int, ...]:
    """The sizes of a box that takes about `BOX_SECONDS`: grown from 1 in turns, the last dimensions first."""
    shape = cropper.shape(result)
    sizes = [1] * len(shape)
    growing = [d for d in reversed(range(len(shape))) if shape[d] > 1]
    while growing:
        dimension = growing.pop(0)
        before, sizes[dimension] = sizes[dimension], min(2 * sizes[dimension], shape[dimension])
        if seconds(cropper.plan(result, full_box(sizes))) > BOX_SECONDS:
            sizes[dimension] = before
        elif sizes[dimension] < shape[dimension]:
            growing.append(dimension)
    return tuple(sizes)


def _shares(plans: Sequence[Plan]) -> list[list[Plan]]:
    """Plans in order, in shares of about `TASK_SECONDS`."""
    shares: list[list[Plan]] = []
    left = 0.0
    for plan in plans:
        if left <= 0:
            shares.append([])
            left = TASK_SECONDS
        shares[-1].append(plan)
        left -= seconds(plan)
    return shares
