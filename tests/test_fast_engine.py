"""The fast engine as a whole: what it computes, from several threads and processes, for any shape."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest
from random_programs import random_program
from torch_mlir import ir

from shlo_quant.compare import compare_all
from shlo_quant.engines.child import run_in_child
from shlo_quant.engines.fast import FastEngine
from shlo_quant.engines.fast.native import choices, lowering, products
from shlo_quant.engines.fast.native.machine import available_threads, has_byte_products, has_tiles
from shlo_quant.engines.reference import ReferenceEngine
from shlo_quant.passes.base import run_passes
from shlo_quant.passes.dialects.constants import Array
from shlo_quant.passes.dialects.context import new_context
from shlo_quant.passes.errors import InputError, UnsupportedError
from shlo_quant.passes.legalize_qdq_to_quantized_op import LegalizeQdqToQuantizedOp
from shlo_quant.random_inputs import random_inputs

MACHINES = ("tiles", "vectors", "any")
CONVOLUTION = """
func.func @main(%x: tensor<1x8x30x30xi8>) -> (tensor<1x8x28x28xi8>, tensor<1x8x28x28xf32>) {
  %w = stablehlo.constant dense<3> : tensor<8x8x3x3xi8>
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x8x30x30xi8>, tensor<8x8x3x3xi8>) -> tensor<1x8x28x28xi32>
  %1 = stablehlo.convert %0 : (tensor<1x8x28x28xi32>) -> tensor<1x8x28x28xf32>
  %s = stablehlo.constant dense<0.03> : tensor<1x8x28x28xf32>
  %2 = stablehlo.multiply %1, %s : tensor<1x8x28x28xf32>
  %3 = stablehlo.convert %2 : (tensor<1x8x28x28xf32>) -> tensor<1x8x28x28xi8>
  return %3, %2 : tensor<1x8x28x28xi8>, tensor<1x8x28x28xf32>
}"""


@pytest.fixture(params=MACHINES)
def machine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Pretend that the CPU has no more than this; skipped where it has less."""
    if not {"tiles": has_tiles, "vectors": has_byte_products, "any": lambda: True}[request.param]():
        pytest.skip(f"this CPU has no {request.param}")
    if request.param != "tiles":
        monkeypatch.setattr(products, "has_tiles", lambda: False)
    if request.param == "any":
        monkeypatch.setattr(products, "has_byte_products", lambda: False)
        monkeypatch.setattr(lowering, "has_byte_permutations", lambda: False)
    name: str = request.param
    return name


def parse(text: str) -> ir.Module:
    return ir.Module.parse(text, new_context())


def ramp() -> Array:
    return (np.arange(7200, dtype=np.int64) * 37 % 251 - 125).astype(np.int8).reshape(1, 8, 30, 30)


def assert_equal(expected: list[Array], actual: list[Array]) -> None:
    assert [str(output) for output in compare_all(expected, actual)] == ["bit-exact"] * len(expected)


# ---- equal to the reference, on every machine


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize("seed", range(6))
def test_random_programs_equal_the_reference(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choices, "SMALLEST", 1)
    program = run_passes(random_program(seed), [LegalizeQdqToQuantizedOp()])
    inputs = random_inputs(program, seed)
    assert_equal(ReferenceEngine().compile(program).run(inputs), FastEngine().compile(program).run(inputs))


@pytest.mark.parametrize("seed", range(20, 40))
def test_native_code_equals_kernels_on_random_programs(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choices, "SMALLEST", 1)
    program = random_program(seed)
    inputs = random_inputs(program, seed)
    expected = FastEngine(native=False).compile(program).run(inputs)
    executable = FastEngine().compile(program)
    assert_equal(expected, executable.run(inputs))
    assert_equal(expected, executable.run(inputs))  # memory holds what the first run left


# ---- runs


def test_results_belong_to_the_caller() -> None:
    program = parse("""
      func.func @main(%x: tensor<128xf32>) -> (tensor<128xf32>, tensor<128xf32>) {
        return %x, %x : tensor<128xf32>, tensor<128xf32>
      }""")
    executable, x = FastEngine().compile(program), np.ones(128, np.float32)
    first, second = executable.run([x])
    first[:] = 2
    second[:] = 3
    assert (x == 1).all() and (first == 2).all()
    assert all((result == 1).all() for result in executable.run([x]))


