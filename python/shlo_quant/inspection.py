"""What a program consists of: which ops are native integer work, which are float islands and why, and what it weighs."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from torch_mlir import ir

from shlo_quant.passes.dialects.locations import describe
from shlo_quant.passes.dialects.quant import is_quantized, uniform_type
from shlo_quant.passes.dot_like import DOT_LIKE, DotLike
from shlo_quant.passes.legalize_qdq_to_quantized_op import why_float
from shlo_quant.passes.legalize_qdq_to_quantized_op.values import dequantized
from shlo_quant.passes.rewrite import walk

NOT_COUNTED = ("builtin.module", "func.func", "func.return", "stablehlo.constant", "stablehlo.return")
CASTS = ("stablehlo.uniform_quantize", "stablehlo.uniform_dequantize")


@dataclass(frozen=True)
class FloatOp:
    """A float op and why it is one."""

    op: str
    location: str
    reason: str
    multiply_adds: int


@dataclass
class OpRow:
    """One line of the table: an op name with its counts."""

    native: int = 0
    float_: int = 0
    native_multiply_adds: int = 0
    float_multiply_adds: int = 0
    reasons: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Inspection:
    """Counts of a program.

    Attributes:
      rows: op name -> counts; `native` are ops on quantized types or integers, `float_` ops on floats.
      float_ops: every float op, with location and reason.
      quantized_pairs: convolutions and dots whose two operands are quantized: (native, all).
      weight_bytes: bytes of constants of quantized or integer type.
      float_weight_bytes: bytes of float constants.
    """

    rows: dict[str, OpRow]
    float_ops: tuple[FloatOp, ...]
    quantized_pairs: tuple[int, int]
    weight_bytes: int
    float_weight_bytes: int

    @property
    def multiply_adds(self) -> tuple[int, int]:
        """Multiply-adds of convolutions and dots: (native, all). Dynamic shapes count as 0."""
        native = sum(row.native_multiply_adds for row in self.rows.values())
        return native, native + sum(row.float_multiply_adds for row in self.rows.values())


def inspect(module: ir.Module) -> Inspection:
    """Inspect a program of any form."""
    rows: dict[str, OpRow] = defaultdict(OpRow)
    float_ops = []
    native_pairs = all_pairs = 0
    weight_bytes = float_weight_bytes = 0
    for op in walk(module.operation):
        if op.name == "stablehlo.constant":
            size, is_float = _constant_bytes(op)
            weight_bytes, float_weight_bytes = weight_bytes + size * (not is_float), float_weight_bytes + size * is_float
        if op.name in NOT_COUNTED or not op.results:
            continue
        row = rows[_row_name(op)]
        multiply_adds = (DotLike.of(op).multiply_adds() or 0) if op.name in DOT_LIKE else 0
        if is_native(op):
            row.native += 1
            row.native_multiply_adds += multiply_adds
        else:
            reason = "" if op.name in CASTS else why_float(op)
            row.float_ += 1
            row.float_multiply_adds += multiply_adds
            row.reasons[reason] += 1
            if reason:
                float_ops.append(FloatOp(op.name, describe(op.location), reason, multiply_adds))
        if op.name in DOT_LIKE:
            native = is_native(op)
            native_pairs += native
            all_pairs += native or all(dequantized(v) is not None for v in op.operands)
    return Inspection(
        dict(sorted(rows.items())), tuple(float_ops), (native_pairs, all_pairs), weight_bytes, float_weight_bytes
    )


def is_native(op: ir.Operation) -> bool:
    """Whether an op works on quantized types or integers alone, a requantize included."""
    values = [*op.operands, *op.results]
    return not any(isinstance(_element_type(v), (ir.FloatType, ir.F32Type, ir.F16Type, ir.BF16Type, ir.F64Type)) for v in values)


def _row_name(op: ir.Operation) -> str:
    """The op's name; a requantize has a row of its own."""
    name = op.name.removeprefix("stablehlo.")
    return "uniform_quantize (requantize)" if op.name == CASTS[0] and is_quantized(op.operands[0]) else name


def _element_type(value: ir.Value) -> ir.Type:
    return value.type.element_type if isinstance(value.type, ir.ShapedType) else value.type


def _constant_bytes(op: ir.Operation) -> tuple[int, bool]:
    """Size of a constant as it would be stored, and whether it is float."""
    value = op.results[0]
    uniform = uniform_type(value)
    element = uniform.storage_type if uniform is not None else value.type.element_type
    if op.attributes["value"].is_splat:
        return math.ceil(element.width / 8), not isinstance(element, ir.IntegerType)
    return math.ceil(math.prod(value.type.shape) * element.width / 8), not isinstance(element, ir.IntegerType)
