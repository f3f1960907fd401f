"""What XNNPACK computes on integers, and no more: the rules of fusion for the arithmetic `xnnpack`.

They differ from those that keep the value (the other files) in what they leave to floats, since XNNPACK does: products
of two activations, sums over windows, functions of one operand, clamps behind a product or a difference, constants that
are not quantized. And a bias is always an integer, rounded as executorch rounds it, wherever a quantize follows.
"""

from __future__ import annotations

import numpy as np
from torch_mlir import ir

from shlo_quant.passes.dialects.constants import Array, stored_constant
from shlo_quant.passes.dialects.quant import UniformType, uniform_type
from shlo_quant.passes.dialects.stablehlo import combining_op, elementwise, uniform_quantize
from shlo_quant.passes.dot_like import DOT_LIKE, DotLike, accumulator_reach
from shlo_quant.passes.legalize_qdq_to_quantized_op.activations import (
    Bounds,
    clamp_of,
    clamp_stored,
    strip_clamps,
)
from shlo_quant.passes.legalize_qdq_to_quantized_op.dot_like import (
    ACCUMULATOR_LIMIT,
    Bias,
    add_bias,
    fuse_dot_like,
    match_bias,
)
from shlo_quant.passes.legalize_qdq_to_quantized_op.reductions import fuse_reduction
from shlo_quant.passes.legalize_qdq_to_quantized_op.shapes import DATA_OPERANDS, sink_dequantize
from shlo_quant.passes.legalize_qdq_to_quantized_op.values import constant_array, dequantized
from shlo_quant.passes.numerics.xnnpack import quantize_bias
from shlo_quant.passes.rewrite import Rule, defining_op, single_user

COMBINING = ("stablehlo.add", "stablehlo.multiply", "stablehlo.subtract")
RELU = Bounds(low=0.0)


def fuse_weighted(op: ir.Operation) -> ir.Value | None:
    """A convolution or dot_general with constant weights, if a bias, clamps, moves and a quantize are all behind it."""
    weights = dequantized(op.operands[1])
    if weights is None or stored_constant(weights) is None or not _reaches_quantize(op.results[0]):
        return None
    return fuse_dot_like(op)


def fuse_rounded_bias(op: ir.Operation) -> ir.Value | None:
    """An add of a constant to a dequantized accumulator, as an integer add; None if the sum leaves 32 bits."""
    match = match_bias(op)
    if match is None or not _reaches_quantize(op.results[0]):
        return None
    stored = _stored_bias(match)
    return None if stored is None else add_bias(match, stored)


def fuse_max_pool(op: ir.Operation) -> ir.Value | None:
    """A maximum over windows, on stored integers."""
    return fuse_reduction(op) if combining_op(op.regions[0]) == "maximum" else None


def fuse_into_quantize(quantize_op: ir.Operation) -> ir.Value | None:
    """What a `uniform_quantize` quantizes, where XNNPACK has a kernel on integers for it; None: a float island."""
    uniform = uniform_type(quantize_op.results[0])
    if uniform is None or uniform.is_per_axis or uniform_type(quantize_op.operands[0]) is not None:
        return None
    value, bounds = strip_clamps(quantize_op.operands[0])
    source = dequantized(value)
    if source is None:
        return _fuse_combining(value, uniform, bounds)
    is_same = source.type == quantize_op.results[0].type
    if bounds == Bounds() or is_same or accumulator_reach(source) is not None or _is_sum_with_bias(source):
        return clamp_stored(source if is_same else uniform_quantize(source, uniform), uniform, bounds)
    return None


def _fuse_combining(value: ir.Value, uniform: UniformType, bounds: Bounds) -> ir.Value | None:
    """The quantized sum, difference or product of two dequantized operands; clamped if it is a sum, by relu alone."""
    op = defining_op(value, *COMBINING)
    if op is None or single_user(value) is None:
        return None
    sources = [dequantized(v) for v in op.operands]
    if not (bounds == Bounds() or (bounds == RELU and op.name == "stablehlo.add")):
        return None
    if any(source is None or not _is_activation(uniform_type(source)) for source in sources):
        return None
    name = op.name.removeprefix("stablehlo.")
    operands = [source for source in sources if source is not None]
    return clamp_stored(elementwise(name, *operands, result_type=uniform.tensor_like(value.type)), uniform, bounds)


def _is_activation(uniform: UniformType | None) -> bool:
    return uniform is not None and uniform.is_signed and uniform.storage_bits == 8 and not uniform.is_per_axis


def _is_sum_with_bias(source: ir.Value) -> bool:
    op = defining_op(source, "stablehlo.add")
    return op is not None and any(accumulator_reach(v) is not None for v in op.operands)


def _stored_bias(match: Bias) -> Array | None:
    """The bias in steps of the accumulator; None if its sums with the products may leave 32 bits."""
    dot = _dot_behind(match.accumulator)
    lhs, rhs = uniform_type(dot.lhs), uniform_type(dot.rhs)
    reach = accumulator_reach(match.accumulator)
    assert lhs is not None and rhs is not None and reach is not None
    stored = quantize_bias(match.expressed, lhs.scale, rhs)
    return stored if reach + int(np.abs(stored).max(initial=0)) <= ACCUMULATOR_LIMIT else None


def _dot_behind(accumulator: ir.Value) -> DotLike:
    """The convolution or dot_general that makes an accumulator, through reshapes and transposes."""
    op = defining_op(accumulator)
    assert op is not None, "an accumulator is made by an op"
    return DotLike.of(op) if op.name in DOT_LIKE else _dot_behind(op.operands[0])


def _reaches_quantize(value: ir.Value) -> bool:
    """Whether a quantize takes `value` through added constants, clamps and data movement alone."""
    user = single_user(value)
    while user is not None and user.name != "stablehlo.uniform_quantize":
        adds = user.name == "stablehlo.add" and any(constant_array(v) is not None for v in user.operands)
        if not (adds or clamp_of(user) is not None or user.name in DATA_OPERANDS):
            return False
        user = single_user(user.results[0])
    return user is not None


RULES: dict[str, Rule] = {
    **dict.fromkeys(DATA_OPERANDS, sink_dequantize),
    **dict.fromkeys(DOT_LIKE, fuse_weighted),
    "stablehlo.add": fuse_rounded_bias,
    "stablehlo.reduce_window": fuse_max_pool,
    "stablehlo.uniform_quantize": fuse_into_quantize,
}
