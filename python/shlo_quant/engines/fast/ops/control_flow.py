"""Ops that run regions or functions, and those that only pass values on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch_mlir import ir

from shlo_quant.engines.fast.ops.kernel import Build, CompileRegion, Kernel
from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.errors import Unsupported


def _pass_on(_op: ir.Operation, _compile_region: CompileRegion) -> Kernel:
    """The operands: returns, and barriers against optimization."""
    return lambda inputs: inputs


def _if_(op: ir.Operation, compile_region: CompileRegion) -> Kernel:
    when_true, when_false = (compile_region(region) for region in op.regions)
    return lambda inputs: (when_true if inputs[0] else when_false)(inputs[1:])


def _case(op: ir.Operation, compile_region: CompileRegion) -> Kernel:
    """An index out of range means the last branch."""
    branches = [compile_region(region) for region in op.regions]

    def run(inputs: Sequence[Array]) -> Sequence[Array]:
        index = int(inputs[0])
        return branches[index if 0 <= index < len(branches) else -1](inputs[1:])

    return run


def _while_(op: ir.Operation, compile_region: CompileRegion) -> Kernel:
    condition, body = (compile_region(region) for region in op.regions)
    carried = len(op.results)

    def run(inputs: Sequence[Array]) -> Sequence[Array]:
        values, captured = inputs[:carried], inputs[carried:]
        while condition([*values, *captured])[0]:
            values = body([*values, *captured])
        return values

    return run


def _call(op: ir.Operation, compile_region: CompileRegion) -> Kernel:
    return compile_region(_function(op, "callee").regions[0])


def _composite(op: ir.Operation, compile_region: CompileRegion) -> Kernel:
    """What it decomposes into."""
    return compile_region(_function(op, "decomposition").regions[0])


def _function(op: ir.Operation, attribute: str) -> ir.Operation:
    """The function that a symbol attribute names."""
    name = ir.FlatSymbolRefAttr(op.attributes[attribute]).value
    module = op
    while module.parent is not None:
        module = module.parent
    symbols = ir.SymbolTable(module)
    if name not in symbols:
        raise Unsupported(f"there is no function @{name}")
    return symbols[name].operation


def _tuple_(_op: ir.Operation, _compile_region: CompileRegion) -> Kernel:
    """A tuple is an array of arrays."""

    def run(inputs: Sequence[Array]) -> tuple[Array]:
        values = np.empty(len(inputs), object)
        values[:] = inputs
        return (values,)

    return run


def _get_tuple_element(op: ir.Operation, _compile_region: CompileRegion) -> Kernel:
    index = op.attributes["index"].value
    return lambda inputs: (inputs[0][index],)


KERNELS: dict[str, Build] = {
    "func.call": _call,
    "func.return": _pass_on,
    "stablehlo.case": _case,
    "stablehlo.composite": _composite,
    "stablehlo.get_tuple_element": _get_tuple_element,
    "stablehlo.if": _if_,
    "stablehlo.optimization_barrier": _pass_on,
    "stablehlo.return": _pass_on,
    "stablehlo.tuple": _tuple_,
    "stablehlo.while": _while_,
}
