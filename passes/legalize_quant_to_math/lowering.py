"""`Lowering`: what the rules share: the profile, quantized values as stored integers, and how large those can be.

While rules run, types are still quantized, so that the IR is valid at every step: a rule reads stored integers through
a `bitcast_convert` and its results go back through one. When all types have become integers these do nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from torch_mlir import ir

from shlo_quant.passes.dialects import stablehlo
from shlo_quant.passes.dialects.constants import stored_constant
from shlo_quant.passes.dialects.quant import UniformType, integer_range, is_quantized, uniform_type, with_element_type
from shlo_quant.passes.errors import Unsupported
from shlo_quant.passes.legalize_quant_to_math.builder import BuilderOperations
from shlo_quant.passes.numerics.profiles import Profile
from shlo_quant.passes.rewrite import defining_op

MOVES = frozenset(
    f"stablehlo.{name}"
    for name in "broadcast_in_dim dynamic_broadcast_in_dim dynamic_reshape reshape reverse slice transpose".split()
)


class Lowering:
    """State of one run of the pass.

    Attributes:
      profile: how quantizations are computed.
      exact_sums: `add` ops in regions of which a rule has proven that no sum leaves the type.
    """

    def __init__(self, profile: Profile) -> None:
        self.profile = profile
        self.exact_sums: set[ir.Operation] = set()
        self._uniform: dict[ir.Type, UniformType | None] = {}
        self._magnitudes: dict[ir.Value, int] = {}

    # ---- types

    def uniform(self, value: ir.Value) -> UniformType | None:
        """The quantized type of a value, if it has one. Raises: Unsupported for `any` and sub-channel types."""
        found = value.type
        if found not in self._uniform:
            self._uniform[found] = uniform_type(found)
            if self._uniform[found] is None and is_quantized(found):
                del self._uniform[found]
                raise Unsupported(f"quantized types must be per-tensor or per-axis uniform, got {found.element_type}")
        return self._uniform[found]

    def quantized(self, value: ir.Value) -> UniformType:
        """The quantized type of a value that must have one. Raises: Unsupported if it has none."""
        found = self.uniform(value)
        if found is None:
            raise Unsupported(f"operands and results must be quantized together, got {value.type}")
        return found

    def touches(self, op: ir.Operation) -> bool:
        """Whether an op has operands or results of quantized type."""
        return any(self.uniform(v) is not None for v in op.operands) or any(
            self.uniform(v) is not None for v in op.results
        )

    # ---- values

    def stored(self, value: ir.Value) -> ir.Value:
        """The stored integers of a quantized value."""
        integers = with_element_type(value.type, self.quantized(value).integer_type)
        cast = defining_op(value, "stablehlo.bitcast_convert")
        if cast is not None and cast.operands[0].type == integers:
            return cast.operands[0]
        return stablehlo.bitcast_convert(value, integers)

    def quantize(self, expressed: ir.Value, result: UniformType) -> ir.Value:
        """Floats to stored integers."""
        return self.profile.quantize(BuilderOperations(result.expressed_type, expressed), expressed, result)

    def dequantize(self, value: ir.Value) -> ir.Value:
        """A quantized value to floats of its expressed type."""
        operand, stored = self.quantized(value), self.stored(value)
        return self.profile.dequantize(BuilderOperations(operand.expressed_type, stored), stored, operand)

    def requantize(self, value: ir.Value, result: UniformType) -> ir.Value:
        """A quantized value to stored integers of another type."""
        operand, stored = self.quantized(value), self.stored(value)
        if operand == result:
            return stored
        operations = BuilderOperations(result.expressed_type, stored)
        return self.profile.requantize(operations, stored, operand, result)

    # ---- sizes of stored integers

    def note_magnitude(self, stored: ir.Value, magnitude: int) -> None:
        """Record that no stored integer of a value exceeds a magnitude."""
        self._magnitudes[stored] = magnitude

    def magnitude(self, value: ir.Value) -> int:
        """A bound of the magnitude of the stored integers of a quantized value: proven, or that of its type."""
        while (move := defining_op(value, *MOVES)) is not None:
            value = move.operands[0]
        noted = self._magnitudes.get(self.stored(value)) if defining_op(value, "stablehlo.bitcast_convert") else None
        if noted is not None:
            return noted
        constant = stored_constant(value)
        if constant is not None and constant.size:
            return max(abs(int(constant.min())), abs(int(constant.max())))
        uniform = self.quantized(value)
        return max(abs(bound) for bound in integer_range(uniform.storage_bits, uniform.is_signed))


Replacement: TypeAlias = "ir.Value | Sequence[ir.Value] | None"
Rule = Callable[[ir.Operation, Lowering], Replacement]
"""Takes an op with quantized operands or results and returns what computes its results: stored integers for a
quantized result. None: the op stands as it is and works on stored integers. Raises Unsupported."""
