// RUN: not shlo-quant-opt --legalize-dynamic-shapes %s 2>&1 | FileCheck %s

// CHECK: error: stablehlo.dynamic_reshape: sizes that come from arith.remui are not supported; export with static shapes
func.func @remainder(%x: tensor<?x4xf32>) -> tensor<?xf32> {
  %c0 = arith.constant 0 : index
  %c3 = arith.constant 3 : index
  %0 = tensor.dim %x, %c0 : tensor<?x4xf32>
  %1 = arith.remui %0, %c3 : index
  %2 = tensor.from_elements %1 : tensor<1xindex>
  %3 = stablehlo.dynamic_reshape %x, %2 : (tensor<?x4xf32>, tensor<1xindex>) -> tensor<?xf32>
  return %3 : tensor<?xf32>
}
