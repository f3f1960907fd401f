"""Two engines side by side, batch after batch: comparisons that add up, and the first tensor where they part."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from shlo_quant.compare import Comparison, compare, mismatches, total
from shlo_quant.engines.base import ProgramResults
from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.dialects.quant import UniformType
from shlo_quant.verify.results import Divergence, PairReport, Sample, TensorReport

SAMPLES = 3

Explain = Callable[[str, tuple[int, ...], Mapping[str, Array]], tuple[str, ...]]
"""What an element of a quantized tensor is computed from, given the quantized tensors, in words."""


@dataclass
class Pair:
    """Comparisons of two engines.

    Args:
      expected, found: their names.
      types: the quantized tensors in program order.
      op_by_op: whether each tensor is computed from the same operands.
      explain: for the samples of a divergence.
    """

    expected: str
    found: str
    types: Mapping[str, UniformType]
    op_by_op: bool
    explain: Explain
    _outputs: list[list[Comparison]] = field(default_factory=list)
    _tensors: dict[str, list[Comparison]] = field(default_factory=dict)
    _first: tuple[int, int, tuple[Sample, ...]] | None = None

    def add(self, batch: int, expected: ProgramResults, found: ProgramResults) -> None:
        """Compare one batch; of the quantized tensors those that both engines have."""
        self._outputs.append([compare(e, f) for e, f in zip(expected.outputs, found.outputs, strict=True)])
        for position, (name, uniform) in enumerate(self.types.items()):
            if name not in expected.tensors or name not in found.tensors:
                continue
            comparison = compare(expected.tensors[name], found.tensors[name], uniform)
            self._tensors.setdefault(name, []).append(comparison)
            if not comparison.is_exact and (self._first is None or position < self._first[0]):
                self._first = position, batch, self._samples(name, expected.tensors, found.tensors)

    def _samples(self, name: str, expected: Mapping[str, Array], found: Mapping[str, Array]) -> tuple[Sample, ...]:
        places = np.argwhere(mismatches(expected[name], found[name]))[:SAMPLES]
        indices = [tuple(int(i) for i in place) for place in places]
        return tuple(
            Sample(index, int(expected[name][index]), int(found[name][index]), self.explain(name, index, expected))
            for index in indices
        )

    def report(self) -> PairReport:
        """All batches together."""
        tensors = {name: total(parts) for name, parts in self._tensors.items()}
        return PairReport(self.expected, self.found, tuple(map(total, zip(*self._outputs, strict=True))), tensors)

    def divergence(self, tensors: Sequence[TensorReport]) -> Divergence | None:
        """Where the two part, if they do."""
        if self._first is None:
            return None
        position, batch, samples = self._first
        name = list(self.types)[position]
        (tensor,) = [tensor for tensor in tensors if tensor.name == name]
        comparison = total(self._tensors[name])
        return Divergence(self.expected, self.found, self.op_by_op, tensor, comparison, batch, samples)
