"""The whole road on real data: train a classifier, quantize it, lower it to every form, and judge the integers.

What is promised: the integer form gives, for every quantized tensor, exactly the integers that the StableHLO
specification defines for the quantized form. Against PyTorch's float Q/DQ graph nothing is promised (floats are added
in other orders there), but the difference is measured.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from torch.export import ExportedProgram
from torch_mlir import ir

from shlo_quant import digits
from shlo_quant.compare import compare_all
from shlo_quant.engines.child import run_in_children
from shlo_quant.engines.reference import ReferenceEngine
from shlo_quant.files import atomic, write_program
from shlo_quant.importers.pt2e import import_program
from shlo_quant.observation import observed
from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.dialects.modules import copy_module, entry_function
from shlo_quant.passes.dialects.quant import UniformType, uniform_type
from shlo_quant.passes.errors import EngineError, InputError
from shlo_quant.passes.numerics.quantize import quantize
from shlo_quant.passes.rewrite import defining_op
from shlo_quant.pipelines import FORMS, Form, lower

BATCH = 16
Step = Callable[[str], AbstractContextManager[None]]


@dataclass(frozen=True)
class Judged:
    """One program and how well it classifies.

    Attributes:
      accuracy: share of the demo's images that it classifies right.
      accuracy_on_all: share of all test images, where they were all run.
    """

    program: str
    runs_in: str
    accuracy: float
    accuracy_on_all: float | None = None


@dataclass(frozen=True)
class Compared:
    """Stored integers of one program beside those of another.

    Attributes:
      tensors: how many tensors of the program were compared, each on all images.
      integers: how many elements they have together; `mismatches` of them differ.
      largest_difference: in steps of the stored integer.
      must_be_equal: whether equality is promised.
    """

    found: str
    expected: str
    what: str
    tensors: int
    integers: int
    mismatches: int
    largest_difference: int
    must_be_equal: bool

    @property
    def is_broken(self) -> bool:
        """Whether a promise of equality does not hold."""
        return self.must_be_equal and self.mismatches > 0


@dataclass(frozen=True)
class DemoResult:
    """What the demo found, on `images` of the `all_images` test images."""

    images: int
    all_images: int
    programs: tuple[Judged, ...]
    comparisons: tuple[Compared, ...]
    seconds: float


def run_demo(images: int, directory: Path | None, step: Step) -> DemoResult:
    """Train, quantize, lower, run and compare.

    Args:
      images: how many test images, rounded up to a whole number of batches.
      directory: where to put the programs of all forms; None for nowhere.
      step: called with what is being done, for a context around it (progress).
    Raises: MissingExtraError without scikit-learn or executorch; InputError for a number of images that we do not have.
    """
    start = time.perf_counter()
    count = -(-images // BATCH) * BATCH
    if not 1 <= images <= digits.TEST_COUNT:
        raise InputError(f"the test set has {digits.TEST_COUNT} images, asked for {images}")
    with step("training on 1397 images of handwritten digits"):
        training, test = digits.load()
        model = digits.train(training)
    with step("quantizing with XNNPACKQuantizer"):
        program = digits.quantize(model, training, BATCH)
    with step("lowering to qdq, quantized and integer"):
        forms = _lower_to_all_forms(program)
        if directory is not None:
            _write(directory, program, forms)
    with step("running PyTorch"):
        torch_logits = {"float model": _torch_logits(model, test.images)}
        torch_logits["Q/DQ graph"] = _torch_logits(program.module(), test.images)
    with step(f"running the StableHLO reference interpreter on {count} images"):
        runs = _run_reference(forms, test.images[:count])
    return DemoResult(
        count,
        len(test),
        _judge(torch_logits, runs, test.labels),
        _compare(torch_logits["Q/DQ graph"][:count], runs, _logits_type(forms["quantized"])),
        time.perf_counter() - start,
    )


def _lower_to_all_forms(program: ExportedProgram) -> dict[Form, ir.Module]:
    imported = import_program(program).module
    return {form: lower(copy_module(imported), form) for form in FORMS}


def _write(directory: Path, program: ExportedProgram, forms: dict[Form, ir.Module]) -> None:
    """Put `digits.pt2` and `digits.<form>.mlir` into the directory."""
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"{directory}: {error.strerror}") from None
    with atomic(directory / "digits.pt2") as stream:
        torch.export.save(program, stream)
    for form, module in forms.items():
        write_program(module, directory / f"digits.{form}.mlir")


def _torch_logits(model: torch.nn.Module, images: torch.Tensor) -> Array:
    with torch.no_grad():
        return torch.cat([model(batch) for batch in digits.batches(images, BATCH)]).numpy()


@dataclass(frozen=True)
class _Runs:
    """What the interpreter gave: logits of each form, and the quantized tensors of the two that must agree."""

    logits: dict[Form, Array]
    quantized_tensors: list[Array]
    integer_tensors: list[Array]


def _run_reference(forms: dict[Form, ir.Module], images: torch.Tensor) -> _Runs:
    """Run the forms; beside them the program with all its quantized tensors as results, in two forms."""
    observation = observed(forms["qdq"])
    with_tensors = [lower(copy_module(observation.module), form) for form in ("quantized", "integer")]
    programs = [*(forms[form] for form in FORMS), *with_tensors]
    results = _run_on_batches(programs, [batch.numpy() for batch in digits.batches(images, BATCH)])
    logits = {
        form: np.concatenate([batch[0] for batch in batches]) for form, batches in zip(FORMS, results, strict=False)
    }
    quantized_tensors, integer_tensors = (
        [np.stack(tensors) for tensors in zip(*(batch[observation.own_results :] for batch in batches), strict=True)]
        for batches in results[len(FORMS) :]
    )
    return _Runs(logits, quantized_tensors, integer_tensors)


def _run_on_batches(programs: Sequence[ir.Module], batches: Sequence[Array]) -> list[list[list[Array]]]:
    """Results [program][batch][result] of every program on every batch, as many runs at a time as cores."""
    executables = [ReferenceEngine().compile(program) for program in programs]
    tasks = [partial(executable.run, [batch]) for executable in executables for batch in batches]
    outcomes: dict[int, list[Array]] = {}
    for index, outcome in run_in_children(tasks, os.cpu_count() or 1):
        if isinstance(outcome, EngineError):
            raise outcome
        outcomes[index] = outcome
    return [[outcomes[p * len(batches) + b] for b in range(len(batches))] for p in range(len(programs))]


def _judge(torch_logits: dict[str, Array], runs: _Runs, labels: torch.Tensor) -> tuple[Judged, ...]:
    def accuracy(logits: Array) -> float:
        return digits.accuracy(torch.from_numpy(logits), labels[: len(logits)])

    count = len(runs.logits["integer"])
    return (
        *(Judged(name, "PyTorch", accuracy(found[:count]), accuracy(found)) for name, found in torch_logits.items()),
        *(Judged(f"{form} form", "reference interpreter", accuracy(found)) for form, found in runs.logits.items()),
    )


def _compare(torch_logits: Array, runs: _Runs, uniform: UniformType) -> tuple[Compared, ...]:
    def stored(logits: Array) -> list[Array]:
        return [quantize(logits, uniform.scales, uniform.zero_points, None, uniform.storage_min, uniform.storage_max)]

    integer, quantized, qdq = (stored(runs.logits[form]) for form in ("integer", "quantized", "qdq"))
    return (
        _compare_named(
            "integer form", "quantized form", "every quantized tensor", runs.integer_tensors, runs.quantized_tensors
        ),
        _compare_named("integer form", "quantized form", "logits", integer, quantized),
        _compare_named("integer form", "qdq form", "logits", integer, qdq, must_be_equal=False),
        _compare_named("integer form", "PyTorch Q/DQ", "logits", integer, stored(torch_logits), must_be_equal=False),
    )


def _compare_named(
    found_name: str,
    expected_name: str,
    what: str,
    found: list[Array],
    expected: list[Array],
    must_be_equal: bool = True,
) -> Compared:
    compared = compare_all(expected, found)
    return Compared(
        found_name,
        expected_name,
        what,
        len(compared),
        sum(tensor.elements for tensor in compared),
        sum(tensor.mismatches for tensor in compared),
        max(int(tensor.largest_difference) for tensor in compared),
        must_be_equal,
    )


def _logits_type(quantized: ir.Module) -> UniformType:
    """The quantized type behind the first result of a program of quantized form."""
    terminator = list(entry_function(quantized).regions[0].blocks[0].operations)[-1].operation
    dequantize = defining_op(terminator.operands[0], "stablehlo.uniform_dequantize")
    assert dequantize is not None, "the classifier's logits are quantized"
    uniform = uniform_type(dequantize.operands[0])
    assert uniform is not None
    return uniform
