"""Let a dot_general work on all leading dimensions at once, instead of on a reshape that merges them.

    %0 = reshape %x : 2x5x8 -> 10x8                          %0 = dot_general %x, %w, contracting_dims = [2] x [1]
    %1 = dot_general %0, %w, contracting_dims = [1] x [1]    %1 = broadcast_in_dim %bias, dims = [2] : 6 -> 2x5x6
    %2 = broadcast_in_dim %bias, dims = [1] : 6 -> 10x6  ==> %2 = add %0, %1 : 2x5x6
    %3 = add %1, %2 : 10x6
    %4 = reshape %3 : 10x6 -> 2x5x6

Dynamic forms of reshape and broadcast_in_dim likewise. Leaves alone: products or sums that somebody else uses, and any
reshape that does not undo the first one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from torch_mlir import ir

from shlo_quant.passes.base import ModulePass
from shlo_quant.passes.dialects.stablehlo import (
    DYNAMIC,
    DotDimensions,
    broadcast_in_dim,
    dot_general,
    dynamic_broadcast_in_dim,
    elementwise,
    int_list,
)
from shlo_quant.passes.rewrite import apply_rules, defining_op, erase_dead_ops, single_user

RESHAPES = ("stablehlo.reshape", "stablehlo.dynamic_reshape")


def fold_reshapes(op: ir.Operation) -> ir.Value | None:
    """A reshape that splits again what a reshape before the product had merged."""
    add = defining_op(op.operands[0], "stablehlo.add")
    bias = None
    dot = defining_op(op.operands[0], "stablehlo.dot_general")
    if add is not None:
        dot, bias = defining_op(add.operands[0], "stablehlo.dot_general"), last_dimension_vector(add.operands[1])
        if bias is None or single_user(add.results[0]) is None:
            return None
    merge = dot and defining_op(dot.operands[0], *RESHAPES)
    if dot is None or merge is None or single_user(dot.results[0]) is None:
        return None
    source, result, dimensions = merge.operands[0], op.results[0].type, DotDimensions.of(dot)
    if not _undoes(source.type, dot, result):
        return None
    last = len(source.type.shape) - 1
    product = dot_general(source, dot.operands[1], replace(dimensions, lhs_contracting=(last,)), result)
    return product if bias is None else elementwise("add", product, _broadcast_like(op, bias, last))


def _broadcast_like(op: ir.Operation, bias: ir.Value, last: int) -> ir.Value:
    """A vector along the last dimension of what a reshape makes."""
    result = op.results[0].type
    if op.name == "stablehlo.reshape":
        return broadcast_in_dim(bias, result, [last])
    return dynamic_broadcast_in_dim(bias, op.operands[1], result, [last])


def last_dimension_vector(value: ir.Value) -> ir.Value | None:
    """The vector whose broadcast along the last dimension `value` is."""
    broadcast = defining_op(value, "stablehlo.broadcast_in_dim", "stablehlo.dynamic_broadcast_in_dim")
    if broadcast is None or int_list(broadcast, "broadcast_dimensions") != [len(value.type.shape) - 1]:
        return None
    return broadcast.operands[0]


def _undoes(source: ir.Type, dot: ir.Operation, result: ir.Type) -> bool:
    """Whether the product is of `source` with its leading dimensions merged, and `result` has them all."""
    merged, product, dimensions = dot.operands[0].type, dot.results[0].type, DotDimensions.of(dot)
    rows_only = not dimensions.lhs_batching and dimensions.lhs_contracting == (len(merged.shape) - 1,)
    return (
        rows_only
        and list(source.shape).count(DYNAMIC) <= 1
        and len(product.shape) == len(merged.shape)
        and source.shape[-1] == merged.shape[-1] != DYNAMIC
        and list(result.shape) == [*source.shape[:-1], product.shape[-1]]
    )


@dataclass(frozen=True)
class FoldDotReshapes(ModulePass):
    """See the module docstring."""

    name: ClassVar[str] = "fold-dot-reshapes"

    def run(self, module: ir.Module) -> None:
        apply_rules(module, dict.fromkeys(RESHAPES, fold_reshapes), self.name)
        erase_dead_ops(module)
