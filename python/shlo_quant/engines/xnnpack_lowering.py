"""Lower a quantized PyTorch program through executorch's XNNPACK partitioner, to the bytes of an executorch program.

The bytes are those of `to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()]).to_executorch()`. To
get there in about half the time, `_without_needless_work` leaves out what cannot change them.
"""

from __future__ import annotations

import importlib
import operator
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any
from unittest import mock

import executorch.kernels.quantized  # noqa: F401 - registers the out variants of quantize and dequantize ops
import torch
from executorch.backends.xnnpack import _passes
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from executorch.exir.delegate import executorch_call_delegate
from executorch.exir.pass_manager import ExportedProgramPassManager
from torch._export.verifier import Verifier
from torch.export import ExportedProgram
from torch.export.graph_signature import OutputKind, OutputSpec, TensorArgument
from torch.fx import Node
from torch.fx.traceback import NodeSource
from torch.utils import _pytree as pytree

from shlo_quant.engines.quantized_programs import DYNAMIC_QUANTIZE_OPS, quantize_nodes
from shlo_quant.passes.errors import EngineError, Finding

_DELEGATE_CALLS = importlib.import_module("torch._higher_order_ops.executorch_call_delegate")

_QUANTIZE = torch.ops.quantized_decomposed.quantize_per_tensor.default

_DEQUANTIZE = torch.ops.quantized_decomposed.dequantize_per_tensor.default

_ATEN = torch.ops.aten

_COPIES = frozenset(
    {_ATEN.clone.default, _ATEN.contiguous.default, _ATEN.dropout.default, _ATEN.dropout_.default}  # not in training
)

_BATCH_NORMS = ("aten.native_batch_norm.default", "aten._native_batch_norm_legit_no_training.default")

ONLY_FOR = {
    _passes.ConvertToUpsampleBilinear2d: ("aten.index.Tensor",),
    _passes.ConvertToLinearPass: ("aten.mm.default", "aten.addmm.default", "aten.bmm.default"),
    _passes.ConvertToSDPAPass: ("aten.bmm.default",),
    _passes.FuseBatchNormPass: _BATCH_NORMS,
    _passes.DecomposeBatchNorm: _BATCH_NORMS,
    _passes.DecomposeConcatenate: ("aten.cat.default",),
    _passes.PReLUReshapePass: ("aten._prelu_kernel.default",),
}
"""Passes of the delegate that change nothing unless one of these ops is there."""


@dataclass(frozen=True)
class LoweredProgram:
    """An executorch program, how many delegates it has, and the ops outside of them."""

    buffer: bytes
    delegates: int
    not_delegated: tuple[Finding, ...]


def check_storage(program: ExportedProgram, names: Sequence[str]) -> None:
    """Refuse what XNNPACK would refuse without a word, or compute as if it were int8.

    Args:
      names: the quantized tensors that are to be returned.
    Raises: EngineError for activations of other storage than int8 in [-128, 127] (XNNPACK saturates at these bounds,
      whatever narrower ones the program states), and for names of tensors quantized with parameters found at run time.
    """
    signature = program.graph_signature
    constants = {*signature.inputs_to_parameters, *signature.inputs_to_buffers}
    constants |= set(signature.inputs_to_lifted_tensor_constants)
    for node in program.graph.nodes:
        if node.target == _QUANTIZE and node.args[0].name not in constants:
            lowest, highest, dtype = node.args[3:6]
            if (lowest, highest, dtype) != (-128, 127, torch.int8):
                storage = f"{str(dtype).removeprefix('torch.')} in [{lowest}, {highest}]"
                raise EngineError(f"XNNPACK's activations are int8 in [-128, 127], {node.name} has {storage}")
    dynamic = [node.name for node in quantize_nodes(program, names) if node.target in DYNAMIC_QUANTIZE_OPS]
    if dynamic:
        raise EngineError(
            f"the integers of {', '.join(dynamic)} cannot be returned: their parameters are computed at run time, "
            f"and XNNPACK quantizes within the op that uses them"
        )


