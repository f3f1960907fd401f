// RUN: shlo-quant-opt --fold-weight-layout --split-input-file %s | FileCheck %s

!t = tensor<2x3x!quant.uniform<i8:f32, 0.5:1>>
!a = tensor<2x3x!quant.uniform<i8:f32:0, {0.5:1, 0.25:-2}>>

// CHECK-LABEL: func.func @transpose
// CHECK-NEXT:    %[[W:.*]] = stablehlo.constant() <{value = dense<{{\[\[}}1, 4], [2, 5], [3, 6]]> : tensor<3x2xi8>}>
// CHECK-SAME:      tensor<3x2x!quant.uniform<i8:f32:1, {5.000000e-01:1,2.500000e-01:-2}>>
// CHECK-NEXT:    %[[D:.*]] = stablehlo.uniform_dequantize %[[W]]
// CHECK-NEXT:    return %[[D]]
func.func @transpose() -> tensor<3x2xf32> {
  %0 = "stablehlo.constant"() <{value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>}> : () -> !a
  %1 = stablehlo.uniform_dequantize %0 : (!a) -> tensor<2x3xf32>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %2 : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @reverse
// CHECK-NEXT:    dense<{{\[\[}}6, 5, 4], [3, 2, 1]]>
// CHECK-SAME:      tensor<2x3x!quant.uniform<i8:f32:0, {2.500000e-01:-2,5.000000e-01:1}>>
func.func @reverse() -> tensor<2x3xf32> {
  %0 = "stablehlo.constant"() <{value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>}> : () -> !a
  %1 = stablehlo.uniform_dequantize %0 : (!a) -> tensor<2x3xf32>
  %2 = stablehlo.reverse %1, dims = [0, 1] : tensor<2x3xf32>
  return %2 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @slice
// CHECK-NEXT:    dense<{{\[\[}}4, 5]]>
// CHECK-SAME:      tensor<1x2x!quant.uniform<i8:f32:0, {2.500000e-01:-2}>>
func.func @slice() -> tensor<1x2xf32> {
  %0 = "stablehlo.constant"() <{value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>}> : () -> !a
  %1 = stablehlo.uniform_dequantize %0 : (!a) -> tensor<2x3xf32>
  %2 = stablehlo.slice %1 [1:2, 0:2] : (tensor<2x3xf32>) -> tensor<1x2xf32>
  return %2 : tensor<1x2xf32>
}

// CHECK-LABEL: func.func @reshape
// CHECK-NEXT:    tensor<1x2x3x1x!quant.uniform<i8:f32:1, {5.000000e-01:1,2.500000e-01:-2}>>
func.func @reshape() -> tensor<1x2x3x1xf32> {
  %0 = "stablehlo.constant"() <{value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>}> : () -> !a
  %1 = stablehlo.uniform_dequantize %0 : (!a) -> tensor<2x3xf32>
  %2 = stablehlo.reshape %1 : (tensor<2x3xf32>) -> tensor<1x2x3x1xf32>
  return %2 : tensor<1x2x3x1xf32>
}

// The quantized dimension would be merged with another.
// CHECK-LABEL: func.func @reshape_merges
// CHECK:         stablehlo.reshape
func.func @reshape_merges() -> tensor<6xf32> {
  %0 = "stablehlo.constant"() <{value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>}> : () -> !a
  %1 = stablehlo.uniform_dequantize %0 : (!a) -> tensor<2x3xf32>
  %2 = stablehlo.reshape %1 : (tensor<2x3xf32>) -> tensor<6xf32>
  return %2 : tensor<6xf32>
}

// CHECK-LABEL: func.func @reshape_per_tensor
// CHECK-NEXT:    dense<[1, 2, 3, 4, 5, 6]> : tensor<6xi8>{{.*}} tensor<6x!quant.uniform<i8:f32, 5.000000e-01:1>>
func.func @reshape_per_tensor() -> tensor<6xf32> {
  %0 = "stablehlo.constant"() <{value = dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi8>}> : () -> !t
  %1 = stablehlo.uniform_dequantize %0 : (!t) -> tensor<2x3xf32>
  %2 = stablehlo.reshape %1 : (tensor<2x3xf32>) -> tensor<6xf32>
  return %2 : tensor<6xf32>
}

// CHECK-LABEL: func.func @not_constant
// CHECK:         stablehlo.transpose
func.func @not_constant(%0: !a) -> tensor<3x2xf32> {
  %1 = stablehlo.uniform_dequantize %0 : (!a) -> tensor<2x3xf32>
  %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  return %2 : tensor<3x2xf32>
}
