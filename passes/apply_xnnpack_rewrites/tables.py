"""Tables: functions of one 8-bit tensor, from stored integers to stored integers.

    %0 = stablehlo.uniform_dequantize %x
    %1 = stablehlo.logistic %0
    %q = stablehlo.uniform_quantize %1
==>
    %i = stablehlo.convert (stablehlo.bitcast_convert %x : ui8) : i32
    %t = stablehlo.uniform_dequantize %table         // what 0 .. 127, -128 .. -1 become, in the type of %q
    %1 = stablehlo.gather(%t, %i)
    %q = stablehlo.uniform_quantize %1

Fusion makes the gather one of stored integers. The entries are what XNNPACK's kernels compute: floats operation by
operation, transcendental functions rounded once. A clamp into other parameters and a square add the zero point before
they round, all others after.
"""

from __future__ import annotations

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from shlo_quant.passes.apply_xnnpack_rewrites.functions import Function, is_clamp, is_square, known
from shlo_quant.passes.dialects import stablehlo
from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.dialects.quant import UniformType, uniform_type, with_element_type
from shlo_quant.passes.numerics.arrays import ArrayOperations
from shlo_quant.passes.numerics.floats import F32
from shlo_quant.passes.numerics.xnnpack import XNNPACK, quantize_in_table

SUMS = ("stablehlo.add", "stablehlo.subtract")


def table_lookup(result: UniformType, function: Function, is_product: bool) -> ir.Value | None:
    """The value of a function, to be quantized to `result`, as a table lookup; None if XNNPACK computes it otherwise.

    Args:
      is_product: whether a square is computed as products are.
    """
    operand = uniform_type(function.source)
    assert operand is not None, "functions have a source of uniform type"
    if not function.ops or _is_integer_kernel(function, operand, result):
        return None
    entries = table_entries(function, operand, result, is_product)
    return None if entries is None else _look_up(function.source, entries, result)


def table_entries(function: Function, operand: UniformType, result: UniformType, is_product: bool) -> Array | None:
    """The stored integers of `result` for 0 .. 127 and -128 .. -1 of `operand`; None if unknown."""
    operations = ArrayOperations(F32, rank=1)
    stored = np.arange(256).astype(np.uint8).view(np.int8).astype(np.int64)
    if is_product:
        return XNNPACK.combine("multiply", operations, (stored, stored), (operand, operand), result)
    x = XNNPACK.dequantize(operations, stored, operand)
    formula = known(function)
    values = function(x) if formula is None else formula(x)
    if values is None or values.dtype != np.float32:
        return None
    in_table = is_square(function) or is_clamp(function)
    return quantize_in_table(operations, values, result) if in_table else XNNPACK.quantize(operations, values, result)


def _is_integer_kernel(function: Function, operand: UniformType, result: UniformType) -> bool:
    """Whether the function has a kernel on integers: a clamp within one type, x + x and x - x."""
    if is_clamp(function):
        return operand == result
    first, *rest = function.ops
    if first.name not in SUMS or set(first.operands) != {function.operand}:
        return False
    return not rest or (first.name == "stablehlo.add" and [op.name for op in rest] == ["stablehlo.maximum"])


def _look_up(source: ir.Value, entries: Array, result: UniformType) -> ir.Value:
    shape = source.type.shape
    bits = stablehlo.bitcast_convert(source, ir.RankedTensorType.get(shape, ir.IntegerType.get_unsigned(8)))
    index = stablehlo.convert(bits, ir.IntegerType.get_signless(32))
    numbers = _stablehlo.GatherDimensionNumbers.get([], [0], [], [], [0], len(shape))
    attributes = {"dimension_numbers": numbers, "slice_sizes": stablehlo.i64s([1])}
    table = stablehlo.uniform_dequantize(stablehlo.quantized_constant(entries.astype(np.int8), result))
    types = [with_element_type(source.type, result.expressed_type)]
    return stablehlo.create("stablehlo.gather", [table, index], types, attributes).results[0]
