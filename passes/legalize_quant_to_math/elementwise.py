"""Elementwise ops: on stored integers where that is exact, else dequantize, the float op, quantize.

Sources: StableHLO spec, `dequantize_op_quantize` and the ops' own sections.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

import numpy as np
from torch_mlir import ir

from shlo_quant.passes.dialects import stablehlo
from shlo_quant.passes.dialects.constants import Array, stored_constant
from shlo_quant.passes.dialects.quant import UniformType, expressed_tensor
from shlo_quant.passes.legalize_quant_to_math.builder import BuilderOperations
from shlo_quant.passes.legalize_quant_to_math.lowering import Lowering, Rule
from shlo_quant.passes.rewrite import defining_op

IN_FLOAT = (
    "abs atan2 batch_norm_grad batch_norm_inference batch_norm_training cbrt ceil cholesky cosine divide dynamic_iota "
    "exponential exponential_minus_one floor iota is_finite log log_plus_one logistic negate power "
    "reduce_precision remainder round_nearest_afz round_nearest_even rsqrt sign sine sqrt tan tanh"
).split()
COMBINING = "multiply subtract".split()
KEEPING_ORDER = "clamp maximum minimum".split()


def lower_in_float(op: ir.Operation, lowering: Lowering) -> list[ir.Value]:
    """Dequantize every operand, operate on floats, quantize every result."""
    operands = [v if lowering.uniform(v) is None else lowering.dequantize(v) for v in op.operands]
    uniforms = [lowering.uniform(v) for v in op.results]
    types = [v.type if u is None else expressed_tensor(v.type) for v, u in zip(op.results, uniforms, strict=True)]
    results = stablehlo.clone_with(op, operands, types).results
    return [v if u is None else lowering.quantize(v, u) for v, u in zip(results, uniforms, strict=True)]


def lower_combining(op: ir.Operation, lowering: Lowering) -> ir.Value | list[ir.Value]:
    """Combine stored integers by the profile's own formula if it has one, else floats. Spec: subtract, multiply."""
    lhs, rhs, result = (lowering.quantized(v) for v in (*op.operands, op.results[0]))
    stored = lowering.stored(op.operands[0]), lowering.stored(op.operands[1])
    operations = BuilderOperations(result.expressed_type, stored[0])
    combined = lowering.profile.combine(op.name.removeprefix("stablehlo."), operations, stored, (lhs, rhs), result)
    return lower_in_float(op, lowering) if combined is None else combined


def lower_keeping_order(op: ir.Operation, lowering: Lowering) -> ir.Value | list[ir.Value]:
    """Pick an operand by its stored integers if all have one type: a positive scale keeps their order."""
    if len({lowering.uniform(v) for v in (*op.operands, op.results[0])}) > 1:
        return lower_in_float(op, lowering)
    return stablehlo.elementwise(op.name.removeprefix("stablehlo."), *(lowering.stored(v) for v in op.operands))


def lower_compare(op: ir.Operation, lowering: Lowering) -> ir.Value:
    """Compare stored integers if both operands have one type, else floats. Spec: compare.

    The compare type is left out: dequantized values are no NaN and no negative zero, for which it would matter.
    """
    lhs, rhs = op.operands
    if lowering.quantized(lhs) == lowering.quantized(rhs):
        operands = [lowering.stored(v) for v in op.operands]
    else:
        operands = [lowering.dequantize(v) for v in op.operands]
    compared = stablehlo.clone_with(op, operands, [op.results[0].type])
    if "compare_type" in compared.attributes:
        del compared.attributes["compare_type"]
    return compared.results[0]


# ---- add


def lower_add(op: ir.Operation, lowering: Lowering) -> ir.Value | list[ir.Value]:
    """Add; integers if they are 32 bits wide and share their scales, as accumulators and biases do. Spec: add.

    A float32 sum would lose the low bits of such integers. The sum saturates, by way of 64 bits unless it provably
    stays within the result's bounds.
    """
    types = [lowering.quantized(v) for v in (*op.operands, op.results[0])]
    result = types[-1]
    if not _is_accumulator(result) or any(not _is_accumulator(t) or not _same_scales(t, result) for t in types):
        return lower_combining(op, lowering)
    stored = [lowering.stored(v) for v in op.operands]
    if op in lowering.exact_sums:
        return stablehlo.elementwise("add", *stored)
    magnitude = sum(lowering.magnitude(v) for v in op.operands)
    if magnitude > min(-result.storage_min, result.storage_max):
        return _add_saturating(stored, result)
    total = _merge_constants(op.operands, lowering) or stablehlo.elementwise("add", *stored)
    lowering.note_magnitude(total, magnitude)
    return total


def _is_accumulator(uniform: UniformType) -> bool:
    return uniform.storage_bits == 32 and uniform.is_signed and not uniform.has_zero_point


def _same_scales(lhs: UniformType, rhs: UniformType) -> bool:
    return (lhs.scales, lhs.quantized_dimension) == (rhs.scales, rhs.quantized_dimension)


def _add_saturating(operands: Sequence[ir.Value], result: UniformType) -> ir.Value:
    operations = BuilderOperations(result.expressed_type, operands[0])
    total = operations.add(*(operations.to_integer(v, 64, True) for v in operands))
    return operations.to_integer(operations.clamp(result.storage_min, total, result.storage_max), 32, True)


def _merge_constants(operands: Sequence[ir.Value], lowering: Lowering) -> ir.Value | None:
    """One addition instead of two where an accumulator's zero point correction and a bias are constants of one shape.

    The order of 32-bit additions does not matter, as they wrap and the last sum fits.
    """
    for accumulator, bias in (operands, operands[::-1]):
        corrected = defining_op(lowering.stored(accumulator), "stablehlo.add")
        if corrected is None:
            continue
        correction, constant = _constant_along(corrected.operands[1]), _constant_along(bias)
        if correction is None or constant is None or correction[0] != constant[0]:
            continue
        merged = (correction[1].astype(np.int64) + constant[1]).astype(np.int32)
        operations = BuilderOperations(ir.F32Type.get(), corrected.operands[0])
        i32 = ir.IntegerType.get_signless(32)
        return operations.add(corrected.operands[0], operations.broadcast(merged, correction[0], i32))
    return None


def _constant_along(value: ir.Value) -> tuple[tuple[int, ...], Array] | None:
    """The dimensions and elements of a broadcast constant."""
    broadcast = defining_op(value, "stablehlo.broadcast_in_dim", "stablehlo.dynamic_broadcast_in_dim")
    constant = None if broadcast is None else stored_constant(broadcast.operands[0])
    if broadcast is None or constant is None:
        return None
    return tuple(stablehlo.int_list(broadcast, "broadcast_dimensions") or ()), constant


RULES: Mapping[str, Rule] = MappingProxyType(
    {f"stablehlo.{name}": lower_in_float for name in IN_FLOAT}
    | {f"stablehlo.{name}": lower_keeping_order for name in KEEPING_ORDER}
    | {f"stablehlo.{name}": lower_combining for name in COMBINING}
    | {"stablehlo.add": lower_add, "stablehlo.compare": lower_compare}
)