def test_any_number_of_threads_gives_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    results = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("OMP_NUM_THREADS", threads)
        results.append(FastEngine().compile(parse(CONVOLUTION)).run([ramp()]))
    assert_equal(results[0], results[1])
    assert_equal(results[0], results[2])


@pytest.mark.parametrize("text", ["", "0", "-1", "many", "\N{SUPERSCRIPT TWO}"])
def test_a_number_of_threads_that_is_none_is_ignored(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", text)
    assert available_threads() == len(os.sched_getaffinity(0))


def test_two_callers_at_once() -> None:
    executable = FastEngine().compile(parse(CONVOLUTION))
    inputs = [ramp(), -ramp()]
    expected = [executable.run([x]) for x in inputs]
    failures: list[int] = []

    def call(number: int) -> None:
        for _ in range(50):
            results = executable.run([inputs[number]])
            if any((a != b).any() for a, b in zip(results, expected[number], strict=True)):
                failures.append(number)

    callers = [threading.Thread(target=call, args=(number,)) for number in (0, 1)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert failures == []


def test_runs_leave_no_memory_behind() -> None:
    executable, x = FastEngine().compile(parse(CONVOLUTION)), ramp()

    def pages_after(runs: int) -> int:
        for _ in range(runs):
            executable.run([x])
        return int(Path("/proc/self/statm").read_text().split()[1])

    before = pages_after(200)
    assert pages_after(2000) - before < 256  # a megabyte; one result of each run would be 60


def test_runs_in_a_forked_child() -> None:
    executable = FastEngine().compile(parse(CONVOLUTION))
    expected = executable.run([ramp()])
    assert_equal(expected, run_in_child(lambda: executable.run([ramp()])))


def test_the_module_may_change_after_compilation() -> None:
    program = parse(CONVOLUTION)
    before = str(program)
    executable = FastEngine().compile(program)
    assert str(program) == before
    del program
    assert len(executable.run([ramp()])) == 2


# ---- shapes, calls, errors


def test_dynamic_shapes_are_compiled_as_they_come() -> None:
    program = parse("""
      func.func @main(%x: tensor<?x40xf32>) -> tensor<?x40xf32> {
        %0 = stablehlo.add %x, %x : tensor<?x40xf32>
        return %0 : tensor<?x40xf32>
      }""")
    executable = FastEngine().compile(program)
    for rows in (1, 3, 0):
        x = np.arange(rows * 40, dtype=np.float32).reshape(rows, 40)
        assert_equal([x + x], executable.run([x]))
    with pytest.raises(InputError, match=r"input 0 must be float32\[\?, 40\]"):
        executable.run([np.zeros((2, 41), np.float32)])


def test_functions_are_called() -> None:
    program = parse("""
      func.func @main(%x: tensor<70xf32>) -> tensor<70xf32> {
        %0 = func.call @twice(%x) : (tensor<70xf32>) -> tensor<70xf32>
        return %0 : tensor<70xf32>
      }
      func.func @twice(%x: tensor<70xf32>) -> tensor<70xf32> {
        %0 = stablehlo.add %x, %x : tensor<70xf32>
        return %0 : tensor<70xf32>
      }""")
    assert (FastEngine().compile(program).run([np.ones(70, np.float32)])[0] == 2).all()


def test_every_op_without_a_kernel_is_named_at_compilation() -> None:
    program = parse("""
      func.func @main(%x: tensor<4xcomplex<f32>>, %y: tensor<4xf32>) -> (tensor<4xcomplex<f32>>, tensor<4xf32>) {
        %0 = stablehlo.fft %x, type = FFT, length = [4] : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
        %1 = stablehlo.custom_call @unknown(%y) : (tensor<4xf32>) -> tensor<4xf32>
        return %0, %1 : tensor<4xcomplex<f32>>, tensor<4xf32>
      }""")
    with pytest.raises(UnsupportedError) as caught:
        FastEngine().compile(program)
    assert [found.op for found in caught.value.findings] == ["stablehlo.fft", "stablehlo.custom_call"]
