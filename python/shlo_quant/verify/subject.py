"""The program under verification in every shape that engines and judges take it."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from torch_mlir import ir

from shlo_quant.crop import Cropper, cut_out
from shlo_quant.inspection import is_native
from shlo_quant.observation import QUANTIZE, Observation, cut, observed
from shlo_quant.passes.apply_xnnpack_rewrites import ApplyXnnpackRewrites, Rewrites, rewrites
from shlo_quant.passes.base import run_passes
from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.dialects.modules import copy_module, entry_function
from shlo_quant.passes.dialects.quant import UniformType
from shlo_quant.passes.dialects.stablehlo import DYNAMIC
from shlo_quant.passes.errors import Unsupported
from shlo_quant.passes.legalize_quant_to_math.islands import averaged_image
from shlo_quant.passes.rewrite import defining_op
from shlo_quant.pipelines import lower
from shlo_quant.verify.results import TensorReport

DATA_MOVEMENT = frozenset(
    f"stablehlo.{name}" for name in "broadcast_in_dim concatenate gather pad reshape slice transpose".split()
)
MOST_OPERANDS = 16
"""More numbers than that are not shown."""


@dataclass(frozen=True)
class Subject:
    """A program and what is known of it.

    Attributes:
      qdq: as it was given.
      rewrites: what XNNPACK does to it.
      whole: the integer form with all quantized tensors as results.
      cut: the integer form cut at the quantized tensors that XNNPACK returns as it computes them.
      tensors: the quantized tensors of `whole`, in program order.
    """

    qdq: ir.Module
    arithmetic: str
    rewrites: Rewrites
    whole: Observation
    cut: Observation
    tensors: tuple[TensorReport, ...]

    @staticmethod
    def of(qdq: ir.Module, arithmetic: str) -> Subject:
        """Lower a program.

        Raises: UnsupportedError if it has no integer form by that profile.
        """
        found = rewrites(qdq)
        program = copy_module(qdq)
        if arithmetic == "xnnpack":  # before tensors become results, which would keep XNNPACK from its rewrites
            run_passes(program, [ApplyXnnpackRewrites()])
        hidden = {*found.merged, *found.in_tables}
        whole, parts = observed(program), cut(program, leave=hidden)
        tensors = _reports(whole, _in_integers(parts, arithmetic), found.wrong)
        for observation in (whole, parts):
            lower(observation.module, "integer", arithmetic)
        return Subject(qdq, arithmetic, found, whole, parts, tensors)

    @property
    def types(self) -> dict[str, UniformType]:
        """The quantized tensors that a run returns, in program order."""
        return {tensor.name: tensor.type for tensor in self.whole.tensors}

    @property
    def cut_names(self) -> tuple[str, ...]:
        """The quantized tensors that are given to and returned by a run op by op."""
        return tuple(tensor.name for tensor in self.cut.tensors)

    @property
    def result_names(self) -> tuple[str, ...]:
        """What the results of `cut` are called."""
        return (*(f"output {index}" for index in range(self.cut.own_results)), *self.cut_names)

    @property
    def is_static(self) -> bool:
        """Whether all shapes are known."""
        values = (v for op in entry_function(self.cut.module).regions[0].blocks[0].operations for v in op.results)
        return all(DYNAMIC not in list(value.type.shape) for value in values)

    def explain(self, name: str, index: tuple[int, ...], tensors: Mapping[str, Array]) -> tuple[str, ...]:
        """What an element of a quantized tensor is computed from, as stored integers, where that is not much."""
        if name not in self.cut_names or not self.is_static:
            return ()
        cropper = Cropper(self.cut.module)
        result = self.cut.own_results + self.cut_names.index(name)
        try:
            crop = cropper.build(cropper.plan(result, tuple((i, i + 1) for i in index)))
        except Unsupported:
            return ()
        first = len(entry_function(self.cut.module).regions[0].blocks[0].arguments) - len(self.cut_names)
        parts = {self.cut_names[i - first]: box for i, box in crop.inputs if i >= first}
        return tuple(_words(operand, cut_out(tensors[operand], box)) for operand, box in parts.items())


def _words(name: str, part: Array) -> str:
    values = part.ravel().tolist()
    if len(values) > MOST_OPERANDS:
        return f"{name}: {len(values)} elements from {min(values)} to {max(values)}"
    return f"{name}: {values[0] if len(values) == 1 else values}"


def type_in_words(uniform: UniformType) -> str:
    """Such as `i8, scale 0.0143, zero point -128`; of a per-axis type the range of its scales."""
    storage = f"{'i' if uniform.is_signed else 'u'}{uniform.storage_bits}"
    low, high = min(uniform.scales), max(uniform.scales)
    scales = f"scale {low:.6g}" if low == high else f"scales {low:.3g} to {high:.3g}"
    first, last = min(uniform.zero_points), max(uniform.zero_points)
    zero_points = f"zero point {first}" if first == last else f"zero points {first} to {last}"
    return f"{storage}, {scales}, {zero_points}"


def _reports(whole: Observation, in_integers: Mapping[str, bool], wrong: Collection[str]) -> tuple[TensorReport, ...]:
    reports: dict[str, TensorReport] = {}
    for tensor in whole.tensors:
        own = in_integers.get(tensor.name, True)  # a tensor that is not cut belongs to those that it helps to compute
        before = own and tensor.name not in wrong and all(reports[o].before_islands for o in tensor.operands)
        reports[tensor.name] = TensorReport(
            name=tensor.name,
            type=type_in_words(tensor.type),
            scales=tensor.type.scales,
            zero_points=tensor.type.zero_points,
            shape=tensor.shape,
            location=tensor.location,
            ops=tensor.ops,
            operands=tensor.operands,
            parameters=tuple(map(type_in_words, tensor.parameters)),
            in_integers=own,
            wrong_in_xnnpack=tensor.name in wrong,
            before_islands=before,
        )
    return tuple(reports.values())


def _in_integers(parts: Observation, arithmetic: str) -> dict[str, bool]:
    """Which quantized tensors the quantized form computes without floats, program inputs aside."""
    quantized = lower(copy_module(parts.module), "quantized", arithmetic)
    block = entry_function(quantized).regions[0].blocks[0]
    results = list(list(block.operations)[-1].operation.operands)[parts.own_results :]
    inputs = len(block.arguments) - len(parts.tensors)
    names = [tensor.name for tensor in parts.tensors]
    return {name: _is_in_integers(result, inputs) for name, result in zip(names, results, strict=True)}


def _is_in_integers(result: ir.Value, inputs: int) -> bool:
    """Whether a quantized tensor is computed without floats, or is a mean, or a program input, quantized as it is."""
    behind = _behind(result, QUANTIZE)
    return all(is_native(op) or _computes_size(op) or _quantizes_input_or_mean(op, inputs) for op in behind)


def _computes_size(op: ir.Operation) -> bool:
    """Whether an op is about sizes of dynamic dimensions, which are plain integers."""
    return all(isinstance(result.type.element_type, ir.IntegerType) for result in op.results)


def _quantizes_input_or_mean(op: ir.Operation, inputs: int) -> bool:
    if op.name != QUANTIZE:
        return False
    return averaged_image(op.operands[0]) is not None or _is_moved_input(op.operands[0], inputs)


def _is_moved_input(value: ir.Value, inputs: int) -> bool:
    """Whether a value is made of the first arguments, which are the program's own, by data movement."""
    ops = _behind(value)
    arguments = [v for op in ops for v in op.operands if defining_op(v) is None] or [value]
    own = all(ir.BlockArgument(argument).arg_number < inputs for argument in arguments)
    return own and all(op.name in DATA_MOVEMENT for op in ops)


def _behind(value: ir.Value, end: str = "") -> list[ir.Operation]:
    """The ops that compute a value, constants aside; of those named `end`, nothing behind them if it is float."""
    found: dict[ir.Operation, None] = {}
    left = [value]
    while left:
        op = defining_op(left.pop())
        if op is not None and op not in found and op.name != "stablehlo.constant":
            found[op] = None
            left += [] if op.name == end and not is_native(op) else op.operands
    return list(found)
