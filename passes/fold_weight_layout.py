"""Move data movement of a dequantized constant into the constant's stored integers.

    %0 = uniform_dequantize %w : 3x4x2x2 (axis 1)                     %w' = constant, stored integers moved, axis 2
    %1 = transpose %0, dims = [2, 3, 1, 0]  : 2x2x4x3          ==>    %0 = uniform_dequantize %w' : 2x2x4x3
    %2 = reverse %1, dims = [0, 1]

So a convolution sees its weight as a dequantized constant, the scales following their dimension. Covers transpose,
reverse, reshape and slice. Leaves alone: a reshape that splits or merges the quantized dimension.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from torch_mlir import ir

from shlo_quant.passes.base import ModulePass
from shlo_quant.passes.dialects.constants import Array, stored_constant
from shlo_quant.passes.dialects.quant import UniformType, uniform_type
from shlo_quant.passes.dialects.stablehlo import int_list, quantized_constant, uniform_dequantize
from shlo_quant.passes.rewrite import apply_rules, defining_op, erase_dead_ops

Moved = tuple[Array, UniformType]


def move_layout(op: ir.Operation) -> ir.Value | None:
    """The dequantized constant that an op on a dequantized constant is."""
    dequantize = defining_op(op.operands[0], "stablehlo.uniform_dequantize")
    if dequantize is None:
        return None
    stored, uniform = stored_constant(dequantize.operands[0]), uniform_type(dequantize.operands[0])
    moved = None if stored is None or uniform is None else MOVES[op.name](op, stored, uniform)
    return None if moved is None else uniform_dequantize(quantized_constant(*moved))


def transpose(op: ir.Operation, stored: Array, uniform: UniformType) -> Moved:
    """The quantized dimension goes where the permutation puts it."""
    permutation = int_list(op, "permutation") or []
    if uniform.quantized_dimension is not None:
        uniform = replace(uniform, quantized_dimension=permutation.index(uniform.quantized_dimension))
    return stored.transpose(permutation), uniform


def reverse(op: ir.Operation, stored: Array, uniform: UniformType) -> Moved:
    """Scales are reversed with their dimension."""
    dimensions = tuple(int_list(op, "dimensions") or [])
    if uniform.quantized_dimension in dimensions:
        uniform = replace(uniform, scales=uniform.scales[::-1], zero_points=uniform.zero_points[::-1])
    return np.flip(stored, dimensions), uniform


def slice_(op: ir.Operation, stored: Array, uniform: UniformType) -> Moved:
    """Scales are sliced with their dimension."""
    bounds = zip(*(int_list(op, name) or [] for name in ("start_indices", "limit_indices", "strides")), strict=True)
    ranges = tuple(slice(*bound) for bound in bounds)
    if uniform.quantized_dimension is not None:
        kept = ranges[uniform.quantized_dimension]
        uniform = replace(uniform, scales=uniform.scales[kept], zero_points=uniform.zero_points[kept])
    return stored[ranges], uniform


def reshape(op: ir.Operation, stored: Array, uniform: UniformType) -> Moved | None:
    """The quantized dimension is the one with as many elements before it."""
    shape = list(op.results[0].type.shape)
    if uniform.quantized_dimension is not None:
        before = math.prod(stored.shape[: uniform.quantized_dimension])
        found = [d for d, size in enumerate(shape) if size == len(uniform.scales) and math.prod(shape[:d]) == before]
        if not found:
            return None
        uniform = replace(uniform, quantized_dimension=found[0])
    return stored.reshape(shape), uniform


MOVES: dict[str, Callable[[ir.Operation, Array, UniformType], Moved | None]] = {
    "stablehlo.transpose": transpose,
    "stablehlo.reverse": reverse,
    "stablehlo.slice": slice_,
    "stablehlo.reshape": reshape,
}


@dataclass(frozen=True)
class FoldWeightLayout(ModulePass):
    """See the module docstring."""

    name: ClassVar[str] = "fold-weight-layout"

    def run(self, module: ir.Module) -> None:
        apply_rules(module, dict.fromkeys(MOVES, move_layout), self.name)
        erase_dead_ops(module)
