"""Write quantized ops out as dequantize, float op, quantize: the inverse of `stablehlo-legalize-qdq-to-quantized-op`.

    %r = stablehlo.add %x, %y : (tensor<2x!q0>, tensor<2x!q1>) -> tensor<2x!q2>
==>
    %0 = stablehlo.uniform_dequantize %x : (tensor<2x!q0>) -> tensor<2xf32>
    %1 = stablehlo.uniform_dequantize %y : (tensor<2x!q1>) -> tensor<2xf32>
    %2 = stablehlo.add %0, %1 : tensor<2xf32>
    %r = stablehlo.uniform_quantize %2 : (tensor<2xf32>) -> tensor<2x!q2>

A requantize becomes a dequantize and a quantize; a hybrid op gets its quantized operand dequantized. Reductions whose
body computes without intermediate saturation (maximum, minimum, or add in 32-bit storage) are rewritten whole; in any
other region op only the ops of the body are. Spec: `dequantize_op_quantize`.

Leaves alone: constants, bitcasts, casts from and to floats, control flow, calls.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from torch_mlir import ir

from shlo_quant.passes.base import ModulePass
from shlo_quant.passes.dialects.quant import expressed_tensor, is_quantized, uniform_type
from shlo_quant.passes.dialects.stablehlo import clone_with, uniform_dequantize, uniform_quantize
from shlo_quant.passes.rewrite import Rewriter

KEPT = frozenset(
    f"stablehlo.{name}"
    for name in (
        "bitcast_convert case composite constant custom_call get_tuple_element if optimization_barrier return tuple "
        "uniform_dequantize while"
    ).split()
)


@dataclass(frozen=True)
class LegalizeQuantizedOpToQdq(ModulePass):
    """See the module docstring."""

    name: ClassVar[str] = "stablehlo-legalize-quantized-op-to-qdq"

    def run(self, module: ir.Module) -> None:
        with Rewriter(module) as rewriter:
            for op in rewriter.ops():
                if op.name.startswith("stablehlo.") and op.name not in KEPT:
                    with rewriter.before(op):
                        values = decompose(op)
                    if values is not None:
                        rewriter.replace(op, values)


def decompose(op: ir.Operation) -> Sequence[ir.Value] | None:
    """The op on floats, its results quantized again; None if nothing about it is quantized, or only its region is."""
    quantized_operands = [v for v in op.operands if is_quantized(v)]
    if not quantized_operands or (len(op.regions) and not _is_exact_reduction(op)):
        return None
    if op.name == "stablehlo.uniform_quantize":
        return [_quantize_like(uniform_dequantize(op.operands[0]), op.results[0])]
    operands = [uniform_dequantize(v) if is_quantized(v) else v for v in op.operands]
    new = clone_with(op, operands, [_expressed(r.type) for r in op.results])
    for region in new.regions:
        for block in region.blocks:
            _express_block(block)
    return [_quantize_like(value, old) for value, old in zip(new.results, op.results, strict=True)]


def _is_exact_reduction(op: ir.Operation) -> bool:
    """Whether the region is one op that gives in floats what it gives step by step in stored integers."""
    body = [inner.operation for inner in op.regions[0].blocks[0].operations]
    if len(body) != 2:  # the op and stablehlo.return
        return False
    element = uniform_type(body[0].results[0])
    wide = element is not None and element.storage_type.width == 32
    return body[0].name in ("stablehlo.maximum", "stablehlo.minimum") or (body[0].name == "stablehlo.add" and wide)


def _express_block(block: ir.Block) -> None:
    """Give the float types to the arguments and results of a region of plain arithmetic."""
    for argument in block.arguments:
        argument.set_type(_expressed(argument.type))
    for inner in block.operations:
        for result in inner.operation.results:
            result.set_type(_expressed(result.type))


def _expressed(tensor: ir.Type) -> ir.Type:
    return expressed_tensor(tensor) if is_quantized(tensor) else tensor


def _quantize_like(value: ir.Value, old: ir.Value) -> ir.Value:
    uniform = uniform_type(old)
    return value if uniform is None else uniform_quantize(value, uniform)
