from __future__ import annotations

import sys

import pytest
import torch
from torch.export import ExportedProgram

from shlo_quant import digits
from shlo_quant.passes.errors import MissingExtraError
from shlo_quant.pt2e.quantizers import xnnpack_quantizer

pytestmark = pytest.mark.filterwarnings("ignore")  # torch and torchao warn of themselves while they quantize

BATCH = 16
HEAVY = {"aten.conv2d.default": 3, "aten.linear.default": 1}


@pytest.fixture(scope="module")
def trained() -> digits.DigitsNet:
    return digits.train(digits.load()[0])


@pytest.fixture(scope="module")
def quantized(trained: digits.DigitsNet) -> ExportedProgram:
    return digits.quantize(trained, digits.load()[0], BATCH)


def accuracy_on_test_set(model: torch.nn.Module) -> float:
    test = digits.load()[1]
    with torch.no_grad():
        logits = torch.cat([model(images) for images in digits.batches(test.images, BATCH)])
    return digits.accuracy(logits, test.labels)


def test_data_are_real_and_split_in_two() -> None:
    training, test = digits.load()
    assert (len(training), len(test)) == (1397, 400)
    assert training.images.shape[1:] == (1, 8, 8)
    assert (training.images.min(), training.images.max()) == (0, 1)
    labels = torch.cat([training.labels, test.labels])
    assert torch.bincount(labels).tolist() == [178, 182, 177, 183, 181, 182, 181, 179, 174, 180]  # of the UCI data set


def test_float_accuracy(trained: digits.DigitsNet) -> None:
    assert accuracy_on_test_set(trained) >= 0.97


def test_quantized_accuracy(trained: digits.DigitsNet, quantized: ExportedProgram) -> None:
    assert accuracy_on_test_set(quantized.module()) >= accuracy_on_test_set(trained) - 0.01


def test_every_heavy_op_is_quantized(quantized: ExportedProgram) -> None:
    heavy = [node for node in quantized.graph.nodes if str(node.target) in HEAVY]
    assert len(heavy) == sum(HEAVY.values())
    for node in heavy:
        assert all("dequantize" in str(operand.target) for operand in node.args[:2])
    assert not [node for node in quantized.graph.nodes if "batch_norm" in str(node.target)]


def test_ops_keep_their_module_path(quantized: ExportedProgram) -> None:
    paths = [
        list(node.meta["nn_module_stack"].values())[-1][0]
        for node in quantized.graph.nodes
        if str(node.target) in HEAVY
    ]
    assert paths == ["stem.0", "body.0", "depthwise.0", "classifier"]


def test_training_repeats_and_leaves_the_global_generator_alone() -> None:
    training = digits.load()[0]
    few = digits.Pictures(training.images[:64], training.labels[:64])
    state = torch.get_rng_state()
    first, second = digits.train(few), digits.train(few)
    assert torch.equal(torch.get_rng_state(), state)
    for one, other in zip(first.state_dict().values(), second.state_dict().values(), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize(
    ("module", "call", "extra"),
    [
        ("sklearn.datasets", digits.load, "models"),
        ("executorch.backends.xnnpack.quantizer.xnnpack_quantizer", xnnpack_quantizer, "xnnpack"),
    ],
)
def test_missing_package_is_one_line_that_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, module: str, call: object, extra: str
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    assert callable(call)
    with pytest.raises(MissingExtraError, match=rf"^[^\n]*pip install 'shlo-quant\[{extra}\]'$"):
        call()
