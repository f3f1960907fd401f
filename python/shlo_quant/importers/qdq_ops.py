"""The quantize and dequantize ops of pt2e as MLIR quantized types.

dequantize_per_channel(w, scales, zero_points, axis=0, quant_min=-127, quant_max=127, torch.int8)
    ==>  !quant.uniform<i8<-127:127>:f32:0, {scales:zero_points}>
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch
from torch.fx import Node
from torch_mlir import ir

from shlo_quant.importers.literals import element_type, integer_bits, to_array
from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.dialects.quant import UniformType, integer_range
from shlo_quant.passes.errors import ParameterError, Unsupported

_OPS = torch.ops.quantized_decomposed

QUANTIZE_OPS = frozenset({_OPS.quantize_per_tensor.default, _OPS.quantize_per_channel.default})
DEQUANTIZE_OPS = frozenset({_OPS.dequantize_per_tensor.default, _OPS.dequantize_per_channel.default})

Constants = Mapping[str, torch.Tensor]


def arguments(node: Node) -> dict[str, Any]:
    """The arguments of a call by parameter name, defaults included."""
    assert isinstance(node.target, torch._ops.OpOverload), node.target
    parameters = node.target._schema.arguments
    values = {p.name: p.default_value for p in parameters if p.has_default_value()}
    values.update(zip((p.name for p in parameters), node.args, strict=False))
    values.update(node.kwargs)
    return values


def input_node(node: Node) -> Node:
    """The node that a quantize or dequantize node converts."""
    found = arguments(node)["input"]
    assert isinstance(found, Node), found
    return found


def constant_array(argument: Any, constants: Constants) -> Array:
    """The elements of an argument that is a constant tensor of the program.

    Raises: Unsupported if it is computed at run time.
    """
    if not isinstance(argument, Node) or argument.name not in constants:
        raise Unsupported("scales and zero points per channel must be constants", "quantize the weight before export")
    return to_array(constants[argument.name])


def quantized_type(node: Node, constants: Constants) -> UniformType:
    """The quantized type that a node of QUANTIZE_OPS or DEQUANTIZE_OPS converts to or from.

    Args:
      constants: the program's parameters, buffers and lifted constants by placeholder name.
    Raises: Unsupported with the reason if no quantized type of StableHLO says the same.
    """
    values = arguments(node)
    shape = values["input"].meta["val"].shape
    if node.target in (_OPS.quantize_per_tensor.default, _OPS.dequantize_per_tensor.default):
        dimension = None
        scales, zero_points = np.array([values["scale"]]), np.array([values["zero_point"]])
    else:
        scales = constant_array(values["scales"], constants)
        if not -len(shape) <= values["axis"] < len(shape):
            raise Unsupported(f"axis must lie in [{-len(shape)}, {len(shape) - 1}], got {values['axis']}")
        dimension = values["axis"] % len(shape)
        _check_channels(scales, shape[dimension], dimension)
        zero_points = np.zeros(len(scales), np.int64)
        if values["zero_points"] is not None:
            zero_points = constant_array(values["zero_points"], constants).reshape(-1)
    if zero_points.dtype.kind not in "iu":
        raise Unsupported(
            f"zero points must be integers, got {zero_points.dtype}",
            "quantize with an affine integer scheme instead of per_channel_affine_float_qparams",
        )
    storage, is_signed, storage_min, storage_max = _storage(values, constants)
    try:
        return UniformType(
            storage,
            is_signed,
            element_type(_expressed_dtype(node, values)),
            tuple(scales.astype(np.float32).reshape(-1).astype(np.float64).tolist()),
            tuple(zero_points.tolist()),
            dimension,
            storage_min,
            storage_max,
        )
    except ParameterError as error:
        raise Unsupported(str(error)) from error


def _check_channels(scales: Array, size: Any, dimension: int) -> None:
    if scales.ndim != 1:
        raise Unsupported(f"scales must be a vector, got shape {list(scales.shape)}")
    if len(scales) != size:
        raise Unsupported(
            f"dimension {dimension} has {size} channels but {len(scales)} scales",
            "run calibration data through the prepared model before convert_pt2e",
        )


def _expressed_dtype(node: Node, values: dict[str, Any]) -> torch.dtype:
    if node.target in QUANTIZE_OPS:
        dtype: torch.dtype = values["input"].meta["val"].dtype
        return dtype
    return values["out_dtype"] or torch.float32


def _storage(values: dict[str, Any], constants: Constants) -> tuple[ir.IntegerType, bool, int, int]:
    """Storage type, signedness and bounds: those of the dtype, narrowed to 4 bits where the bounds allow it.

    Sixteen unsigned bits kept in int32 (QNN) are stored as u16. Bounds that a constant exceeds are not its bounds:
    dequantize ignores them, so they are widened to the dtype's.
    """
    dtype, lowest, highest = values["dtype"], values["quant_min"], values["quant_max"]
    found = integer_bits(dtype)
    if found is None or found[0] > 32:
        raise Unsupported(f"storage must be an integer dtype of at most 32 bits, got {dtype}")
    bits, is_signed = found
    stored = constants.get(values["input"].name)
    if stored is not None and stored.dtype == dtype and stored.numel():
        stored_min, stored_max = (int(v) for v in torch.aminmax(stored))
        if not lowest <= stored_min <= stored_max <= highest:
            lowest, highest = integer_range(bits, is_signed)
    narrow_min, narrow_max = integer_range(4, is_signed)
    if narrow_min <= lowest and highest <= narrow_max:
        bits = 4
    elif bits == 32 and is_signed and (lowest, highest) == integer_range(16, False):
        bits, is_signed = 16, False
    return ir.IntegerType.get_signless(bits), is_signed, lowest, highest
