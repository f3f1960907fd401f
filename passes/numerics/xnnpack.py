"""Profile `xnnpack`: the integers that XNNPACK's kernels compute for quantized graphs on x86-64.

Stored integers are signed and of 8 bits, floats are float32, every operation is rounded once. Every formula was run
against the delegate of executorch 1.5.1 without a difference (`tests/test_xnnpack_arithmetic.py` does it again).
Activation bounds are rounded as `spec` rounds: division by the scale, zero point added before rounding.
"""

from __future__ import annotations

import math

import numpy as np

from shlo_quant.passes.errors import Unsupported
from shlo_quant.passes.numerics.arrays import Array
from shlo_quant.passes.numerics.operations import Operations, Quantization, V
from shlo_quant.passes.numerics.profiles import (
    Pair,
    Profile,
    dequantize,
    equal_scales,
    move_zero_point,
    reach,
    without_zero_point,
)

SMALLEST_RATIO = 2.0**-11
"""XNNPACK's own sums are wrong if the scales of both operands are a smaller part of the result's."""

SHORTCUT_REACH = 1 << 20
"""Up to here `round(n * s * fl(1 / s))` is n: three roundings move it by less than 3 * 2**-24 * 2**20 < 1/2."""


class Xnnpack(Profile):
    """Arithmetic of XNNPACK: see the module docstring and each method."""

    name = "xnnpack"
    source = "XNNPACK revision 92a7ad501b9516f9fecae119e0146dd1f58e54c1, and its behaviour in executorch 1.5.1"

    def quantize(self, operations: Operations[V], expressed: V, result: Quantization) -> V:
        """Return `clamp(round(x * (1 / scale)) + zero_point)`: a reciprocal, halves to even, then the zero point.

        NaN gives the largest stored integer.
        """
        return _rounded(operations, _steps(operations, expressed, result), result, may_be_nan=True)

    def dequantize(self, operations: Operations[V], stored: V, operand: Quantization) -> V:
        """Return `float(q - zero_point) * scale`."""
        return dequantize(operations, stored, operand)

    def requantize(self, operations: Operations[V], stored: V, operand: Quantization, result: Quantization) -> V:
        """An accumulator: `clamp(round(float(q) * m) + zero_point)`, m = scale / result scale.

        Other stored integers: dequantize, then quantize; if the scales are equal that moves the zero point.
        """
        if is_accumulator(operand):
            return _scaled(operations, stored, operations.format.rounded(operand.scales), operand, result)
        if equal_scales(operations.format, operand, result) and reach(operand) < SHORTCUT_REACH:
            return move_zero_point(operations, stored, operand, result)
        return self.quantize(operations, self.dequantize(operations, stored, operand), result)

    def combine(
        self, name: str, operations: Operations[V], stored: tuple[V, V], operands: Pair, result: Quantization
    ) -> V | None:
        """Products are rescaled as accumulators are; sums and differences are fixed-point (see `_add`)."""
        if any(q.storage_bits > 8 or not q.is_signed or len(q.scales) > 1 for q in (*operands, result)):
            return None
        if name != "multiply":
            ratios = operand_ratios(operations, operands, result)
            in_range = 2.0**-40 < max(ratios) < 2.0**19
            return _add(operations, stored, operands, result, -1 if name == "subtract" else 1) if in_range else None
        wide = (without_zero_point(operations, q, t) for q, t in zip(stored, operands, strict=True))
        product = operations.multiply(*(operations.to_integer(q, 32, True) for q in wide))
        lhs, rhs = (operations.format.rounded(operand.scales) for operand in operands)
        return _scaled(operations, product, lhs * rhs, operands[0], result)

    def mean(
        self, operations: Operations[V], total: V, count: int, operand: Quantization, result: Quantization
    ) -> V | None:
        """Return `clamp(round(float(total) * m + offset))`, m = scale / result scale * (1 / count).

        The offset carries both zero points: result zero point - (count * zero point) * m.
        """
        rounded = operations.format.rounded
        (scale,), (result_scale,), (size,) = rounded(operand.scales), rounded(result.scales), rounded([count])
        (one,), (zero_point,), (result_zero_point,) = (
            rounded(v) for v in ([1], operand.zero_points, result.zero_points)
        )
        multiplier = (scale / result_scale) * (one / size)
        offset = result_zero_point - (size * zero_point) * multiplier
        scaled = operations.multiply(operations.to_float(total), operations.floats([float(multiplier)], None))
        moved = operations.add(scaled, operations.floats([float(offset)], None))
        return _saturated(operations, moved, result)


