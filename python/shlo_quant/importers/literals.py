"""Torch tensors and dtypes as MLIR constants and types, without a detour over Python lists."""

from __future__ import annotations

import torch
from torch._subclasses.fake_tensor import unset_fake_temporarily
from torch_mlir import ir

from shlo_quant.passes.dialects import stablehlo
from shlo_quant.passes.dialects.constants import Array, dense, numpy_dtype
from shlo_quant.passes.dialects.quant import with_element_type

_FLOATS = {
    torch.float64: ir.F64Type,
    torch.float32: ir.F32Type,
    torch.float16: ir.F16Type,
    torch.bfloat16: ir.BF16Type,
    torch.float8_e4m3fn: ir.Float8E4M3FNType,
    torch.float8_e5m2: ir.Float8E5M2Type,
    torch.float8_e4m3fnuz: ir.Float8E4M3FNUZType,
    torch.float8_e5m2fnuz: ir.Float8E5M2FNUZType,
}

# width and signedness
_INTEGERS = {
    torch.int8: (8, True),
    torch.int16: (16, True),
    torch.int32: (32, True),
    torch.int64: (64, True),
    torch.uint8: (8, False),
    torch.uint16: (16, False),
    torch.uint32: (32, False),
    torch.uint64: (64, False),
}


def has_element_type(dtype: torch.dtype) -> bool:
    """Whether `element_type` knows a dtype."""
    return dtype == torch.bool or dtype in _FLOATS or dtype in _INTEGERS


def element_type(dtype: torch.dtype) -> ir.Type:
    """The StableHLO element type of a dtype: signless for signed integers and bool, `uiN` for unsigned integers."""
    if dtype == torch.bool:
        return ir.IntegerType.get_signless(1)
    if dtype in _FLOATS:
        return _FLOATS[dtype].get()
    bits, is_signed = _INTEGERS[dtype]
    return ir.IntegerType.get_signless(bits) if is_signed else ir.IntegerType.get_unsigned(bits)


def integer_bits(dtype: torch.dtype) -> tuple[int, bool] | None:
    """Width and signedness of an integer dtype; None for other dtypes."""
    return _INTEGERS.get(dtype)


def to_array(tensor: torch.Tensor) -> Array:
    """The elements of a tensor, sharing its memory where it is contiguous on the CPU; bf16 and f8 as ml_dtypes."""
    with unset_fake_temporarily():
        plain = tensor.detach().cpu().contiguous()
        if plain.dtype in _FLOATS and plain.dtype not in (torch.float64, torch.float32, torch.float16):
            bits = torch.int16 if plain.dtype == torch.bfloat16 else torch.uint8
            return plain.view(bits).numpy().view(numpy_dtype(element_type(plain.dtype)))
        array: Array = plain.numpy()
        return array


def literal(tensor: torch.Tensor, result_type: ir.Type) -> ir.Value:
    """A constant of torch type `result_type` at the current insertion point."""
    element = element_type(tensor.dtype)
    if isinstance(element, ir.IntegerType) and element.is_unsigned:
        return _unsigned_literal(tensor, element, result_type)
    if isinstance(element, ir.IntegerType) and element.width > 1:
        element = ir.IntegerType.get_signed(element.width)
    value = dense(to_array(tensor), element)
    return ir.Operation.create("torch.vtensor.literal", results=[result_type], attributes={"value": value}).result


def _unsigned_literal(tensor: torch.Tensor, element: ir.IntegerType, result_type: ir.Type) -> ir.Value:
    """Unsigned integers do not lower through `torch.vtensor.literal`, which the cast of a constant would fold to.

    So it is the cast of a constant's bits.
    """
    bits = stablehlo.constant(to_array(tensor).view(f"int{element.width}"))
    unsigned = stablehlo.bitcast_convert(bits, with_element_type(bits.type, element))
    return ir.Operation.create("torch_c.from_builtin_tensor", results=[result_type], operands=[unsigned]).result
