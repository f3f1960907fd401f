"""Constants: numpy arrays to and from MLIR dense attributes, for every element type, quantized ones included.

The bindings read i2, i4, bf16 and f8 attributes as useless object arrays and wrap out-of-range integers silently;
`to_numpy` and `dense` do not. bf16 and f8 arrays have the dtypes of `ml_dtypes`.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from torch_mlir import ir

from shlo_quant.passes.dialects.quant import UniformType, integer_range, uniform_type

Array = np.ndarray[Any, np.dtype[Any]]


def dense(array: Any, element_type: ir.Type | None = None) -> ir.DenseElementsAttr:
    """A dense attribute with the array's shape; the element type defaults to the array's own (uint8 gives ui8).

    Args:
      array: any shape; integers for integer element types (one per element, also for i2 and i4).
      element_type: signless, signed or unsigned integer, or float.
    Raises: ValueError if an integer does not fit the element type.
    """
    values = np.asarray(array, order="C")
    if element_type is None:
        return ir.DenseElementsAttr.get(values)
    if isinstance(element_type, ir.IntegerType) and element_type.width > 1:
        return _dense_integers(values, element_type)
    if isinstance(element_type, ir.IntegerType):
        return ir.DenseElementsAttr.get(values.astype(np.bool_))
    dtype = float_dtype(element_type)
    with np.errstate(over="ignore"):  # what is too large becomes infinite
        values = values.astype(dtype)
    if dtype.kind != "f" or dtype.itemsize < 2 or isinstance(element_type, ir.BF16Type):
        bits = np.uint16 if dtype.itemsize == 2 else np.uint8
        return ir.DenseElementsAttr.get(values.view(bits), type=element_type)
    return ir.DenseElementsAttr.get(values)


def _dense_integers(values: Array, element_type: ir.IntegerType) -> ir.DenseElementsAttr:
    bits, unsigned = element_type.width, element_type.is_unsigned
    lowest, highest = integer_range(bits, not unsigned)
    if values.size and not (lowest <= values.min() and values.max() <= highest):
        raise ValueError(f"integers from {values.min()} to {values.max()} do not fit {element_type}")
    container = np.dtype(f"{'u' if unsigned else ''}int{max(bits, 8)}")
    return ir.DenseElementsAttr.get(values.astype(container), type=element_type)


def to_numpy(attribute: ir.Attribute) -> Array:
    """The elements of a dense attribute; read-only, and without a copy where the bindings have the buffer.

    Signless integers come as signed, i2 and i4 as int8. Raises: TypeError for element types numpy cannot hold.
    """
    attribute = ir.DenseElementsAttr(attribute)
    element_type = attribute.type.element_type
    if isinstance(element_type, ir.IntegerType):
        if element_type.width in (1, 8, 16, 32, 64):
            return np.asarray(attribute)
        return _low_bits(_decode(attribute, np.dtype(np.uint8 if element_type.is_unsigned else np.int8)), element_type)
    if isinstance(element_type, (ir.F16Type, ir.F32Type, ir.F64Type)):
        return np.asarray(attribute)
    return _decode(attribute, float_dtype(element_type))


def _decode(attribute: ir.DenseElementsAttr, dtype: np.dtype[Any]) -> Array:
    """Elements by way of the printed form, which is hexadecimal from 101 elements on."""
    text, shape = str(attribute), attribute.type.shape
    if hexadecimal := re.match(r'dense<"0x([0-9A-F]*)">', text):
        return np.frombuffer(bytes.fromhex(hexadecimal.group(1)), dtype).reshape(shape)
    body = text[text.index("<") + 1 : text.rindex("> : ")]
    elements = body.replace("[", " ").replace("]", " ").replace(",", " ").split()
    values = np.array([_element(element, dtype) for element in elements], dtype)
    return np.full(shape, values[0], dtype) if attribute.is_splat else values.reshape(shape)


def _low_bits(values: Array, element_type: ir.IntegerType) -> Array:
    """Integers below 8 bits from bytes whose upper bits mean nothing, as the hexadecimal form has them."""
    sign = 0 if element_type.is_unsigned else 1 << (element_type.width - 1)
    return np.asarray(((values & ((1 << element_type.width) - 1)) ^ sign) - sign)


def _element(text: str, dtype: np.dtype[Any]) -> Any:
    """One printed element; NaN and infinities print as bit patterns."""
    if text.startswith("0x"):
        return np.array(int(text, 16), f"uint{8 * dtype.itemsize}").view(dtype)[()]
    return float(text)


def numpy_dtype(value_or_type: ir.Value | ir.Type) -> np.dtype[Any]:
    """The dtype of arrays for a tensor or element type; for quantized types that of the stored integers.

    Integers below 8 bits take one byte each; stored integers have their true sign (`u8` gives uint8), i1 is bool.
    """
    uniform = uniform_type(value_or_type)
    tensor = value_or_type.type if isinstance(value_or_type, ir.Value) else value_or_type
    element = tensor.element_type if isinstance(tensor, ir.ShapedType) else tensor
    if uniform is not None:
        element = uniform.integer_type
    if not isinstance(element, ir.IntegerType):
        return float_dtype(element)
    if element.width == 1:
        return np.dtype(np.bool_)
    return np.dtype(f"{'u' if element.is_unsigned else ''}int{max(element.width, 8)}")


def float_dtype(element_type: ir.Type) -> np.dtype[Any]:
    """The numpy dtype of an MLIR float type (`ml_dtypes` for bf16 and f8). Raises: TypeError if there is none."""
    if isinstance(element_type, ir.F16Type):
        return np.dtype(np.float16)
    if isinstance(element_type, ir.F32Type):
        return np.dtype(np.float32)
    if isinstance(element_type, ir.F64Type):
        return np.dtype(np.float64)
    import ml_dtypes  # only programs with such types need it

    name = {"BF16Type": "bfloat16"}.get(type(element_type).__name__, f"float8_{str(element_type)[2:].lower()}")
    if not hasattr(ml_dtypes, name):
        raise TypeError(f"constants of element type {element_type} cannot be read")
    dtype: np.dtype[Any] = np.dtype(getattr(ml_dtypes, name))
    return dtype


def stored_constant(value: ir.Value) -> Array | None:
    """The stored integers (quantized types) or elements of a `stablehlo.constant`; None if it is none.

    Stored integers come with their true sign: uint8 for `u8` and `ui8` types.
    """
    owner = value.owner
    if isinstance(owner, ir.Block) or owner.operation.name != "stablehlo.constant":
        return None
    array = to_numpy(owner.operation.attributes["value"])
    uniform = uniform_type(value)
    return array if uniform is None else with_true_sign(array, uniform)


def constant_behind(value: ir.Value) -> Array | None:
    """As `stored_constant`; of a constant that a `broadcast_in_dim` repeats, what it repeats."""
    owner = value.owner
    if not isinstance(owner, ir.Block) and owner.operation.name == "stablehlo.broadcast_in_dim":
        return stored_constant(owner.operation.operands[0])
    return stored_constant(value)


def with_true_sign(storage: Array, uniform: UniformType) -> Array:
    """Stored integers from the elements of a storage-typed attribute: `u8` is signless there, so 200 reads as -56."""
    if uniform.is_signed or storage.dtype.kind == "u":
        return storage
    width = uniform.storage_type.width
    unsigned = np.asarray(storage, order="C").view(f"u{storage.dtype.name}")
    return unsigned if width >= 8 else np.asarray(unsigned & np.uint8((1 << width) - 1))


def without_sign(stored: Array, uniform: UniformType) -> Array:
    """The inverse of `with_true_sign`: the elements of the storage-typed attribute for stored integers."""
    if uniform.is_signed or uniform.storage_type.is_unsigned:
        return stored
    width = uniform.storage_type.width
    bits = np.asarray(stored, order="C").astype(f"uint{max(width, 8)}").view(f"int{max(width, 8)}")
    sign = np.int8(1 << (width - 1)) if width < 8 else np.int8(0)
    return np.asarray((bits ^ sign) - sign)
