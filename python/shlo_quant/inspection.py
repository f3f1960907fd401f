"""What a program consists of: which ops are native integer work, which are float islands, why, and what it weighs."""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from dataclasses import dataclass, field

from torch_mlir import ir

from shlo_quant.passes.dialects.locations import describe
from shlo_quant.passes.dialects.quant import is_quantized, uniform_type
from shlo_quant.passes.dot_like import DOT_LIKE, DotLike
from shlo_quant.passes.legalize_qdq_to_quantized_op import why_float
from shlo_quant.passes.legalize_qdq_to_quantized_op.dot_like import has_quantized_operands
from shlo_quant.passes.rewrite import defining_op, walk

NOT_COUNTED = ("builtin.module", "func.func", "func.return", "stablehlo.constant", "stablehlo.return")
QUANTIZE, DEQUANTIZE = "stablehlo.uniform_quantize", "stablehlo.uniform_dequantize"
REPEATERS = ("stablehlo.broadcast_in_dim", "stablehlo.convert", "stablehlo.reshape")


@dataclass
class OpRow:
    """Counts of one op name: ops on quantized types or integers (native), and on floats."""

    native: int = 0
    floating: int = 0
    native_multiply_adds: int = 0
    float_multiply_adds: int = 0
    reasons: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Island:
    """Float ops that hand floats to each other.

    Attributes:
      location: of its first op.
      ops: op name -> count.
      reasons: why it is there.
      multiply_adds: of its convolutions and dots.
    """

    location: str
    ops: Counter[str]
    reasons: tuple[str, ...]
    multiply_adds: int


@dataclass(frozen=True)
class Inspection:
    """Counts of a program.

    Attributes:
      rows: op name -> counts; what stands in the region of a reduction belongs to the reduction.
      islands: the float ops, grouped, in program order.
      quantized_pairs: convolutions and dots whose two operands are quantized: (native, all).
      weight_bytes: bytes of constants of quantized or integer type.
      float_weight_bytes: bytes of float constants.
    """

    rows: dict[str, OpRow]
    islands: tuple[Island, ...]
    quantized_pairs: tuple[int, int]
    weight_bytes: int
    float_weight_bytes: int

    @property
    def multiply_adds(self) -> tuple[int, int]:
        """Multiply-adds of convolutions and dots: (native, all). Those of dynamic shape are not counted."""
        native = sum(row.native_multiply_adds for row in self.rows.values())
        return native, native + sum(row.float_multiply_adds for row in self.rows.values())


def inspect(module: ir.Module) -> Inspection:
    """Inspect a program of any form."""
    with module.context:
        return _inspect(module)


def _inspect(module: ir.Module) -> Inspection:
    ops = [op for op in walk(module.operation) if op.results and not _is_reduction_body(op)]
    rows: dict[str, OpRow] = defaultdict(OpRow)
    counted = [op for op in ops if op.name not in NOT_COUNTED]
    for op in counted:
        _count(rows[_row_name(op)], op)
    dots = [op for op in counted if op.name in DOT_LIKE]
    native_dots = sum(map(is_native, dots))
    missed = sum(not is_native(op) and has_quantized_operands(op) for op in dots)
    sizes = [_constant_bytes(op) for op in ops if op.name == "stablehlo.constant"]
    return Inspection(
        rows=dict(sorted(rows.items())),
        islands=_islands([op for op in counted if not is_native(op) and op.name not in (QUANTIZE, DEQUANTIZE)]),
        quantized_pairs=(native_dots, native_dots + missed),
        weight_bytes=sum(size for size, is_float in sizes if not is_float),
        float_weight_bytes=sum(size for size, is_float in sizes if is_float),
    )


def is_native(op: ir.Operation) -> bool:
    """Whether an op works on quantized types or integers alone; a requantize does."""
    return not any(isinstance(_element_type(v), ir.FloatType) for v in [*op.operands, *op.results])


def _count(row: OpRow, op: ir.Operation) -> None:
    multiply_adds = (DotLike.of(op).multiply_adds() or 0) if op.name in DOT_LIKE else 0
    if is_native(op):
        row.native += 1
        row.native_multiply_adds += multiply_adds
        return
    row.floating += 1
    row.float_multiply_adds += multiply_adds
    row.reasons[_reason(op)] += 1


def _reason(op: ir.Operation) -> str:
    """Why an op is float, in words that do for a whole row."""
    if op.name == QUANTIZE:
        return "floats enter here"
    if op.name == DEQUANTIZE:
        return "floats leave here"
    if op.name not in DOT_LIKE and any(map(_makes_float, op.operands)):
        return "inside a float island"
    return why_float(op)


def _makes_float(value: ir.Value) -> bool:
    """Whether a value is a float that a float op computes: no argument, constant or dequantize."""
    op = defining_op(value)
    return op is not None and op.name != DEQUANTIZE and not is_native(op) and not _is_constant(value)


def _is_constant(value: ir.Value) -> bool:
    """Whether a value is a constant, or one that is broadcast, reshaped or converted."""
    op = defining_op(value, *REPEATERS)
    while op is not None:
        value = op.operands[0]
        op = defining_op(value, *REPEATERS)
    return defining_op(value, "stablehlo.constant") is not None


def _islands(ops: list[ir.Operation]) -> tuple[Island, ...]:
    """Group float ops that are joined by float values."""
    leader = {op: op for op in ops}

    def find(op: ir.Operation) -> ir.Operation:
        while leader[op] != op:
            leader[op] = leader[leader[op]]
            op = leader[op]
        return op

    for op in ops:
        for operand in op.operands:
            maker = defining_op(operand)
            if maker in leader and not _is_constant(operand):
                leader[find(op)] = find(maker)
    groups: dict[ir.Operation, list[ir.Operation]] = defaultdict(list)
    for op in ops:
        groups[find(op)].append(op)
    return tuple(_island(group) for group in groups.values() if not all(_is_constant(op.results[0]) for op in group))


def _island(ops: list[ir.Operation]) -> Island:
    reasons = Counter(reason for op in ops if (reason := _reason(op)) != "inside a float island")
    names = Counter(op.name.removeprefix("stablehlo.") for op in ops)
    multiply_adds = sum((DotLike.of(op).multiply_adds() or 0) for op in ops if op.name in DOT_LIKE)
    return Island(describe(ops[0].location), names, tuple(reason for reason, _ in reasons.most_common()), multiply_adds)


def _is_reduction_body(op: ir.Operation) -> bool:
    """Whether an op stands in the region of a reduction, scatter or sort, not of control flow."""
    parent = op.parent
    return (
        parent is not None
        and parent.name.startswith("stablehlo.")
        and parent.name
        not in (
            "stablehlo.case",
            "stablehlo.if",
            "stablehlo.while",
        )
    )


def _row_name(op: ir.Operation) -> str:
    """The op's name; a requantize has a row of its own."""
    name = op.name.removeprefix("stablehlo.")
    return f"{name} (requantize)" if op.name == QUANTIZE and is_quantized(op.operands[0]) else name


def _element_type(value: ir.Value) -> ir.Type:
    return value.type.element_type if isinstance(value.type, ir.ShapedType) else value.type


def _constant_bytes(op: ir.Operation) -> tuple[int, bool]:
    """Bytes of a constant as it would be stored (a splat is one element), and whether it is float."""
    value = op.results[0]
    uniform = uniform_type(value)
    element = uniform.storage_type if uniform is not None else value.type.element_type
    elements = 1 if op.attributes["value"].is_splat else math.prod(value.type.shape)
    return math.ceil(elements * element.width / 8), isinstance(element, ir.FloatType)
