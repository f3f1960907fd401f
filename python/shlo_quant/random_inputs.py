"""Seeded inputs for a program: over the whole range of stored integers, and of floats what the program quantizes."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from shlo_quant.passes.dialects.constants import Array, numpy_dtype
from shlo_quant.passes.dialects.modules import entry_function
from shlo_quant.passes.dialects.quant import integer_range, uniform_type
from shlo_quant.passes.dialects.stablehlo import DYNAMIC
from shlo_quant.passes.errors import InputError
from shlo_quant.passes.rewrite import users

LARGEST_WIDE_INTEGER = 1000
"""Bound of integers of more than 16 bits, stored ones included: sums of them stay far from overflow."""

DATA_MOVEMENT = frozenset(
    f"stablehlo.{name}" for name in "broadcast_in_dim concatenate convert pad reshape slice transpose".split()
)


def random_inputs(program: ir.Module, seed: int) -> list[Array]:
    """One array per argument of the entry function; the same for the same seed.

    Stored integers cover their storage range, or +-1000 of it beyond 16 bits; integers that choose rows of a table
    cover its rows. Floats are normal with deviation 1; a float that is quantized covers the range of its quantized type
    and a tenth beyond, so that some saturate.
    Raises: InputError for an argument of dynamic shape, or a negative seed.
    """
    if seed < 0:
        raise InputError(f"a seed is at least 0, got {seed}")
    generator = np.random.default_rng(seed)
    block = entry_function(program).regions[0].blocks[0]
    return [_random(argument, generator) for argument in block.arguments]


def _random(argument: ir.BlockArgument, generator: np.random.Generator) -> Array:
    tensor, dtype = argument.type, numpy_dtype(argument.type)
    shape = tuple(tensor.shape)
    if DYNAMIC in shape:
        raise InputError(f"no inputs can be made for an argument of dynamic shape, {tensor}")
    if dtype.kind not in "iub":
        lowest, highest = _quantized_range(argument)
        if lowest == highest:
            return generator.standard_normal(shape).astype(dtype)
        return generator.uniform(lowest, highest, shape).astype(dtype)
    lowest, highest = _table_rows(argument) or _integer_bounds(tensor)
    return generator.integers(lowest, highest, shape, np.int64, endpoint=True).astype(dtype)


def _integer_bounds(tensor: ir.RankedTensorType) -> tuple[int, int]:
    uniform = uniform_type(tensor)
    if uniform is not None:
        bits, lowest, highest = uniform.storage_type.width, uniform.storage_min, uniform.storage_max
    elif tensor.element_type.width == 1:
        return 0, 1
    else:
        bits = tensor.element_type.width
        lowest, highest = integer_range(bits, not tensor.element_type.is_unsigned)
    if bits <= 16:
        return lowest, highest
    return max(lowest, -LARGEST_WIDE_INTEGER), min(highest, LARGEST_WIDE_INTEGER)


def _quantized_range(argument: ir.BlockArgument) -> tuple[float, float]:
    """The floats that the argument's quantized type stands for, a tenth wider; (0, 0) if it is not quantized."""
    for user in _users(argument):
        uniform = uniform_type(user.results[0]) if user.name == "stablehlo.uniform_quantize" else None
        if uniform is not None:
            pairs = list(zip(uniform.scales, uniform.zero_points, strict=True))
            lowest = min((uniform.storage_min - zero_point) * scale for scale, zero_point in pairs)
            highest = max((uniform.storage_max - zero_point) * scale for scale, zero_point in pairs)
            return 1.1 * lowest, 1.1 * highest
    return 0.0, 0.0


def _table_rows(argument: ir.BlockArgument) -> tuple[int, int] | None:
    """First and last row of the table that the argument indexes; None if it indexes none."""
    for user in _users(argument):
        if user.name == "stablehlo.gather":
            numbers = _stablehlo.GatherDimensionNumbers(user.attributes["dimension_numbers"])
            rows = [user.operands[0].type.shape[d] for d in numbers.start_index_map]
            return 0, min(rows) - 1
    return None


def _users(value: ir.Value) -> Iterator[ir.Operation]:
    """The ops that use a value, or what data movement makes of it."""
    for user in users(value):
        yield user
        if user.name in DATA_MOVEMENT:
            yield from _users(user.results[0])
