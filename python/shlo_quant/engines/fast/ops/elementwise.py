"""Ops on elements, as functions that broadcast: one element of each operand gives one of the result."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping

import numpy as np
from torch_mlir import ir

from shlo_quant.engines.fast.ops import arithmetic, bits, floats
from shlo_quant.engines.fast.ops.convert import bitcast_same_width, convert, reduce_precision
from shlo_quant.engines.fast.ops.elements import ByElement, ElementType, Function
from shlo_quant.engines.fast.ops.kernel import Build, CompileRegion, Kernel
from shlo_quant.passes.dialects.constants import Array, to_numpy
from shlo_quant.passes.dialects.stablehlo import comparison
from shlo_quant.passes.errors import Unsupported

Make = Callable[[ir.Operation], Function]


def _compare(op: ir.Operation) -> Function:
    """With TOTALORDER, floats compare as -NaN < -infinity < ... < -0 < +0 < ... < NaN (IEEE 754 totalOrder)."""
    direction, kind = comparison(op)
    relation: Function = getattr(operator, direction.lower())
    if kind != "TOTALORDER":
        return relation
    element = ElementType.of(op.operands[0])
    key = _total_order(element)
    return lambda lhs, rhs: relation(key(lhs), key(rhs))


def _total_order(element: ElementType) -> Function:
    """The bits of floats as integers of the same order."""
    signed = np.dtype(f"int{element.bits}")

    def key(values: Array) -> Array:
        bits = element.to_bits(values).view(signed)
        return np.where(bits < 0, bits ^ signed.type(np.iinfo(signed).max), bits)

    return key


def _select(_op: ir.Operation) -> Function:
    def selected(pred: Array, on_true: Array, on_false: Array) -> Array:
        return np.where(pred, on_true, on_false)

    return selected


def _constant(op: ir.Operation) -> Function:
    ElementType.of(op.results[0])
    if not isinstance(op.attributes["value"], ir.DenseElementsAttr):
        raise Unsupported("a constant in a resource cannot be read", "use a dense attribute")
    value = to_numpy(op.attributes["value"])
    return lambda: value


def _is_finite(_op: ir.Operation) -> Function:
    return np.isfinite


def _imaginary_part(op: ir.Operation) -> Function:
    """Of a float, 0."""
    ElementType.of(op.operands[0])
    return np.zeros_like


def _real_part(op: ir.Operation) -> Function:
    ElementType.of(op.operands[0])
    return np.asarray


def _of_operand(make: ByElement) -> Make:
    return lambda op: make(ElementType.of(op.operands[-1]))


BY_ELEMENT = {**arithmetic.BY_ELEMENT, **bits.BY_ELEMENT, **floats.BY_ELEMENT}

ELEMENTWISE: Mapping[str, Make] = {
    **{f"stablehlo.{name}": _of_operand(make) for name, make in BY_ELEMENT.items()},
    "stablehlo.bitcast_convert": bitcast_same_width,
    "stablehlo.compare": _compare,
    "stablehlo.constant": _constant,
    "stablehlo.convert": convert,
    "stablehlo.imag": _imaginary_part,
    "stablehlo.is_finite": _is_finite,
    "stablehlo.real": _real_part,
    "stablehlo.reduce_precision": reduce_precision,
    "stablehlo.select": _select,
}
"""By op, what makes its function. The functions broadcast, so that those of a region serve many elements at once."""


def _build(make: Make) -> Build:
    def build(op: ir.Operation, _compile_region: CompileRegion) -> Kernel:
        function = make(op)
        return lambda inputs: (np.asarray(function(*inputs)),)

    return build


KERNELS: Mapping[str, Build] = {name: _build(make) for name, make in ELEMENTWISE.items()}
