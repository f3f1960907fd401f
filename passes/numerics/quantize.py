"""Arrays to stored integers and back: the `spec` formulas (`profiles.Spec`) on numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shlo_quant.passes.errors import ParameterError
from shlo_quant.passes.numerics.arrays import Array, ArrayOperations
from shlo_quant.passes.numerics.floats import float_format
from shlo_quant.passes.numerics.operations import Parameters
from shlo_quant.passes.numerics.profiles import SPEC


def quantize(
    expressed: Array,
    scales: Sequence[float],
    zero_points: Sequence[int],
    quantized_dimension: int | None,
    storage_min: int,
    storage_max: int,
) -> Array:
    """Quantize floats: round_nearest_even(clamp(x / scale + zero_point)) in the array's own float type.

    Args:
      expressed: float16, bfloat16, float32 or float64, any shape.
      scales, zero_points: one, or one a slice of `quantized_dimension`.
      quantized_dimension: None for per-tensor.
      storage_min, storage_max: both inclusive, of at most 32 bits.
    Returns: int64 stored integers, shape of `expressed`; NaN gives 0. Source: StableHLO spec, `quantize`.
    """
    parameters = _parameters(scales, zero_points, quantized_dimension, (storage_min, storage_max))
    return SPEC.quantize(ArrayOperations(float_format(expressed.dtype), expressed.ndim), expressed, parameters)


def dequantize(
    stored: Array,
    scales: Sequence[float],
    zero_points: Sequence[int],
    quantized_dimension: int | None,
    expressed_dtype: Any,
) -> Array:
    """Dequantize stored integers: float(q - zero_point) * scale in `expressed_dtype`; the subtraction is exact.

    Args:
      stored: integers of at most 32 bits, any shape.
      scales, zero_points, quantized_dimension: as for `quantize`.
    Returns: floats of `expressed_dtype`, shape of `stored`. Source: StableHLO spec, `dequantize`.
    """
    bounds = (-(1 << 31), (1 << 32) - 1)
    parameters = _parameters(scales, zero_points, quantized_dimension, bounds)
    operations = ArrayOperations(float_format(np.dtype(expressed_dtype)), stored.ndim)
    return SPEC.dequantize(operations, stored.astype(np.int64), parameters)


def quantize_bias(bias: Array, scales: Array) -> Array:
    """Quantize a bias to accumulator steps: round_nearest_even(bias / scale) in float64, not clamped to 32 bits.

    Args:
      bias, scales: float64; shapes that broadcast.
    Returns: int64; the caller checks the range (values beyond int64 saturate). Raises: ParameterError for NaN.
    """
    if np.isnan(bias).any():
        raise ParameterError("a bias to quantize must be a number, got NaN")
    with np.errstate(over="ignore"):
        steps = np.rint(np.asarray(bias, np.float64) / np.asarray(scales, np.float64))
    return ArrayOperations(float_format(np.dtype(np.float64)), steps.ndim).to_integer(steps, 64, True)


def _parameters(
    scales: Sequence[float], zero_points: Sequence[int], quantized_dimension: int | None, bounds: tuple[int, int]
) -> Parameters:
    return Parameters(tuple(scales), tuple(zero_points), quantized_dimension, 32, bounds[0] < 0, *bounds)
