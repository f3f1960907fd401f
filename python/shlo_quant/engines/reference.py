"""The StableHLO reference interpreter, in a child process: the judge on small programs (about 1.4 us a multiply-add).

The interpreter aborts its process on ops it does not know and lowers quantized programs in place; here that costs the
caller an EngineError and nothing else.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import ClassVar, Literal, get_args

import numpy as np
from torch_mlir import ir
from torch_mlir._mlir_libs import _stablehlo

from shlo_quant.engines.child import Limits, run_in_child
from shlo_quant.engines.spec_arithmetic import lower_by_spec
from shlo_quant.passes.dialects.constants import Array, dense, numpy_dtype, to_numpy, with_true_sign, without_sign
from shlo_quant.passes.dialects.locations import describe, finding
from shlo_quant.passes.dialects.modules import copy_module, entry_function, signature
from shlo_quant.passes.dialects.quant import integer_range, is_quantized, uniform_type
from shlo_quant.passes.dialects.stablehlo import DYNAMIC
from shlo_quant.passes.errors import EngineError, Finding, InputError, UnsupportedError
from shlo_quant.passes.rewrite import walk

Arithmetic = Literal["spec", "upstream"]
ARITHMETICS: tuple[Arithmetic, ...] = get_args(Arithmetic)

NOT_INTERPRETED = frozenset(
    f"stablehlo.{name}"
    for name in (
        "batch_norm_grad batch_norm_inference batch_norm_training broadcast cholesky create_token custom_call dot "
        "dynamic_conv einsum fft map rng rng_bit_generator torch_index_select triangular_solve unary_einsum"
    ).split()
)
DIALECTS = frozenset({"builtin", "func", "stablehlo", "interpreter"})


@dataclass(frozen=True)
class ReferenceEngine:
    """Runs `main` (or the only function) of a StableHLO program.

    Args:
      arithmetic: what a program with quantized types computes. "spec": the StableHLO specification, by
        `lower_by_spec`, with no code of the pass `stablehlo-legalize-quant-to-math`. "upstream": whatever upstream's
        own lowering makes of it, faults included.
      limits: time and memory of one run.
    """

    name: ClassVar[str] = "reference"
    arithmetic: Arithmetic = "spec"
    limits: Limits = field(default_factory=Limits)

    def compile(self, module: ir.Module) -> ReferenceExecutable:
        program = copy_module(module)
        inputs, results = signature(entry_function(program))
        _check_types([*inputs, *results])
        if self.arithmetic == "spec":
            lower_by_spec(program)
        _check_ops(program)
        return ReferenceExecutable(program, tuple(inputs), tuple(results), self.limits)


@dataclass(frozen=True)
class ReferenceExecutable:
    """A checked program; `input_types` and `result_types` are those of the program as it was written."""

    program: ir.Module
    input_types: tuple[ir.Type, ...]
    result_types: tuple[ir.Type, ...]
    limits: Limits

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        arrays = check_inputs(self.input_types, inputs)
        try:
            results = run_in_child(partial(_evaluate, self.program, arrays), self.limits)
        except EngineError as error:
            raise EngineError(f"reference interpreter: {error}") from None
        return [_result(array, tensor) for array, tensor in zip(results, self.result_types, strict=True)]


def check_inputs(types: Sequence[ir.Type], inputs: Sequence[Array]) -> list[Array]:
    """The inputs as contiguous arrays, checked against argument types.

    Raises: InputError naming the first argument whose array has another shape or dtype, or holds integers that its
      storage type cannot.
    """
    if len(inputs) != len(types):
        raise InputError(f"the program takes {len(types)} input{'s' * (len(types) != 1)}, got {len(inputs)}")
    return [_check_input(i, tensor, np.asarray(a)) for i, (tensor, a) in enumerate(zip(types, inputs, strict=True))]


def _check_input(index: int, tensor: ir.Type, array: Array) -> Array:
    dtype, shape = numpy_dtype(tensor), tuple(tensor.shape)
    if array.dtype.kind == "V" and array.dtype.itemsize == dtype.itemsize:  # bf16 and f8, as .npz files hold them
        array = array.view(dtype)
    fits = len(shape) == array.ndim and all(w in (DYNAMIC, n) for w, n in zip(shape, array.shape, strict=True))
    if not fits or array.dtype != dtype:
        wanted, found = f"{dtype.name}{_shape_text(shape)}", f"{array.dtype.name}{_shape_text(array.shape)}"
        raise InputError(f"input {index} must be {wanted} for {tensor}, got {found}")
    uniform = uniform_type(tensor)
    element = tensor.element_type if uniform is None else uniform.integer_type
    if isinstance(element, ir.IntegerType) and element.width in (2, 4) and array.size:
        lowest, highest = integer_range(element.width, not element.is_unsigned)
        if array.min() < lowest or array.max() > highest:
            raise InputError(f"input {index}: {tensor} holds {lowest}..{highest}, got {array.min()}..{array.max()}")
    return np.asarray(array, order="C")


def _shape_text(shape: Sequence[int]) -> str:
    return "[" + ", ".join("?" if size == DYNAMIC else str(size) for size in shape) + "]"


def _check_types(types: Sequence[ir.Type]) -> None:
    for tensor in types:
        if not isinstance(tensor, ir.RankedTensorType) or (is_quantized(tensor) and uniform_type(tensor) is None):
            raise EngineError(f"reference interpreter: cannot pass or return a {tensor}")


def _check_ops(program: ir.Module) -> None:
    """Raise UnsupportedError for all ops that would abort the interpreter."""
    findings = [found for op in walk(program.operation) if (found := _reason_against(op))]
    if findings:
        raise UnsupportedError("reference interpreter", findings)


def _reason_against(op: ir.Operation) -> Finding | None:
    if op.name in NOT_INTERPRETED:
        return finding(op, "not in the interpreter")
    dialect = op.name.split(".")[0]
    if dialect not in DIALECTS:
        return finding(op, f"the interpreter knows StableHLO only, not the dialect '{dialect}'")
    if op.name == "stablehlo.constant" and isinstance(op.attributes["value"], ir.DenseResourceElementsAttr):
        return finding(op, "a constant in a resource would evaluate to garbage", "use a dense attribute")
    return None


def _argument(array: Array, tensor: ir.Type) -> ir.DenseElementsAttr:
    uniform = uniform_type(tensor)
    if uniform is None:
        return dense(array, tensor.element_type)
    return dense(without_sign(array, uniform), uniform.storage_type)


def _result(array: Array, tensor: ir.Type) -> Array:
    uniform = uniform_type(tensor)
    return array if uniform is None else with_true_sign(array, uniform)


def _evaluate(program: ir.Module, inputs: list[Array]) -> list[Array]:
    """Runs in the child, whose copy of the program the interpreter may change."""
    context, messages = program.context, []

    def collect(diagnostic: ir.Diagnostic) -> bool:
        messages.append(f"{describe(diagnostic.location)}: {diagnostic.message.splitlines()[0]}")
        return True

    with context, ir.Location.unknown(), context.attach_diagnostic_handler(collect):
        types, _ = signature(entry_function(program))
        arguments = [_argument(array, tensor) for array, tensor in zip(inputs, types, strict=True)]
        try:
            results = _stablehlo.eval_module(program, arguments, "")
        except ValueError as error:
            raise EngineError("; ".join(messages) or str(error)) from None
        return [np.array(to_numpy(result)) for result in results]
