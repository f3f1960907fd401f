"""What programs take and return: the arrays that fit a function's types."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from torch_mlir import ir

from shlo_quant.passes.dialects.constants import Array, numpy_dtype
from shlo_quant.passes.dialects.quant import integer_range, is_quantized, uniform_type
from shlo_quant.passes.dialects.stablehlo import DYNAMIC
from shlo_quant.passes.errors import EngineError, InputError


def check_types(engine: str, types: Sequence[ir.Type]) -> None:
    """Raise EngineError, in the name of `engine`, for a type that no array stands for."""
    for tensor in types:
        if not isinstance(tensor, ir.RankedTensorType) or (is_quantized(tensor) and uniform_type(tensor) is None):
            raise EngineError(f"{engine}: cannot pass or return a {tensor}")


def check_inputs(types: Sequence[ir.Type], inputs: Sequence[Array]) -> list[Array]:
    """The inputs as contiguous arrays, checked against argument types.

    Raises: InputError naming the first argument whose array has another shape or dtype, or holds integers that its
      storage type cannot.
    """
    if len(inputs) != len(types):
        raise InputError(f"the program takes {len(types)} input{'s' * (len(types) != 1)}, got {len(inputs)}")
    return [_check_input(i, tensor, np.asarray(a)) for i, (tensor, a) in enumerate(zip(types, inputs, strict=True))]


def _check_input(index: int, tensor: ir.Type, array: Array) -> Array:
    dtype, shape = numpy_dtype(tensor), tuple(tensor.shape)
    if array.dtype.kind == "V" and array.dtype.itemsize == dtype.itemsize:  # bf16 and f8, as .npz files hold them
        array = array.view(dtype)
    fits = len(shape) == array.ndim and all(w in (DYNAMIC, n) for w, n in zip(shape, array.shape, strict=True))
    if not fits or array.dtype != dtype:
        wanted, found = f"{dtype.name}{_shape_text(shape)}", f"{array.dtype.name}{_shape_text(array.shape)}"
        raise InputError(f"input {index} must be {wanted} for {tensor}, got {found}")
    uniform = uniform_type(tensor)
    element = tensor.element_type if uniform is None else uniform.integer_type
    if isinstance(element, ir.IntegerType) and element.width in (2, 4) and array.size:
        lowest, highest = integer_range(element.width, not element.is_unsigned)
        if array.min() < lowest or array.max() > highest:
            raise InputError(f"input {index}: {tensor} holds {lowest}..{highest}, got {array.min()}..{array.max()}")
    return np.asarray(array, order="C")


def _shape_text(shape: Sequence[int]) -> str:
    return "[" + ", ".join("?" if size == DYNAMIC else str(size) for size in shape) + "]"
