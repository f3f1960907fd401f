"""Regions on scalars (of reduce, scatter, sort, map, ...) as functions that serve many elements at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch_mlir import ir

from shlo_quant.engines.fast.ops.elementwise import ELEMENTWISE
from shlo_quant.engines.fast.ops.kernel import CompileRegion, Kernel
from shlo_quant.engines.fast.regions import free_values
from shlo_quant.passes.dialects.constants import Array, numpy_dtype


def elementwise_region(region: ir.Region, compile_region: CompileRegion) -> Kernel:
    """The region as a function of arrays of one shape, element by element.

    Takes the block's arguments, then what the region's op captures (scalars, if the block uses them).
    """
    (block,) = region.blocks
    *ops, end = (op.operation for op in block.operations)
    if all(op.name in ELEMENTWISE for op in ops):
        return _vectorized(block, ops, list(end.operands))
    return _one_by_one(block, compile_region(region))


def _vectorized(block: ir.Block, ops: Sequence[ir.Operation], results: Sequence[ir.Value]) -> Kernel:
    parent = block.owner.operation
    slots = {value: i for i, value in enumerate([*block.arguments, *free_values(parent)])}
    steps = []
    for op in ops:
        steps.append((ELEMENTWISE[op.name](op), [slots[v] for v in op.operands]))
        slots[op.results[0]] = len(slots)
    wanted = [slots[value] for value in results]
    arguments = len(block.arguments)

    def run(inputs: Sequence[Array]) -> list[Array]:
        values = list(inputs)
        for function, operands in steps:
            values.append(function(*(values[i] for i in operands)))
        shape = inputs[0].shape if arguments else ()
        return [np.broadcast_to(values[i], shape) for i in wanted]

    return run


def _one_by_one(block: ir.Block, function: Kernel) -> Kernel:
    arguments = len(block.arguments)
    dtypes = [numpy_dtype(value) for value in list(list(block.operations)[-1].operands)]

    def run(inputs: Sequence[Array]) -> list[Array]:
        elements, captured = inputs[:arguments], inputs[arguments:]
        shape = elements[0].shape
        outputs = [np.empty(shape, dtype) for dtype in dtypes]
        for index in np.ndindex(shape):
            values = function([*(np.asarray(e[index]) for e in elements), *captured])
            for output, value in zip(outputs, values, strict=True):
                output[index] = value
        return outputs

    return run
