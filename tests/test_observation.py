from __future__ import annotations

import numpy as np
from torch_mlir import ir

from shlo_quant.engines.reference import ReferenceEngine
from shlo_quant.observation import with_quantized_results

PROGRAM = """
func.func @main(%arg0: tensor<3xf32>) -> tensor<3xf32> {
  %0 = stablehlo.uniform_quantize %arg0 : (tensor<3xf32>) -> tensor<3x!quant.uniform<i8:f32, 5.000000e-01:3>>
  %1 = stablehlo.uniform_quantize %0 : (tensor<3x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<3x!quant.uniform<i8:f32, 1.000000e+00>>
  %2 = stablehlo.uniform_dequantize %1 : (tensor<3x!quant.uniform<i8:f32, 1.000000e+00>>) -> tensor<3xf32>
  return %2 : tensor<3xf32>
}
"""  # noqa: E501


def test_quantized_tensors_come_after_the_results_in_program_order(context: ir.Context) -> None:
    module = ir.Module.parse(PROGRAM, context)
    before = str(module)
    observed, added = with_quantized_results(module)
    assert (str(module), added) == (before, 2)
    result, first, second = ReferenceEngine().compile(observed).run([np.array([-1, 2, 100], np.float32)])
    np.testing.assert_array_equal(first, np.array([1, 7, 127], np.int8))
    np.testing.assert_array_equal(second, np.array([-1, 2, 62], np.int8))
    np.testing.assert_array_equal(result, np.array([-1, 2, 62], np.float32))


def test_program_without_quantized_tensors_stays_as_it_is(context: ir.Context) -> None:
    module = ir.Module.parse(
        "func.func @main(%arg0: tensor<f32>) -> tensor<f32> { return %arg0 : tensor<f32> }", context
    )
    observed, added = with_quantized_results(module)
    assert (str(observed), added) == (str(module), 0)
