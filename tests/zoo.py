"""Small networks, one a pattern that quantized PyTorch programs hold, and their quantization in four modes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import torch
import torch.nn.functional as F
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from torch import nn
from torch.export import ExportedProgram
from torchao.quantization.pt2e import move_exported_model_to_eval
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e

Inputs = tuple[torch.Tensor, ...]
Pattern = Callable[[], tuple[nn.Module, Inputs]]
Mode = Literal["static", "per_tensor", "four_bits", "dynamic", "qat"]


class Network(nn.Module):
    """A function of the layers it uses."""

    def __init__(self, compute: Callable[..., Any], **layers: nn.Module | nn.Parameter) -> None:
        super().__init__()
        self.compute = compute
        for name, layer in layers.items():
            setattr(self, name, layer)

    def forward(self, *inputs: torch.Tensor) -> Any:
        return self.compute(self, *inputs)


class QuickQuantizer(XNNPACKQuantizer):
    """Without the conv+BN patterns, which take seconds to build; after training, batch norms are folded before them."""

    SUPPORTED_PATTERNS: ClassVar[Any] = [p for p in XNNPACKQuantizer.SUPPORTED_PATTERNS if "bn" not in p.name]


def quantizer(mode: Mode) -> XNNPACKQuantizer:
    options: dict[str, dict[str, Any]] = {
        "per_tensor": {"is_per_channel": False},
        "four_bits": {"weight_qmin": -7, "weight_qmax": 7},
        "dynamic": {"is_dynamic": True},
        "qat": {"is_qat": True},
    }
    config = get_symmetric_quantization_config(**{"is_per_channel": True, **options.get(mode, {})})
    return (XNNPACKQuantizer() if mode == "qat" else QuickQuantizer()).set_global(config)


def quantize(model: nn.Module, inputs: Inputs, mode: Mode = "static") -> tuple[nn.Module, ExportedProgram]:
    """The converted module, for values to compare with, and its exported program."""
    exported = torch.export.export(model.train(mode == "qat"), inputs, strict=False).module()
    prepared = (prepare_qat_pt2e if mode == "qat" else prepare_pt2e)(exported, quantizer(mode))
    with torch.no_grad():
        prepared(*inputs)
    if mode == "qat":
        move_exported_model_to_eval(prepared)
    converted = convert_pt2e(prepared)
    return converted, torch.export.export(converted, inputs, strict=False)


# ---- inputs


def image(channels: int = 3, size: int = 8) -> Inputs:
    return (torch.randn(2, channels, size, size),)


def pair(*shape: int) -> Inputs:
    return torch.randn(shape or (2, 3, 4, 4)), torch.randn(shape or (2, 3, 4, 4))


def signal() -> Inputs:
    return (torch.randn(2, 3, 9),)


def rows() -> Inputs:
    return (torch.randn(4, 8),)


def tokens() -> Inputs:
    return (torch.randn(2, 5, 8),)


# ---- makers of patterns


def conv(*, channels: tuple[int, int] = (3, 4), kernel: int = 3, **options: Any) -> Pattern:
    return lambda: (Network(lambda m, x: m.c(x), c=nn.Conv2d(*channels, kernel, **options)), image(channels[0]))


def after_conv(compute: Callable[[torch.Tensor], Any]) -> Pattern:
    return lambda: (Network(lambda m, x: compute(m.c(x)), c=nn.Conv2d(3, 4, 3, padding=1)), image())


def between_convs(compute: Callable[..., Any], channels: int = 4, **layers: Callable[[], nn.Module]) -> Pattern:
    """`compute(network, x)` with a quantized producer and a quantized consumer."""

    def build() -> tuple[nn.Module, Inputs]:
        a, b = nn.Conv2d(3, 4, 3, padding=1), nn.Conv2d(channels, 4, 3, padding=1)
        made = {name: make() for name, make in layers.items()}
        return Network(lambda m, x: m.b(compute(m, m.a(x))), a=a, b=b, **made), image()

    return build


def between_linears(compute: Callable[..., Any], **layers: Callable[[], nn.Module]) -> Pattern:
    def build() -> tuple[nn.Module, Inputs]:
        made = {name: make() for name, make in layers.items()}
        return Network(lambda m, x: m.b(compute(m, m.a(x))), a=nn.Linear(8, 8), b=nn.Linear(8, 8), **made), tokens()

    return build


def layer(make: Callable[[], nn.Module], inputs: Callable[[], Inputs], compute: Any = lambda m, x: m.l(x)) -> Pattern:
    return lambda: (Network(compute, l=make()), inputs())


def function(compute: Callable[..., Any], inputs: Callable[[], Inputs]) -> Pattern:
    return lambda: (Network(lambda _m, *x: compute(*x)), inputs())


def attention() -> tuple[nn.Module, Inputs]:
    layers = {name: nn.Linear(8, 8) for name in "qkvo"}
    return Network(lambda m, x: m.o(F.scaled_dot_product_attention(m.q(x), m.k(x), m.v(x))), **layers), tokens()


def residual() -> tuple[nn.Module, Inputs]:
    def compute(m: Any, x: torch.Tensor) -> torch.Tensor:
        start = F.relu(m.stem(x))
        return F.relu(m.n(m.b(F.relu(m.a(start)))) + start)

    layers = {"stem": nn.Conv2d(3, 4, 1), "a": nn.Conv2d(4, 4, 3, padding=1), "b": nn.Conv2d(4, 4, 3, padding=1)}
    return Network(compute, **layers, n=nn.BatchNorm2d(4)), image()


def squeeze_excite() -> tuple[nn.Module, Inputs]:
    def compute(m: Any, x: torch.Tensor) -> torch.Tensor:
        y = F.relu(m.stem(x))
        return y * torch.sigmoid(m.b(F.relu(m.a(F.adaptive_avg_pool2d(y, 1)))))

    return Network(compute, stem=nn.Conv2d(3, 4, 3), a=nn.Conv2d(4, 2, 1), b=nn.Conv2d(2, 4, 1)), image()


def transposed(compute: Any = lambda m, x: m.l(x), channels: int = 3, **options: Any) -> Pattern:
    return lambda: (Network(compute, l=nn.ConvTranspose2d(channels, 4, 3, stride=2, **options)), image(channels))


CONVOLUTIONS: dict[str, Pattern] = {
    "conv1d": layer(lambda: nn.Conv1d(3, 4, 3, padding=1), signal),
    "conv2d": conv(padding=1),
    "conv2d_no_bias": conv(padding=1, bias=False),
    "conv3d": layer(lambda: nn.Conv3d(2, 4, 3, padding=1), lambda: (torch.randn(2, 2, 4, 4, 4),)),
    "conv2d_stride_dilation": conv(stride=2, padding=(1, 2), dilation=(1, 2)),
    "conv2d_groups": conv(channels=(4, 8), padding=1, groups=2),
    "conv2d_depthwise": conv(channels=(4, 8), padding=1, groups=4),
    "conv2d_same": conv(padding="same"),
    "conv2d_same_even_kernel": conv(kernel=4, padding="same"),
    "conv2d_valid": conv(padding="valid"),
    "conv2d_reflect": conv(padding=1, padding_mode="reflect"),
    "conv2d_circular": conv(padding=1, padding_mode="circular"),
    "pad_conv2d": layer(lambda: nn.Conv2d(3, 4, 3), image, lambda m, x: m.l(F.pad(x, (0, 1, 0, 1)))),
    "conv_pad_conv": between_convs(lambda _m, x: F.pad(x, (0, 1, 0, 1))),
    "transposed_1d": layer(lambda: nn.ConvTranspose1d(3, 4, 3, stride=2), signal),
    "transposed_2d": transposed(padding=1, output_padding=1),
    "transposed_relu": transposed(lambda m, x: F.relu(m.l(x))),
    "transposed_groups": transposed(channels=4, groups=2),
    "conv_called_twice": layer(lambda: nn.Conv2d(3, 4, 3), image, lambda m, x: m.l(x) + F.relu(m.l(x))),
    "conv_two_users": after_conv(lambda y: F.relu(y) + y),
    "residual": residual,
    "squeeze_excite": squeeze_excite,
}

ACTIVATIONS: dict[str, Pattern] = {
    "relu": after_conv(F.relu),
    "relu_in_place": after_conv(lambda x: F.relu(x, inplace=True)),
    "relu6": after_conv(F.relu6),
    "hardtanh": after_conv(F.hardtanh),
    "clamp": after_conv(lambda x: x.clamp(0, 6)),
    "leaky_relu": after_conv(lambda x: F.leaky_relu(x, 0.1)),
    "prelu": between_convs(lambda m, x: m.p(x), p=lambda: nn.PReLU(4)),
    **{
        name: between_convs(lambda _m, x, compute=compute: compute(x))
        for name, compute in {
            "hardswish": F.hardswish,
            "hardsigmoid": F.hardsigmoid,
            "silu": F.silu,
            "gelu": F.gelu,
            "gelu_tanh": lambda x: F.gelu(x, approximate="tanh"),
            "sigmoid": torch.sigmoid,
            "tanh": torch.tanh,
            "elu": F.elu,
            "mish": F.mish,
            "exp": torch.exp,
            "abs": torch.abs,
        }.items()
    },
}

PRODUCTS: dict[str, Pattern] = {
    "linear": layer(lambda: nn.Linear(8, 6), rows),
    "linear_no_bias": layer(lambda: nn.Linear(8, 6, bias=False), rows),
    "linear_3d": layer(lambda: nn.Linear(8, 6), tokens),
    "linear_4d": layer(lambda: nn.Linear(8, 6), lambda: (torch.randn(2, 3, 4, 8),)),
    "linear_relu": layer(lambda: nn.Linear(8, 6), rows, lambda m, x: F.relu(m.l(x))),
    "linear_relu6": layer(lambda: nn.Linear(8, 6), rows, lambda m, x: F.relu6(m.l(x))),
    "linear_permuted": layer(lambda: nn.Linear(4, 6), lambda: image(4, 5), lambda m, x: m.l(x.permute(0, 2, 3, 1))),
    "linear_gelu_linear": between_linears(lambda _m, x: F.gelu(x)),
    "matmul": function(torch.matmul, lambda: (torch.randn(4, 8), torch.randn(8, 6))),
    "matmul_parameter": layer(lambda: nn.ParameterList([torch.randn(8, 6)]), rows, lambda m, x: x @ m.l[0]),
    "addmm": layer(lambda: nn.ParameterList([torch.randn(8, 6)]), rows, lambda m, x: torch.addmm(x[:, :6], x, m.l[0])),
    "bmm": function(torch.bmm, lambda: (torch.randn(2, 4, 8), torch.randn(2, 8, 6))),
    "einsum": function(lambda x, y: torch.einsum("bij,bkj->bik", x, y), lambda: pair(2, 4, 8)),
    "scores": between_linears(lambda _m, x: (x @ x.transpose(1, 2)) @ x),
    "scaled_dot_product_attention": attention,
    "multi_head_attention": layer(
        lambda: nn.MultiheadAttention(8, 2, batch_first=True), tokens, lambda m, x: m.l(x, x, x, need_weights=False)[0]
    ),
}

ELEMENTWISE: dict[str, Pattern] = {
    "add": function(lambda x, y: x + y, pair),
    "add_relu": function(lambda x, y: F.relu(x + y), pair),
    "add_in_place": layer(lambda: nn.Conv2d(3, 3, 1), pair, lambda m, x, y: m.l(x).add_(y)),
    "add_scalar": function(lambda x: x + 1.5, image),
    "add_to_itself": function(lambda x: x + x, image),
    "add_broadcast": function(lambda x, y: x + y, lambda: (torch.randn(2, 3, 4, 4), torch.randn(3, 1, 1))),
    "add_alpha": function(lambda x, y: torch.add(x, y, alpha=2), pair),
    "add_parameter": layer(lambda: nn.ParameterList([torch.randn(3, 1, 1)]), image, lambda m, x: x + m.l[0]),
    "sub": function(lambda x, y: x - y, pair),
    "sub_from_scalar": function(lambda x: 1.0 - x, image),
    "mul": function(lambda x, y: x * y, pair),
    "mul_relu": function(lambda x, y: F.relu(x * y), pair),
    "mul_scalar": function(lambda x: x * 0.5, image),
    "square": function(lambda x: x * x, image),
    "div": function(lambda x, y: x / y, pair),
    "minimum": between_convs(lambda _m, x: torch.minimum(x, torch.flip(x, [1]))),
    "relu_alone": function(F.relu, image),
}

SHAPES: dict[str, Pattern] = {
    "cat": function(lambda x, y: torch.cat([x, y], 1), pair),
    "cat_relu": function(lambda x, y: F.relu(torch.cat([x, y], 1)), pair),
    "cat_to_itself": function(lambda x: torch.cat([x, x], 1), image),
    "cat_mixed": layer(lambda: nn.Conv2d(3, 4, 1), image, lambda m, x: torch.cat([F.relu(m.l(x)), x], 1)),
    "stack": layer(lambda: nn.Conv2d(3, 4, 1), image, lambda m, x: torch.stack([m.l(x), m.l(x + 1)], 1)),
    "chunk": after_conv(lambda y: torch.add(*y.chunk(2, 1))),
    "slice": between_convs(lambda _m, x: x[:, :, 1:7, 1:7]),
    "select": between_linears(lambda _m, x: x[:, 0]),
    "max_pool": between_convs(lambda _m, x: F.max_pool2d(x, 2)),
    "max_pool_padded": between_convs(lambda _m, x: F.max_pool2d(x, 3, 2, 1)),
    "max_pool_first": function(lambda x: F.max_pool2d(x, 2), image),
    "max_pool_1d": layer(lambda: nn.Conv1d(3, 4, 3), signal, lambda m, x: F.max_pool1d(m.l(x), 2)),
    "avg_pool": between_convs(lambda _m, x: F.avg_pool2d(x, 2)),
    "avg_pool_padded": between_convs(lambda _m, x: F.avg_pool2d(x, 3, 2, 1)),
    "avg_pool_not_counted": between_convs(lambda _m, x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False)),
    "adaptive_avg_pool_1": between_convs(lambda _m, x: F.adaptive_avg_pool2d(x, 1)),
    "adaptive_avg_pool_3": between_convs(lambda _m, x: F.adaptive_avg_pool2d(x, 3)),
    "mean": between_convs(lambda _m, x: x.mean((2, 3), keepdim=True)),
    "sum": between_convs(lambda _m, x: x.sum(1, keepdim=True).expand(-1, 4, -1, -1)),
    "amax": between_linears(lambda _m, x: x.amax(1)),
    "flatten": layer(lambda: nn.Linear(48, 5), lambda: image(3, 4), lambda m, x: m.l(F.relu(x).flatten(1))),
    "view": layer(lambda: nn.Linear(48, 5), lambda: image(3, 4), lambda m, x: m.l(F.relu(x).view(x.shape[0], -1))),
    "transpose_twice": between_linears(lambda _m, x: x.transpose(1, 2).transpose(1, 2)),
    "unsqueeze": between_linears(lambda _m, x: x.unsqueeze(1).squeeze(1)),
    "expand": between_convs(lambda _m, x: x[:, :1].expand(-1, 4, -1, -1)),
    "clone": between_convs(lambda _m, x: x.clone().contiguous()),
    "dropout": between_convs(lambda m, x: m.d(x), d=lambda: nn.Dropout(0.5)),
    "pixel_shuffle": between_convs(lambda _m, x: F.pixel_shuffle(x, 2), channels=1),
    "channel_shuffle": between_convs(lambda _m, x: x.view(2, 2, 2, 8, 8).transpose(1, 2).reshape(2, 4, 8, 8)),
    "upsample_nearest": between_convs(lambda _m, x: F.interpolate(x, scale_factor=2.0)),
    "upsample_nearest_uneven": between_convs(lambda _m, x: F.interpolate(x, size=(11, 5))),
    "upsample_bilinear": between_convs(lambda _m, x: F.interpolate(x, scale_factor=2.0, mode="bilinear")),
}

NORMS: dict[str, Pattern] = {
    "softmax": between_linears(lambda _m, x: F.softmax(x, -1)),
    "log_softmax": layer(lambda: nn.Linear(8, 6), rows, lambda m, x: F.log_softmax(m.l(x), -1)),
    "layer_norm": between_linears(lambda m, x: m.n(x), n=lambda: nn.LayerNorm(8)),
    "rms_norm": between_linears(lambda m, x: m.n(x), n=lambda: nn.RMSNorm(8)),
    "group_norm": between_convs(lambda m, x: m.n(x), n=lambda: nn.GroupNorm(2, 4)),
    "instance_norm": between_convs(lambda m, x: m.n(x), n=lambda: nn.InstanceNorm2d(4, affine=True)),
    "batch_norm": between_convs(lambda m, x: m.n(F.relu(x)), n=lambda: nn.BatchNorm2d(4)),
    "embedding": layer(
        lambda: nn.Sequential(nn.Embedding(10, 8), nn.Linear(8, 4)), lambda: (torch.randint(0, 10, (2, 5)),)
    ),
    "gru": layer(lambda: nn.GRU(8, 6, batch_first=True), tokens, lambda m, x: m.l(x)[0]),
    "lstm": layer(lambda: nn.LSTM(8, 6, batch_first=True), tokens, lambda m, x: m.l(x)[0]),
    "two_outputs": after_conv(lambda y: (F.relu(y), y.sum())),
    "output_is_input": layer(lambda: nn.Conv2d(3, 4, 1), image, lambda m, x: (x, m.l(x))),
    "no_output": layer(lambda: nn.Conv2d(3, 4, 1), image, lambda m, x: (None, m.l(x))),
}

BATCH_NORMS: dict[str, Pattern] = {
    "conv_batch_norm_relu": lambda: (
        Network(lambda m, x: F.relu(m.n(m.c(x))), c=nn.Conv2d(3, 4, 3, bias=False), n=nn.BatchNorm2d(4)),
        image(),
    ),
    "linear_batch_norm": lambda: (Network(lambda m, x: m.n(m.l(x)), l=nn.Linear(8, 6), n=nn.BatchNorm1d(6)), rows()),
}

PATTERNS = CONVOLUTIONS | ACTIVATIONS | PRODUCTS | ELEMENTWISE | SHAPES | NORMS | BATCH_NORMS
