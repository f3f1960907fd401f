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
from shlo_quant.passes.dialects.quant import UniformType, uniform_type
from shlo_quant.passes.dot_like import DOT_LIKE
from shlo_quant.passes.rewrite import defining_op, users, walk


class Chains:
    """The functions of one tensor in a module, by the `uniform_quantize` that ends each.

    Attributes:
      functions: the functions, identities included, in program order.
    """

    def __init__(self, module: ir.Module) -> None:
        self.functions: dict[ir.Operation, Function] = {}
        self._next: dict[ir.Operation, ir.Operation] = {}
        for op in walk(module.operation, "stablehlo.uniform_quantize"):
            function = function_of(op.operands[0])
            if function is None or not all(
                map(is_signed_8_bit, (uniform_type(function.source), uniform_type(op.results[0])))
            ):
                continue
            self.functions[op] = function
            before = self.before(op)
            if before is not None and is_one_kernel(function):
                self._next[before] = op

    def before(self, op: ir.Operation) -> ir.Operation | None:
        """The `uniform_quantize` that makes the tensor of an op's function, if this function is its only use."""
        function = self.functions[op]
        return defining_op(function.source, "stablehlo.uniform_quantize") if function.is_sole_use else None

    def continues(self, op: ir.Operation) -> bool:
        """Whether a one-operand kernel takes what a `uniform_quantize` makes to the next one."""
        return op in self._next

    def in_table(self, op: ir.Operation) -> bool:
        """Whether the tensor that a `uniform_quantize` makes lies inside a table."""
        return op in self.functions and is_one_kernel(self.functions[op]) and self.continues(op)

    def is_product(self, op: ir.Operation) -> bool:
        """Whether a square is inside a table, and therefore computed by the kernel for products."""
        if op not in self.functions or not is_square(self.functions[op]):
            return False
        before = self.before(op)
        return before in self.functions and bool(self.functions[before].ops) and is_one_kernel(self.functions[before])

    def is_moved_clamp(self, op: ir.Operation) -> bool:
        """Whether a function is a clamp into other parameters, outside tables, of a tensor that nothing else uses."""
        function = self.functions.get(op)
        if function is None or not is_clamp(function) or self.continues(op) or self.before(op) is None:
            return False
        return uniform_type(function.source) != uniform_type(op.results[0])


def is_signed_8_bit(uniform: UniformType | None) -> bool:
    """Whether a type is what XNNPACK's 8-bit kernels take."""
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
