"""Transcendental functions to the bit: the C library's in f64, rounded once to the type, as the interpreter has them.

numpy's f64 functions are vectorized and differ from the C library's in the last bits. That changes the rounded result
only next to a boundary between two values of the type: where rounding an interval around numpy's value gives two
answers, and for f64 everywhere, the C library decides.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import functools
from collections.abc import Callable, Sequence

import numpy as np

from shlo_quant.engines.fast.ops.elements import ElementType
from shlo_quant.passes.dialects.constants import Array

RELATIVE_ERROR = 2.0**-46
"""Much more than numpy's f64 functions are off (4 units in the last place, 2^-50)."""
LARGEST_ARGUMENT = 2.0**20
"""Beyond this, numpy's sine, cosine and tangent are not asked."""
PIECE = 1 << 15
"""Elements at a time; what comes up in between stays in the cache."""

VECTORIZED: dict[str, Callable[..., Array]] = {
    "atan2": np.arctan2,
    "cbrt": np.cbrt,
    "cos": np.cos,
    "exp": np.exp,
    "expm1": np.expm1,
    "log": np.log,
    "log1p": np.log1p,
    "pow": np.power,
    "sin": np.sin,
    "tan": np.tan,
    "tanh": np.tanh,
}
"""numpy's functions by the name of the C library's."""

PERIODIC = frozenset({"cos", "sin", "tan"})


def evaluate(name: str, element: ElementType, *operands: Array) -> Array:
    """`name` of operands of a float type, rounded to that type."""
    shape = np.broadcast_shapes(*(operand.shape for operand in operands))
    flat = [np.broadcast_to(operand, shape).reshape(-1) for operand in operands]
    result = np.empty(flat[0].shape, element.dtype)
    for start in range(0, result.size, PIECE):
        piece = slice(start, start + PIECE)
        result[piece] = _evaluate_piece(name, element, [operand[piece].astype(np.float64) for operand in flat])
    return result.reshape(shape)


def _evaluate_piece(name: str, element: ElementType, operands: Sequence[Array]) -> Array:
    if element.dtype == np.float64:
        return _exact(name, *operands)
    guess = np.asarray(VECTORIZED[name](*operands))
    low, high = (element.rounded(guess * (1 + error)) for error in (-RELATIVE_ERROR, RELATIVE_ERROR))
    doubtful = (element.to_bits(low) != element.to_bits(high)) & ~np.isnan(guess)
    if name in PERIODIC:
        doubtful |= np.abs(operands[0]) > LARGEST_ARGUMENT
    result = element.rounded(guess)
    if doubtful.any():
        result[doubtful] = element.rounded(_exact(name, *(operand[doubtful] for operand in operands)))
    return result


def _exact(name: str, *operands: Array) -> Array:
    """The C library's function, element by element (about 0.2 us each)."""
    return np.asarray(_function(name, len(operands))(*operands)).astype(np.float64)


@functools.cache
def _function(name: str, arguments: int) -> Callable[..., Array]:
    function = getattr(_library(), name)
    function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double] * arguments
    elementwise: Callable[..., Array] = np.frompyfunc(function, arguments, 1)
    return elementwise


@functools.cache
def _library() -> ctypes.CDLL:
    return ctypes.CDLL(ctypes.util.find_library("m"))
