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
NOT_QUANTIZED = "no pt2e quantize or dequantize op was found"
QUANTIZE_FIRST = "quantize with prepare_pt2e and convert_pt2e; what torchao's quantize_() makes is not recognized"
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


def drop_outputs(program: ExportedProgram) -> list[Finding]:
    """Take outputs that are no tensors (None, numbers) and new values of buffers out of a program, and say so."""
    specs = program.graph_signature.output_specs
    findings = []
    for index, spec in enumerate(list(specs)):
        if spec.kind == OutputKind.USER_OUTPUT and isinstance(spec.arg, ConstantArgument):
            findings.append(Finding("outputs", f"output {index}", f"the constant {spec.arg.value} is dropped"))
        elif spec.kind == OutputKind.BUFFER_MUTATION:
            findings.append(Finding("outputs", str(spec.target), "the new value of this buffer is dropped"))
        else:
            continue
        specs.remove(spec)
    return findings


def is_quantized(program: ExportedProgram) -> bool:
    """Whether a program has quantize or dequantize ops of pt2e."""
    return any(_namespace(node) == "quantized_decomposed" for node in _calls(program))


def observe(program: ExportedProgram, constants: Constants) -> Iterator[Finding]:
    """What is worth telling about a program as it was exported."""
    calls = _calls(program)
    if is_quantized(program):
        yield from _float_weights(calls, constants)
    else:
        yield Finding(
            "program",
            "main",
            f"{NOT_QUANTIZED}: imported as float",
            QUANTIZE_FIRST,
        )
    for node in calls:
        kind = _float_arithmetic(node)
        if kind:
            yield Finding(describe_node(node), target_name(node), f"{kind}: imported as float arithmetic")


def _float_arithmetic(node: Node) -> str:
    """Why an op of quantization becomes float arithmetic, "" for other ops."""
    if node.target in FLOAT_ARITHMETIC_OPS:
        return "quantization at run time" if "choose_qparams" in target_name(node) else "scales finer than per axis"
    return "quantization of torchao's own" if _namespace(node) == "torchao" else ""


def _namespace(node: Node) -> str:
    return str(node.target.namespace) if isinstance(node.target, torch._ops.OpOverload) else ""


def _float_weights(calls: list[Node], constants: Constants) -> Iterator[Finding]:
    for node in calls:
        if getattr(node.target, "overloadpacket", None) not in _WEIGHTED_PACKETS:
            continue
        weight = node.args[1]
        if isinstance(weight, Node) and weight.name in constants:
            reason = "left in float: the quantizer annotated neither this call nor its weight"
            yield Finding(describe_node(node), target_name(node), reason)


def inexact_scales(types: Mapping[Node, UniformType]) -> list[Finding]:
    """Whether the expressed types (bf16, f16) round scales: PyTorch keeps those in float32, StableHLO does not."""
    rounded = [node for node, uniform in types.items() if _rounds_scales(uniform)]
    if not rounded:
        return []
    expressed = types[rounded[0]].expressed_type
    reason = f"the first of {len(rounded)} ops whose scales are not exact in {expressed}, as PyTorch's in float32 are"
    return [Finding(describe_node(rounded[0]), target_name(rounded[0]), reason)]


def _rounds_scales(uniform: UniformType) -> bool:
    scale_type = numpy_dtype(uniform.expressed_type).type
    return any(float(scale_type(scale)) != scale for scale in uniform.scales)


def _calls(program: ExportedProgram) -> list[Node]:
    return [node for node in program.graph.nodes if node.op == "call_function" and node.target is not operator.getitem]
