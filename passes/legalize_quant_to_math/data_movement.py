"""Ops that move stored integers without looking at them, and ops that only carry types (control flow, functions)."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from types import MappingProxyType

from torch_mlir import ir

from shlo_quant.passes.dialects import stablehlo
from shlo_quant.passes.dialects.quant import UniformType
from shlo_quant.passes.errors import Unsupported
from shlo_quant.passes.legalize_quant_to_math.lowering import Lowering, Rule

MOVING = (
    "bitcast_convert broadcast broadcast_in_dim concatenate dynamic_broadcast_in_dim dynamic_gather dynamic_pad "
    "dynamic_reshape dynamic_slice dynamic_update_slice gather pad real_dynamic_slice reshape reverse select slice "
    "transpose"
).split()
CARRYING = (
    "all_gather all_to_all case collective_broadcast collective_permute composite constant get_dimension_size "
    "get_tuple_element if optimization_barrier return tuple while"
).split()


def move(op: ir.Operation, lowering: Lowering) -> None:
    """Leave the op, on stored integers; operands of other parameters than the result's are requantized first.

    The verifier lets such operands pass in select, dynamic_gather and the broadcasts.
    """
    result = lowering.uniform(op.results[0])
    if result is None or op.name == "stablehlo.bitcast_convert":
        return
    for index, value in enumerate(op.operands):
        operand = lowering.uniform(value)
        if operand is not None and (target := _target(operand, result)) != operand:
            stored = lowering.requantize(value, target)
            op.operands[index] = stablehlo.bitcast_convert(stored, target.tensor_like(value.type))


def _target(operand: UniformType, result: UniformType) -> UniformType:
    """The type that makes an operand's stored integers those of the result: the result's, on the operand's axis."""
    if operand.quantized_dimension is None or result.quantized_dimension is None:
        return result
    if len(operand.scales) == len(result.scales):
        return dataclasses.replace(result, quantized_dimension=operand.quantized_dimension)
    if len(set(zip(result.scales, result.zero_points, strict=True))) == 1 == len(operand.scales):
        return dataclasses.replace(
            result,
            scales=result.scales[:1],
            zero_points=result.zero_points[:1],
            quantized_dimension=operand.quantized_dimension,
        )
    raise Unsupported(
        f"operand and result must have the same scales, got {len(operand.scales)} and {len(result.scales)}"
    )


def carry(_op: ir.Operation, _lowering: Lowering) -> None:
    """Leave the op; the types that it carries change."""


RULES: Mapping[str, Rule] = MappingProxyType(
    {f"stablehlo.{name}": move for name in MOVING}
    | {f"stablehlo.{name}": carry for name in CARRYING}
    | {"func.call": carry, "func.return": carry}
)
