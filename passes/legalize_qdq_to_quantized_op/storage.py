"""One storage type for the operands and the result of an op: exact changes of storage type at an unchanged scale.

StableHLO wants the operands of an op in one storage type with one pair of bounds. A stored integer can move to another
storage type without changing its value as long as the scale stays: u8 (s:z) is i8 (s:z-128), i8 (s:z) is i16 (s:z).
Such a step is a `uniform_quantize` that only shifts integers, or a new constant.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from torch_mlir import ir

from shlo_quant.passes.dialects.constants import stored_constant
from shlo_quant.passes.dialects.quant import UniformType, integer_range
from shlo_quant.passes.dialects.stablehlo import quantized_constant, uniform_quantize
from shlo_quant.passes.dot_like import broadcast_parameter

SIGNED_BITS = (8, 16, 32)


def in_common_storage(types: Sequence[UniformType]) -> list[UniformType] | None:
    """The same real types in one storage type with one pair of bounds, as most quantized ops demand.

    Returns: None if an unsigned 32-bit type had to move: its zero point would be about -2^31, where f32 cannot count.
    """
    storages = {(t.storage_type, t.is_signed, t.storage_min, t.storage_max) for t in types}
    if len(storages) == 1:
        return list(types)
    if any(not t.is_signed and t.storage_bits == SIGNED_BITS[-1] for t in types):
        return None
    bits = max(signed_bits(t) for t in types)
    low, high = integer_range(bits, True)
    return [dataclasses.replace(in_signed_storage(t, bits), storage_min=low, storage_max=high) for t in types]


def signed_bits(uniform: UniformType) -> int:
    """Width of the narrowest signed storage (8 bits at least) that holds all stored integers, shifted if unsigned."""
    width: int = uniform.storage_type.width
    return max(SIGNED_BITS[0], width)


def in_signed_storage(uniform: UniformType, bits: int) -> UniformType:
    """The same real values in signed storage of `bits` bits (`signed_bits` or more), with bounds as tight as before."""
    narrow_unsigned = not uniform.is_signed and uniform.storage_type.width == bits
    return _shifted(uniform, bits, 1 << (bits - 1) if narrow_unsigned else 0)


def without_zero_points(uniform: UniformType) -> UniformType | None:
    """The same real values with zero points 0, in the narrowest signed storage; None if that is over 32 bits."""
    low = uniform.storage_min - max(uniform.zero_points)
    high = uniform.storage_max - min(uniform.zero_points)
    for bits in SIGNED_BITS:
        lowest, highest = integer_range(bits, True)
        if lowest <= low and high <= highest:
            return dataclasses.replace(
                uniform,
                storage_type=ir.IntegerType.get_signless(bits),
                is_signed=True,
                storage_min=low,
                storage_max=high,
                zero_points=(0,) * len(uniform.zero_points),
            )
    return None


def move(value: ir.Value, old: UniformType, new: UniformType) -> ir.Value:
    """The value in a type of equal scales: itself, a new constant, or a requantize that only shifts integers."""
    assert old.scales == new.scales, f"{old} and {new} differ in more than storage"
    if old == new:
        return value
    stored = stored_constant(value)
    if stored is None:
        return uniform_quantize(value, new)
    shifts = tuple(int(z) for z in np.subtract(new.zero_points, old.zero_points))
    return quantized_constant(stored.astype(np.int64) + broadcast_parameter(shifts, new, stored.ndim), new)


def _shifted(uniform: UniformType, bits: int, shift: int) -> UniformType:
    """Signed storage, every stored integer and zero point less `shift`."""
    return dataclasses.replace(
        uniform,
        storage_type=ir.IntegerType.get_signless(bits),
        is_signed=True,
        storage_min=uniform.storage_min - shift,
        storage_max=uniform.storage_max - shift,
        zero_points=tuple(z - shift for z in uniform.zero_points),
    )
