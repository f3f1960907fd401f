"""Fusion keeps the value: each program of the FileCheck tests, before and after, in the StableHLO interpreter."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from torch_mlir import ir

from shlo_quant.engines.reference import ReferenceEngine
from shlo_quant.passes.base import ModulePass, run_passes
from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.dialects.context import new_context
from shlo_quant.passes.dialects.modules import copy_module, entry_function, signature
from shlo_quant.passes.dialects.stablehlo import DYNAMIC
from shlo_quant.passes.legalize_qdq_to_quantized_op import LegalizeQdqToQuantizedOp
from shlo_quant.passes.legalize_quantized_op_to_qdq import LegalizeQuantizedOpToQdq
from shlo_quant.passes.rewrite import walk
from shlo_quant.random_inputs import random_inputs

LIT = Path(__file__).parent.parent / "lit_tests" / "passes"


def programs() -> Iterator[tuple[str, str]]:
    """(function name, text of the chunk it stands in) for each function of the pass's FileCheck tests."""
    for path in sorted(LIT.glob("stablehlo-legalize-qdq-to-quantized-op-*.mlir")):
        for chunk in path.read_text().split("// -----"):
            module = ir.Module.parse(chunk, new_context())
            for op in module.body.operations:
                yield op.attributes["sym_name"].value, chunk


def single_function(chunk: str, name: str) -> ir.Module:
    module = ir.Module.parse(chunk, new_context())
    for op in list(module.body.operations):
        if op.attributes["sym_name"].value != name:
            op.erase()
    return module


CASES = dict(programs())


@pytest.mark.parametrize("name", CASES)
def test_fusion_keeps_the_value(name: str) -> None:
    before = single_function(CASES[name], name)
    after = run_passes(copy_module(before), [LegalizeQdqToQuantizedOp()])
    same_values(before, after)


@pytest.mark.parametrize("name", CASES)
def test_written_out_again_it_is_the_same_program(name: str) -> None:
    passes: list[ModulePass] = [LegalizeQdqToQuantizedOp(), LegalizeQuantizedOpToQdq()]
    before = single_function(CASES[name], name)
    same_values(before, run_passes(copy_module(before), passes))


@pytest.mark.parametrize("name", CASES)
def test_no_work_is_done_twice(name: str) -> None:
    costly = (
        "stablehlo.convolution",
        "stablehlo.dot_general",
        "stablehlo.add",
        "stablehlo.multiply",
        "stablehlo.divide",
    )
    before = single_function(CASES[name], name)
    after = run_passes(copy_module(before), [LegalizeQdqToQuantizedOp()])
    assert len(walk(after.operation, *costly)) <= len(walk(before.operation, *costly))


def inputs_for(program: ir.Module, seed: int) -> list[Array]:
    """Random inputs, with 3 for a dynamic size (of the one program here that has such)."""
    (first, *_) = arguments = signature(entry_function(program))[0]
    if first.has_static_shape:
        return random_inputs(program, seed)
    shapes = [[3 if size == DYNAMIC else size for size in tensor.shape] for tensor in arguments]
    return [np.random.default_rng(seed).integers(-128, 128, shape).astype(np.int8) for shape in shapes]


def same_values(before: ir.Module, after: ir.Module) -> None:
    expected_program = ReferenceEngine().compile(before)
    got_program = ReferenceEngine().compile(after)
    for seed in range(3):
        inputs = inputs_for(before, seed)
        for expected, got in zip(expected_program.run(inputs), got_program.run(inputs), strict=True):
            if expected.dtype.kind == "f":
                np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-5)  # order of a float sum
            else:
                np.testing.assert_array_equal(got, expected)
