"""Quantized tensors of a program: returned beside its results, or taken as arguments as well."""

from __future__ import annotations

import numpy as np
import pytest
from torch_mlir import ir

from shlo_quant.engines.reference import ReferenceEngine
from shlo_quant.observation import cut, observed
from shlo_quant.passes.dialects.locations import with_tensor_name
from shlo_quant.passes.errors import InputError
from shlo_quant.passes.rewrite import walk
from shlo_quant.pipelines import lower

PROGRAM = """
!half = !quant.uniform<i8:f32, 5.000000e-01:3>
!one = !quant.uniform<i8:f32, 1.000000e+00>
func.func @main(%arg0: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.uniform_quantize %arg0 : (tensor<3xf32>) -> tensor<3x!half>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<3x!half>) -> tensor<3xf32>
  %2 = stablehlo.add %1, %1 : tensor<3xf32>
  %3 = stablehlo.uniform_quantize %2 : (tensor<3xf32>) -> tensor<3x!one>
  %4 = stablehlo.uniform_dequantize %3 : (tensor<3x!one>) -> tensor<3xf32>
  %5 = stablehlo.negate %4 : tensor<3xf32>
  return %5 : tensor<3xf32>
}
"""
INPUT = np.array([-1, 2, 100], np.float32)


@pytest.fixture
def program(context: ir.Context) -> ir.Module:
    module = ir.Module.parse(PROGRAM, context)
    for op, name in zip(walk(module.operation, "stablehlo.uniform_quantize"), ("q", "q_1"), strict=True):
        op.location = with_tensor_name(ir.Location.file("model.py", 7, 0), name)
    return module


@pytest.mark.parametrize("form", ["qdq", "quantized", "integer"])
def test_observed_program_returns_its_tensors_behind_its_results(program: ir.Module, form: str) -> None:
    before = str(program)
    observation = observed(program)
    assert (str(program), observation.own_results) == (before, 1)
    module = observation.module if form == "qdq" else lower(observation.module, form)
    result, first, second = ReferenceEngine().compile(module).run([INPUT])
    np.testing.assert_array_equal(first, np.array([1, 7, 127], np.int8))
    np.testing.assert_array_equal(second, np.array([-2, 4, 124], np.int8))
    np.testing.assert_array_equal(result, np.array([2, -4, -124], np.float32))


@pytest.mark.parametrize("form", ["qdq", "quantized", "integer"])
def test_cut_program_computes_every_tensor_from_given_ones(program: ir.Module, form: str) -> None:
    observation = cut(program)
    module = observation.module if form == "qdq" else lower(observation.module, form)
    given = [np.array([3, 4, 5], np.int8), np.array([10, 20, 30], np.int8)]
    result, first, second = ReferenceEngine().compile(module).run([INPUT, *given])
    np.testing.assert_array_equal(first, np.array([1, 7, 127], np.int8))
    np.testing.assert_array_equal(second, np.array([0, 1, 2], np.int8))
    np.testing.assert_array_equal(result, np.array([-10, -20, -30], np.float32))


def test_cut_program_leaves_tensors_alone(program: ir.Module) -> None:
    observation = cut(program, leave=["q"])
    (tensor,) = observation.tensors
    assert (tensor.name, tensor.ops, tensor.operands, tensor.arguments) == (
        "q_1",
        ("uniform_quantize", "add"),
        (),
        (0,),
    )
    result, second = ReferenceEngine().compile(observation.module).run([INPUT, np.array([10, 20, 30], np.int8)])
    np.testing.assert_array_equal(second, np.array([-2, 4, 124], np.int8))
    np.testing.assert_array_equal(result, np.array([-10, -20, -30], np.float32))


def test_tensors_are_described(program: ir.Module) -> None:
    for observation in (observed(program), cut(program)):
        first, second = observation.tensors
        assert (first.name, first.ops, first.operands, first.arguments) == ("q", (), (), (0,))
        assert (second.name, second.ops, second.operands, second.arguments) == ("q_1", ("add",), ("q",), ())
        assert (first.type.scale, first.type.zero_point, first.shape, first.location) == (0.5, 3, (3,), "model.py:7")


def test_program_without_names_numbers_its_tensors(context: ir.Context) -> None:
    assert [tensor.name for tensor in observed(ir.Module.parse(PROGRAM, context)).tensors] == ["tensor 0", "tensor 1"]


def test_two_tensors_of_one_name_are_refused(program: ir.Module) -> None:
    for op in walk(program.operation, "stablehlo.uniform_quantize"):
        op.location = with_tensor_name(ir.Location.unknown(), "q")
    with pytest.raises(InputError, match="several called q"):
        observed(program)


def test_program_without_quantized_tensors_stays_as_it_is(context: ir.Context) -> None:
    module = ir.Module.parse(
        "func.func @main(%arg0: tensor<f32>) -> tensor<f32> { return %arg0 : tensor<f32> }", context
    )
    assert (str(observed(module).module), observed(module).tensors) == (str(module), ())
