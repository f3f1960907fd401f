"""A kernel for every op: exact, of the values of the reference interpreter, and of fair speed."""

from __future__ import annotations

from collections.abc import Mapping

from shlo_quant.engines.fast.ops import (
    control_flow,
    convert,
    data_movement,
    dot_like,
    elementwise,
    indexed,
    normalization,
    reductions,
    sort,
)
from shlo_quant.engines.fast.ops.kernel import Build, CompileRegion, Kernel

__all__ = ["KERNELS", "Build", "CompileRegion", "Kernel"]

KERNELS: Mapping[str, Build] = {
    **elementwise.KERNELS,
    **control_flow.KERNELS,
    **data_movement.KERNELS,
    **dot_like.KERNELS,
    **indexed.KERNELS,
    **normalization.KERNELS,
    **reductions.KERNELS,
    **sort.KERNELS,
    "stablehlo.bitcast_convert": convert.bitcast_convert,
}
"""By op name, what makes its kernel from the op (and from kernels of its regions)."""
