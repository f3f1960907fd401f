"""Elementwise ops as expressions on vectors, and the machine ops that compute them to the last bit.

Add, subtract, multiply, divide and sqrt are IEEE's on either side. Maximum, minimum and the conversions have a form
that says all the specification says (NaN, signed zeros, saturation) and a cheaper one for operands whose range rules
those cases out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, math, vector

from shlo_quant.engines.fast.native.emitter import BYTE_LANES, intrinsic, splat, vector_type
from shlo_quant.engines.fast.native.ranges import Range, result_range
from shlo_quant.passes.dialects.stablehlo import comparison

DType = np.dtype[Any]
NATIVE_DTYPES = frozenset(
    np.dtype(name) for name in "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64".split()
)


@dataclass(frozen=True)
class Instruction:
    """One op of an expression.

    Attributes:
      form: key of `FORMS`.
      operands: numbers of inputs and, counted on, of earlier instructions.
      sources: the operands' dtypes.
      dtype: of the result.
      detail: the direction of a comparison.
    """

    form: str
    operands: tuple[int, ...]
    sources: tuple[DType, ...]
    dtype: DType
    detail: str = ""


@dataclass(frozen=True)
class Expression:
    """A function of elements; its value is that of the last instruction, or of the last input if there is none.

    Attributes:
      inputs: the dtypes of the inputs.
    """

    inputs: tuple[DType, ...]
    instructions: tuple[Instruction, ...] = ()

    @property
    def dtype(self) -> DType:
        return self.instructions[-1].dtype if self.instructions else self.inputs[-1]

    def emit(self, inputs: Sequence[ir.Value], lanes: int) -> ir.Value:
        """Compute it on vectors."""
        values = list(inputs)
        for instruction in self.instructions:
            operands = [values[i] for i in instruction.operands]
            values.append(FORMS[instruction.form](instruction, operands, lanes))
        return values[-1]


def is_native(op: ir.Operation, dtypes: Sequence[DType]) -> bool:
    """Whether an elementwise op can be an instruction.

    Args:
      dtypes: of the operands, then of the result.
    """
    name = _name(op)
    if name not in NATIVE_NAMES or not all(d in NATIVE_DTYPES for d in dtypes):
        return False
    kind = dtypes[0].kind
    if name == "compare":
        return kind != "b" and comparison(op)[1] != "TOTALORDER"
    if name == "convert":
        return dtypes[-1].kind != "b"
    if name in FLOAT_NAMES:
        return kind == "f"
    return name == "select" or (kind != "f" if name in BIT_NAMES else kind != "b")


def instruction(op: ir.Operation, numbers: Sequence[int], sources: Sequence[DType], dtype: DType) -> Instruction:
    """The instruction of an op in the form that holds for operands of any range."""
    detail = comparison(op)[0] if op.name == "stablehlo.compare" else ""
    return Instruction(_name(op), tuple(numbers), tuple(sources), dtype, detail)


def ranged(instruction: Instruction, operands: list[Range]) -> tuple[Instruction, Range]:
    """The instruction in the cheapest form for operands of these ranges, and the range of its result."""
    found = result_range(instruction.form, operands, instruction.dtype)
    form = instruction.form
    if form == "convert" and _is_exact_conversion(instruction, operands[0]):
        form = "convert_exact"
    return Instruction(form, instruction.operands, instruction.sources, instruction.dtype, instruction.detail), found


def _is_exact_conversion(instruction: Instruction, operand: Range) -> bool:
    """Whether floats become integers that fit, also in 32 bits."""
    if instruction.sources[0].kind != "f" or instruction.dtype.kind not in "iu":
        return False
    return all(operand.within(Range.of_type(dtype)) for dtype in (instruction.dtype, np.dtype(np.int32)))


# ---- emission

Operands = Sequence[ir.Value]
Form = Callable[[Instruction, Operands, int], ir.Value]


def _by_kind(on_float: Any, on_signed: Any, on_unsigned: Any) -> Form:
    def emit(instruction: Instruction, operands: Operands, _lanes: int) -> ir.Value:
        kind = instruction.sources[-1].kind
        return (on_float if kind == "f" else on_signed if kind == "i" else on_unsigned)(*operands)

    return emit


def _negate(instruction: Instruction, operands: Operands, lanes: int) -> ir.Value:
    if instruction.dtype.kind == "f":
        return arith.negf(operands[0])
    return arith.subi(splat(0, instruction.dtype, lanes), operands[0])


def _absolute(instruction: Instruction, operands: Operands, _lanes: int) -> ir.Value:
    if instruction.dtype.kind == "f":
        return math.absf(operands[0])
    return operands[0] if instruction.dtype.kind == "u" else math.absi(operands[0])


def _not(instruction: Instruction, operands: Operands, lanes: int) -> ir.Value:
    return arith.xori(operands[0], splat(-1 if instruction.dtype.kind != "b" else 1, instruction.dtype, lanes))


_MAXIMUM = _by_kind(arith.maximumf, arith.maxsi, arith.maxui)
_MINIMUM = _by_kind(arith.minimumf, arith.minsi, arith.minui)


def _clamp(instruction: Instruction, operands: Operands, lanes: int) -> ir.Value:
    low, operand, high = operands
    return _MINIMUM(instruction, [_MAXIMUM(instruction, [operand, low], lanes), high], lanes)


def _clamp_ordered(instruction: Instruction, operands: Operands, lanes: int) -> ir.Value:
    """Comparisons that the machine has as one op each; `lowering` rules out where that would differ."""
    if instruction.dtype.kind != "f":
        return _clamp(instruction, operands, lanes)
    low, operand, high = operands
    raised = arith.select(arith.cmpf(arith.CmpFPredicate.OGT, operand, low), operand, low)
    return arith.select(arith.cmpf(arith.CmpFPredicate.OLT, raised, high), raised, high)


def _compare(instruction: Instruction, operands: Operands, _lanes: int) -> ir.Value:
    direction, kind = instruction.detail, instruction.sources[0].kind
    if kind == "f":
        name = f"{'U' if direction == 'NE' else 'O'}{direction}"
        return arith.cmpf(getattr(arith.CmpFPredicate, name), *operands)
    name = direction.lower() if direction in ("EQ", "NE") else f"{'s' if kind == 'i' else 'u'}{direction.lower()}"
    return arith.cmpi(getattr(arith.CmpIPredicate, name), *operands)


def _convert(instruction: Instruction, operands: Operands, lanes: int) -> ir.Value:
    (operand,), source, target = operands, instruction.sources[0], instruction.dtype
    kind = vector_type(target, lanes)
    if source == target:
        return operand
    if source.kind == "f" and target.kind == "f":
        return (arith.extf if target.itemsize > source.itemsize else arith.truncf)(kind, operand)
    if source.kind == "f":  # toward zero, NaN to 0, saturating
        name = f"llvm.fpto{'s' if target.kind == 'i' else 'u'}i.sat"
        bits = f"v{lanes}i{8 * target.itemsize}.v{lanes}f{8 * source.itemsize}"
        return intrinsic(f"{name}.{bits}", kind, [operand])
    if target.kind == "f":
        return (arith.sitofp if source.kind == "i" else arith.uitofp)(kind, operand)
    source_bits, target_bits = (1 if d.kind == "b" else 8 * d.itemsize for d in (source, target))
    if source_bits == target_bits:
        return operand
    if source_bits > target_bits:
        return arith.trunci(kind, operand)
    return (arith.extsi if source.kind == "i" else arith.extui)(kind, operand)


def _convert_exact(instruction: Instruction, operands: Operands, lanes: int) -> ir.Value:
    """From floats known to fit: by way of 32 bits, for which the machine has a vector op."""
    wide = arith.fptosi(vector_type(np.dtype(np.int32), lanes), operands[0])
    bits = 8 * instruction.dtype.itemsize
    kind = vector_type(instruction.dtype, lanes)
    return wide if bits == 32 else arith.trunci(kind, wide) if bits < 32 else arith.extsi(kind, wide)


def _divide_by_constant(instruction: Instruction, operands: Operands, lanes: int) -> ir.Value:
    """By way of the reciprocal in f64; `lowering` says why that is the rounded quotient."""
    wide = arith.extf(vector_type(np.dtype(np.float64), lanes), operands[0])
    return arith.truncf(vector_type(instruction.dtype, lanes), arith.mulf(wide, operands[1]))


def _table(instruction: Instruction, operands: Operands, lanes: int) -> ir.Value:
    """Look up bytes in 256 others, which are in four registers: two look-ups in 128, and a choice by the sign."""
    index, table = operands
    byte, kind = np.dtype(np.int8), vector_type(np.dtype(np.int8), BYTE_LANES)
    if lanes < BYTE_LANES:
        index = vector.insert_strided_slice(index, splat(0, byte, BYTE_LANES), [0], [1])
    parts = [vector.extract_strided_slice(kind, table, [n * BYTE_LANES], [BYTE_LANES], [1]) for n in range(4)]
    low, high = (intrinsic("llvm.x86.avx512.vpermi2var.qi.512", kind, [parts[n], index, parts[n + 1]]) for n in (0, 2))
    is_low = arith.cmpi(arith.CmpIPredicate.sge, index, splat(0, byte, BYTE_LANES))
    found = arith.select(is_low, low, high)
    if lanes == BYTE_LANES:
        return found
    return vector.extract_strided_slice(vector_type(instruction.dtype, lanes), found, [0], [lanes], [1])


def _rsqrt(instruction: Instruction, operands: Operands, lanes: int) -> ir.Value:
    """In f64, rounded once at the end, as the interpreter does."""
    wide = vector_type(np.dtype(np.float64), lanes)
    operand = operands[0] if instruction.dtype.itemsize == 8 else arith.extf(wide, operands[0])
    result = arith.divf(splat(1.0, np.dtype(np.float64), lanes), math.sqrt(operand))
    return result if instruction.dtype.itemsize == 8 else arith.truncf(vector_type(instruction.dtype, lanes), result)


FORMS: Mapping[str, Form] = {
    "abs": _absolute,
    "add": _by_kind(arith.addf, arith.addi, arith.addi),
    "and": _by_kind(None, arith.andi, arith.andi),
    "ceil": _by_kind(math.ceil, None, None),
    "clamp": _clamp,
    "clamp_ordered": _clamp_ordered,
    "compare": _compare,
    "convert": _convert,
    "convert_exact": _convert_exact,
    "divide_by_constant": _divide_by_constant,
    "divide": _by_kind(arith.divf, None, None),
    "floor": _by_kind(math.floor, None, None),
    "maximum": _MAXIMUM,
    "minimum": _MINIMUM,
    "multiply": _by_kind(arith.mulf, arith.muli, arith.muli),
    "negate": _negate,
    "not": _not,
    "or": _by_kind(None, arith.ori, arith.ori),
    "round_nearest_even": _by_kind(math.roundeven, None, None),
    "rsqrt": _rsqrt,
    "shift_right_arithmetic": _by_kind(None, arith.shrsi, arith.shrsi),
    "select": lambda instruction, operands, lanes: arith.select(*operands),
    "sqrt": _by_kind(math.sqrt, None, None),
    "table": _table,
    "subtract": _by_kind(arith.subf, arith.subi, arith.subi),
    "xor": _by_kind(None, arith.xori, arith.xori),
}

FLOAT_NAMES = frozenset("ceil divide floor round_nearest_even rsqrt sqrt".split())
BIT_NAMES = frozenset("and not or shift_right_arithmetic xor".split())
NATIVE_NAMES = frozenset(FORMS) - {"clamp_ordered", "convert_exact", "divide_by_constant", "table"}


def _name(op: ir.Operation) -> str:
    return str(op.name).removeprefix("stablehlo.")
