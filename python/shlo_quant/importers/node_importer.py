"""torch-mlir's FX importer with two changes: quantize and dequantize are StableHLO at once, constants go in directly.

    q  = quantize_per_tensor(x, 0.5, 3, ...)           %0 = torch_c.to_builtin_tensor %x
    dq = dequantize_per_tensor(q, 0.5, 3, ...)   ==>   %q = stablehlo.uniform_quantize %0
                                                       %1 = stablehlo.uniform_dequantize %q
                                                       %dq = torch_c.from_builtin_tensor %1

A dequantize of a constant takes a `stablehlo.constant` of quantized type. Where the stored integers themselves are used
(as outputs, or by a dequantize with other parameters), they are a `bitcast_convert` of the quantized value.
The location of a quantize carries its node's name, which is the name of the quantized tensor (`tensor_name`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from torch.export import ExportedProgram
from torch.export.graph_signature import InputKind, TensorArgument
from torch.fx import Node
from torch_mlir import ir
from torch_mlir.extras.fx_importer import FxImporter, GraphNodeImporter

from shlo_quant.importers.literals import element_type, literal, to_array
from shlo_quant.importers.node_locations import NodeLocations, original_name
from shlo_quant.importers.qdq_ops import QUANTIZE_OPS, input_node
from shlo_quant.passes.dialects import stablehlo
from shlo_quant.passes.dialects.locations import with_tensor_name
from shlo_quant.passes.dialects.quant import UniformType, uniform_type, with_element_type


@dataclass(frozen=True)
class QuantizationPlan:
    """What quantize and dequantize nodes become.

    Attributes:
      types: the quantized type of each node.
      constants: tensors by node name: parameters, buffers, lifted constants, and quantized parameters.
    """

    types: Mapping[Node, UniformType]
    constants: Mapping[str, torch.Tensor]


def import_nodes(program: ExportedProgram, plan: QuantizationPlan, context: ir.Context) -> ir.Module:
    """Import a decomposed program as function `main`: torch dialect, quantize and dequantize ops of StableHLO."""
    importer = _Importer(plan, context)
    importer.import_program(program, func_name="main")
    _name_arguments(importer.module, program)
    return importer.module


class _Importer(FxImporter):  # type: ignore[misc]  # torch_mlir is untyped
    def __init__(self, plan: QuantizationPlan, context: ir.Context) -> None:
        super().__init__(context=context, graph_node_importer_cls=_NodeImporter)
        self._cc = NodeLocations(context, py_attr_tracker=self._py_attr_tracker)
        self.plan = plan


class _NodeImporter(GraphNodeImporter):  # type: ignore[misc]  # torch_mlir is untyped
    def __init__(self, *args: Any) -> None:
        super().__init__(*args)
        self._quantized: dict[Node, ir.Value] = {}

    def lazy_import_parameter(self, _: ir.Location, node: Node, parameter_value: Any, info: Any) -> None:
        super().lazy_import_parameter(_name_location(info), node, parameter_value, info)

    def lazy_import_buffer(self, _: ir.Location, node: Node, buffer_value: Any, info: Any) -> None:
        super().lazy_import_buffer(_name_location(info), node, buffer_value, info)

    def _import_literal(self, py_value: Any, info: Any = None) -> ir.Value:
        if isinstance(py_value, torch.Tensor):
            return literal(py_value, self._cc.tensor_to_vtensor_type(py_value))
        return super()._import_literal(py_value, info)

    def _import_torch_op_overload(self, loc: ir.Location, node: Node, concrete_target: Any = None) -> None:
        uniform = self.fx_importer.plan.types.get(node)
        if uniform is None:
            super()._import_torch_op_overload(loc, node, concrete_target)
        elif node.target in QUANTIZE_OPS:
            self._import_quantize(loc, node, uniform)
        else:
            self._import_dequantize(loc, node, uniform)

    def _import_quantize(self, loc: ir.Location, node: Node, uniform: UniformType) -> None:
        """Bind the node to its stored integers, which are built only if something other than its dequantize asks."""
        if node.name in self.fx_importer.plan.constants:
            tensor = self.fx_importer.plan.constants[node.name]
            self.bind_node_value(node, lambda: literal(tensor, self._cc.node_val_to_type(node)))
            return
        with with_tensor_name(loc, original_name(node)):
            expressed = self._builtin(input_node(node))
            self._quantized[node] = quantized = stablehlo.uniform_quantize(expressed, uniform)

        def stored_integers() -> ir.Value:
            with loc:
                bits = stablehlo.bitcast_convert(quantized, with_element_type(quantized.type, uniform.integer_type))
                return self._torch(stablehlo.convert(bits, element_type(node.meta["val"].dtype)), node)

        self.bind_node_value(node, stored_integers)

    def _import_dequantize(self, loc: ir.Location, node: Node, uniform: UniformType) -> None:
        source = input_node(node)
        with loc:
            if source.name in self.fx_importer.plan.constants:
                stored = to_array(self.fx_importer.plan.constants[source.name])
                quantized = stablehlo.quantized_constant(stored, uniform)
            elif source in self._quantized and uniform_type(self._quantized[source]) == uniform:
                quantized = self._quantized[source]
            else:
                integers = stablehlo.convert(self._builtin(source), uniform.integer_type)
                quantized = stablehlo.bitcast_convert(integers, uniform.tensor_like(integers.type))
            self.bind_node_value(node, self._torch(stablehlo.uniform_dequantize(quantized), node))

    def _builtin(self, node: Node) -> ir.Value:
        """The value of a node as a builtin tensor."""
        value = node.meta["val"]
        sizes = [size if isinstance(size, int) else stablehlo.DYNAMIC for size in value.shape]
        tensor = ir.RankedTensorType.get(sizes, element_type(value.dtype))
        return ir.Operation.create(
            "torch_c.to_builtin_tensor", results=[tensor], operands=[self.resolve_node_value(node)]
        ).result

    def _torch(self, value: ir.Value, node: Node) -> ir.Value:
        """A builtin tensor as the torch tensor that `node` stands for."""
        result_type = self._cc.node_val_to_type(node)
        return ir.Operation.create("torch_c.from_builtin_tensor", results=[result_type], operands=[value]).result


def _name_location(info: Any) -> ir.Location:
    return ir.Location.name(info.input_spec.target)


def _name_arguments(module: ir.Module, program: ExportedProgram) -> None:
    """Give the arguments of `main` the names of the program's inputs, as locations."""
    arguments = module.body.operations[0].regions[0].blocks[0].arguments
    specs = program.graph_signature.input_specs
    names = [
        spec.arg.name for spec in specs if spec.kind == InputKind.USER_INPUT and isinstance(spec.arg, TensorArgument)
    ]
    for argument, name in zip(arguments, names, strict=True):
        argument.set_location(ir.Location.name(name))