def return_tensors(program: ExportedProgram, names: Sequence[str]) -> dict[str, int]:
    """Make a program return the named quantized tensors too, after its own results; it is changed in place.

    Executorch makes one of tensors that only a dropout or clone parts, and refuses a delegate that returns this twice:
    as the last of them may be returned to another delegate, it stands for all.
    Returns: which result each is, by name. Raises: InputError for a name that no quantize node has.
    """
    last = {_origin(node): node for node in program.graph.nodes if node.target == _QUANTIZE}
    nodes = [last.get(_origin(node), node) for node in quantize_nodes(program, names)]
    output = program.graph.output_node()
    results = list(output.args[0])
    added = [node for node in dict.fromkeys(nodes) if node not in results]
    results += added
    output.args = (tuple(results),)
    signature = program.graph_signature
    signature.output_specs += [OutputSpec(OutputKind.USER_OUTPUT, TensorArgument(node.name), None) for node in added]
    _set_result_structure(program, sum(spec.kind == OutputKind.USER_OUTPUT for spec in signature.output_specs))
    program.graph_module.recompile()
    return {name: results.index(node) for name, node in zip(names, nodes, strict=True)}


def _origin(quantize: Node) -> Node:
    """The first quantize node of the same integers: `quantize -> dequantize -> copy -> quantize`, by one scale."""
    source = quantize.args[0]
    while isinstance(source, Node) and source.target in _COPIES:
        source = source.args[0]
    if not isinstance(source, Node) or source is quantize.args[0] or source.target != _DEQUANTIZE:
        return quantize
    before = source.args[0]
    if not isinstance(before, Node) or before.target != _QUANTIZE:
        return quantize
    return _origin(before) if before.args[1:] == source.args[1:] == quantize.args[1:] else quantize


def _set_result_structure(program: ExportedProgram, count: int) -> None:
    """Let the program return a flat tuple of so many results."""
    signature = program.module_call_graph[0].signature
    assert signature is not None
    signature.out_spec = pytree.tree_structure((0,) * count)


def lower(program: ExportedProgram) -> LoweredProgram:
    """Lower a program; raises whatever executorch raises."""
    config = EdgeCompileConfig(_check_ir_validity=False)
    with _without_needless_work():
        edge = to_edge_transform_and_lower(program, partitioner=[XnnpackPartitioner()], compile_config=config)
        nodes = [node for node in edge.exported_program().graph.nodes if node.op == "call_function"]
        buffer = edge.to_executorch().buffer
    delegates = sum(node.target == executorch_call_delegate for node in nodes)
    others = [node for node in nodes if node.target not in (executorch_call_delegate, operator.getitem)]
    return LoweredProgram(buffer, delegates, tuple(map(_finding, others)))


def _finding(node: Node) -> Finding:
    stack = node.meta.get("nn_module_stack")
    module = list(stack.values())[-1][0] if stack else ""
    assert not isinstance(node.target, str)
    return Finding(module or node.name, node.target.__name__, "is not delegated to XNNPACK")


@contextmanager
def _without_needless_work() -> Iterator[None]:
    """Executorch without its checks between passes, copies of provenance, and passes that have nothing to do.

    Checks refuse graphs but change none. Each trace of a graph, of which there are dozens, copies of every node where
    it came from, and all that this came from, only to be read by debuggers. Each pass traces the graph anew, even one
    that looks for an op that is not there, and for each delegate in it builds and runs the module that was delegated,
    only to see the types of its results.
    """
    with ExitStack() as stack:
        for owner, attribute, replacement in (
            (_DELEGATE_CALLS, "call_delegate_cpu", _delegate_results),
            (ExportedProgramPassManager, "check", lambda self, program: None),
            (Verifier, "check", lambda self, program: None),
            (NodeSource, "__deepcopy__", lambda self, memo: self),
            (_passes.XNNPACKPassManager, "transform", _transform_with_needed_passes),
        ):
            stack.enter_context(mock.patch.object(owner, attribute, replacement, create=attribute.startswith("__")))
        yield


_transform = _passes.XNNPACKPassManager.transform


def _transform_with_needed_passes(manager: _passes.XNNPACKPassManager) -> ExportedProgram:
    graph = manager.exported_program.graph
    ops = {node.target.__name__ for node in graph.nodes if node.op == "call_function"}
    manager.passes = [each for each in manager.passes if each not in ONLY_FOR or not ops.isdisjoint(ONLY_FOR[each])]
    program: ExportedProgram = _transform(manager)
    return program


_run_delegate = _DELEGATE_CALLS.call_delegate_cpu


def _delegate_results(delegate: Any, *arguments: Any) -> Any:
    """Results of the types that the delegated graph states; those of dynamic shape are computed as ever."""
    results = delegate.original_module.graph.output_node().args[0]
    values = [node.meta["val"] for node in results]
    sizes = [size for value in values for size in (*value.shape, *value.stride())]
    if not arguments or not all(isinstance(size, int) for size in sizes):
        return _run_delegate(delegate, *arguments)
    make = arguments[0].new_empty_strided
    return tuple(make(value.shape, value.stride(), dtype=value.dtype) for value in values)
