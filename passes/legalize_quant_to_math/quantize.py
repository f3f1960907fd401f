"""Quantize, requantize and dequantize: the profile's formulas."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from torch_mlir import ir

from shlo_quant.passes.legalize_quant_to_math.lowering import Lowering, Rule


def lower_quantize(op: ir.Operation, lowering: Lowering) -> ir.Value:
    """Quantize floats, or requantize stored integers. Spec: uniform_quantize."""
    (operand,), result = op.operands, lowering.quantized(op.results[0])
    if lowering.uniform(operand) is None:
        return lowering.quantize(operand, result)
    return lowering.requantize(operand, result)


def lower_dequantize(op: ir.Operation, lowering: Lowering) -> ir.Value:
    """Stored integers to floats. Spec: uniform_dequantize."""
    return lowering.dequantize(op.operands[0])


RULES: Mapping[str, Rule] = MappingProxyType(
    {"stablehlo.uniform_quantize": lower_quantize, "stablehlo.uniform_dequantize": lower_dequantize}
)
