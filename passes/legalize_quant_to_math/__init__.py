"""Lower quantized types to the integers that store them, and quantized ops to arithmetic on those.

    %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
        : (tensor<1x4x!quant.uniform<i8:f32, 0.5:3>>, tensor<4x2x!quant.uniform<i8:f32, 0.25>>)
        -> tensor<1x2x!quant.uniform<i8:f32, 0.75:-5>>
==>
    %0 = stablehlo.dot_general %x, %w : (tensor<1x4xi8>, tensor<4x2xi8>) -> tensor<1x2xi32>
    %1 = stablehlo.add %0, %correction         // -3 * the sums of %w
    %2 = stablehlo.convert %1 : tensor<1x2xf32>
    %3 = stablehlo.multiply %2, %scale         // 0.5 * 0.25
    %4 = stablehlo.divide %3, %result_scale
    %5 = stablehlo.add %4, %result_zero_point
    %6 = stablehlo.clamp %min, %5, %max
    %7 = stablehlo.round_nearest_even %6
    %a = stablehlo.convert %7 : tensor<1x2xi8>

Convolutions, dots, reductions and bias adds are exact integer sums; data movement, maximum, minimum and compare work
on stored integers; every other op is dequantize, the float op, quantize. Unsigned storage becomes `uiN`. Per-axis types
may lie on any dimension, and dynamic dimensions stay dynamic. Ops that cannot be lowered are all named in one error.

Options:
  arithmetic: the profile that says how a quantization is computed.
      spec: the StableHLO specification: one rounding, half to even, and saturation.
      xnnpack: the integers of XNNPACK's kernels on x86-64; use it behind `apply-xnnpack-rewrites` and a fusion with the
          same option.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import ClassVar

from torch_mlir import ir

from shlo_quant.passes.base import ModulePass
from shlo_quant.passes.dialects import stablehlo
from shlo_quant.passes.dialects.constants import dense, stored_constant
from shlo_quant.passes.dialects.locations import finding
from shlo_quant.passes.dialects.quant import is_quantized, uniform_type, with_element_type
from shlo_quant.passes.errors import Finding, Unsupported, UnsupportedError
from shlo_quant.passes.legalize_quant_to_math import data_movement, dot_like, elementwise, islands, quantize, reductions
from shlo_quant.passes.legalize_quant_to_math.lowering import Lowering, Rule
from shlo_quant.passes.numerics.arithmetics import PROFILES
from shlo_quant.passes.rewrite import Rewriter, convert_types, erase_dead_ops, walk

RULES: Mapping[str, Rule] = MappingProxyType(
    {**quantize.RULES, **dot_like.RULES, **elementwise.RULES, **reductions.RULES, **data_movement.RULES}
)


@dataclass(frozen=True)
class LegalizeQuantToMath(ModulePass):
    """See the package docstring."""

    name: ClassVar[str] = "stablehlo-legalize-quant-to-math"
    arithmetic: str = field(default="spec", metadata={"choices": tuple(PROFILES)})

    def run(self, module: ir.Module) -> None:
        findings = list(_lower_ops(module, Lowering(PROFILES[self.arithmetic])))
        if not findings:
            _store_constants(module)
            convert_types(module, _StoredTypes())
            _remove_identity_bitcasts(module)
            erase_dead_ops(module)
            findings = list(_quantized_left(module))
        if findings:
            raise UnsupportedError(self.name, findings)


def _lower_ops(module: ir.Module, lowering: Lowering) -> Iterator[Finding]:
    """Run the rule of every op that touches quantized types; yield those that cannot be lowered."""
    with Rewriter(module) as rewriter:
        islands.lower_means(rewriter, lowering)
        for op in rewriter.ops():
            with rewriter.before(op):
                try:
                    _lower_op(op, lowering, rewriter)
                except Unsupported as problem:
                    yield finding(op, problem.reason, problem.remedy)


def _lower_op(op: ir.Operation, lowering: Lowering, rewriter: Rewriter) -> None:
    if not lowering.touches(op):
        return
    if op.name not in RULES:
        raise Unsupported("there is no rule for this op on quantized types")
    values = RULES[op.name](op, lowering)
    if values is None:
        return
    found = [values] if isinstance(values, ir.Value) else values
    pairs = zip(found, op.results, strict=True)
    rewriter.replace(op, [v if v.type == r.type else stablehlo.bitcast_convert(v, r.type) for v, r in pairs])


def _store_constants(module: ir.Module) -> None:
    """Give constants of unsigned quantized type the attribute that `uiN` wants."""
    for op in walk(module.operation, "stablehlo.constant"):
        uniform = uniform_type(op.results[0])
        if uniform is not None and uniform.storage_type != uniform.integer_type:
            op.attributes["value"] = dense(stored_constant(op.results[0]), uniform.integer_type)


class _StoredTypes:
    """Maps types to those of the integer program; remembers them, as a program has few."""

    def __init__(self) -> None:
        self._known: dict[ir.Type, ir.Type] = {}

    def __call__(self, found: ir.Type) -> ir.Type:
        if found not in self._known:
            self._known[found] = self._stored(found)
        return self._known[found]

    def _stored(self, found: ir.Type) -> ir.Type:
        if isinstance(found, ir.TupleType):
            return ir.TupleType.get_tuple([self(found.get_type(i)) for i in range(found.num_types)])
        uniform = uniform_type(found)
        return found if uniform is None else with_element_type(found, uniform.integer_type)


def _remove_identity_bitcasts(module: ir.Module) -> None:
    with Rewriter(module) as rewriter:
        for op in rewriter.ops("stablehlo.bitcast_convert"):
            if op.operands[0].type == op.results[0].type:
                rewriter.replace(op, op.operands[0])


def _quantized_left(module: ir.Module) -> Iterator[Finding]:
    """Values of quantized types that are no uniform types, which no op touched."""
    for op in walk(module.operation):
        values = [*op.results, *(a for region in op.regions for block in region.blocks for a in block.arguments)]
        for value in values:
            if is_quantized(value):
                yield finding(op, f"quantized types must be per-tensor or per-axis uniform, got {value.type}")
