"""What a verification found, as plain data: reports and scripts read these objects."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from shlo_quant.compare import Comparison, total
from shlo_quant.passes.errors import Finding

Status = Literal["ran", "failed", "left out"]


@dataclass(frozen=True)
class EngineReport:
    """How an engine fared.

    Attributes:
      name: such as "fast".
      detail: what it ran: a form and a profile, or the program as it is.
      reason: why it did not run, or "".
      compile_seconds: None if it never ran.
      run_seconds: median of a batch, every quantized tensor returned; None if it never ran.
      remark: what the engine has to say, in one line; `notes` has it op by op.
    """

    name: str
    detail: str
    status: Status
    reason: str = ""
    compile_seconds: float | None = None
    run_seconds: float | None = None
    remark: str = ""
    notes: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class TensorReport:
    """A quantized tensor of the program.

    Attributes:
      name: of its quantize node in PyTorch.
      type: storage type, scale and zero point in words.
      scales, zero_points: one, or one per slice of the quantized dimension.
      ops: what computes it from `operands` (quantized tensors by name), `parameters` (types of weights) and arguments.
      in_integers: whether the program computes it from quantized tensors without a float between, or quantizes an
        argument.
      wrong_in_xnnpack: whether XNNPACK is known to compute it wrongly; `Verification.rewrites` says why.
      before_islands: whether it, and everything before it, is computed in integers and right in XNNPACK.
    """

    name: str
    type: str
    scales: tuple[float, ...]
    zero_points: tuple[int, ...]
    shape: tuple[int, ...]
    location: str
    ops: tuple[str, ...]
    operands: tuple[str, ...]
    parameters: tuple[str, ...]
    in_integers: bool
    wrong_in_xnnpack: bool
    before_islands: bool


@dataclass(frozen=True)
class PairReport:
    """Two engines side by side, all batches together.

    Attributes:
      expected, found: their names; of the first, errors are measured.
      outputs: one comparison a result of the program.
      tensors: one a quantized tensor, by name in program order.
    """

    expected: str
    found: str
    outputs: tuple[Comparison, ...]
    tensors: Mapping[str, Comparison]

    @property
    def all_tensors(self) -> Comparison | None:
        """All quantized tensors together; None if there are none."""
        return total(self.tensors.values()) if self.tensors else None

    @property
    def different(self) -> tuple[str, ...]:
        """The names of the quantized tensors with mismatches, in program order."""
        return tuple(name for name, comparison in self.tensors.items() if not comparison.is_exact)


@dataclass(frozen=True)
class Sample:
    """One element on which two engines differ.

    Attributes:
      index: its place.
      expected, found: stored integers.
      operands: in words, what it is computed from, where that is little.
    """

    index: tuple[int, ...]
    expected: int
    found: int
    operands: tuple[str, ...] = ()


@dataclass(frozen=True)
class Divergence:
    """The first quantized tensor, in program order, in which two engines part.

    Attributes:
      op_by_op: whether both computed it from the same operands; else each from its own.
      batch: in which batch the samples are.
    """

    expected: str
    found: str
    op_by_op: bool
    tensor: TensorReport
    comparison: Comparison
    batch: int
    samples: tuple[Sample, ...]


@dataclass(frozen=True)
class CropReport:
    """One box of one result, computed by the reference interpreter and by the engine.

    Attributes:
      result: a quantized tensor's name, or `output N`.
      ops: the ops that the box needed.
      error: why the interpreter gave nothing, or "".
      sample: the first element that differs, in the whole result, or None.
    """

    result: str
    batch: int
    box: tuple[tuple[int, int], ...]
    ops: frozenset[str]
    elements: int
    mismatches: int
    error: str = ""
    sample: Sample | None = None


@dataclass(frozen=True)
class Judgement:
    """What the reference interpreter said about the engine `fast`, box by box.

    Attributes:
      crops: everything it was asked, in the order of the answers.
      results: how many quantized tensors and outputs the program has.
      op_kinds: the ops that the program consists of.
      not_judged: result -> why no box of it was judged.
      seconds: how long it took, and `budget` how long it was allowed to.
    """

    crops: tuple[CropReport, ...]
    results: int
    op_kinds: frozenset[str]
    not_judged: Mapping[str, str]
    seconds: float
    budget: float

    @property
    def judged(self) -> frozenset[str]:
        """The results of which a box was judged."""
        return frozenset(crop.result for crop in self.crops if not crop.error)

    @property
    def judged_kinds(self) -> frozenset[str]:
        """The ops of the boxes that were judged."""
        return frozenset().union(*(crop.ops for crop in self.crops if not crop.error))

    @property
    def elements(self) -> int:
        """How many elements were judged."""
        return sum(crop.elements for crop in self.crops if not crop.error)

    @property
    def mismatches(self) -> int:
        """How many of them differ."""
        return sum(crop.mismatches for crop in self.crops)


@dataclass(frozen=True)
class Promise:
    """Something that must be equal.

    Attributes:
      what: in words.
      holds: None if it could not be checked; `detail` says why, or what was found.
    """

    what: str
    holds: bool | None
    detail: str


@dataclass(frozen=True)
class Verification:
    """Everything that `verify` found.

    Attributes:
      program: its name.
      arithmetic: the profile of the integer form.
      tensors: the quantized tensors, in program order.
      rewrites: what XNNPACK does to the program when it loads it, and where it is known to be wrong.
      whole: engines side by side, each running the program from the inputs on.
      op_by_op: the engines against `operands_from`, whose integers they were given as operands of every op.
      divergences: of each pair that differs, the first tensor in program order.
      judgement: None without the reference interpreter or the engine fast.
      findings: what the importer says about the program.
      seconds: of the whole verification.
    """

    program: str
    arithmetic: str
    batches: int
    engines: tuple[EngineReport, ...]
    tensors: tuple[TensorReport, ...]
    rewrites: tuple[Finding, ...]
    whole: tuple[PairReport, ...]
    op_by_op: tuple[PairReport, ...]
    operands_from: str
    divergences: tuple[Divergence, ...]
    judgement: Judgement | None
    promises: tuple[Promise, ...]
    findings: tuple[Finding, ...]
    seconds: float

    @property
    def is_right(self) -> bool:
        """Whether no promise is broken."""
        return all(promise.holds is not False for promise in self.promises)
