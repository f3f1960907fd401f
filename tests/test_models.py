from __future__ import annotations

from pathlib import Path

import pytest
import torch
import transformers
from torch import nn

from benchmarks import models
from shlo_quant.pt2e.ptq import quantize_ptq
from shlo_quant.pt2e.quantizers import xnnpack_quantizer

pytestmark = pytest.mark.filterwarnings("ignore")  # torch, torchao and transformers warn of themselves


def tiny_resnet() -> nn.Module:
    return transformers.ResNetForImageClassification(
        transformers.ResNetConfig(layer_type="basic", depths=[1], hidden_sizes=[8], embedding_size=8, num_labels=5)
    )


def tiny_bert(attention: str) -> nn.Module:
    config = transformers.BertConfig(
        vocab_size=models.VOCABULARY,
        hidden_size=16,
        num_hidden_layers=1,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=models.TOKENS,
    )
    return transformers.BertForSequenceClassification(models.without_mask(config, attention))


def test_random_model_lives_and_its_quantization_follows_it() -> None:
    source = models.random_source(tiny_resnet, models.images)
    program = quantize_ptq(source.model, source.trial[0], source.calibration, xnnpack_quantizer())
    quantized = program.module()
    with torch.no_grad():
        expected = torch.cat([source.model(*inputs) for inputs in source.trial])
        found = torch.cat([quantized(*inputs) for inputs in source.trial])
    assert expected.std(dim=0).min() > 0.01
    assert (expected - found).square().sum() < 0.01 * expected.square().sum()


def test_random_model_is_the_same_each_time() -> None:
    first, second = (models.random_source(tiny_resnet, models.images) for _ in range(2))
    for one, other in zip(first.model.state_dict().values(), second.model.state_dict().values(), strict=True):
        assert torch.equal(one, other)
    assert torch.equal(first.trial[0][0], second.trial[0][0])


@pytest.mark.parametrize("attention", ["eager", "sdpa"])
def test_attention_without_mask(attention: str) -> None:
    source = models.random_source(lambda: tiny_bert(attention), models.sentences)
    program = torch.export.export(source.model, source.trial[0], strict=False)
    targets = {str(node.target) for node in program.graph.nodes}
    assert not targets & {"aten.ge.Scalar", "aten.where.self", "aten.masked_fill.Scalar"}
    assert ("aten.scaled_dot_product_attention.default" in targets) == (attention == "sdpa")


def test_saved_program_loads_and_leaves_nothing_else_behind(tmp_path: Path) -> None:
    program = torch.export.export(nn.Linear(2, 3), (torch.ones(1, 2),))
    models.save(program, tmp_path / "new" / "linear.pt2")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["linear.pt2"]
    loaded = torch.export.load(tmp_path / "new" / "linear.pt2")
    assert torch.equal(loaded.module()(torch.ones(1, 2)), program.module()(torch.ones(1, 2)))
