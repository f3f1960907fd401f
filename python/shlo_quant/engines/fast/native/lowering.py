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
class Chain:
    """Ops that make a byte of another one, in program order."""

    source: ir.Value
    ops: tuple[ir.Operation, ...]


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
        chains = self._needed()
        for op in self._group.ops:
            if op in chains:
                self._emit(op, chains[op])
        numbers: dict[ir.Value | str, int] = {name: number for number, name in enumerate(self._inputs)}
        instructions = []
        for made, operands, result in self._instructions:
            instructions.append(replace(made, operands=tuple(numbers[o] for o in operands)))
            numbers[result] = len(numbers)
        dtypes = tuple(v.dtype if isinstance(v, np.ndarray) else numpy_dtype(v) for v in self._inputs.values())
        return Lowered(Expression(dtypes, tuple(instructions)), tuple(self._inputs.values()))

    def _needed(self) -> dict[ir.Operation, Chain | None]:
        """The ops to compute, and for those that a table computes the chain it stands for."""
        needed: dict[ir.Operation, Chain | None] = {}
        waiting = [self._group.ops[-1]]
        while waiting:
            op = waiting.pop()
            if op in needed:
                continue
            needed[op] = chain = self._chain(op)
            operands = op.operands if chain is None else [chain.source]
            waiting += [made for made in map(self._made, operands) if made is not None]
        return needed

    def _made(self, value: ir.Value) -> ir.Operation | None:
        """The op of the group that makes a value."""
        op = defining_op(value)
        return op if op is not None and op in self._group.ops else None

    def _input(self, value: ir.Value) -> None:
        self._inputs[value] = value
        known = self._constants.get(value)
        self._ranges[value] = Range.of_type(numpy_dtype(value)) if known is None else Range.of_array(known)

    def _emit(self, op: ir.Operation, chain: Chain | None) -> None:
        """Add the instruction of an op whose operands are there, or come from outside."""
        for operand in op.operands if chain is None else [chain.source]:
            if operand not in self._ranges:
                self._input(operand)
        if chain is not None:
            self._table(op, chain)
            return
        result = op.results[0]
        made, found = ranged(
            instruction(op, (), [numpy_dtype(o) for o in op.operands], numpy_dtype(result)),
            [self._ranges[o] for o in op.operands],
        )
        operands: list[ir.Value | str] = list(op.operands)
        if op.name == "stablehlo.clamp" and self._is_ordered_clamp(op):
            made = replace(made, form="clamp_ordered")
        reciprocal = self._reciprocal(op, found)
        if reciprocal is not None:
            made = replace(made, form="divide_by_constant")
            operands[1] = reciprocal
        self._instructions.append((made, operands, result))
        self._ranges[result] = found

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

    def _chain(self, op: ir.Operation) -> Chain | None:
        """The ops that make a byte of one other byte and of nothing else, if they are worth a table."""
        if not has_byte_permutations() or not _is_byte(op.results[0]):
            return None
        sources: set[ir.Value] = set()
        ops: set[ir.Operation] = set()
        waiting = [op]
        while waiting:
            made = waiting.pop()
            ops.add(made)
            for operand in made.operands:
                maker = self._made(operand)
                if operand in self._constants:
                    if _uniform(self._constants[operand]) is None:
                        return None
                elif _is_byte(operand):
                    sources.add(operand)
                elif maker is None:
                    return None
                elif maker not in ops:
                    waiting.append(maker)
        if len(sources) != 1 or len(ops) < SHORTEST_CHAIN:
            return None
        return Chain(sources.pop(), tuple(made for made in self._group.ops if made in ops))

    def _table(self, op: ir.Operation, chain: Chain) -> None:
        """Compute the result for each byte, and look it up."""
        result, source = op.results[0], chain.source
        known: dict[ir.Value, Array] = {source: np.arange(256, dtype=np.uint8).view(numpy_dtype(source))}
        for made in chain.ops:
            operands = [known[o] if o in known else _uniform(self._constants[o]) for o in made.operands]
            known[made.results[0]] = self._kernels[made](operands)[0]  # type: ignore[arg-type] # uniform, as _chain saw
        name = f"table {len(self._inputs)}"
        self._inputs[name] = np.ascontiguousarray(np.broadcast_to(known[result], (256,)))
        lookup = Instruction("table", (), (numpy_dtype(source), numpy_dtype(result)), numpy_dtype(result))
        self._instructions.append((lookup, [source, name], result))
        self._ranges[result] = Range.of_array(known[result])


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
