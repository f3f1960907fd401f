"""Small Q/DQ graphs written out by hand, as pt2e would leave them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.ao.quantization.fx._decomposed  # registers the ops
from torch.export import ExportedProgram
from torch.nn.functional import conv2d

_OPS = torch.ops.quantized_decomposed
_KERNEL = (torch.arange(4 * 3 * 3 * 3).reshape(4, 3, 3, 3) % 23 - 11).to(torch.int8)
INT8 = (-128, 127, torch.int8)


class _Module(torch.nn.Module):
    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__()
        self.function = function

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.function(*inputs)


def export(function: Callable[..., Any], *inputs: torch.Tensor, is_batch_dynamic: bool = False) -> ExportedProgram:
    """A function of tensors as a program."""
    batch = {0: torch.export.Dim("batch", min=2)} if is_batch_dynamic else None
    return torch.export.export(_Module(function), inputs, dynamic_shapes=((batch,) * len(inputs),))


def quantize(x: torch.Tensor, scale: float, zero_point: int, storage: tuple[Any, ...] = INT8) -> Any:
    return _OPS.quantize_per_tensor(x, scale, zero_point, *storage)


def qdq(x: torch.Tensor, scale: float, zero_point: int, storage: tuple[Any, ...] = INT8) -> Any:
    """Quantize and dequantize by the same parameters."""
    stored = quantize(x, scale, zero_point, storage)
    return _OPS.dequantize_per_tensor(stored, scale, zero_point, *storage)


def conv_relu(x: torch.Tensor, storage: tuple[Any, ...] = INT8, bias: torch.Tensor | None = None) -> Any:
    """A quantized convolution of an image [n, 3, h, w] to 4 channels."""
    kernel = _OPS.dequantize_per_tensor(_KERNEL, 0.02, 0, -127, 127, torch.int8)
    return qdq(torch.relu(conv2d(qdq(x, 0.03, 3, storage), kernel, bias)), 0.05, -128)
