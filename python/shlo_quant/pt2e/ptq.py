"""Post-training quantization: a float module and calibration batches become a quantized ExportedProgram."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch.export import ExportedProgram
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e
from torchao.quantization.pt2e.quantizer import Quantizer

Inputs = tuple[torch.Tensor, ...]


def quantize_ptq(
    model: torch.nn.Module, example: Inputs, calibration: Iterable[Inputs], quantizer: Quantizer
) -> ExportedProgram:
    """Quantize a float model after training.

    Both exports are non-strict: then every op of the result keeps the path of its module (`nn_module_stack`) and the
    lines of the model's source it comes from (`stack_trace`).

    Args:
      model: in eval mode.
      example: inputs whose shapes and dtypes the program gets, all static.
      calibration: inputs of those shapes; the observers take the ranges of all activations from them.
      quantizer: says what is quantized, see `shlo_quant.pt2e.quantizers`.
    Returns: the program with `quantized_decomposed` ops, for `torch.export.save` and for the importer.
    """
    prepared = prepare_pt2e(torch.export.export(model, example, strict=False).module(), quantizer)
    with torch.no_grad():
        for inputs in calibration:
            prepared(*inputs)
    return torch.export.export(convert_pt2e(prepared), example, strict=False)
