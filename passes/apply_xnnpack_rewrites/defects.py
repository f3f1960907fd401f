"""Where XNNPACK, or executorch when it writes its programs, goes wrong. We stay right, and tell."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from torch_mlir import ir

from shlo_quant.passes.apply_xnnpack_rewrites.chains import Chains, is_signed_8_bit
from shlo_quant.passes.dialects.constants import Array, constant_behind, stored_constant
from shlo_quant.passes.dialects.locations import finding, tensor_name
from shlo_quant.passes.dialects.quant import uniform_type
from shlo_quant.passes.dot_like import DOT_LIKE, DotLike
from shlo_quant.passes.errors import Finding
from shlo_quant.passes.numerics.arrays import ArrayOperations
from shlo_quant.passes.numerics.floats import F32
from shlo_quant.passes.numerics.xnnpack import SMALLEST_RATIO, operand_ratios, quantize_bias
from shlo_quant.passes.rewrite import defining_op, single_user, walk


def defects(module: ir.Module, chains: Chains) -> Iterator[tuple[str, Finding]]:
    """Every op of a program in form `qdq` that XNNPACK computes wrongly, and the quantized tensor that it makes."""
    for op in walk(module.operation, "stablehlo.uniform_quantize", *DOT_LIKE):
        reason = _why_sum_is_wrong(op) if op.name in DOT_LIKE else _why_quantized_is_wrong(op, chains)
        if reason is not None:
            yield _tensor_behind(op), finding(op, f"XNNPACK goes wrong here: {reason}")


def _tensor_behind(op: ir.Operation) -> str:
    """The name of the quantized tensor that an op makes, by way of ops with one user; "" if it makes none."""
    found: ir.Operation | None = op
    while found is not None and found.name != "stablehlo.uniform_quantize":
        found = single_user(found.results[0])
    return "" if found is None else tensor_name(found.location)


def _why_quantized_is_wrong(op: ir.Operation, chains: Chains) -> str | None:
    result = op.results[0]
    before = chains.before(result) if chains.is_moved_clamp(result) else None
    if before is not None:
        pool = defining_op(before.operands[0], "stablehlo.reduce_window")
        return None if pool is None else "it merges this clamp into the max pool before it, and does not rescale"
    value = op.operands[0]
    total = defining_op(value, "stablehlo.add", "stablehlo.subtract")
    return None if total is None else _why_addition_is_wrong(total, op)


def _why_addition_is_wrong(total: ir.Operation, op: ir.Operation) -> str | None:
    dequantizes = [defining_op(v, "stablehlo.uniform_dequantize") for v in total.operands]
    values = [*(d.operands[0] for d in dequantizes if d is not None), op.results[0]]
    types = [t for v in values if is_signed_8_bit(v) and (t := uniform_type(v)) is not None]
    if len(types) < 3:
        return None
    lhs, rhs, result = types
    ratio = max(operand_ratios(ArrayOperations(F32, 1), (lhs, rhs), result))
    return f"the operands' scales are {ratio:.2g} of the result's, less than 2**-11" if ratio < SMALLEST_RATIO else None


def _why_sum_is_wrong(op: ir.Operation) -> str | None:
    """Sums of products that leave 32 bits with their bias, and 4-bit weights in odd numbers."""
    dot = DotLike.of(op)
    sources = [defining_op(v, "stablehlo.uniform_dequantize") for v in op.operands]
    types = [uniform_type(source.operands[0]) for source in sources if source is not None]
    if len(types) < 2 or types[0] is None or types[1] is None or sources[1] is None:
        return None
    weights = sources[1].operands[0]
    bias = _bias_behind(op)
    summed = math.prod(dot.rhs.type.shape[d] for d in dot.summed_dimensions)
    if types[1].storage_bits == 4 and op.name == "stablehlo.dot_general" and summed % 2:
        return f"the weights have 4 bits, and an odd number of them ({summed}) is summed"
    bound = dot.accumulator_bound(types[0], types[1], weights)
    if bias is None or bound is None or stored_constant(weights) is None:
        return None
    stored = quantize_bias(bias, types[0].scale, types[1])
    return "the sums with their bias leave 32 bits" if bound + int(np.abs(stored).max(initial=0)) >= 1 << 31 else None


def _bias_behind(op: ir.Operation) -> Array | None:
    """The bias that the only user of a sum adds, one number a channel."""
    add = single_user(op.results[0])
    if add is None or add.name != "stablehlo.add":
        return None
    (added,) = [v for v in add.operands if v != op.results[0]] or [add.operands[1]]
    array = constant_behind(added)
    return None if array is None or array.dtype != np.float32 else array.reshape(-1)
