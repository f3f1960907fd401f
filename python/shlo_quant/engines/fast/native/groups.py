"""Which elementwise ops are computed together, so that what lies between them never goes to memory."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from torch_mlir import ir

from shlo_quant.passes.dialects.constants import numpy_dtype
from shlo_quant.passes.rewrite import users

REPEATABLE = frozenset(f"stablehlo.{name}" for name in "add convert multiply subtract".split())
"""Ops that cost less to repeat for a second reader than their result costs to store and load."""


@dataclass
class Group:
    """Elementwise ops of one shape, of which only the last one's result is stored.

    Attributes:
      ops: in program order.
      source: the product or window whose result the group takes from registers, if any.
    """

    ops: list[ir.Operation]
    source: ir.Operation | None = None

    @property
    def root(self) -> ir.Value:
        return self.ops[-1].results[0]

    @property
    def operands(self) -> list[ir.Value]:
        """What the ops take from elsewhere, each once; the source's result first."""
        inside = {op.results[0] for op in self.ops}
        first = [self.source.results[0]] if self.source else []
        outside = [operand for op in self.ops for operand in op.operands if operand not in inside]
        return list(dict.fromkeys([*first, *outside]))


def find_groups(ops: Sequence[ir.Operation], is_constant: Callable[[ir.Value], bool]) -> list[Group]:
    """Group elementwise ops, given in program order.

    An op joins the group of its users if that is one, or if it can be repeated in each; otherwise it is the last op
    of a new group. Since it joins its users, nothing it takes can depend on the group.
    """
    elementwise = set(ops)
    roots: dict[ir.Operation, frozenset[ir.Operation]] = {}
    for op in reversed(ops):
        readers = users(op.results[0])
        joined: frozenset[ir.Operation] = frozenset().union(*(roots.get(u, frozenset()) for u in readers))
        may_join = readers and all(u in elementwise and _shape(u) == _shape(op) for u in readers)
        if may_join and (len(joined) == 1 or _is_repeatable(op, is_constant)):
            roots[op] = joined
        else:
            roots[op] = frozenset([op])
    members: dict[ir.Operation, list[ir.Operation]] = {op: [] for op in ops if op in roots[op]}
    for op in ops:
        for root in roots[op]:
            members[root].append(op)
    return [Group(group) for group in members.values()]


def give_sources(
    groups: list[Group], sources: Collection[ir.Operation], is_constant: Callable[[ir.Value], bool]
) -> list[Group]:
    """Let groups take the results of products and windows from registers, one each.

    What follows a further one is split off, up to where it is narrow, and becomes a group of its own.
    """
    given: list[Group] = []
    for group in groups:
        found = [op for op in sources if _only_reader(op, group, groups)]
        for source in found[:-1]:
            narrow = _narrow_part(source, group, is_constant)
            if narrow:
                given.append(Group(narrow, source))
                group.ops = [op for op in group.ops if op not in narrow]
        group.source = found[-1] if found else None
        given.append(group)
    return given


def _is_repeatable(op: ir.Operation, is_constant: Callable[[ir.Value], bool]) -> bool:
    """A cheap op of one operand that is not wider than the result."""
    operands = [o for o in op.operands if not is_constant(o)]
    if op.name not in REPEATABLE or len(operands) != 1:
        return False
    return numpy_dtype(operands[0]).itemsize <= numpy_dtype(op.results[0]).itemsize


def _only_reader(source: ir.Operation, group: Group, groups: list[Group]) -> bool:
    """Whether only this group reads a result, at the place where it computes its own."""
    readers = set(users(source.results[0]))
    if not readers or not readers <= set(group.ops) or _shape(source) != _shape(group.ops[-1]):
        return False
    return not any(readers & set(other.ops) for other in groups if other is not group)


def _narrow_part(
    source: ir.Operation, group: Group, is_constant: Callable[[ir.Value], bool]
) -> list[ir.Operation] | None:
    """The ops from a source on that take nothing else but constants, up to the last result of 8 or 16 bits."""
    chain: list[ir.Operation] = []
    value = source.results[0]
    while len(readers := users(value)) == 1 and readers[0] in group.ops and readers[0] is not group.ops[-1]:
        if any(not is_constant(o) and o != value for o in readers[0].operands):
            break
        chain.append(readers[0])
        value = chain[-1].results[0]
    narrow = [i for i, op in enumerate(chain) if numpy_dtype(op.results[0]).itemsize <= 2]
    return chain[: narrow[-1] + 1] if narrow else None


def _shape(op: ir.Operation) -> tuple[int, ...]:
    return tuple(op.results[0].type.shape)
