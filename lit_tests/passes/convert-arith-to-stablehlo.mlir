// RUN: shlo-quant-opt --convert-arith-to-stablehlo --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @tensor
// CHECK-NEXT:    %[[C:.*]] = stablehlo.constant dense<[1, 2]> : tensor<2xi64>
// CHECK-NEXT:    return %[[C]]
func.func @tensor() -> tensor<2xi64> {
  %0 = arith.constant dense<[1, 2]> : tensor<2xi64>
  return %0 : tensor<2xi64>
}

// CHECK-LABEL: func.func @scalar
// CHECK-NEXT:    %[[C:.*]] = arith.constant 1 : i64
// CHECK-NEXT:    return %[[C]]
func.func @scalar() -> i64 {
  %0 = arith.constant 1 : i64
  return %0 : i64
}
