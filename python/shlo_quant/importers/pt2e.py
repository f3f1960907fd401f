"""Import quantized PyTorch programs (pt2e, `torch.export`) as StableHLO in form `qdq`.

    quantized_decomposed ops + aten ops   ==>   uniform_quantize / uniform_dequantize around float StableHLO ops

Weights are constants of quantized type; every location carries PyTorch module path, file and line.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind
from torch.fx import Graph, Node
from torch_mlir import ir

from shlo_quant.importers.checks import (
    check_converted,
    check_importable,
    drop_outputs,
    inexact_scales,
    is_quantized,
    observe,
)
from shlo_quant.importers.decompositions import decompose
from shlo_quant.importers.load import load_program
from shlo_quant.importers.lowering import lower_to_stablehlo
from shlo_quant.importers.node_importer import QuantizationPlan, import_nodes
from shlo_quant.importers.node_locations import describe_node, target_name
from shlo_quant.importers.qdq_ops import DEQUANTIZE_OPS, QUANTIZE_OPS, input_node, quantized_type
from shlo_quant.importers.runtime_qparams import rewrite_tensor_overloads
from shlo_quant.passes.base import ModulePass, UpstreamPasses, run_passes
from shlo_quant.passes.convert_arith_to_stablehlo import ConvertArithToStablehlo
from shlo_quant.passes.dialects.context import load_dialects
from shlo_quant.passes.errors import Finding, Unsupported, UnsupportedError
from shlo_quant.passes.fold_constants import FoldConstants
from shlo_quant.passes.fold_dot_reshapes import FoldDotReshapes
from shlo_quant.passes.fold_identities import FoldIdentities
from shlo_quant.passes.fold_weight_layout import FoldWeightLayout
from shlo_quant.passes.legalize_dynamic_shapes import LegalizeDynamicShapes
from shlo_quant.passes.simplify_dot_general import SimplifyDotGeneral

__all__ = ["ImportedProgram", "import_program", "load_program"]


# what the C++ lowering leaves behind, and the forms that fusion expects
CLEAN_UP: tuple[ModulePass, ...] = (
    ConvertArithToStablehlo(),
    LegalizeDynamicShapes(),
    FoldIdentities(),
    SimplifyDotGeneral(),
    FoldConstants(),
    FoldIdentities(),
    FoldDotReshapes(),
    FoldWeightLayout(),
    UpstreamPasses("func.func(canonicalize,cse)"),
)


@dataclass(frozen=True)
class ImportedProgram:
    """An imported program.

    Attributes:
      module: StableHLO in form `qdq`, one function `main`.
      findings: what the user should know about the program.
      is_quantized: whether the program had quantize or dequantize ops of pt2e.
    """

    module: ir.Module
    findings: tuple[Finding, ...]
    is_quantized: bool


def import_program(program: ExportedProgram) -> ImportedProgram:
    """Import a converted pt2e program; `program` itself is left as it is.

    Raises: InputError for a program that was prepared but never converted, UnsupportedError with every op that cannot
      be imported.
    """
    check_converted(program)
    findings = list(observe(program, constant_tensors(program)))
    decomposed = decompose(program)
    check_importable(decomposed)
    findings += drop_outputs(decomposed)
    constants = constant_tensors(decomposed)
    rewrite_tensor_overloads(decomposed, constants)
    context = load_dialects(ir.Context())
    with context, ir.Location.unknown():
        plan = plan_quantization(decomposed.graph, constants)
        findings += inexact_scales(plan.types)
        module = import_nodes(decomposed, plan, context)
        lower_to_stablehlo(module)
        run_passes(module, CLEAN_UP)
    return ImportedProgram(module, tuple(findings), is_quantized(program))


def plan_quantization(graph: Graph, constants: dict[str, torch.Tensor]) -> QuantizationPlan:
    """Find the type of every quantize and dequantize node, and quantize parameters by PyTorch's own formula.

    Raises: UnsupportedError with every node that no quantized type of StableHLO can express.
    """
    types, findings, constants = {}, [], dict(constants)
    for node in graph.nodes:
        if node.target not in QUANTIZE_OPS and node.target not in DEQUANTIZE_OPS:
            continue
        try:
            types[node] = quantized_type(node, constants)
        except Unsupported as problem:
            findings.append(Finding(describe_node(node), target_name(node), problem.reason, problem.remedy))
            continue
        if node.target in QUANTIZE_OPS and input_node(node).name in constants:
            values = [constants[a.name] if isinstance(a, Node) else a for a in node.args]
            with torch.no_grad():
                constants[node.name] = node.target(*values)
    if findings:
        raise UnsupportedError("import", findings)
    return QuantizationPlan(types, constants)


def constant_tensors(program: ExportedProgram) -> dict[str, torch.Tensor]:
    """Parameters, buffers and lifted constants by the name of their placeholder."""
    kinds = (InputKind.PARAMETER, InputKind.BUFFER, InputKind.CONSTANT_TENSOR)
    tensors = {}
    for spec in program.graph_signature.input_specs:
        if spec.kind in kinds:
            source = program.state_dict if spec.target in program.state_dict else program.constants
            tensors[spec.arg.name] = source[spec.target]
    return tensors
