"""See the quantized tensors inside a program: a copy of it that also returns them."""

from __future__ import annotations

from torch_mlir import ir

from shlo_quant.passes.dialects.modules import copy_module, entry_function, signature
from shlo_quant.passes.dialects.quant import uniform_type
from shlo_quant.passes.dialects.stablehlo import create


def with_quantized_results(module: ir.Module) -> tuple[ir.Module, int]:
    """A copy of a program whose function also returns, after its own results, every quantized tensor it computes.

    These are the results of quantized type of the function's ops, constants excepted, in program order.
    Returns: the copy, and how many results were added.
    """
    observed = copy_module(module)
    function = entry_function(observed)
    *body, terminator = [op.operation for op in function.regions[0].blocks[0].operations]
    values = [result for op in body if op.name != "stablehlo.constant" for result in op.results if uniform_type(result)]
    inputs, results = signature(function)
    with observed.context, terminator.location:
        with ir.InsertionPoint(terminator):
            create("func.return", [*terminator.operands, *values], [])
        terminator.erase()
        function_type = ir.FunctionType.get(inputs, [*results, *(value.type for value in values)])
        function.attributes["function_type"] = ir.TypeAttr.get(function_type)
        observed.operation.verify()
    return observed, len(values)
