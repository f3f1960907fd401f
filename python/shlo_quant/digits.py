"""A small classifier of handwritten digits, trained on real data: what the demo and the model zoo quantize.

The data are scikit-learn's digits (UCI "Optical Recognition of Handwritten Digits", 1797 pictures of 8 by 8), which
ship with the package: nothing is downloaded. Training is seeded and runs on one thread, hence repeatable.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import dataclass

import torch
from torch import nn
from torch.export import ExportedProgram
from torch.nn import functional

from shlo_quant.passes.errors import MissingExtraError
from shlo_quant.pt2e.ptq import quantize_ptq
from shlo_quant.pt2e.quantizers import xnnpack_quantizer

TEST_COUNT = 400
CALIBRATION_COUNT = 256
EPOCHS, BATCH, LEARNING_RATE = 12, 32, 4e-3


@dataclass(frozen=True)
class Pictures:
    """Labelled pictures: images float32 [n, 1, 8, 8] in [0, 1], labels int64 [n] in 0..9."""

    images: torch.Tensor
    labels: torch.Tensor

    def __len__(self) -> int:
        return len(self.labels)


class DigitsNet(nn.Module):
    """Three times convolution + batch norm + ReLU, then a linear layer; 26 thousand multiply-adds a picture."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = _conv_bn_relu(1, 8)
        self.body = _conv_bn_relu(8, 16)
        self.depthwise = _conv_bn_relu(16, 16, groups=16)
        self.classifier = nn.Linear(16 * 4, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        """Images [n, 1, 8, 8] to logits [n, 10]."""
        features = functional.max_pool2d(self.stem(images), 2)
        features = self.depthwise(self.body(features))
        logits: torch.Tensor = self.classifier(functional.max_pool2d(features, 2).flatten(1))
        return logits


def _conv_bn_relu(inputs: int, outputs: int, groups: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, 3, padding=1, groups=groups, bias=False), nn.BatchNorm2d(outputs), nn.ReLU()
    )


def load() -> tuple[Pictures, Pictures]:
    """Return the training and the test set: 1397 and 400 pictures, split by a seeded shuffle.

    Raises: MissingExtraError without scikit-learn (extra `models`).
    """
    try:
        from sklearn.datasets import load_digits
    except ModuleNotFoundError as error:
        raise MissingExtraError("the digits data", "scikit-learn", "models") from error
    data = load_digits()
    order = torch.randperm(len(data.target), generator=torch.Generator().manual_seed(0))
    images = torch.from_numpy(data.images).float()[order, None] / 16
    labels = torch.from_numpy(data.target).long()[order]
    return Pictures(images[:-TEST_COUNT], labels[:-TEST_COUNT]), Pictures(images[-TEST_COUNT:], labels[-TEST_COUNT:])


def train(pictures: Pictures, seed: int = 0) -> DigitsNet:
    """Train the classifier for a few seconds; return it in eval mode."""
    with _one_thread(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = DigitsNet()
        optimizer = torch.optim.Adam(model.parameters(), LEARNING_RATE)
        steps = EPOCHS * -(-len(pictures) // BATCH)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
        for _ in range(EPOCHS):
            order = torch.randperm(len(pictures))
            for start in range(0, len(pictures), BATCH):
                chosen = order[start : start + BATCH]
                optimizer.zero_grad()
                torch.autograd.backward(
                    functional.cross_entropy(model(pictures.images[chosen]), pictures.labels[chosen])
                )
                optimizer.step()
                schedule.step()
    return model.eval()


def quantize(model: DigitsNet, training: Pictures, batch: int) -> ExportedProgram:
    """Quantize for XNNPACK (static, per-channel symmetric), calibrated on training pictures.

    Args:
      batch: how many pictures the program takes at once; its shapes are static.
    Raises: MissingExtraError without executorch (extra `xnnpack`).
    """
    calibration = [(images,) for images in batches(training.images[:CALIBRATION_COUNT], batch)]
    return quantize_ptq(model, calibration[0], calibration, xnnpack_quantizer())


def batches(images: torch.Tensor, batch: int) -> Iterator[torch.Tensor]:
    """Cut images [n, ...] into batches [batch, ...], where `batch` divides n."""
    assert len(images) % batch == 0, f"{len(images)} images are no whole number of batches of {batch}"
    return (images[start : start + batch] for start in range(0, len(images), batch))


def accuracy(logits: torch.Tensor, labels: torch.Tensor) -> float:
    """Share of pictures whose largest logit is that of their label."""
    return (logits.argmax(1) == labels).double().mean().item()


@contextlib.contextmanager
def _one_thread() -> Iterator[None]:
    """Run torch on one thread: sums then have one order, and so one result, on every machine of a kind."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)
