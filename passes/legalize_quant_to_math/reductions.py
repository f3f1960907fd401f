"""Ops with a region that combines elements: reduce, reduce_window, sort, map, scatter, select_and_scatter, all_reduce.

The region's own ops are lowered like any others, so an op whose operands already have the types of the region's
arguments stands as it is. reduce and reduce_window may combine in a wider type; then operands are converted first:

    %r = stablehlo.reduce(%x init: %zero) applies stablehlo.add : (tensor<2x8x!i8>, tensor<!i32>) -> tensor<2x!i32>
==>
    %w = stablehlo.subtract (stablehlo.convert %x : i32), %zero_point
    %r = stablehlo.reduce(%w init: %zero) applies stablehlo.add : (tensor<2x8xi32>, tensor<i32>) -> tensor<2xi32>

Source: StableHLO spec, reduce, reduce_window: operands and init values are implicitly converted to the body's types.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType

from torch_mlir import ir

from shlo_quant.passes.dialects import stablehlo
from shlo_quant.passes.errors import Unsupported
from shlo_quant.passes.legalize_quant_to_math.lowering import Lowering, Rule
from shlo_quant.passes.numerics.profiles import reach

COMBINING = "all_reduce map reduce_scatter scatter select_and_scatter sort".split()


def lower_reduction(op: ir.Operation, lowering: Lowering) -> None:
    """Convert operands and init values to the types of the body, and prove what sums can be proven exact."""
    note_exact_sum(op, lowering)
    arguments = op.regions[0].blocks[0].arguments
    for index, (operand, argument) in enumerate(zip(op.operands, arguments, strict=True)):
        combined = lowering.uniform(argument)
        if combined is not None and lowering.quantized(operand) != combined:
            stored = lowering.requantize(operand, combined)
            op.operands[index] = stablehlo.bitcast_convert(stored, combined.tensor_like(operand.type))


def note_exact_sum(op: ir.Operation, lowering: Lowering) -> None:
    """Note the body's `add` as exact if no sum of the elements, in any order, can leave its type."""
    body = [inner.operation for inner in op.regions[0].blocks[0].operations]
    combined = lowering.uniform(op.results[0])
    if len(body) != 2 or body[0].name != "stablehlo.add" or combined is None or len(op.results) != 1:
        return
    value, init = op.operands
    if op.name == "stablehlo.reduce":
        sizes = [value.type.shape[d] for d in stablehlo.int_list(op, "dimensions") or ()]
    else:
        sizes = stablehlo.int_list(op, "window_dimensions") or []
    operand = lowering.quantized(value)
    converts_exactly = operand.scales == combined.scales and lowering.uniform(init) == combined
    if stablehlo.DYNAMIC in sizes or not converts_exactly or combined.has_zero_point:
        return
    # A window adds the init value for every element of padding, too.
    init_magnitude = lowering.magnitude(init)
    largest = math.prod(sizes) * max(reach(operand), init_magnitude) + init_magnitude
    if largest <= min(-combined.storage_min, combined.storage_max):
        lowering.exact_sums.add(body[0])


def lower_combining(op: ir.Operation, lowering: Lowering) -> None:
    """Leave the op if its region works on the operands' own types."""
    inside = {lowering.uniform(a) for region in op.regions for block in region.blocks for a in block.arguments}
    outside = {lowering.uniform(v) for v in (*op.operands, *op.results)}
    if not outside - {None} <= inside:
        raise Unsupported("operands, results and the region's arguments must have the same quantized types")


RULES: Mapping[str, Rule] = MappingProxyType(
    {"stablehlo.reduce": lower_reduction, "stablehlo.reduce_window": lower_reduction}
    | {f"stablehlo.{name}": lower_combining for name in COMBINING}
)
