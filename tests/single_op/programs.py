"""Batches of cases, and the comparison of engines on them."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from unittest import mock

import numpy as np
from torch_mlir import ir

from shlo_quant.compare import compare
from shlo_quant.engines.fast import FastEngine
from shlo_quant.engines.fast.native import choices
from shlo_quant.engines.reference import ReferenceEngine
from shlo_quant.passes.dialects import stablehlo
from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.dialects.context import new_context

from . import control_flow, data_movement, dot_like, elementwise, indexed, quantized, reductions
from .draft import Case, Draft

BATCH = 40
"""Cases a module."""

CASES: dict[str, Case] = {
    **elementwise.CASES,
    **data_movement.CASES,
    **dot_like.CASES,
    **reductions.CASES,
    **indexed.CASES,
    **control_flow.CASES,
    **quantized.CASES,
}


@dataclass(frozen=True)
class Batch:
    """A module of independent cases.

    Attributes:
      module: with one function; it returns the results of all cases.
      inputs: its arguments.
      cases: the kind of each case.
      kinds: the kind of case that each result is of.
    """

    module: ir.Module
    inputs: list[Array]
    cases: list[str]
    kinds: list[str]


def batch(seeds: Iterable[int], cases: Mapping[str, Case]) -> Batch:
    """The cases of these seeds, in a context of their own; the same for the same seeds."""
    with new_context(), ir.Location.unknown():
        module = ir.Module.create()
        with ir.InsertionPoint(module.body):
            attributes = {"sym_name": ir.StringAttr.get("main"), "function_type": function_type([], [])}
            function = ir.Operation.create("func.func", attributes=attributes, regions=1)
        block = function.regions[0].blocks.append()
        inputs: list[Array] = []
        results: list[ir.Value] = []
        chosen: list[str] = []
        kinds: list[str] = []
        names = list(cases)
        with ir.InsertionPoint(block):
            for seed in seeds:
                draw = random.Random(seed)
                kind = draw.choice(names)
                found = cases[kind](Draft(draw, block, inputs))
                results += found
                chosen.append(kind)
                kinds += [kind] * len(found)
            stablehlo.create("func.return", results, [])
        types = ([value.type for value in values] for values in (block.arguments, results))
        function.attributes["function_type"] = function_type(*types)
        module.operation.verify()
    return Batch(module, inputs, chosen, kinds)


def function_type(arguments: Sequence[ir.Type], results: Sequence[ir.Type]) -> ir.Attribute:
    return ir.TypeAttr.get(ir.FunctionType.get(list(arguments), list(results)))


@dataclass
class Tally:
    """What came of many cases.

    Attributes:
      cases, mismatches: by kind; a mismatch is a case of which any element differs.
      faults: what differs or failed, each with its seed.
    """

    cases: Counter[str] = field(default_factory=Counter)
    mismatches: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)

    def add(self, seeds: Sequence[int], cases: Mapping[str, Case]) -> None:
        """Compare the engines on the cases of these seeds; if anything is wrong, on each by itself."""
        made = batch(seeds, cases)
        try:
            wrong = differences(made)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is a fault of an engine
            wrong = [(kind, repr(error)) for kind in made.kinds]
        if wrong and len(seeds) > 1:
            for seed in seeds:
                self.add([seed], cases)
            return
        self.cases.update(made.cases)
        if wrong:
            self.mismatches.update(made.cases)
        self.faults += [f"seed {seeds[0]}: {kind}: {text}" for kind, text in wrong]


def differences(made: Batch) -> list[tuple[str, str]]:
    """The results in which `fast`, with native code or without, differs from the reference, with their kinds."""
    expected = ReferenceEngine().compile(made.module).run(made.inputs)
    found = []
    for engine in (FastEngine(), FastEngine(native=False)):
        with mock.patch.object(choices, "SMALLEST", 1):  # native code for the smallest tensors too
            actual = engine.compile(made.module).run(made.inputs)
        with np.errstate(invalid="ignore"):  # signalling NaN
            compared = [compare(e, a) for e, a in zip(expected, actual, strict=True)]
        pairs = zip(made.kinds, compared, strict=True)
        found += [(kind, f"native={engine.native}: {result}") for kind, result in pairs if not result.is_exact]
    return found
