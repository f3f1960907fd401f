"""Source locations of FX nodes: the PyTorch module path, and file and line of the call in the model's code."""

from __future__ import annotations

import re

import torch
from torch.fx import Node
from torch_mlir import ir
from torch_mlir.extras.fx_importer import ContextCache

from shlo_quant.importers.qdq_ops import DEQUANTIZE_OPS, QUANTIZE_OPS


class NodeLocations(ContextCache):  # type: ignore[misc]  # torch_mlir is untyped
    """torch-mlir's cache of types and locations, with the module path added to each location.

    `loc("layer1.0.conv"("model.py":12:0))`. Quantize and dequantize carry no path of their own (convert_pt2e made
    them): they get that of the op whose result or operand they convert.
    """

    def __init__(self, context: ir.Context, **rest: object) -> None:
        super().__init__(context, **rest)
        self._files: dict[str, ir.Location] = {}
        self._paths: dict[Node, str] = {}

    def get_node_location(self, node: Node) -> ir.Location:
        path = self.module_path(node)
        file = self._file(node.meta.get("stack_trace") or "")
        return ir.Location.name(path, childLoc=file, context=self._c) if path else file

    def module_path(self, node: Node) -> str:
        """The path of the module that made a node, "" if unknown or the root."""
        if node not in self._paths:
            self._paths[node] = ""  # breaks a cycle between neighbours without a path
            self._paths[node] = own_path(node) or self._neighbour_path(node)
        return self._paths[node]

    def _neighbour_path(self, node: Node) -> str:
        if node.target in QUANTIZE_OPS and isinstance(node.args[0], Node):
            return self.module_path(node.args[0])
        if node.target in DEQUANTIZE_OPS:
            return next((path for user in node.users if (path := self.module_path(user))), "")
        return ""

    def _file(self, stack_trace: str) -> ir.Location:
        if stack_trace not in self._files:
            frames = re.findall(r'File "([^"]+)", line ([0-9]+),', stack_trace)
            self._files[stack_trace] = (
                ir.Location.file(frames[-1][0], int(frames[-1][1]), 0, context=self._c)
                if frames
                else ir.Location.unknown(self._c)
            )
        return self._files[stack_trace]


def own_path(node: Node) -> str:
    """The module path that export recorded for a node, "" if none."""
    stack = node.meta.get("nn_module_stack")
    if not stack:
        return ""
    path: str = list(stack.values())[-1][0]
    return path


def describe_node(node: Node) -> str:
    """`model.py:12 (layer1.0.conv)`, for reports; the node's name where nothing is known."""
    frames = re.findall(r'File "([^"]+)", line ([0-9]+),', node.meta.get("stack_trace") or "")
    path = own_path(node)
    file = f"{frames[-1][0]}:{frames[-1][1]}" if frames else ""
    if file and path:
        return f"{file} ({path})"
    return file or path or f"node {node.name}"


def target_name(node: Node) -> str:
    """The op of a call as PyTorch spells it: `aten.conv2d.default`."""
    return (
        str(node.target)
        if isinstance(node.target, torch._ops.OpOverload)
        else getattr(node.target, "__name__", str(node.target))
    )
