"""Batch normalization with known mean and variance."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch_mlir import ir

from shlo_quant.engines.fast.ops.elements import ElementType
from shlo_quant.engines.fast.ops.kernel import Build, CompileRegion, Kernel
from shlo_quant.passes.dialects.constants import Array


def _batch_norm_inference(op: ir.Operation, _compile_region: CompileRegion) -> Kernel:
    """scale * (operand - mean) / sqrt(variance + epsilon) + offset, op by op as the specification has it."""
    element, rank = ElementType.of(op.operands[0]), op.operands[0].type.rank
    aligned = [1] * rank
    aligned[op.attributes["feature_index"].value] = -1
    epsilon = element.dtype.type(op.attributes["epsilon"].value)

    def run(inputs: Sequence[Array]) -> tuple[Array]:
        operand, (scale, offset, mean, variance) = inputs[0], (a.reshape(aligned) for a in inputs[1:])
        deviation = element.rounded(np.sqrt((variance + epsilon).astype(np.float64)))
        return ((scale * (operand - mean)) / deviation + offset,)

    return run


KERNELS: dict[str, Build] = {"stablehlo.batch_norm_inference": _batch_norm_inference}
