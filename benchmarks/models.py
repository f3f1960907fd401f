"""The model zoo: six quantized models, built from seeds, offline, saved as `.pt2`.

    python benchmarks/models.py [NAME ...] [--out DIR]

`digits` is really trained on real data (see `shlo_quant.digits`); the other five are well-known architectures at their
real sizes with random weights, set so that activations live: normalized by the fan-in, batch norms with the statistics
of their own inputs, residual branches that count. All are quantized by XNNPACKQuantizer, static, per-channel symmetric.
"""

from __future__ import annotations

import argparse
import logging
import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import torch
import transformers
from torch import nn
from torch.export import ExportedProgram

from shlo_quant import digits
from shlo_quant.files import atomic
from shlo_quant.pt2e.ptq import Inputs, quantize_ptq
from shlo_quant.pt2e.quantizers import xnnpack_quantizer

IMAGE = (3, 224, 224)
TOKENS, VOCABULARY = 64, 8192
CALIBRATION_BATCHES, TRIAL_BATCHES = 16, 4


@dataclass(frozen=True)
class Source:
    """A float model in eval mode, and inputs of batch 1: to calibrate it with, and others to try the result on."""

    model: nn.Module
    calibration: list[Inputs]
    trial: list[Inputs]


class Logits(nn.Module):
    """A transformers classifier that takes one tensor and returns its logits alone."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """Inputs [n, ...] to logits [n, classes]."""
        logits: torch.Tensor = self.model(inputs).logits
        return logits


def images(n: int, generator: torch.Generator) -> Inputs:
    """Random pictures [n, 3, 224, 224] with structure at several scales, each of mean 0 and deviation 1.

    White noise would do no more than its mean after pooling, and so give every picture the same logits.
    """
    picture = 0.3 * torch.randn(n, *IMAGE, generator=generator)
    for cells in (1, 4, 16):
        coarse = 0.5 * torch.randn(n, 3, cells, cells, generator=generator)
        picture += nn.functional.interpolate(coarse, size=IMAGE[1:], mode="bilinear")
    deviation, mean = torch.std_mean(picture, dim=(1, 2, 3), keepdim=True)
    return ((picture - mean) / deviation,)


def sentences(n: int, generator: torch.Generator) -> Inputs:
    """Random token numbers [n, 64], int64."""
    return (torch.randint(0, VOCABULARY, (n, TOKENS), generator=generator),)


def mobilenet_v2() -> nn.Module:
    """MobileNetV2 1.0, 1001 classes."""
    return transformers.MobileNetV2ForImageClassification(
        transformers.MobileNetV2Config(num_labels=1001, image_size=IMAGE[1])
    )


def resnet18() -> nn.Module:
    """ResNet-18, 1000 classes."""
    return transformers.ResNetForImageClassification(
        transformers.ResNetConfig(
            layer_type="basic",
            depths=[2, 2, 2, 2],
            hidden_sizes=[64, 128, 256, 512],
            embedding_size=64,
            num_labels=1000,
        )
    )


def vit() -> nn.Module:
    """ViT-tiny with the eager attention: both operands of its score matmuls are quantized."""
    config = transformers.ViTConfig(
        hidden_size=192, num_hidden_layers=12, num_attention_heads=3, intermediate_size=768, num_labels=1000
    )
    return transformers.ViTForImageClassification(without_mask(config, "eager"))


def bert() -> nn.Module:
    """A small BERT classifier with scaled_dot_product_attention, which no quantizer enters."""
    config = transformers.BertConfig(
        vocab_size=VOCABULARY,
        hidden_size=384,
        num_hidden_layers=6,
        num_attention_heads=6,
        intermediate_size=1536,
        max_position_embeddings=TOKENS,
        num_labels=16,
    )
    return transformers.BertForSequenceClassification(without_mask(config, "sdpa"))


def convnext_tiny() -> nn.Module:
    """ConvNeXt-tiny, 1000 classes."""
    return transformers.ConvNextForImageClassification(transformers.ConvNextConfig(num_labels=1000))


def without_mask(config: Any, attention: str) -> Any:
    """Make the config use an attention function without any mask; return it.

    While exporting, transformers would build a mask that lets everything pass: dead weight, and in the eager attention
    an addition of -3.4e38, which the quantizer takes for an ordinary activation. It builds none for an attention
    function that it does not know under its own name.
    """
    from transformers.integrations.sdpa_attention import sdpa_attention_forward
    from transformers.models.vit.modeling_vit import eager_attention_forward

    functions = {"eager": eager_attention_forward, "sdpa": sdpa_attention_forward}
    transformers.AttentionInterface.register(f"maskless_{attention}", functions[attention])
    config._attn_implementation = f"maskless_{attention}"
    return config


def random_source(make_model: Callable[[], nn.Module], inputs: Callable[[int, torch.Generator], Inputs]) -> Source:
    """A random model; `inputs(n, generator)` gives it a random batch of n."""
    torch.manual_seed(0)
    generator = torch.Generator().manual_seed(0)
    model = enliven(Logits(make_model()), inputs(8, generator))
    batches = [inputs(1, generator) for _ in range(CALIBRATION_BATCHES + TRIAL_BATCHES)]
    return Source(model, batches[:CALIBRATION_BATCHES], batches[CALIBRATION_BATCHES:])


def digits_source() -> Source:
    """The digits classifier, trained here; tried on the whole test set."""
    training, test = digits.load()
    seen = training.images[: digits.CALIBRATION_COUNT]
    calibration, trial = ([(image,) for image in digits.batches(images, 1)] for images in (seen, test.images))
    return Source(digits.train(training), calibration, trial)


SOURCES: dict[str, Callable[[], Source]] = {
    "digits": digits_source,
    "mobilenet_v2": partial(random_source, mobilenet_v2, images),
    "resnet18": partial(random_source, resnet18, images),
    "vit": partial(random_source, vit, images),
    "bert": partial(random_source, bert, sentences),
    "convnext_tiny": partial(random_source, convnext_tiny, images),
}


def enliven(model: nn.Module, inputs: Inputs) -> nn.Module:
    """Set all parameters at random so that every layer's output has about unit size and depends on its input.

    Args:
      inputs: a batch from which batch norms take their statistics.
    Returns: the same model, in eval mode.
    """
    for module in model.modules():
        for name, parameter in module.named_parameters(recurse=False):
            nn.init.normal_(parameter, *_mean_and_deviation(module, name, parameter))
        if isinstance(module, nn.BatchNorm2d):
            module.reset_running_stats()
            module.momentum = None  # a plain average over all batches seen
    with torch.no_grad():
        model.train()(*inputs)
    return model.eval()


def _mean_and_deviation(module: nn.Module, name: str, parameter: torch.Tensor) -> tuple[float, float]:
    if isinstance(module, nn.Conv2d) and module.groups > 1 and name == "weight":
        share = 1 / parameter[0].numel()
        return share, share  # a blur: a filter without mean would leave noise alone, which batch norm then amplifies
    if isinstance(module, (nn.Linear, nn.Conv2d)) and name == "weight":
        return 0.0, math.sqrt(2 / parameter[0].numel())
    if isinstance(module, nn.Embedding):
        return 0.0, 1.0
    if name == "weight":  # of a norm
        return 1.0, 0.1
    return (0.5, 0.1) if name == "layer_scale_parameter" else (0.0, 0.1)


def build(name: str) -> tuple[ExportedProgram, Inputs]:
    """Return the quantized program of that name and example inputs (batch 1, static). Prints how true it is."""
    source = SOURCES[name]()
    program = quantize_ptq(source.model, source.trial[0], source.calibration, xnnpack_quantizer())
    expected, found = _outputs(source.model, source.trial), _outputs(program.module(), source.trial)
    _print_fidelity(expected, found)
    if name == "digits":
        labels = digits.load()[1].labels
        before, after = (digits.accuracy(logits, labels) for logits in (expected, found))
        print(f"  test accuracy: float {before:.4f}, quantized {after:.4f}")
    return program, source.trial[0]


def _outputs(model: nn.Module, batches: list[Inputs]) -> torch.Tensor:
    with torch.no_grad():
        return torch.cat([model(*inputs) for inputs in batches])


def _print_fidelity(expected: torch.Tensor, found: torch.Tensor) -> None:
    """Print how much logits [n, classes] depend on the input, and how well the quantized ones follow the float ones."""
    spread = expected.std(dim=0).mean() / expected.std()
    sqnr = 10 * torch.log10(expected.square().sum() / (expected - found).square().sum())
    print(f"  logits: deviation {expected.std():.2f}, between inputs {spread:.2f} of it; quantized SQNR {sqnr:.1f} dB")


def save(program: ExportedProgram, path: Path) -> None:
    """Write a `.pt2`; the file appears whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic(path) as stream:
        torch.export.save(program, stream)


def main() -> None:
    """Build and save the models named on the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of: {', '.join(SOURCES)}; all by default")
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "models", metavar="DIR")
    arguments = parser.parse_args()
    unknown = set(arguments.names) - set(SOURCES)
    if unknown:
        parser.error(f"no model named {', '.join(sorted(unknown))}; there are {', '.join(SOURCES)}")
    for name in arguments.names or SOURCES:
        start = time.perf_counter()
        print(name, flush=True)
        program, _ = build(name)
        path = arguments.out / f"{name}.pt2"
        save(program, path)
        print(f"  {path}: {path.stat().st_size / 1e6:.1f} MB in {time.perf_counter() - start:.1f} s", flush=True)


if __name__ == "__main__":
    warnings.filterwarnings("ignore")
    logging.disable(logging.WARNING)
    main()
