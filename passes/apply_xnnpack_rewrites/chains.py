"""Chains: how functions of one tensor, each from 8-bit integers to 8-bit integers, follow each other in a program.

XNNPACK computes a chain of at least two of its one-operand kernels (dequantize, quantize and clamp count) as one table,
where nothing else uses what is between. That comes first and keeps clamps and squares inside from its other rewrites.
"""

from __future__ import annotations

from torch_mlir import ir

from shlo_quant.passes.apply_xnnpack_rewrites.functions import (
    Function,
    function_of,
    is_clamp,
    is_one_kernel,
    is_square,
)
from shlo_quant.passes.dialects.constants import stored_constant
from shlo_quant.passes.dialects.quant import uniform_type
from shlo_quant.passes.dot_like import DOT_LIKE
from shlo_quant.passes.rewrite import defining_op, users, walk


class Chains:
    """The functions of one tensor in a module.

    Attributes:
      functions: by the result of the `uniform_quantize` behind each, in program order; identities included.
    """

    def __init__(self, module: ir.Module) -> None:
        self.functions: dict[ir.Value, Function] = {}
        self._continued: set[ir.Value] = set()
        for op in walk(module.operation, "stablehlo.uniform_quantize"):
            function, result = function_of(op.operands[0]), op.results[0]
            if function is None or not (is_signed_8_bit(function.source) and is_signed_8_bit(result)):
                continue
            self.functions[result] = function
            if is_one_kernel(function) and self.before(result) is not None:
                self._continued.add(function.source)

    def before(self, result: ir.Value) -> ir.Operation | None:
        """The `uniform_quantize` that makes the tensor of a result's function, if this function is its only use."""
        function = self.functions[result]
        return defining_op(function.source, "stablehlo.uniform_quantize") if function.is_sole_use else None

    def in_table(self, result: ir.Value) -> bool:
        """Whether a result lies inside a table: a one-operand kernel makes it, and one takes it to the next."""
        return result in self._continued and result in self.functions and is_one_kernel(self.functions[result])

    def is_product(self, result: ir.Value) -> bool:
        """Whether a result is a square inside a table, and therefore computed by the kernel for products."""
        if not is_square(self.functions[result]) or self.before(result) is None:
            return False
        before = self.functions.get(self.functions[result].source)
        return before is not None and bool(before.ops) and is_one_kernel(before)

    def is_moved_clamp(self, result: ir.Value) -> bool:
        """Whether a result is clamped from other parameters, outside tables, and the only use of what it is made of."""
        function = self.functions.get(result)
        if function is None or not is_clamp(function) or result in self._continued or self.before(result) is None:
            return False
        return uniform_type(function.source) != uniform_type(result)


def is_signed_8_bit(value: ir.Value) -> bool:
    """Whether a tensor is of a type that XNNPACK's 8-bit kernels take."""
    uniform = uniform_type(value)
    return uniform is not None and uniform.storage_bits == 8 and uniform.is_signed and not uniform.is_per_axis


def is_weighted_sum(value: ir.Value) -> bool:
    """Whether a float value is a convolution or dot_general with quantized weights, a bias and clamps behind it."""
    op = defining_op(value, *DOT_LIKE, "stablehlo.add", "stablehlo.clamp", "stablehlo.maximum", "stablehlo.minimum")
    if op is None or len(users(value)) != 1:
        return False
    if op.name not in DOT_LIKE:
        return is_weighted_sum(op.operands[1 if op.name == "stablehlo.clamp" else 0])
    activations, weights = (defining_op(v, "stablehlo.uniform_dequantize") for v in op.operands)
    if activations is None or weights is None:
        return False
    return stored_constant(weights.operands[0]) is not None
