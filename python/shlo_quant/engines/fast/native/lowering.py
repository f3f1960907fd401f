"""Groups of ops as expressions: each op in its cheapest form, division by constants and functions of bytes included."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from torch_mlir import ir

from shlo_quant.engines.fast.native.expressions import Expression, Instruction, instruction, ranged
from shlo_quant.engines.fast.native.groups import Group
from shlo_quant.engines.fast.native.machine import has_byte_permutations
from shlo_quant.engines.fast.native.ranges import Range
from shlo_quant.engines.fast.ops import Kernel
from shlo_quant.passes.dialects.constants import Array, numpy_dtype
from shlo_quant.passes.rewrite import defining_op

LEAST_NORMAL = 2.0**-125
"""Twice the least normal f32."""

SHORTEST_CHAIN = 5
"""Ops from which on a table is quicker."""


@dataclass(frozen=True)
class Lowered:
    """An expression and where its inputs come from.

    Attributes:
      inputs: values, and arrays that only this expression needs.
    """

    expression: Expression
    inputs: tuple[ir.Value | Array, ...]


@dataclass(frozen=True)
class Context:
    """What is known about the values around groups.

    Attributes:
      constants: the known values.
      kernels: of the ops, to compute functions of bytes with.
    """

    constants: Mapping[ir.Value, Array]
    kernels: Mapping[ir.Operation, Kernel]


def lower_group(group: Group, context: Context) -> Lowered:
    """The expression of a group; its input 0 is what the group's source makes, if it has one."""
    return _Lowering(group, context).lowered()


