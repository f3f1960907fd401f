"""Compute a box of one result of a program, and no more than that needs.

A slow judge can then rule on a large program: the box has the elements that the whole program would have given there.

    %2 = convolution(%0, %w)         on 1x32x112x112, box [0:1, 8:16, 0:4, 0:4] of its result
==> %1 = convolution(%arg0, %w1)     on %0[0:1, 0:32, 0:5, 0:5] and %w[8:16], padded at the low edges alone

Works on programs of static shapes without quantized types. Ops without a rule here are computed whole.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from torch_mlir import ir

from shlo_quant.crop.boxes import Box, box_shape, cut_out, full_box, union
from shlo_quant.crop.rules import Step, cropped, multiply_adds, step_for
from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.dialects.modules import entry_function
from shlo_quant.passes.dialects.stablehlo import create, i64s
from shlo_quant.passes.rewrite import defining_op, walk

__all__ = ["Box", "Crop", "Cropper", "Plan", "cut_out", "full_box"]


@dataclass(frozen=True)
class Crop:
    """A program that computes a box of a result of another program.

    Attributes:
      module: takes parts of the other program's arguments, returns the box.
      inputs: which arguments, and which part of each.
      box: of the result.
    """

    module: ir.Module
    inputs: tuple[tuple[int, Box], ...]
    box: Box

    def cut_inputs(self, arguments: Sequence[Array]) -> list[Array]:
        """What `module` takes, from what the other program takes."""
        return [cut_out(arguments[index], box) for index, box in self.inputs]


@dataclass(frozen=True)
class Plan:
    """What a crop will compute; `Cropper.build` makes it.

    Attributes:
      result: the position of the result.
      box: of that result.
      elements: how many elements its ops compute.
      multiply_adds: how many multiply-adds its convolutions and dots do, and combinations its reductions.
      ops: the names of its ops, constants aside.
    """

    result: int
    box: Box
    elements: int
    multiply_adds: int
    ops: frozenset[str]
    _steps: dict[ir.Operation, Step] = field(repr=False)
    _arguments: dict[ir.Value, Box] = field(repr=False)


class Cropper:
    """Makes crops of one program.

    Args:
      program: of static shapes, without quantized types; must not change meanwhile.
    """

    def __init__(self, program: ir.Module) -> None:
        self._program = program
        self._block = entry_function(program).regions[0].blocks[0]
        self._positions = {op.operation: index for index, op in enumerate(self._block.operations)}
        self._results = list(list(self._block.operations)[-1].operation.operands)

    def ops_of(self, result: int) -> frozenset[str]:
        """The names of the ops that compute a result, constants aside."""
        names = (op.name for op in self._behind(self._results[result]))
        return frozenset(name for name in names if name != "stablehlo.constant")

    def shape(self, result: int) -> tuple[int, ...]:
        """The sizes of a result."""
        return tuple(self._results[result].type.shape)

    def plan(self, result: int, box: Box) -> Plan:
        """Find out what a box of a result needs.

        Raises: Unsupported if an op on the way can only be run in its place.
        """
        with self._program.context, ir.Location.unknown():
            value = self._results[result]
            wanted: dict[ir.Value, Box] = {value: box}
            steps: dict[ir.Operation, Step] = {}
            for op in self._behind(value):
                parts = [wanted[result] for result in op.results if result in wanted]
                if not parts:
                    continue
                steps[op] = step = step_for(op, parts)
                captured = {value: full_box(value.type.shape) for value in _captured(op)}
                for operand, part in [*zip(op.operands, step.operands, strict=True), *captured.items()]:
                    if part is not None:
                        wanted[operand] = union(wanted[operand], part) if operand in wanted else part
            arguments = {v: part for v, part in wanted.items() if defining_op(v) is None}
        computed = [(op, step) for op, step in steps.items() if op.name != "stablehlo.constant"]
        return Plan(
            result,
            box,
            sum(math.prod(box_shape(step.box)) for _, step in computed),
            sum(multiply_adds(op, step) for op, step in computed),
            frozenset(op.name for op, _ in computed),
            steps,
            arguments,
        )

    def build(self, plan: Plan) -> Crop:
        """Make the program of a plan."""
        module = ir.Module.create(ir.Location.unknown(self._program.context))
        inputs = [(ir.BlockArgument(value).arg_number, box) for value, box in plan._arguments.items()]
        with self._program.context, ir.Location.unknown(), ir.InsertionPoint(module.body):
            types = [cropped(value.type, box) for value, box in plan._arguments.items()]
            result_type = cropped(self._results[plan.result].type, plan.box)
            attributes = {
                "sym_name": ir.StringAttr.get("main"),
                "function_type": ir.TypeAttr.get(ir.FunctionType.get(types, [result_type])),
            }
            function = create("func.func", [], [], attributes, regions=1)
            block = function.regions[0].blocks.append(*types)
            made = {
                value: (argument, box)
                for (value, box), argument in zip(plan._arguments.items(), block.arguments, strict=True)
            }
            with ir.InsertionPoint(block):
                for op in sorted(plan._steps, key=self._positions.__getitem__):
                    _build(op, plan._steps[op], made)
                create("func.return", [_part(*made[self._results[plan.result]], plan.box)], [])
        return Crop(module, tuple(inputs), plan.box)

    def _behind(self, value: ir.Value) -> list[ir.Operation]:
        """The ops that compute a value, last first."""
        found: set[ir.Operation] = set()
        left = [value]
        while left:
            op = defining_op(left.pop())
            if op is not None and op not in found:
                found.add(op)
                left += [*op.operands, *_captured(op)]
        return sorted(found, key=self._positions.__getitem__, reverse=True)


def _build(op: ir.Operation, step: Step, made: dict[ir.Value, tuple[ir.Value, Box]]) -> None:
    """Build the part of an op, and enter its results in `made` with the part that they are."""
    operands = [
        _part(*made[value], box) for value, box in zip(op.operands, step.operands, strict=True) if box is not None
    ]
    types = [cropped(result.type, step.box) for result in op.results] if len(op.results) else []
    if not len(op.regions):
        attributes = {name: op.attributes[name] for name in op.attributes} | dict(step.attributes())
        new = create(step.name or op.name, operands, types, attributes)
    else:
        new = op.clone(ip=ir.InsertionPoint.current)
        for index, operand in enumerate(operands):
            new.operands[index] = operand
        for result, result_type in zip(new.results, types, strict=True):
            result.set_type(result_type)
        for name, attribute in step.attributes().items():
            new.attributes[name] = attribute
        captured = {value: _part(*made[value], full_box(value.type.shape)) for value in _captured(op)}
        _replace_captured(new, captured)
    for old, result in zip(op.results, new.results, strict=True):
        made[old] = (result, step.box if len(step.box) == len(old.type.shape) else full_box(old.type.shape))


def _replace_captured(op: ir.Operation, values: Mapping[ir.Value, ir.Value]) -> None:
    for inner in walk(op)[1:] if values else ():
        for index, operand in enumerate(inner.operands):
            if operand in values:
                inner.operands[index] = values[operand]


def _captured(op: ir.Operation) -> list[ir.Value]:
    """The values from outside that the regions of an op use."""
    if not len(op.regions):
        return []
    inside = walk(op)[1:]
    own = {result for inner in inside for result in inner.results}
    own |= {
        a for inner in (op, *inside) for region in inner.regions for block in region.blocks for a in block.arguments
    }
    return list(dict.fromkeys(v for inner in inside for v in inner.operands if v not in own))


def _part(value: ir.Value, box: Box, wanted: Box) -> ir.Value:
    """The wanted part of a value that is `box` of what it stands for."""
    if box == wanted:
        return value
    offsets = [start for start, _ in box]
    attributes = {
        "start_indices": i64s([start - o for (start, _), o in zip(wanted, offsets, strict=True)]),
        "limit_indices": i64s([stop - o for (_, stop), o in zip(wanted, offsets, strict=True)]),
        "strides": i64s([1] * len(box)),
    }
    return create("stablehlo.slice", [value], [cropped(value.type, wanted)], attributes).results[0]
