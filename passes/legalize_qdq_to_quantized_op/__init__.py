"""Fuse float ops between dequantize and quantize into quantized ops, where that keeps the value.

    %0 = stablehlo.uniform_dequantize %x : (tensor<1x4x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<1x4xf32>
    %1 = stablehlo.uniform_dequantize %w : (tensor<4x2x!quant.uniform<i8:f32:1, {0.1, 0.2}>>) -> tensor<4x2xf32>
    %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0]
    %3 = stablehlo.add %2, %bias
    %4 = stablehlo.maximum %3, %zero
    %q = stablehlo.uniform_quantize %4 : (tensor<1x2xf32>) -> tensor<1x2x!quant.uniform<i8:f32, 0.1:-128>>
==>
    %a = stablehlo.dot_general %x, %w : tensor<1x2x!quant.uniform<i32:f32:1, {0.05, 0.1}>>
    %b = stablehlo.add %a, %bias_i32
    %q = stablehlo.uniform_quantize %b : (..) -> tensor<1x2x!quant.uniform<i8:f32, 0.1:-128>>

First every quantize moves up through data movement, next to the arithmetic it ends. Then, in program order, data
movement, convolutions and dots, bias adds, reductions, and whatever a quantize quantizes become quantized ops, each by
the rule of its family (one file each). A rule that cannot keep the value leaves the op; `why_float` says why.

Options:
  arithmetic: the profile by which the quantized program will be computed.
      spec: whatever keeps the value becomes a quantized op.
      xnnpack: what XNNPACK computes on integers becomes a quantized op, all else stays in float, and biases are rounded
          as executorch rounds them.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

from torch_mlir import ir

from shlo_quant.passes.base import ModulePass
from shlo_quant.passes.dialects.locations import finding
from shlo_quant.passes.dot_like import DOT_LIKE
from shlo_quant.passes.errors import Finding
from shlo_quant.passes.legalize_qdq_to_quantized_op import dot_like, elementwise, xnnpack
from shlo_quant.passes.legalize_qdq_to_quantized_op.dot_like import fuse_bias, fuse_dot_like
from shlo_quant.passes.legalize_qdq_to_quantized_op.elementwise import fuse_into_quantize
from shlo_quant.passes.legalize_qdq_to_quantized_op.reductions import REDUCTIONS, fuse_reduction
from shlo_quant.passes.legalize_qdq_to_quantized_op.shapes import DATA_OPERANDS, hoist_quantize, sink_dequantize
from shlo_quant.passes.legalize_qdq_to_quantized_op.values import dequantized
from shlo_quant.passes.numerics.arithmetics import PROFILES
from shlo_quant.passes.rewrite import Rewriter, Rule, apply_rules, erase_dead_ops, walk

KEEPING_THE_VALUE: dict[str, Rule] = {
    **dict.fromkeys(DATA_OPERANDS, sink_dequantize),
    **dict.fromkeys(DOT_LIKE, fuse_dot_like),
    **dict.fromkeys(REDUCTIONS, fuse_reduction),
    "stablehlo.add": fuse_bias,
    "stablehlo.uniform_quantize": fuse_into_quantize,
}
RULES: dict[str, dict[str, Rule]] = {"spec": KEEPING_THE_VALUE, "xnnpack": xnnpack.RULES}


@dataclass(frozen=True)
class LegalizeQdqToQuantizedOp(ModulePass):
    """See the package docstring."""

    name: ClassVar[str] = "stablehlo-legalize-qdq-to-quantized-op"
    arithmetic: str = field(default="spec", metadata={"choices": tuple(RULES)})

    def run(self, module: ir.Module) -> None:
        with Rewriter(module) as rewriter:
            hoist_quantize(rewriter, PROFILES[self.arithmetic])
        apply_rules(module, RULES[self.arithmetic], self.name)
        erase_dead_ops(module)


def remarks(module: ir.Module) -> list[Finding]:
    """What this pass left in float next to quantized values: dots and convolutions, and what is added to them."""
    found = []
    for op in walk(module.operation, *DOT_LIKE, "stablehlo.add"):
        if op.name == "stablehlo.add":
            reason = dot_like.why_bias_float(op)
        else:
            reason = dot_like.why_float(op) if any(dequantized(v) is not None for v in op.operands) else None
        if reason not in (None, dot_like.NOT_QUANTIZED):
            found.append(finding(op, f"stays in float: {reason}"))
    return found


def why_float(op: ir.Operation) -> str:
    """Why a float op of a program is no quantized op, in a few words, after this pass has run."""
    if op.name in DOT_LIKE:
        return dot_like.why_float(op) or "not fused yet"
    if op.name == "stablehlo.add" and (reason := dot_like.why_bias_float(op)) is not None:
        return reason
    return elementwise.why_float(op)