class _Lowering:
    def __init__(self, group: Group, context: Context) -> None:
        self._group = group
        self._constants = context.constants
        self._kernels = context.kernels
        self._ranges: dict[ir.Value, Range] = {}
        self._inputs: dict[ir.Value | str, ir.Value | Array] = {}
        self._instructions: list[tuple[Instruction, list[ir.Value | str], ir.Value]] = []

    def lowered(self) -> Lowered:
        if self._group.source is not None:
            self._input(self._group.source.results[0])
        self._emit(self._group.root)
        numbers: dict[ir.Value | str, int] = {name: number for number, name in enumerate(self._inputs)}
        instructions = []
        for made, operands, result in self._instructions:
            instructions.append(replace(made, operands=tuple(numbers[o] for o in operands)))
            numbers[result] = len(numbers)
        dtypes = tuple(v.dtype if isinstance(v, np.ndarray) else numpy_dtype(v) for v in self._inputs.values())
        return Lowered(Expression(dtypes, tuple(instructions)), tuple(self._inputs.values()))

    def _input(self, value: ir.Value) -> None:
        self._inputs[value] = value
        known = self._constants.get(value)
        self._ranges[value] = Range.of_type(numpy_dtype(value)) if known is None else Range.of_array(known)

    def _emit(self, value: ir.Value) -> None:
        """Add the instructions that make a value, those of its operands first."""
        if value in self._ranges:
            return
        op = defining_op(value)
        if op is None or op not in self._group.ops:
            self._input(value)
            return
        source = self._table_source(op)
        if source is not None:
            self._emit(source)
            self._table(op, source)
            return
        for operand in op.operands:
            self._emit(operand)
        made, found = ranged(
            instruction(op, (), [numpy_dtype(o) for o in op.operands], numpy_dtype(value)),
            [self._ranges[o] for o in op.operands],
        )
        operands: list[ir.Value | str] = list(op.operands)
        if op.name == "stablehlo.clamp" and self._is_ordered_clamp(op):
            made = replace(made, form="clamp_ordered")
        reciprocal = self._reciprocal(op, found)
        if reciprocal is not None:
            made = replace(made, form="divide_by_constant")
            operands[1] = reciprocal
        self._instructions.append((made, operands, value))
        self._ranges[value] = found

    def _is_ordered_clamp(self, op: ir.Operation) -> bool:
        """Whether comparisons alone clamp right: no NaN, and equal zeros of two signs give what they should."""
        low, high = (self._constants.get(op.operands[i]) for i in (0, 2))
        if low is None or high is None or low.dtype.kind != "f" or self._ranges[op.operands[1]].has_nan:
            return False
        has_negative_zero = ((low == 0) & np.signbit(low)).any()
        has_positive_zero = ((high == 0) & ~np.signbit(high)).any()
        return not (np.isnan(low).any() or np.isnan(high).any() or has_negative_zero or has_positive_zero)

    # ---- division

    def _reciprocal(self, op: ir.Operation, quotient: Range) -> str | None:
        """The name of an input that holds the reciprocals, in f64, of a constant divisor in f32.

        The product with it, in f64, is within 2^-52 of the quotient. A quotient of f32 numbers is at least 2^-49 away
        from the middle between two normal f32 numbers, so that rounding the product gives the rounded quotient.
        Only subnormal quotients can lie in the middle; they have to be ruled out.
        """
        divisor = self._constants.get(op.operands[1]) if op.name == "stablehlo.divide" else None
        if divisor is None or divisor.dtype != np.float32 or not quotient.least >= LEAST_NORMAL:
            return None
        magnitudes = np.abs(divisor)
        if not (np.isfinite(magnitudes) & (magnitudes >= np.finfo(np.float32).tiny)).all():
            return None
        name = f"reciprocal {len(self._inputs)}"
        self._inputs[name] = 1.0 / divisor.astype(np.float64)
        return name

    # ---- functions of bytes

    def _table_source(self, op: ir.Operation) -> ir.Value | None:
        """The one byte that a byte is a function of, by a chain of ops that is worth a table."""
        if not has_byte_permutations() or not _is_byte(op.results[0]):
            return None
        sources, length = self._sources(op)
        return next(iter(sources)) if len(sources) == 1 and length >= SHORTEST_CHAIN else None

    def _sources(self, op: ir.Operation) -> tuple[set[ir.Value | None], int]:
        """The bytes that an op's result is made of, and by how many ops; None among them for anything else."""
        sources: set[ir.Value | None] = set()
        length = 1
        for operand in op.operands:
            made = defining_op(operand)
            if operand in self._constants:
                sources |= set() if _uniform(self._constants[operand]) is not None else {None}
            elif _is_byte(operand):
                sources.add(operand)
            elif made is None or made not in self._group.ops:
                sources.add(None)
            else:
                further, steps = self._sources(made)
                sources, length = sources | further, length + steps
        return sources, length

    def _table(self, op: ir.Operation, source: ir.Value) -> None:
        """Compute the result for each byte, and look it up."""
        known = {source: np.arange(256, dtype=np.uint8).view(numpy_dtype(source))}

        def value_of(value: ir.Value) -> Array:
            if value in self._constants:
                uniform = _uniform(self._constants[value])
                assert uniform is not None
                return uniform
            if value not in known:
                made = defining_op(value)
                assert made is not None
                known[value] = self._kernels[made]([value_of(o) for o in made.operands])[0]
            return known[value]

        table = np.broadcast_to(value_of(op.results[0]), (256,))
        name = f"table {len(self._inputs)}"
        self._inputs[name] = np.ascontiguousarray(table)
        dtype = numpy_dtype(op.results[0])
        made = Instruction("table", (), (numpy_dtype(source), dtype), dtype)
        self._instructions.append((made, [source, name], op.results[0]))
        self._ranges[op.results[0]] = Range.of_array(table)


def _uniform(array: Array) -> Array | None:
    """The one element that a constant repeats, as a scalar; None if there is another."""
    first = array[(slice(0, 1),) * array.ndim]
    bits = f"u{array.dtype.itemsize}"
    same = np.array_equal(
        np.asarray(array, order="C").view(bits), np.broadcast_to(first.copy().view(bits), array.shape)
    )
    return first.reshape(()) if same else None


def _is_byte(value: ir.Value) -> bool:
    return numpy_dtype(value) in (np.int8, np.uint8)
