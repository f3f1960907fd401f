"""Turn constants of the arith dialect into StableHLO constants.

    %0 = arith.constant dense<1> : tensor<2xi64>      ==>      %0 = stablehlo.constant dense<1> : tensor<2xi64>

Torch-to-StableHLO leaves them behind. Leaves alone: scalar constants (they have no StableHLO counterpart).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from torch_mlir import ir

from shlo_quant.passes.base import ModulePass
from shlo_quant.passes.dialects.stablehlo import create
from shlo_quant.passes.rewrite import apply_rules


def convert_constant(op: ir.Operation) -> ir.Value | None:
    """A tensor constant, with the same attribute."""
    if not isinstance(op.results[0].type, ir.RankedTensorType):
        return None
    return create("stablehlo.constant", [], [op.results[0].type], {"value": op.attributes["value"]}).results[0]


@dataclass(frozen=True)
class ConvertArithToStablehlo(ModulePass):
    """See the module docstring."""

    name: ClassVar[str] = "convert-arith-to-stablehlo"

    def run(self, module: ir.Module) -> None:
        apply_rules(module, {"arith.constant": convert_constant}, self.name)
