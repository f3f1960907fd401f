"""Remove ops that return their operand unchanged.

    %0 = stablehlo.multiply %x, %ones : tensor<2x3xf32>                              ==>      %x
    %0 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<2x3xf32>                 ==>      %x
    %1 = stablehlo.reshape (stablehlo.reshape %x)                                    ==>      one reshape of %x

Covers multiplication and division by one, and convert, reshape, transpose, broadcast_in_dim, slice, pad and concatenate
that change nothing. Leaves alone: adding zero, which turns -0.0 into 0.0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch_mlir import ir

from shlo_quant.passes.base import ModulePass
from shlo_quant.passes.dialects.constants import stored_constant
from shlo_quant.passes.dialects.quant import is_quantized
from shlo_quant.passes.dialects.stablehlo import int_list, reshape
from shlo_quant.passes.rewrite import Rule, apply_rules, defining_op, erase_dead_ops


def fold_multiply(op: ir.Operation) -> ir.Value | None:
    """x * 1 and 1 * x."""
    lhs, rhs = op.operands
    if is_ones(rhs) and lhs.type == op.results[0].type:
        return lhs
    return rhs if is_ones(lhs) and rhs.type == op.results[0].type else None


def fold_divide(op: ir.Operation) -> ir.Value | None:
    """x / 1."""
    return op.operands[0] if is_ones(op.operands[1]) and op.operands[0].type == op.results[0].type else None


def fold_same_type(op: ir.Operation) -> ir.Value | None:
    """An op that can only change the type and does not."""
    return op.operands[0] if op.operands[0].type == op.results[0].type else None


def fold_reshape(op: ir.Operation) -> ir.Value | None:
    """Reshape to the same shape, and reshape of a reshape."""
    if op.operands[0].type == op.results[0].type:
        return op.operands[0]
    inner = defining_op(op.operands[0], "stablehlo.reshape")
    if inner is None or is_quantized(op.operands[0]):
        return None
    source = inner.operands[0]
    return source if source.type == op.results[0].type else reshape(source, op.results[0].type)


def fold_permutation(op: ir.Operation) -> ir.Value | None:
    """Transpose with the identity permutation."""
    permutation = int_list(op, "permutation") or []
    return op.operands[0] if permutation == sorted(permutation) else None


def fold_broadcast(op: ir.Operation) -> ir.Value | None:
    """Broadcast to the same shape with dimensions in place."""
    dimensions = int_list(op, "broadcast_dimensions") or []
    return fold_same_type(op) if dimensions == list(range(len(dimensions))) else None


def fold_concatenate(op: ir.Operation) -> ir.Value | None:
    """Concatenate of one operand."""
    return fold_same_type(op) if len(op.operands) == 1 else None


def fold_pad(op: ir.Operation) -> ir.Value | None:
    """Pad by nothing."""
    names = ("edge_padding_low", "edge_padding_high", "interior_padding")
    return None if any(any(int_list(op, name) or []) for name in names) else fold_same_type(op)


def is_ones(value: ir.Value) -> bool:
    """Whether every element of a plain constant, or of what a broadcast makes of one, is 1."""
    broadcast = defining_op(value, "stablehlo.broadcast_in_dim", "stablehlo.dynamic_broadcast_in_dim")
    array = None if is_quantized(value) else stored_constant(broadcast.operands[0] if broadcast else value)
    return array is not None and array.size > 0 and array.flat[0] == 1 and bool((array == 1).all())


RULES: dict[str, Rule] = {
    "stablehlo.multiply": fold_multiply,
    "stablehlo.divide": fold_divide,
    "stablehlo.convert": fold_same_type,
    "stablehlo.reshape": fold_reshape,
    "stablehlo.transpose": fold_permutation,
    "stablehlo.broadcast_in_dim": fold_broadcast,
    "stablehlo.slice": fold_same_type,
    "stablehlo.pad": fold_pad,
    "stablehlo.concatenate": fold_concatenate,
}


@dataclass(frozen=True)
class FoldIdentities(ModulePass):
    """See the module docstring."""

    name: ClassVar[str] = "fold-identities"

    def run(self, module: ir.Module) -> None:
        apply_rules(module, RULES, self.name)
        erase_dead_ops(module)
