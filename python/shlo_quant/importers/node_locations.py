"""Source locations of FX nodes: the PyTorch module path, and file and line of the call in the model's code.

`torch.export.export` of a converted model keeps `nn_module_stack` and `stack_trace` of every node of the original
model. The quantize and dequantize nodes that convert_pt2e adds have neither of their own.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import torch
from torch.fx import Node
from torch_mlir import ir
from torch_mlir.extras.fx_importer import ContextCache

from shlo_quant.importers.qdq_ops import DEQUANTIZE_OPS, QUANTIZE_OPS

_TORCH = str(Path(torch.__file__).parent)


@dataclass(frozen=True)
class Source:
    """Where a node comes from.

    Attributes:
      module: path of the module that made the call, "" for the root or if unknown.
      file, line: the innermost call outside of torch itself; "" and 0 if unknown.
    """

    module: str
    file: str
    line: int

    def __str__(self) -> str:
        position = f"{self.file}:{self.line}" if self.file else ""
        if position and self.module:
            return f"{position} ({self.module})"
        return position or self.module


def source(node: Node) -> Source:
    """What export recorded about a node."""
    stack = node.meta.get("nn_module_stack")
    frames = re.findall(r'File "([^"]+)", line ([0-9]+),', node.meta.get("stack_trace") or "")
    frames = [frame for frame in frames if not frame[0].startswith("<")]  # generated code
    outside = [frame for frame in frames if not frame[0].startswith(_TORCH)] or frames
    file, line = outside[-1] if outside else ("", 0)
    return Source(list(stack.values())[-1][0] if stack else "", file, int(line))


def describe_node(node: Node) -> str:
    """`model.py:12 (layer1.0.conv)`, or the node's name where nothing is known; for reports."""
    return str(source(node)) or f"node {node.name}"


def original_name(node: Node) -> str:
    """The name that a node of a decomposed program had in the program before its decomposition."""
    sources = node.meta.get("from_node")
    return str(sources[-1].name) if sources else node.name


def target_name(node: Node) -> str:
    """The op of a call as PyTorch spells it: `aten.conv2d.default`."""
    target = node.target
    return str(target) if isinstance(target, torch._ops.OpOverload) else getattr(target, "__name__", str(target))


class NodeLocations(ContextCache):  # type: ignore[misc]  # torch_mlir is untyped
    """torch-mlir's cache of types and locations, the module path added to each location.

    `loc("layer1.0.conv"("model.py":12:0))`. Quantize has the location of the op whose result it quantizes, dequantize
    that of the op whose operand it makes.
    """

    def __init__(self, context: ir.Context, **rest: object) -> None:
        super().__init__(context, **rest)
        self._sources: dict[Node, Source] = {}

    def get_node_location(self, node: Node) -> ir.Location:
        found = self._source(node)
        if not found.file:
            position = ir.Location.unknown(self._c)
        else:
            position = ir.Location.file(found.file, found.line, 0, context=self._c)
        return ir.Location.name(found.module, childLoc=position, context=self._c) if found.module else position

    def _source(self, node: Node) -> Source:
        if node not in self._sources:
            self._sources[node] = own = source(node)  # set first: the neighbours of a neighbour may be this node
            neighbour = _neighbour(node)
            if neighbour is not None:
                found = self._source(neighbour)
                self._sources[node] = found if found.module or found.file else own
        return self._sources[node]


def _neighbour(node: Node) -> Node | None:
    if node.target in QUANTIZE_OPS and isinstance(node.args[0], Node) and node.args[0].op == "call_function":
        return node.args[0]
    if node.target in DEQUANTIZE_OPS:
        return next((user for user in node.users if user.op == "call_function"), None)
    return None
