"""Short names for the MLIR ops that native kernels are made of, on vectors and raw pointers.

Every float op is the plain IEEE one: nothing is contracted or reassociated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from torch_mlir import ir
from torch_mlir.dialects import arith, llvm, scf, vector

BYTE_LANES = 64
"""Bytes in a register."""

DYNAMIC_INDEX = -(1 << 31)  # marks an index that is an operand, in a getelementptr


def element_type(dtype: np.dtype[Any]) -> ir.Type:
    """The signless MLIR type of the elements of an array; i1 for bool."""
    if dtype.kind == "b":
        return ir.IntegerType.get_signless(1)
    if dtype.kind in "iu":
        return ir.IntegerType.get_signless(8 * dtype.itemsize)
    return ir.F32Type.get() if dtype.itemsize == 4 else ir.F64Type.get()


def vector_type(dtype: np.dtype[Any], lanes: int) -> ir.Type:
    """A vector of elements."""
    return ir.VectorType.get([lanes], element_type(dtype))


def pointer_type() -> ir.Type:
    """The type of untyped pointers."""
    return llvm.PointerType.get()


def integer(value: int) -> ir.Value:
    """A 64-bit constant."""
    return arith.constant(ir.IntegerType.get_signless(64), value)


def splat(value: float | int | bool, dtype: np.dtype[Any], lanes: int) -> ir.Value:
    """A constant vector of equal elements."""
    element = element_type(dtype)
    is_float = dtype.kind == "f"
    attribute = ir.FloatAttr.get(element, float(value)) if is_float else ir.IntegerAttr.get(element, int(value))
    kind = vector_type(dtype, lanes)
    return arith.constant(kind, ir.DenseElementsAttr.get_splat(kind, attribute))


def at(pointer: ir.Value, offset: ir.Value | int) -> ir.Value:
    """A pointer some bytes further."""
    if isinstance(offset, ir.Value):
        return llvm.getelementptr(pointer_type(), pointer, [offset], [DYNAMIC_INDEX], _byte(), 0)
    return llvm.getelementptr(pointer_type(), pointer, [], [offset], _byte(), 0) if offset else pointer


def load(kind: ir.Type, pointer: ir.Value) -> ir.Value:
    """A value of a type, from any address."""
    return llvm.load(kind, pointer, alignment=1)


def store(value: ir.Value, pointer: ir.Value) -> None:
    """Store to any address."""
    llvm.store(value, pointer, alignment=1)


def scaled(terms: Sequence[tuple[ir.Value, int]]) -> ir.Value | int:
    """The sum of indices times constants."""
    total: ir.Value | int = 0
    for index, factor in terms:
        if factor == 0:
            continue
        term = index if factor == 1 else arith.muli(index, integer(factor))
        total = arith.addi(total, term) if isinstance(total, ir.Value) else term
    return total


def split(index: ir.Value, sizes: Sequence[int]) -> list[ir.Value]:
    """The coordinates of a linear index in a row-major box of these sizes."""
    coordinates = []
    for size in reversed(sizes[1:]):
        coordinates.append(arith.remui(index, integer(size)))
        index = arith.divui(index, integer(size))
    return [index, *reversed(coordinates)]


def tile_start(index: ir.Value, tile: int, size: int) -> ir.Value:
    """Where a tile begins; the last one moves back until it fits, so that tiles overlap rather than end early."""
    start = arith.muli(index, integer(tile))
    return start if size % tile == 0 else arith.minui(start, integer(size - tile))


def loop(
    begin: ir.Value,
    end: ir.Value,
    body: Callable[[ir.Value, list[ir.Value]], Sequence[ir.Value]],
    carried: Sequence[ir.Value] = (),
) -> list[ir.Value]:
    """`for index in range(begin, end)`: `body` takes the index and the carried values and returns the next ones."""
    op = scf.ForOp(begin, end, integer(1), list(carried))
    with ir.InsertionPoint(op.body):
        scf.yield_(list(body(op.induction_variable, list(op.inner_iter_args))))
    return list(op.results)


def broadcast(value: ir.Value, lanes: int) -> ir.Value:
    """A vector of equal elements."""
    return vector.broadcast(ir.VectorType.get([lanes], value.type), value)


def intrinsic(name: str, result: ir.Type | None, operands: Sequence[ir.Value]) -> ir.Value:
    """A call of an LLVM intrinsic."""
    return llvm.call_intrinsic(result, name, list(operands), [], [])


def _byte() -> ir.Type:
    return ir.IntegerType.get_signless(8)
