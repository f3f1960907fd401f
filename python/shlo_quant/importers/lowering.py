"""Torch dialect to StableHLO with torch-mlir's C++ passes, and what they could not lower."""

from __future__ import annotations

from torch_mlir import ir

from shlo_quant.passes.base import UpstreamPasses, run_passes

# torch-mlir's own pipelines, less stablehlo-refine-shapes, which crashes on quantized types
_TORCH_BACKEND = "torchdynamo-export-to-torch-backend-pipeline{backend-legal-ops= extra-library=}"
_STABLEHLO = (
    "func.func(convert-torch-to-stablehlo,chlo-legalize-to-stablehlo,convert-torch-to-arith,canonicalize,cse),"
    "torch-func-backend-type-conversion-for-stablehlo,"
    "func.func(canonicalize,torch-finalizing-backend-type-conversion-for-stablehlo,stablehlo-canonicalize-dynamism,"
    "canonicalize)"
)


def lower_to_stablehlo(module: ir.Module) -> None:
    """Lower `main` from the torch dialect to StableHLO (with remains of arith and shape), in place."""
    run_passes(module, (UpstreamPasses(_TORCH_BACKEND), UpstreamPasses(_STABLEHLO)))
