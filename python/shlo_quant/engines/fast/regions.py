"""Regions of ops: the values they take from outside."""

from __future__ import annotations

from torch_mlir import ir

from shlo_quant.passes.rewrite import walk


def free_values(op: ir.Operation) -> list[ir.Value]:
    """The values that the regions of `op` use but do not define, each once, in the order of their first use."""
    inside: set[ir.Value] = set()
    free: dict[ir.Value, None] = {}
    for inner in walk(op)[1:]:
        inside.update(inner.results)
    for parent in walk(op):
        for region in parent.regions:
            for block in region.blocks:
                inside.update(block.arguments)
    for inner in walk(op)[1:]:
        free |= dict.fromkeys(operand for operand in inner.operands if operand not in inside)
    return list(free)
