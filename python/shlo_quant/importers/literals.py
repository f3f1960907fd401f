"""Torch tensors as MLIR constants, without a detour over Python lists."""

from __future__ import annotations

import numpy as np
import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch_mlir import ir

from shlo_quant.passes.dialects.constants import Array, dense

_INTEGER_BITS = {
    torch.int8: (8, True),
    torch.int16: (16, True),
    torch.int32: (32, True),
    torch.int64: (64, True),
    torch.uint8: (8, False),
    torch.uint16: (16, False),
    torch.uint32: (32, False),
    torch.uint64: (64, False),
}


def to_array(tensor: torch.Tensor) -> Array:
    """The elements of a tensor, sharing its memory where it is contiguous on the CPU; bf16 and f8 as ml_dtypes.

    Raises: TypeError for dtypes numpy has no array for (complex counts as none here).
    """
    with unset_fake_temporarily():
        plain = tensor.detach().cpu().contiguous()
        if plain.dtype in _ML_DTYPES:
            import ml_dtypes

            bits = torch.int16 if plain.element_size() == 2 else torch.uint8
            return plain.view(bits).numpy().view(getattr(ml_dtypes, _ML_DTYPES[plain.dtype]))
        if plain.dtype.is_complex or plain.is_quantized:
            raise TypeError(f"constants of {plain.dtype} are not supported")
        return plain.numpy()


_ML_DTYPES = {
    torch.bfloat16: "bfloat16",
    torch.float8_e4m3fn: "float8_e4m3fn",
    torch.float8_e5m2: "float8_e5m2",
    torch.float8_e4m3fnuz: "float8_e4m3fnuz",
    torch.float8_e5m2fnuz: "float8_e5m2fnuz",
}


def integer_bits(dtype: torch.dtype) -> tuple[int, bool] | None:
    """Width and signedness of an integer dtype; None for other dtypes."""
    return _INTEGER_BITS.get(dtype)


def element_type(dtype: torch.dtype) -> ir.Type:
    """The StableHLO element type of a torch dtype: signless for signed integers and bool, `uiN` for unsigned ones.

    Raises: TypeError for dtypes without one.
    """
    integer = integer_bits(dtype)
    if integer is not None:
        bits, signed = integer
        return ir.IntegerType.get_signless(bits) if signed else ir.IntegerType.get_unsigned(bits)
    floats = {
        torch.float64: ir.F64Type,
        torch.float32: ir.F32Type,
        torch.float16: ir.F16Type,
        torch.bfloat16: ir.BF16Type,
        torch.float8_e4m3fn: ir.Float8E4M3FNType,
        torch.float8_e5m2: ir.Float8E5M2Type,
        torch.float8_e4m3fnuz: ir.Float8E4M3FNUZType,
        torch.float8_e5m2fnuz: ir.Float8E5M2FNUZType,
    }
    if dtype == torch.bool:
        return ir.IntegerType.get_signless(1)
    if dtype not in floats:
        raise TypeError(f"{dtype} has no StableHLO element type")
    return floats[dtype].get()


def literal(tensor: torch.Tensor, result_type: ir.Type) -> ir.Value:
    """A constant of torch type `result_type` at the current insertion point.

    Unsigned integers do not lower through `torch.vtensor.literal`: they are StableHLO constants cast to the torch type.
    """
    array = to_array(tensor)
    element = element_type(tensor.dtype)
    if isinstance(element, ir.IntegerType) and element.is_unsigned:
        value = dense(array, element)
        constant = ir.Operation.create("stablehlo.constant", results=[value.type], attributes={"value": value})
        return ir.Operation.create(
            "torch_c.from_builtin_tensor", results=[result_type], operands=constant.results
        ).result
    if isinstance(element, ir.IntegerType) and element.width > 1:
        element = ir.IntegerType.get_signed(element.width)
    return ir.Operation.create(
        "torch.vtensor.literal", results=[result_type], attributes={"value": dense(array, element)}
    ).result
