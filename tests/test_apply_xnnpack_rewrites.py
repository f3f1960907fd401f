"""`apply-xnnpack-rewrites` on the programs of its FileCheck test: done once is done, and what it says about them."""

from __future__ import annotations

from pathlib import Path

import pytest
from torch_mlir import ir

from shlo_quant.passes.apply_xnnpack_rewrites import ApplyXnnpackRewrites, rewrites
from shlo_quant.passes.base import run_passes
from shlo_quant.passes.dialects.context import new_context
from shlo_quant.passes.dialects.locations import with_tensor_name
from shlo_quant.passes.dialects.modules import copy_module, entry_function, function_name
from shlo_quant.passes.dialects.quant import uniform_type
from shlo_quant.passes.rewrite import walk
from shlo_quant.pipelines import lower

PATH = Path(__file__).parent.parent / "lit_tests" / "passes" / "apply-xnnpack-rewrites.mlir"


def programs() -> dict[str, ir.Module]:
    """Each function by its name, alone in a module."""
    found = {}
    for chunk in PATH.read_text().split("// -----"):
        names = [function_name(op.operation) for op in ir.Module.parse(chunk, new_context()).body.operations]
        for name in names:
            module = ir.Module.parse(chunk, new_context())
            for op in list(module.body.operations):
                if function_name(op.operation) != name:
                    op.erase()
            found[name] = module
    return found


PROGRAMS = programs()


@pytest.mark.parametrize("name", PROGRAMS)
def test_done_once_is_done(name: str) -> None:
    once = run_passes(copy_module(PROGRAMS[name]), [ApplyXnnpackRewrites()])
    twice = run_passes(copy_module(once), [ApplyXnnpackRewrites()])
    assert str(once) == str(twice)


@pytest.mark.parametrize("name", PROGRAMS)
def test_no_quantized_tensor_but_the_merged_vanishes(name: str) -> None:
    module = copy_module(PROGRAMS[name])
    before = len(walk(module.operation, "stablehlo.uniform_quantize"))
    merged = rewrites(module).merged
    run_passes(module, [ApplyXnnpackRewrites()])
    assert len(walk(module.operation, "stablehlo.uniform_quantize")) == before - len(merged)


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_program_gets_to_integers(name: str) -> None:
    module = lower(copy_module(PROGRAMS[name]), "integer", "xnnpack")
    assert not any(uniform_type(value) for op in walk(module.operation) for value in op.results)


@pytest.mark.parametrize(
    ("name", "merged", "in_tables"),
    [
        ("clamp_merged", ["t0"], []),
        ("clamp_of_result", [], []),
        ("clamp_in_table", [], ["t1"]),
        ("square_in_table", [], ["t0"]),
        ("table", [], []),
    ],
)
def test_tensors_are_named(name: str, merged: list[str], in_tables: list[str]) -> None:
    module = copy_module(PROGRAMS[name])
    for index, op in enumerate(walk(entry_function(module), "stablehlo.uniform_quantize")):
        op.location = with_tensor_name(op.location, f"t{index}")
    found = rewrites(module)
    assert (list(found.merged), list(found.in_tables)) == (merged, in_tables)
    assert len(found.findings) == len(merged) and not found.wrong
