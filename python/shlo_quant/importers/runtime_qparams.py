"""Quantize and dequantize whose scale and zero point are tensors (overloads `.tensor` and `.tensor2`).

quantize_per_tensor.tensor(x, scale, zero_point, ...)     ==>     quantize_per_tensor.default(x, 0.5, 3, ...)
    if they are constants of the program, else float arithmetic:
                                                          ==>     clamp(round(x * (1 / scale)) + zero_point)
"""

from __future__ import annotations

from typing import Any

import torch
from torch.export import ExportedProgram
from torch.fx import Graph, Node

from shlo_quant.importers.qdq_ops import Constants, arguments

_OPS = torch.ops.quantized_decomposed
_ATEN = torch.ops.aten

QUANTIZE = frozenset({_OPS.quantize_per_tensor.tensor, _OPS.quantize_per_tensor.tensor2})
DEQUANTIZE = frozenset({_OPS.dequantize_per_tensor.tensor, _OPS.dequantize_per_tensor.tensor2})


def rewrite_tensor_overloads(program: ExportedProgram, constants: Constants) -> None:
    """Replace every such node of a program, in place."""
    for node in list(program.graph.nodes):
        if node.target not in QUANTIZE and node.target not in DEQUANTIZE:
            continue
        values = {name: _number(value, constants) for name, value in arguments(node).items()}
        builder = _Builder(program.graph, node)
        if not any(isinstance(values[name], Node) for name in ("scale", "zero_point", "quant_min", "quant_max")):
            new = builder.with_numbers(values)
        else:
            new = builder.quantize(values) if node.target in QUANTIZE else builder.dequantize(values)
        node.replace_all_uses_with(new)
        program.graph_signature.replace_all_uses(node.name, new.name)
        program.graph.erase_node(node)


def _number(value: Any, constants: Constants) -> Any:
    """The number in a one-element constant tensor; anything else unchanged."""
    if isinstance(value, Node) and value.name in constants and constants[value.name].numel() == 1:
        return constants[value.name].item()
    return value


class _Builder:
    """Builds nodes in place of one node, with its location and their own example values."""

    def __init__(self, graph: Graph, node: Node) -> None:
        self._graph = graph
        self._node = node

    def with_numbers(self, values: dict[str, Any]) -> Node:
        """The `.default` overload."""
        if self._node.target in QUANTIZE:
            return self._call(_OPS.quantize_per_tensor.default, *values.values())
        out_dtype = values.pop("out_dtype")
        return self._call(_OPS.dequantize_per_tensor.default, *values.values(), out_dtype=out_dtype)

    def quantize(self, values: dict[str, Any]) -> Node:
        """Source: quantize_per_tensor in torch/ao/quantization/fx/_decomposed.py; 1 / scale in float32 is the same."""
        reciprocal = self._call(_ATEN.reciprocal.default, self._scalar(values["scale"]))
        scaled = self._call(_ATEN.mul.Tensor, self._convert(values["input"], torch.float32), reciprocal)
        shifted = self._call(
            _ATEN.add.Tensor, self._call(_ATEN.round.default, scaled), self._scalar(values["zero_point"])
        )
        clamped = self._call(_ATEN.clamp.default, shifted, values["quant_min"], values["quant_max"])
        return self._convert(clamped, values["dtype"])

    def dequantize(self, values: dict[str, Any]) -> Node:
        """Source: dequantize_per_tensor, same file."""
        stored = self._convert(values["input"], torch.float32)
        centered = self._call(_ATEN.sub.Tensor, stored, self._scalar(values["zero_point"]))
        expressed = self._call(_ATEN.mul.Tensor, centered, self._scalar(values["scale"]))
        return self._convert(expressed, values["out_dtype"] or torch.float32)

    def _scalar(self, value: Node | float) -> Node:
        """A float32 tensor without dimensions."""
        if not isinstance(value, Node):
            return self._call(_ATEN.full.default, [], value, dtype=torch.float32)
        return self._convert(self._call(_ATEN.view.default, value, []), torch.float32)

    def _convert(self, value: Node, dtype: torch.dtype) -> Node:
        if value.meta["val"].dtype == dtype:
            return value
        return self._call(torch.ops.prims.convert_element_type.default, value, dtype)

    def _call(self, target: torch._ops.OpOverload, *args: Any, **kwargs: Any) -> Node:
        with self._graph.inserting_before(self._node):
            new = self._graph.call_function(target, args, kwargs)
        new.meta = {key: value for key, value in self._node.meta.items() if key not in ("val", "tensor_meta")}
        examples = torch.fx.node.map_arg(args, lambda node: node.meta["val"])
        with self._node.meta["val"].fake_mode:
            new.meta["val"] = target(*examples, **kwargs)
        return new
