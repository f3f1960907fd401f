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

from shlo_quant.engines.arguments import check_inputs, check_types
from shlo_quant.engines.child import Limits, run_in_child
from shlo_quant.engines.spec_arithmetic import lower_by_spec
from shlo_quant.passes.dialects.constants import Array, dense, to_numpy, with_true_sign, without_sign
from shlo_quant.passes.dialects.locations import describe, finding
from shlo_quant.passes.dialects.modules import copy_module, entry_function, signature
from shlo_quant.passes.dialects.quant import uniform_type
from shlo_quant.passes.errors import EngineError, Finding, UnsupportedError
from shlo_quant.passes.rewrite import walk

Arithmetic = Literal["spec", "upstream"]
ARITHMETICS: tuple[Arithmetic, ...] = get_args(Arithmetic)

NOT_INTERPRETED = frozenset(
    f"stablehlo.{name}"
    for name in (
        "batch_norm_grad batch_norm_inference batch_norm_training broadcast cholesky create_token custom_call dot "
        "einsum fft real_dynamic_slice rng rng_bit_generator torch_index_select triangular_solve unary_einsum"
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
        check_types("reference interpreter", [*inputs, *results])
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
        arrays = check_inputs(self.input_types, inputs)  # here, so that it is an InputError
        try:
            return run_in_child(partial(self.run_here, arrays), self.limits)
        except EngineError as error:
            raise EngineError(f"reference interpreter: {error}") from None

    def run_here(self, inputs: Sequence[Array]) -> list[Array]:
        """As `run`, but in this process, which the interpreter may end, and once only: it may change the program."""
        results = _evaluate(self.program, check_inputs(self.input_types, inputs))
        return [_result(array, tensor) for array, tensor in zip(results, self.result_types, strict=True)]


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
    if op.name == "stablehlo.constant" and not isinstance(op.attributes["value"], ir.DenseElementsAttr):
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
