"""Quantizers: which ops of an exported model are quantized, and with which parameters."""

from __future__ import annotations

from torchao.quantization.pt2e.quantizer import Quantizer

from shlo_quant.passes.errors import MissingExtraError


def xnnpack_quantizer() -> Quantizer:
    """executorch's XNNPACKQuantizer for the whole model: static, int8, weights symmetric and per channel.

    Activations are per-tensor affine in [-128, 127], weights per output channel in [-127, 127] with zero point 0.
    Raises: MissingExtraError without executorch (extra `xnnpack`).
    """
    try:
        from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
            XNNPACKQuantizer,
            get_symmetric_quantization_config,
        )
    except ModuleNotFoundError as error:
        raise MissingExtraError("XNNPACKQuantizer", "executorch", "xnnpack") from error
    quantizer: Quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
    return quantizer