def quantize_in_table(operations: Operations[V], expressed: V, result: Quantization) -> V:
    """Return `clamp(round(x * (1 / scale) + zero_point))`, the zero point added before rounding.

    So do the tables by which XNNPACK takes 8-bit integers through a clamp into other parameters, or through a square.
    """
    moved = operations.add(_steps(operations, expressed, result), operations.floats(result.zero_points, None))
    return _saturated(operations, moved, result)


def quantize_bias(bias: Array, lhs_scale: float, rhs: Quantization) -> Array:
    """Quantize a bias to accumulator steps, as executorch does when it writes a program: times a reciprocal.

    Args:
      bias: float32 [n], finite.
      lhs_scale, rhs: the scale of the activations, and the quantization of the weights; per axis, n scales.
    Returns: int64 [n], not clamped to 32 bits.
    Source: executorch backends/xnnpack/operators/node_visitor.py (per axis in float32, per tensor in float64).
    """
    with np.errstate(over="ignore"):
        if rhs.quantized_dimension is None:
            reciprocals = np.asarray(1.0 / (rhs.scales[0] * lhs_scale), np.float32)
        else:
            reciprocals = np.float32(1) / (np.asarray(rhs.scales, np.float32) * np.float32(lhs_scale))
        steps = np.rint(bias.astype(np.float32) * reciprocals).astype(np.float64)
    stored: Array = np.clip(steps, -float(1 << 62), float(1 << 62)).astype(np.int64)
    return stored


def hardswish(x: Array) -> Array:
    """Return `clamp(fma(x, 1/6, 1/2), 0, 1) * x` of float32 numbers: fused, as XNNPACK has it on x86-64."""
    gate = fused_multiply_add(x, np.float32(1) / np.float32(6), np.float32(0.5))
    product: Array = np.clip(gate, np.float32(0), np.float32(1)) * x
    return product


def fused_multiply_add(x: Array, y: Array | np.float32, z: Array | np.float32) -> Array:
    """`x * y + z` of float32 numbers, rounded once.

    The product is exact in float64. The sum is rounded to odd there, so that rounding it to float32 is as if it were
    exact (Boldo and Melquiond, "Emulation of FMA and correctly rounded sums: proved algorithms using rounding to odd").
    """
    product = np.asarray(np.multiply(x, y, dtype=np.float64))
    addend = np.asarray(z, np.float64)
    total = product + addend
    part = total - product
    error = (product - (total - part)) + (addend - part)
    bits = total.view(np.int64)
    to_odd = (error != 0) & (bits & 1 == 0) & np.isfinite(total)
    step = np.where((error > 0) == (total > 0), 1, -1)
    return np.where(to_odd, bits + step, bits).view(np.float64).astype(np.float32)


def is_accumulator(operand: Quantization) -> bool:
    """Whether a type is that of sums of products."""
    return operand.storage_bits >= 32 and operand.is_signed and not any(operand.zero_points)


def _steps(operations: Operations[V], expressed: V, result: Quantization) -> V:
    """Return `x * (1 / scale)`."""
    scales = operations.format.rounded(result.scales)
    reciprocals = operations.format.rounded([1]) / scales
    return operations.multiply(expressed, operations.floats(reciprocals.tolist(), result.quantized_dimension))


