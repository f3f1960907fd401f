"""Quantized PyTorch programs as engines take them: quantized tensors by name, arrays to tensors and back."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import torch
import torch.ao.quantization.fx._decomposed  # registers the quantized_decomposed ops, without which loading fails
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, OutputKind, TensorArgument
from torch.fx import Node

from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.errors import InputError

_OPS = torch.ops.quantized_decomposed
DYNAMIC_QUANTIZE_OPS = frozenset({_OPS.quantize_per_tensor.tensor, _OPS.quantize_per_tensor.tensor2})
"""Quantize ops whose scale and zero point are values of the graph."""

QUANTIZE_OPS = DYNAMIC_QUANTIZE_OPS | {_OPS.quantize_per_tensor.default, _OPS.quantize_per_channel.default}


def opened(program: ExportedProgram | Path) -> ExportedProgram:
    """The program itself, or the one in a `.pt2` file. Raises: InputError if that is none."""
    if not isinstance(program, Path):
        return program
    if not zipfile.is_zipfile(program):
        raise InputError(f"{program}: not a .pt2 file")
    return torch.export.load(program)


def quantize_nodes(program: ExportedProgram, names: Iterable[str]) -> list[Node]:
    """The quantize nodes of those names, in that order.

    Raises: InputError for a name that no quantize node has.
    """
    known = {node.name: node for node in program.graph.nodes if node.target in QUANTIZE_OPS}
    missing = [name for name in names if name not in known]
    if missing:
        raise InputError(f"the program has no quantize node named {', '.join(missing)}")
    return [known[name] for name in names]


def user_outputs(program: ExportedProgram) -> list[int]:
    """Which of the graph's results are the program's own (tensors, not the new values of buffers)."""
    specs = program.graph_signature.output_specs
    return [
        index
        for index, spec in enumerate(specs)
        if spec.kind == OutputKind.USER_OUTPUT and isinstance(spec.arg, TensorArgument)
    ]


def graph_arguments(program: ExportedProgram, inputs: Sequence[Array]) -> list[Any]:
    """What the graph's placeholders stand for: parameters, buffers, constants, and `inputs` in their places.

    Raises: InputError as `input_tensors`.
    """
    tensors = iter(input_tensors(program, inputs))
    arguments: list[Any] = []
    for spec in program.graph_signature.input_specs:
        if spec.kind == InputKind.USER_INPUT:
            arguments.append(next(tensors))
        else:
            assert spec.target is not None, spec
            state = program.state_dict
            arguments.append(state[spec.target] if spec.target in state else program.constants[spec.target])
    return arguments


def input_tensors(program: ExportedProgram, inputs: Sequence[Array]) -> list[torch.Tensor]:
    """The inputs as contiguous tensors, checked against the program's.

    Raises: InputError naming the first input whose array has another shape or dtype.
    """
    expected = _input_values(program)
    if len(inputs) != len(expected):
        raise InputError(f"the program takes {len(expected)} input{'s' * (len(expected) != 1)}, got {len(inputs)}")
    return [_input_tensor(i, value, array) for i, (value, array) in enumerate(zip(expected, inputs, strict=True))]


def _input_values(program: ExportedProgram) -> list[torch.Tensor]:
    """What export recorded of each input: a tensor without data."""
    placeholders = [node for node in program.graph.nodes if node.op == "placeholder"]
    specs = program.graph_signature.input_specs
    pairs = zip(specs, placeholders, strict=True)
    return [node.meta["val"] for spec, node in pairs if spec.kind == InputKind.USER_INPUT]


def _input_tensor(index: int, value: Any, array: Array) -> torch.Tensor:
    if not isinstance(value, torch.Tensor):
        raise InputError(f"input {index} is a {type(value).__name__}, not a tensor; export the model without it")
    wanted = _text(value.dtype, value.shape)
    found = np.asarray(array)
    try:
        tensor = to_tensor(found)
    except (TypeError, ValueError):  # a dtype or byte order that PyTorch does not have
        raise InputError(f"input {index} must be {wanted}, got an array of {found.dtype}") from None
    fits = tensor.dim() == value.dim() and all(
        size == static for size, static in zip(tensor.shape, value.shape, strict=True) if isinstance(static, int)
    )
    if not fits or tensor.dtype != value.dtype:
        raise InputError(f"input {index} must be {wanted}, got {_text(tensor.dtype, tensor.shape)}")
    return tensor


def _text(dtype: torch.dtype, shape: Sequence[object]) -> str:
    return f"{str(dtype).removeprefix('torch.')}[{', '.join(map(str, shape))}]"


def to_tensor(array: Array) -> torch.Tensor:
    """An array as a contiguous tensor of its own memory; bf16 as ml_dtypes."""
    copy = np.array(array, order="C")
    if copy.dtype == ml_dtypes.bfloat16:
        return torch.from_numpy(copy.view(np.int16)).view(torch.bfloat16)
    return torch.from_numpy(copy)


def to_array(tensor: torch.Tensor) -> Array:
    """A tensor as an array of its own memory; bf16 as ml_dtypes."""
    if tensor.dtype == torch.bfloat16:
        return np.array(tensor.detach().view(torch.int16).numpy()).view(ml_dtypes.bfloat16)
    return np.array(tensor.detach().numpy())
