"""What becomes plain aten arithmetic before the import: ops that no quantized type can express, or torch-mlir lacks.

Every function computes what the op's own implementation computes, operation by operation. Source: PyTorch
torch/ao/quantization/fx/_decomposed.py and torch/ao/quantization/utils.py (determine_qparams).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._decomp import get_decompositions
from torch.ao.quantization.fx import _decomposed
from torch.export import ExportedProgram
from torch_mlir.extras.fx_decomp_util import get_decomposition_table

_AFFINE = torch.ops.quantized_decomposed
_ATEN = torch.ops.aten

# quantization at run time, or finer than per axis: imported as float arithmetic
FLOAT_ARITHMETIC_OPS = frozenset(
    {
        _AFFINE.choose_qparams.tensor,
        _AFFINE.choose_qparams_symmetric.tensor,
        _AFFINE.choose_qparams_per_token.default,
        _AFFINE.choose_qparams_per_token_asymmetric.default,
        _AFFINE.quantize_per_token.default,
        _AFFINE.dequantize_per_token.default,
        _AFFINE.quantize_per_channel_group.default,
        _AFFINE.dequantize_per_channel_group.default,
    }
)


def decompose(program: ExportedProgram) -> ExportedProgram:
    """A new program in the ops that torch-mlir imports, per-tensor and per-channel quantize and dequantize kept."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # torch's own, about its pytree
        decomposed: ExportedProgram = program.run_decompositions(decomposition_table())
        return decomposed


def decomposition_table() -> dict[torch._ops.OperatorBase, Callable[..., Any]]:
    """torch-mlir's decompositions and ours."""
    upsampling = [op for name in ("nearest", "nearest_exact") for dims in "123" for op in _upsampling_ops(name, dims)]
    return {
        **get_decomposition_table(),
        **get_decompositions(upsampling),
        _ATEN.upsample_nearest2d.vec: upsample_nearest2d,
        _ATEN.empty.memory_format: empty,
        _AFFINE.choose_qparams.tensor: choose_qparams,
        _AFFINE.choose_qparams_symmetric.tensor: choose_qparams_symmetric,
        _AFFINE.choose_qparams_per_token.default: _decomposed.choose_qparams_per_token,
        _AFFINE.choose_qparams_per_token_asymmetric.default: _decomposed._choose_qparams_per_token_asymmetric_impl,
        _AFFINE.quantize_per_token.default: _decomposed.quantize_per_token,
        _AFFINE.dequantize_per_token.default: _decomposed.dequantize_per_token,
        _AFFINE.quantize_per_channel_group.default: quantize_per_channel_group,
        _AFFINE.dequantize_per_channel_group.default: _decomposed.dequantize_per_channel_group,
    }


def _upsampling_ops(name: str, dims: str) -> list[torch._ops.OpOverload]:
    packet = getattr(_ATEN, f"upsample_{name}{dims}d" if name == "nearest" else f"_upsample_{name}{dims}d")
    return [packet.vec, packet.default]


def choose_qparams(
    tensor: torch.Tensor, quant_min: int, quant_max: int, eps: float, dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor]:
    """Scale (float32 [1]; the op says float64, but computes it in float32) and zero point (int64 [1]) of a tensor."""
    del dtype
    low, high = _range_with_zero(tensor)
    scale = torch.max((high - low) / float(quant_max - quant_min), torch.full([1], eps, dtype=torch.float32))
    zero_point = quant_min - torch.round(low / scale).to(torch.int32)
    return scale, torch.clamp(zero_point, quant_min, quant_max).to(torch.int64)


def choose_qparams_symmetric(
    tensor: torch.Tensor, quant_min: int, quant_max: int, eps: float, dtype: torch.dtype
) -> tuple[torch.Tensor, torch.Tensor]:
    """As `choose_qparams`, with a zero point in the middle of the dtype."""
    low, high = _range_with_zero(tensor)
    scale = torch.max(-low, high) / (float(quant_max - quant_min) / 2)
    scale = torch.max(scale, torch.full([1], eps, dtype=torch.float32))
    return scale, torch.full([1], 128 if dtype == torch.uint8 else 0, dtype=torch.int64)


def _range_with_zero(tensor: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    low, high = torch.amin(tensor), torch.amax(tensor)
    return torch.min(low, torch.zeros_like(low)), torch.max(high, torch.zeros_like(high))


def quantize_per_channel_group(
    tensor: torch.Tensor, scales: torch.Tensor, zero_points: torch.Tensor, *rest: Any, **kwargs: Any
) -> torch.Tensor:
    """One scale for each `group_size` elements of a row; the op's own code, less its look for NaNs."""
    quant_min, quant_max, dtype, group_size = _group_arguments(*rest, **kwargs)
    if group_size > tensor.shape[-1] and scales.shape[-1] == 1:
        group_size = tensor.shape[-1]
    groups = tensor.reshape(-1, group_size).mul(1.0 / scales.reshape(-1, 1)).add(zero_points.reshape(-1, 1))
    return groups.round().clamp(quant_min, quant_max).to(dtype).reshape_as(tensor)


def _group_arguments(
    quant_min: int, quant_max: int, dtype: torch.dtype, group_size: int = 128
) -> tuple[int, int, torch.dtype, int]:
    return quant_min, quant_max, dtype, group_size


def upsample_nearest2d(
    tensor: torch.Tensor, output_size: Sequence[int] | None, scale_factors: Sequence[float] | None
) -> torch.Tensor:
    """Repetition by whole factors is data movement, which can stay quantized; the rest gathers, as in PyTorch."""
    batch, channels, height, width = tensor.shape
    sizes = output_size or [int(size * f) for size, f in zip((height, width), scale_factors or (), strict=True)]
    whole = sizes[0] % height == 0 and sizes[1] % width == 0
    if not whole or (scale_factors and [f * s for f, s in zip(scale_factors, (height, width), strict=True)] != sizes):
        (decomposed,) = get_decompositions([_ATEN.upsample_nearest2d.vec]).values()
        return decomposed(tensor, output_size, scale_factors)  # type: ignore[no-any-return]
    spread = tensor.reshape(batch, channels, height, 1, width, 1)
    spread = spread.expand(batch, channels, height, sizes[0] // height, width, sizes[1] // width)
    return spread.reshape(batch, channels, *sizes)


def empty(size: Sequence[int], *, dtype: torch.dtype | None = None, **_: Any) -> torch.Tensor:
    """Uninitialized memory is read by nobody; zeros have a StableHLO op."""
    return torch.zeros(size, dtype=dtype)