def _scaled(operations: Operations[V], stored: V, scales: Array, operand: Quantization, result: Quantization) -> V:
    """Integers of `scales`, zero point 0, to stored integers of `result`: one multiplication, one rounding."""
    multipliers = scales / operations.format.rounded(result.scales)
    dimension = result.quantized_dimension if operand.quantized_dimension is None else operand.quantized_dimension
    multiplier = operations.floats(multipliers.tolist(), dimension)
    return _rounded(operations, operations.multiply(operations.to_float(stored), multiplier), result, may_be_nan=False)


def _rounded(operations: Operations[V], steps: V, result: Quantization, may_be_nan: bool) -> V:
    """Return `clamp(round(steps) + zero_point)`: clamped first, which is the same, as the bounds are integers."""
    if result.storage_bits > 16:
        raise Unsupported(
            f"profile xnnpack quantizes to 8 bits (or 16), got {result.storage_bits}", "use the profile spec"
        )
    lowest, highest = result.storage_min - max(result.zero_points), result.storage_max - min(result.zero_points)
    bounded = operations.at_most(steps, highest) if may_be_nan else steps
    rounded = operations.round_nearest_even(operations.clamp(lowest, bounded, highest))
    if not any(result.zero_points):
        return operations.to_integer(rounded, result.storage_bits, result.is_signed)
    wide = operations.to_integer(rounded, 32, True)
    moved = operations.add(wide, operations.integers(result.zero_points, result.quantized_dimension, 32))
    if len(set(result.zero_points)) > 1:
        moved = operations.clamp(result.storage_min, moved, result.storage_max)
    return operations.to_integer(moved, result.storage_bits, result.is_signed)


def _saturated(operations: Operations[V], moved: V, result: Quantization) -> V:
    """Return `clamp(round(moved))`, of floats that have the zero point in them."""
    clamped = operations.clamp(result.storage_min, moved, result.storage_max)
    return operations.to_integer(operations.round_nearest_even(clamped), result.storage_bits, result.is_signed)


def _add(operations: Operations[V], stored: tuple[V, V], operands: Pair, result: Quantization, sign: int) -> V:
    """Sum (sign 1) or difference (sign -1) in fixed point: rounded half up, before the zero point is added.

    With ratios r = scale / result scale, the larger multiplier round(r * 2**shift) lies in 2**20 .. 2**21:

        clamp(((2**(shift - 1) + m_a * (a - z_a) + m_b * (b - z_b)) >> shift) + zero_point)
    """
    ratios = operand_ratios(operations, operands, result)
    shift = 21 - math.frexp(max(ratios))[1]
    multipliers = [round(math.ldexp(ratio, shift)) for ratio in ratios]
    multipliers[1] *= sign
    bits = 32 if shift < 32 else 64  # there XNNPACK's own sums, in 32 bits, are wrong
    constant = (1 << (shift - 1)) - sum(m * o.zero_points[0] for m, o in zip(multipliers, operands, strict=True))
    lhs, rhs = (
        operations.multiply(operations.to_integer(q, bits, True), operations.integers([m], None, bits))
        for q, m in zip(stored, multipliers, strict=True)
    )
    total = operations.add(operations.add(lhs, operations.integers([constant], None, bits)), rhs)
    moved = operations.shift_right(total, shift)
    if any(result.zero_points):
        moved = operations.add(moved, operations.integers(result.zero_points, None, bits))
    clamped = operations.clamp(result.storage_min, moved, result.storage_max)
    return operations.to_integer(clamped, result.storage_bits, result.is_signed)


def operand_ratios(operations: Operations[V], operands: Pair, result: Quantization) -> list[float]:
    """The scales of both operands divided by that of the result."""
    (scale,) = operations.format.rounded(result.scales)
    return [float(operations.format.rounded(operand.scales)[0] / scale) for operand in operands]


XNNPACK = Xnnpack()
