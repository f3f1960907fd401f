"""What must be equal, and whether it is."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from shlo_quant.compare import total
from shlo_quant.verify.results import Judgement, PairReport, Promise, TensorReport


def promises(
    arithmetic: str,
    tensors: Sequence[TensorReport],
    whole: Sequence[PairReport],
    op_by_op: Sequence[PairReport],
    judgement: Judgement | None,
) -> tuple[Promise, ...]:
    """Every promise that this verification can be held to."""
    found = [_fast_is_right(_pair(whole, "reference", "fast"), judgement)]
    if arithmetic == "xnnpack":
        integers = [tensor.name for tensor in tensors if tensor.in_integers and not tensor.wrong_in_xnnpack]
        before = [tensor.name for tensor in tensors if tensor.before_islands]
        found += [
            _equal(
                "fast equals XNNPACK op by op, on what XNNPACK computes on integers",
                _pair(op_by_op, "xnnpack", "fast"),
                integers,
            ),
            _equal(
                "fast equals XNNPACK from the inputs on, up to the first float island",
                _pair(whole, "xnnpack", "fast"),
                before,
            ),
        ]
    return tuple(found)


def _pair(pairs: Sequence[PairReport], expected: str, found: str) -> PairReport | None:
    return next((pair for pair in pairs if (pair.expected, pair.found) == (expected, found)), None)


def _fast_is_right(pair: PairReport | None, judgement: Judgement | None) -> Promise:
    what = "fast equals the StableHLO reference interpreter"
    whole = [] if pair is None else [*pair.outputs, *pair.tensors.values()]
    elements = sum(c.elements for c in whole) + (0 if judgement is None else judgement.elements)
    different = sum(c.mismatches for c in whole) + (0 if judgement is None else judgement.mismatches)
    if not elements:
        return Promise(what, None, "nothing was compared")
    return Promise(what, not different, f"{different:,} mismatches in {elements:,} elements")


def _equal(what: str, pair: PairReport | None, names: Collection[str]) -> Promise:
    compared = {} if pair is None else {name: c for name, c in pair.tensors.items() if name in names}
    if not compared:
        return Promise(what, None, "nothing was compared")
    all_ = total(compared.values())
    where = [name for name, comparison in compared.items() if not comparison.is_exact]
    first = f", the first in {where[0]}" if where else ""
    return Promise(
        what,
        not where,
        f"{all_.mismatches:,} mismatches in {all_.elements:,} integers of {len(compared)} tensors{first}",
    )
