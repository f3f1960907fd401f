"""Functions of one tensor: what elementwise ops compute between the dequantize of one tensor and a quantize.

%d = stablehlo.uniform_dequantize %x          x -> x * clamp(x + 3, 0, 6) / 6,
%0 = stablehlo.add %d, %three                 a function of the tensor %x; its values on a few numbers
%1 = stablehlo.clamp %zero, %0, %six    ==>   show that it is the hardswish
%2 = stablehlo.multiply %d, %1
%3 = stablehlo.divide %2, %six
%q = stablehlo.uniform_quantize %3
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from torch_mlir import ir

from shlo_quant.passes.dialects.constants import Array, constant_behind, numpy_dtype, stored_constant
from shlo_quant.passes.dialects.quant import uniform_type
from shlo_quant.passes.evaluation import ELEMENTWISE, is_splat
from shlo_quant.passes.numerics.xnnpack import hardswish
from shlo_quant.passes.rewrite import defining_op, users

SINGLE_OPS = frozenset(
    f"stablehlo.{name}" for name in "abs ceil cosine exponential floor log logistic negate rsqrt sine sqrt tanh".split()
)
"""Functions of one op and one operand that XNNPACK has a kernel for."""

CLAMPS = (["clamp"], ["clamp", "clamp"], ["maximum"], ["minimum"], ["maximum", "minimum"])
"""How importers write one clamp."""

PROBES = np.linspace(-6, 6, 97, dtype=np.float32)


@dataclass(frozen=True)
class Function:
    """A float value as a function of one quantized tensor.

    Attributes:
      source: the tensor, of per-tensor type.
      ops: the ops of the function in program order, the last makes the value; none for `source` itself.
      operand: `source` dequantized.
      is_sole_use: whether nothing else uses `source`, nor what the ops make of it.
    """

    source: ir.Value
    operand: ir.Value
    ops: tuple[ir.Operation, ...]
    is_sole_use: bool

    def __call__(self, x: Array) -> Array | None:
        """The function of float32 numbers, op by op; None if an op cannot be evaluated."""
        values = {self.operand: x}
        for op in self.ops:
            operands = [values[v] if v in values else repeated(v) for v in op.operands]
            with np.errstate(all="ignore"):
                result = ELEMENTWISE[op.name](op, *operands)
            if result is None:
                return None
            values[op.results[0]] = result.astype(numpy_dtype(op.results[0].type))
        return values[self.ops[-1].results[0]] if self.ops else x


def function_of(value: ir.Value) -> Function | None:
    """The function that a float value is of one dequantized activation; None if it is nothing of the kind."""
    ops: dict[ir.Value, ir.Operation] = {}
    operands: set[ir.Value] = set()
    if not _collect(value, ops, operands) or len(operands) != 1:
        return None
    (operand,) = operands
    source = operand.owner.operation.operands[0]
    uniform = uniform_type(source)
    if uniform is None or uniform.is_per_axis or stored_constant(source) is not None:
        return None
    inside = set(ops.values())
    intermediate = [operand, *(v for v in ops if v != value)]
    closed = all(user in inside for v in intermediate for user in users(v)) if inside else True
    return Function(source, operand, tuple(ops.values()), closed and len(users(source)) == 1)


def _collect(value: ir.Value, ops: dict[ir.Value, ir.Operation], operands: set[ir.Value]) -> bool:
    """Gather the elementwise ops behind a value, operands first, and the dequantizes they start from."""
    if value in ops or repeated(value) is not None:
        return True
    op = defining_op(value)
    if op is None:
        return False
    if op.name == "stablehlo.uniform_dequantize":
        operands.add(value)
        return True
    if op.name not in ELEMENTWISE or not all(_collect(v, ops, operands) for v in op.operands):
        return False
    ops[value] = op
    return True


def repeated(value: ir.Value) -> Array | None:
    """The one number that a plain constant repeats, as an array of rank 0; None if it is no such constant."""
    array = constant_behind(value)
    if array is None or uniform_type(value) is not None or array.size == 0:
        return None
    first = array.reshape(-1)[0]
    return np.asarray(first) if is_splat(array) or bool((array == first).all()) else None


# ---- functions that XNNPACK has one kernel for


def known(function: Function) -> Callable[[Array], Array] | None:
    """XNNPACK's own formula for a function that it has one kernel for, if it differs from the ops; else None."""
    values = function(PROBES)
    if values is None or len(function.ops) < 2:
        return None
    for formula, names in KERNELS.items():
        if any(np.allclose(values, reference(PROBES), rtol=2e-6, atol=1e-5) for reference in names):
            return formula
    return None


def is_one_kernel(function: Function) -> bool:
    """Whether XNNPACK computes the function by one operator of one operand (so that it can be a member of a table)."""
    if not function.ops or is_clamp(function) or is_square(function):
        return True
    if len(function.ops) == 1:
        return function.ops[0].name in SINGLE_OPS or _is_second_power(function)
    return known(function) is not None or _is_leaky_relu(function)


def is_square(function: Function) -> bool:
    """Whether the function multiplies the tensor with itself."""
    return [op.name for op in function.ops] == ["stablehlo.multiply"] and set(function.ops[0].operands) == {
        function.operand
    }


def _is_second_power(function: Function) -> bool:
    """Whether the function is x**2, which XNNPACK computes in floats."""
    values = function(PROBES)
    return values is not None and bool(np.array_equal(values, PROBES * PROBES))


def is_clamp(function: Function) -> bool:
    """Whether the function is one clamp (relu, relu6, hardtanh), be it written as a maximum and a minimum."""
    names = [op.name.removeprefix("stablehlo.") for op in function.ops]
    return names in CLAMPS and all(_depends_on_one(op) for op in function.ops)


def _depends_on_one(op: ir.Operation) -> bool:
    """Whether all operands but one are constants."""
    return sum(repeated(v) is None for v in op.operands) == 1


def _is_leaky_relu(function: Function) -> bool:
    values = function(PROBES)
    if values is None:
        return False
    slope = values[0] / PROBES[0]
    return bool(np.array_equal(values, np.where(PROBES < 0, PROBES * slope, PROBES)))


def gelu(x: Array) -> Array:
    """The exact gelu, x * Phi(x), rounded once."""
    erf = np.array([math.erf(value) for value in (x.astype(np.float64) / math.sqrt(2)).ravel()]).reshape(x.shape)
    rounded: Array = (0.5 * x.astype(np.float64) * (1 + erf)).astype(np.float32)
    return rounded


def _gelu_tanh(x: Array) -> Array:
    wide = x.astype(np.float64)
    return np.asarray(0.5 * wide * (1 + np.tanh(math.sqrt(2 / math.pi) * (wide + 0.044715 * wide**3))))


# XNNPACK's formula -> what it is used for; executorch drops the `approximate` of a gelu
KERNELS: dict[Callable[[Array], Array], tuple[Callable[[Array], Array], ...]] = {
    gelu: (gelu, _gelu_tanh),
    hardswish: (hardswish,),
}
