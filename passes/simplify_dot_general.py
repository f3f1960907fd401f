"""Write every matrix product as the simplest dot_general.

    stablehlo.dot %x, %w                                        ==>   dot_general, contracting_dims = [1] x [0]
    dot_general %x, (transpose %w, dims = [1, 0])               ==>   dot_general %x, %w, contracting_dims = [1] x [1]
    dot_general %x, (broadcast_in_dim %w, dims = [1, 2]),       ==>   dot_general %x, %w, contracting_dims = [2] x [0]
        batching_dims = [0] x [0], contracting_dims = [2] x [1]

So a linear layer's weight is an operand as it is stored, whatever PyTorch did with it on the way. Leaves alone: a
transpose that changes the order of the dimensions that survive, and a right-hand side that really has a batch.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from torch_mlir import ir

from shlo_quant.passes.base import ModulePass
from shlo_quant.passes.dialects.stablehlo import DotDimensions, dot_general, int_list
from shlo_quant.passes.rewrite import apply_rules, defining_op, erase_dead_ops


@dataclass(frozen=True)
class Product:
    """A matrix product: two operands and how they meet."""

    lhs: ir.Value
    rhs: ir.Value
    dimensions: DotDimensions


def simplify(op: ir.Operation) -> ir.Value | None:
    """A dot or dot_general with transposes and broadcasts of its operands taken into its dimension numbers."""
    original = product = Product(op.operands[0], op.operands[1], DotDimensions.of(op))
    while (
        simpler := fold_rhs_transpose(product) or fold_rhs_broadcast(product) or fold_lhs_transpose(product)
    ) is not None:
        product = simpler
    if product == original and op.name == "stablehlo.dot_general":
        return None
    return dot_general(product.lhs, product.rhs, product.dimensions, op.results[0].type)


def fold_rhs_transpose(product: Product) -> Product | None:
    """Contract the dimensions of the transpose's operand instead."""
    transpose = defining_op(product.rhs, "stablehlo.transpose")
    if transpose is None:
        return None
    permutation, dimensions = int_list(transpose, "permutation") or [], product.dimensions
    if not _keeps_order(permutation, dimensions.rhs_free(len(permutation))):
        return None
    moved = replace(
        dimensions,
        rhs_batching=tuple(permutation[d] for d in dimensions.rhs_batching),
        rhs_contracting=tuple(permutation[d] for d in dimensions.rhs_contracting),
    )
    return Product(product.lhs, transpose.operands[0], moved)


def fold_lhs_transpose(product: Product) -> Product | None:
    """The same for the left-hand side."""
    transpose = defining_op(product.lhs, "stablehlo.transpose")
    if transpose is None:
        return None
    permutation, dimensions = int_list(transpose, "permutation") or [], product.dimensions
    if not _keeps_order(permutation, dimensions.lhs_free(len(permutation))):
        return None
    moved = replace(
        dimensions,
        lhs_batching=tuple(permutation[d] for d in dimensions.lhs_batching),
        lhs_contracting=tuple(permutation[d] for d in dimensions.lhs_contracting),
    )
    return Product(transpose.operands[0], product.rhs, moved)


def _keeps_order(permutation: list[int], free: list[int]) -> bool:
    sources = [permutation[d] for d in free]
    return sources == sorted(sources)


def fold_rhs_broadcast(product: Product) -> Product | None:
    """A right-hand side that is the same for all of the batch: the batch becomes free dimensions of the left."""
    dimensions = product.dimensions
    batch = tuple(range(len(dimensions.lhs_batching)))
    if not batch or dimensions.lhs_batching != batch or dimensions.rhs_batching != batch:
        return None
    source = without_batch(product.rhs, len(batch))
    if source is None:
        return None
    contracting = tuple(d - len(batch) for d in dimensions.rhs_contracting)
    return Product(product.lhs, source, DotDimensions((), (), dimensions.lhs_contracting, contracting))


def without_batch(value: ir.Value, batch: int) -> ir.Value | None:
    """What `value` repeats along all of its first `batch` dimensions, if a broadcast and maybe a reshape made it so."""
    sizes = list(value.type.shape)[batch:]
    merge = defining_op(value, "stablehlo.reshape")
    if merge is not None:
        value = merge.operands[0]
    broadcast = defining_op(value, "stablehlo.broadcast_in_dim", "stablehlo.dynamic_broadcast_in_dim")
    if broadcast is None:
        return None
    source, rank = broadcast.operands[0], len(value.type.shape)
    trailing = list(range(rank - len(sizes), rank))
    same = list(source.type.shape) == sizes == list(value.type.shape)[rank - len(sizes) :]
    return source if same and int_list(broadcast, "broadcast_dimensions") == trailing else None


@dataclass(frozen=True)
class SimplifyDotGeneral(ModulePass):
    """See the module docstring."""

    name: ClassVar[str] = "simplify-dot-general"

    def run(self, module: ir.Module) -> None:
        apply_rules(module, {"stablehlo.dot": simplify, "stablehlo.dot_general": simplify}, self.name)
        erase_dead_ops(module)
