"""Do to a program in form `qdq` what XNNPACK does to a graph when it loads it, where that changes integers.

    %b = stablehlo.add (stablehlo.convolution %x, %w), %bias
    %1 = stablehlo.uniform_quantize %b : !quant.uniform<i8:f32, 0.1:3>       // merged into the convolution:
    %2 = stablehlo.uniform_dequantize %1                                     // this tensor vanishes
    %3 = stablehlo.clamp %zero, %2, %six
    %q = stablehlo.uniform_quantize %3 : !quant.uniform<i8:f32, 0.02:-128>
==>
    %b = stablehlo.add (stablehlo.convolution %x, %w), %bias
    %3 = stablehlo.clamp %zero, %b, %six
    %q = stablehlo.uniform_quantize %3 : !quant.uniform<i8:f32, 0.02:-128>

Functions of one 8-bit tensor become tables (`tables`), average pools and bilinear resizes floats in XNNPACK's order
(`pools`, `resizes`). XNNPACK decides by the whole program, so this pass comes before programs are cut or made to return
more; run again, it changes nothing. `rewrites` tells what the pass does to a program, and where XNNPACK itself goes
wrong, which this pass does not follow.

Options:
  none
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

from torch_mlir import ir

from shlo_quant.passes.apply_xnnpack_rewrites.chains import Chains, is_weighted_sum
from shlo_quant.passes.apply_xnnpack_rewrites.defects import defects
from shlo_quant.passes.apply_xnnpack_rewrites.functions import is_square
from shlo_quant.passes.apply_xnnpack_rewrites.pools import spell_out_pools
from shlo_quant.passes.apply_xnnpack_rewrites.resizes import reorder_positions
from shlo_quant.passes.apply_xnnpack_rewrites.tables import table_lookup
from shlo_quant.passes.base import ModulePass
from shlo_quant.passes.dialects.locations import finding, tensor_name
from shlo_quant.passes.dialects.quant import uniform_type
from shlo_quant.passes.errors import Finding
from shlo_quant.passes.rewrite import Rewriter, erase_dead_ops

__all__ = ["ApplyXnnpackRewrites", "Rewrites", "rewrites"]


@dataclass(frozen=True)
class ApplyXnnpackRewrites(ModulePass):
    """See the package docstring."""

    name: ClassVar[str] = "apply-xnnpack-rewrites"

    def run(self, module: ir.Module) -> None:
        chains = Chains(module)
        merged = dict(_merged(chains))
        products = {result for result in chains.functions if chains.is_product(result)}
        with Rewriter(module) as rewriter:
            for result, function in chains.functions.items():
                if result in merged:
                    function.operand.replace_all_uses_with(merged[result].operands[0])
                    continue
                op, uniform = result.owner.operation, uniform_type(result)
                assert uniform is not None, "functions end in a uniform type"
                with rewriter.before(op):
                    looked_up = table_lookup(uniform, function, result in products)
                if looked_up is not None:
                    op.operands[0] = looked_up
            spell_out_pools(rewriter)
            reorder_positions(rewriter)
        erase_dead_ops(module)


@dataclass(frozen=True)
class Rewrites:
    """What XNNPACK does to a program in form `qdq` when it loads it.

    Attributes:
      findings: one for each rewrite that changes integers, and for each op that XNNPACK computes wrongly.
      merged: names of the quantized tensors that vanish.
      in_tables: names of those that XNNPACK has inside a table only; asked to return one, it computes other integers.
      wrong: names of those that XNNPACK computes wrongly.
    """

    findings: tuple[Finding, ...]
    merged: tuple[str, ...]
    in_tables: tuple[str, ...]
    wrong: tuple[str, ...]


def rewrites(module: ir.Module) -> Rewrites:
    """What `ApplyXnnpackRewrites` is going to do to a program, and what it will not do although XNNPACK does."""
    chains = Chains(module)
    merged = list(dict(_merged(chains)).values())
    findings = [
        finding(op, "XNNPACK merges the clamp behind it into what makes this tensor, so that it vanishes")
        for op in merged
    ]
    for result, function in chains.functions.items():
        if is_square(function) and not chains.is_product(result):
            reason = "XNNPACK computes this square by a table, which rounds otherwise"
            findings.append(finding(result.owner.operation, reason))
    in_tables = [tensor_name(r.owner.operation.location) for r in chains.functions if chains.in_table(r)]
    wrong = list(defects(module, chains))
    findings += [finding for _, finding in wrong]
    names = [tensor_name(op.location) for op in merged]
    return Rewrites(tuple(findings), tuple(names), tuple(in_tables), tuple(name for name, _ in wrong))


def _merged(chains: Chains) -> Iterator[tuple[ir.Value, ir.Operation]]:
    """The results that XNNPACK clamps in the weighted sum before them, and the quantize that vanishes."""
    for result in chains.functions:
        before = chains.before(result) if chains.is_moved_clamp(result) else None
        if before is not None and is_weighted_sum(before.operands[0]):
            yield result, before
