"""What the user should know about a program before it is imported, and what makes an import pointless."""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from types import BuiltinFunctionType, BuiltinMethodType, FunctionType

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import ConstantArgument, InputKind, OutputKind, SymIntArgument, TensorArgument
from torch.fx import Node

from shlo_quant.importers.decompositions import FLOAT_ARITHMETIC_OPS
from shlo_quant.importers.literals import has_element_type
from shlo_quant.importers.node_locations import describe_node, target_name
from shlo_quant.importers.qdq_ops import Constants
from shlo_quant.passes.dialects.constants import numpy_dtype
from shlo_quant.passes.dialects.quant import UniformType
from shlo_quant.passes.errors import Finding, InputError, UnsupportedError

_ATEN = torch.ops.aten
_WEIGHTED_PACKETS = frozenset(
    {
        _ATEN.conv1d,
        _ATEN.conv2d,
        _ATEN.conv3d,
        _ATEN.conv_transpose1d,
        _ATEN.conv_transpose2d,
        _ATEN.conv_transpose3d,
        _ATEN.convolution,
        _ATEN.linear,
    }
)
_CONVERT = "call convert_pt2e on the prepared model, then export again"


def check_converted(program: ExportedProgram) -> None:
    """Raise InputError for a program that was prepared for quantization (or trained so) but never converted."""
    fake = [node for node in _calls(program) if "fake_quant" in target_name(node)]
    if fake:
        raise InputError(
            f"the program still holds {len(fake)} fake-quantize ops, the first at {describe_node(fake[0])}: "
            f"it was trained but never converted; {_CONVERT}"
        )
    observers = sorted({target for target in program.state_dict if target.startswith("activation_post_process_")})
    if observers:
        raise InputError(
            f"the program still holds {len(observers)} buffers of observers, the first '{observers[0]}': "
            f"it was prepared but never converted; {_CONVERT}"
        )


def check_importable(program: ExportedProgram) -> None:
    """Raise UnsupportedError listing everything that torch-mlir's importer has no form for."""
    findings = [*_unsupported_calls(program), *_unsupported_signature(program)]
    if findings:
        raise UnsupportedError("import", findings)


def _unsupported_calls(program: ExportedProgram) -> Iterator[Finding]:
    for node in _calls(program):
        if isinstance(node.target, torch._ops.HigherOrderOperator):
            reason = "control flow and other higher-order ops are not supported"
            yield Finding(describe_node(node), target_name(node), reason, "export the model without it")
        elif not isinstance(node.target, (torch._ops.OpOverload, BuiltinFunctionType, BuiltinMethodType, FunctionType)):
            yield Finding(describe_node(node), target_name(node), "calls of this kind are not supported")
        value = node.meta.get("val")
        if isinstance(value, torch.Tensor) and not has_element_type(value.dtype):
            yield Finding(describe_node(node), target_name(node), f"StableHLO programs hold no {value.dtype} here")


def _unsupported_signature(program: ExportedProgram) -> Iterator[Finding]:
    known = (InputKind.USER_INPUT, InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)
    for spec in program.graph_signature.input_specs:
        if spec.kind not in known:
            yield Finding("inputs", spec.arg.name, f"inputs of kind {spec.kind.name} are not supported")
        elif isinstance(spec.arg, SymIntArgument):
            yield Finding("inputs", spec.arg.name, "an integer that varies cannot be an input", "pass it as a tensor")
    for spec in program.graph_signature.output_specs:
        name = getattr(spec.arg, "name", repr(spec.arg))
        if spec.kind == OutputKind.USER_INPUT_MUTATION:
            yield Finding("outputs", name, f"the model writes to its input '{spec.target}'", "return the new value")
        elif spec.kind == OutputKind.USER_OUTPUT and not isinstance(spec.arg, (TensorArgument, ConstantArgument)):
            yield Finding("outputs", name, "only tensors can be outputs", "return the size as a tensor")


def drop_constant_outputs(program: ExportedProgram) -> list[Finding]:
    """Take outputs that are no tensors (None, numbers) out of a program's signature, and say so."""
    specs = program.graph_signature.output_specs
    dropped = [s for s in specs if s.kind == OutputKind.USER_OUTPUT and isinstance(s.arg, ConstantArgument)]
    findings = [
        Finding("outputs", f"output {specs.index(s)}", f"is the constant {s.arg.value}; dropped") for s in dropped
    ]
    specs[:] = [spec for spec in specs if spec not in dropped]
    return findings


def observe(program: ExportedProgram, constants: Constants) -> Iterator[Finding]:
    """What is worth telling about a program as it was exported."""
    calls = _calls(program)
    if not any(
        isinstance(node.target, torch._ops.OpOverload) and node.target.namespace == "quantized_decomposed"
        for node in calls
    ):
        yield Finding(
            "program",
            "main",
            "no pt2e quantize or dequantize op was found: the program is imported as float",
            "quantize with prepare_pt2e and convert_pt2e; what torchao's quantize_() makes is not recognized",
        )
    else:
        yield from _float_weights(calls, constants)
    for node in calls:
        if node.target in FLOAT_ARITHMETIC_OPS:
            kind = "quantization at run time" if "choose_qparams" in target_name(node) else "scales finer than per axis"
            yield Finding(describe_node(node), target_name(node), f"{kind}: imported as float arithmetic")
    for spec in program.graph_signature.output_specs:
        if spec.kind == OutputKind.BUFFER_MUTATION:
            yield Finding(
                "outputs", spec.target, "the new value of this buffer is dropped: a StableHLO program keeps no state"
            )


def _float_weights(calls: list[Node], constants: Constants) -> Iterator[Finding]:
    for node in calls:
        if getattr(node.target, "overloadpacket", None) not in _WEIGHTED_PACKETS:
            continue
        weight = node.args[1]
        if isinstance(weight, Node) and weight.name in constants:
            reason = "left in float: the quantizer annotated neither this call nor its weight"
            yield Finding(describe_node(node), target_name(node), reason)


def inexact_scales(types: Mapping[Node, UniformType]) -> Iterator[Finding]:
    """Scales that the expressed type (bf16, f16) rounds: PyTorch keeps them in float32, StableHLO does not."""
    for node, uniform in types.items():
        dtype = numpy_dtype(uniform.expressed_type)
        if any(float(dtype.type(scale)) != scale for scale in uniform.scales):
            reason = f"the scale is rounded to {uniform.expressed_type}, the expressed type; PyTorch uses it in float32"
            yield Finding(describe_node(node), target_name(node), reason)


def _calls(program: ExportedProgram) -> list[Node]:
    return [node for node in program.graph.nodes if node.op == "call_function" and node.target is not operator.getitem]
