"""See the quantized tensors inside a program: copies of it that return them, or compute each one from the others.

A program's quantized tensors are the results of the `uniform_quantize` ops of its form `qdq`. Both copies are programs
of form `qdq` like any other, which passes lower and engines run.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from torch_mlir import ir

from shlo_quant.passes.dialects.locations import describe, tensor_name
from shlo_quant.passes.dialects.modules import copy_module, entry_function, signature
from shlo_quant.passes.dialects.quant import UniformType, uniform_type
from shlo_quant.passes.dialects.stablehlo import create
from shlo_quant.passes.errors import InputError
from shlo_quant.passes.rewrite import defining_op

QUANTIZE = "stablehlo.uniform_quantize"


@dataclass(frozen=True)
class QuantizedTensor:
    """A quantized tensor of a program.

    Attributes:
      name: that of its quantize node in PyTorch; `tensor N`, counted from 0, where the program carries no names.
      type: its quantized type.
      shape: sizes, negative where they are dynamic.
      location: of what is quantized, as people read it.
      ops: the ops that compute it from other quantized tensors, arguments and constants, in program order, by name
        without `stablehlo.`; empty for a requantize of one of them.
      operands: the names of the quantized tensors that it is computed from, in program order.
      parameters: the quantized types of the constants that it is computed from, in program order.
      arguments: the positions of the arguments that it is computed from.
    """

    name: str
    type: UniformType
    shape: tuple[int, ...]
    location: str
    ops: tuple[str, ...]
    operands: tuple[str, ...]
    parameters: tuple[UniformType, ...]
    arguments: tuple[int, ...]


@dataclass(frozen=True)
class Observation:
    """A copy of a program, with more results (and for `cut` more arguments) than the program has.

    Attributes:
      module: its function returns the program's own results, then `tensors` in that order.
      tensors: the quantized tensors, in program order.
      own_results: how many results the program itself has.
    """

    module: ir.Module
    tensors: tuple[QuantizedTensor, ...]
    own_results: int


def observed(program: ir.Module) -> Observation:
    """A copy of a program of form `qdq` that also returns its quantized tensors."""
    return _expose(program, frozenset(), cuts=False)


def cut(program: ir.Module, leave: Collection[str] = ()) -> Observation:
    """A copy of a program of form `qdq` that also takes and returns its quantized tensors.

    What used a tensor uses the argument, what computed it is returned: one run computes every quantized tensor, and
    every result, from the integers that it is given for those before it. The new arguments stand behind the program's
    own, in the order of `tensors`.

    Args:
      leave: the names of tensors that are neither taken nor returned.
    """
    return _expose(program, leave, cuts=True)


def _expose(program: ir.Module, leave: Collection[str], cuts: bool) -> Observation:
    copy = copy_module(program)
    function = entry_function(copy)
    block = function.regions[0].blocks[0]
    *body, terminator = [op.operation for op in block.operations]
    names = _names([op for op in body if op.name == QUANTIZE], leave)
    quantizes = list(names)
    tensors = tuple(_describe(op, name, names) for op, name in names.items())
    values = [op.results[0] for op in quantizes]
    inputs, results = signature(function)
    with copy.context, terminator.location:
        if cuts:
            for op in quantizes:
                argument = block.add_argument(op.results[0].type, op.location)
                op.results[0].replace_all_uses_with(argument)
        with ir.InsertionPoint(terminator):
            create("func.return", [*terminator.operands, *values], [])
        terminator.erase()
        types = [value.type for value in values]
        function_type = ir.FunctionType.get([*inputs, *types] if cuts else inputs, [*results, *types])
        function.attributes["function_type"] = ir.TypeAttr.get(function_type)
        copy.operation.verify()
    return Observation(copy, tensors, len(results))


def _names(quantizes: list[ir.Operation], leave: Collection[str]) -> dict[ir.Operation, str]:
    names = {op: tensor_name(op.location) or f"tensor {index}" for index, op in enumerate(quantizes)}
    twice = sorted({name for name in names.values() if list(names.values()).count(name) > 1})
    if twice:
        raise InputError(f"quantized tensors must have names of their own, got several called {', '.join(twice)}")
    return {op: name for op, name in names.items() if name not in leave}


def _describe(quantize: ir.Operation, name: str, names: dict[ir.Operation, str]) -> QuantizedTensor:
    ops: list[str] = []
    operands: list[str] = []
    parameters: list[UniformType] = []
    arguments: list[int] = []
    seen: set[ir.Value] = set()

    def visit(value: ir.Value) -> None:
        if value in seen:
            return
        seen.add(value)
        op = defining_op(value)
        if op is None:
            arguments.append(ir.BlockArgument(value).arg_number)
        elif op in names:
            operands.append(names[op])
        elif op.name == "stablehlo.constant":
            parameters.extend(filter(None, [uniform_type(value)]))
        else:
            for operand in op.operands:
                visit(operand)
            if op.name != "stablehlo.uniform_dequantize":
                ops.append(op.name.removeprefix("stablehlo."))

    visit(quantize.operands[0])
    value = quantize.results[0]
    uniform = uniform_type(value)
    assert uniform is not None, f"{value.type} is no quantized type that a program of form qdq has"
    return QuantizedTensor(
        name=name,
        type=uniform,
        shape=tuple(value.type.shape),
        location=describe(quantize.location),
        ops=tuple(ops),
        operands=tuple(operands),
        parameters=tuple(parameters),
        arguments=tuple(sorted(arguments)),
    )
