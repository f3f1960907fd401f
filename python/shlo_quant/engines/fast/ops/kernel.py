"""What a kernel is: a function on arrays, made for one op with static shapes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from torch_mlir import ir

from shlo_quant.passes.dialects.constants import Array

Kernel = Callable[[Sequence[Array]], Sequence[Array]]
"""From the op's operands, then the values its regions capture (`free_values`), to its results.

Results may be views of inputs; inputs are never written to. Runs under `np.errstate(all="ignore")`.
"""

CompileRegion = Callable[[ir.Region], Kernel]
"""A region as a kernel: from its block's arguments, then the values that its op captures, to what it returns."""

Build = Callable[[ir.Operation, CompileRegion], Kernel]
"""Makes the kernel of an op. Raises: Unsupported, with the reason."""


def shape_of(value: ir.Value) -> tuple[int, ...]:
    """The sizes of a tensor."""
    return tuple(value.type.shape)
