"""Positions in a bilinear resize, in the order in which XNNPACK computes them; the interpolation itself agrees.

%p = (o + 0.5) * r - 0.5     ==>     %p = o * r + (0.5 * r - 0.5)          // the sum in parentheses is a constant
%q = clamp 0.0, %p, infinity
"""

from __future__ import annotations

import numpy as np
from torch_mlir import ir

from shlo_quant.passes.apply_xnnpack_rewrites.functions import repeated
from shlo_quant.passes.dialects import stablehlo
from shlo_quant.passes.rewrite import Rewriter, defining_op, users


def reorder_positions(rewriter: Rewriter) -> None:
    """Replace the positions of every bilinear resize whose corners are not aligned."""
    for op in rewriter.ops("stablehlo.subtract"):
        with rewriter.before(op):
            position = _position(op)
        if position is not None:
            rewriter.replace(op, position)


def _position(subtract: ir.Operation) -> ir.Value | None:
    """What replaces the difference at the end of a position; None if it ends none."""
    result = subtract.results[0]
    scaled = defining_op(subtract.operands[0], "stablehlo.multiply")
    centre = None if scaled is None else defining_op(scaled.operands[0], "stablehlo.add")
    if scaled is None or centre is None or len(result.type.shape) != 1 or not result.type.has_static_shape:
        return None
    ratio = repeated(scaled.operands[1])
    halves = [repeated(centre.operands[1]), repeated(subtract.operands[1])]
    counted = defining_op(centre.operands[0], "stablehlo.convert")
    is_bounded = any(user.name in ("stablehlo.clamp", "stablehlo.maximum") for user in users(result))
    if ratio is None or ratio.dtype != np.float32 or halves != [0.5, 0.5] or counted is None or not is_bounded:
        return None
    half = np.float32(0.5)
    offset = stablehlo.splat((half * ratio - half).item(), result.type)
    return stablehlo.elementwise(
        "add", stablehlo.elementwise("multiply", counted.results[0], scaled.operands[1]), offset
    )
