// RUN: shlo-quant-opt --fold-constants --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @chain
// CHECK-NEXT:    %[[C:.*]] = stablehlo.constant dense<6.000000e+00> : tensor<f32>
// CHECK-NEXT:    return %[[C]]
func.func @chain() -> tensor<f32> {
  %0 = stablehlo.constant dense<6> : tensor<1xi64>
  %1 = stablehlo.convert %0 : (tensor<1xi64>) -> tensor<1xf32>
  %2 = stablehlo.reshape %1 : (tensor<1xf32>) -> tensor<f32>
  return %2 : tensor<f32>
}

// CHECK-LABEL: func.func @data_movement
// CHECK-NEXT:    %[[C:.*]] = stablehlo.constant dense<{{\[\[}}6.000000e+00, 3.000000e+00], [5.000000e+00, 2.000000e+00{{\]\]}}>
// CHECK-NEXT:    return %[[C]]
func.func @data_movement() -> tensor<2x2xf32> {
  %0 = stablehlo.constant dense<[[1., 2., 3.], [4., 5., 6.]]> : tensor<2x3xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = stablehlo.reverse %1, dims = [0, 1] : tensor<3x2xf32>
  %3 = stablehlo.slice %2 [0:2, 0:2] : (tensor<3x2xf32>) -> tensor<2x2xf32>
  return %3 : tensor<2x2xf32>
}

// An elementwise op sees through a broadcast that is no larger than its other operand.
// CHECK-LABEL: func.func @through_broadcast
// CHECK-NEXT:    %[[C:.*]] = stablehlo.constant dense<[5.000000e-01, 2.500000e-01]> : tensor<2xf32>
// CHECK-NEXT:    return %[[C]]
func.func @through_broadcast() -> tensor<2xf32> {
  %0 = stablehlo.constant dense<[3., 15.]> : tensor<2xf32>
  %1 = stablehlo.constant dense<1.0> : tensor<f32>
  %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<f32>) -> tensor<2xf32>
  %3 = stablehlo.add %0, %2 : tensor<2xf32>
  %4 = stablehlo.rsqrt %3 : tensor<2xf32>
  return %4 : tensor<2xf32>
}

// CHECK-LABEL: func.func @growing_broadcast
// CHECK:         stablehlo.broadcast_in_dim
func.func @growing_broadcast() -> tensor<3x2xf32> {
  %0 = stablehlo.constant dense<[3., 15.]> : tensor<2xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<2xf32>) -> tensor<3x2xf32>
  return %1 : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @splats
// CHECK-NEXT:    %[[C:.*]] = stablehlo.constant dense<2.000000e+00> : tensor<1000x1000xf32>
// CHECK-NEXT:    return %[[C]]
func.func @splats() -> tensor<1000x1000xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<1000x1000xf32>
  %1 = stablehlo.add %0, %0 : tensor<1000x1000xf32>
  return %1 : tensor<1000x1000xf32>
}

// CHECK-LABEL: func.func @integer_division_rounds_to_zero
// CHECK-NEXT:    stablehlo.constant dense<[-2, 2]> : tensor<2xi32>
func.func @integer_division_rounds_to_zero() -> tensor<2xi32> {
  %0 = stablehlo.constant dense<[-5, -5]> : tensor<2xi32>
  %1 = stablehlo.constant dense<[2, -2]> : tensor<2xi32>
  %2 = stablehlo.divide %0, %1 : tensor<2xi32>
  return %2 : tensor<2xi32>
}

// CHECK-LABEL: func.func @integer_division_by_zero
// CHECK:         stablehlo.divide
func.func @integer_division_by_zero() -> tensor<2xi32> {
  %0 = stablehlo.constant dense<[5, 5]> : tensor<2xi32>
  %1 = stablehlo.constant dense<[2, 0]> : tensor<2xi32>
  %2 = stablehlo.divide %0, %1 : tensor<2xi32>
  return %2 : tensor<2xi32>
}

// CHECK-LABEL: func.func @conversion_in_range
// CHECK-NEXT:    stablehlo.constant dense<[-128, 1]> : tensor<2xi8>
func.func @conversion_in_range() -> tensor<2xi8> {
  %0 = stablehlo.constant dense<[-128., 1.5]> : tensor<2xf32>
  %1 = stablehlo.convert %0 : (tensor<2xf32>) -> tensor<2xi8>
  return %1 : tensor<2xi8>
}

// CHECK-LABEL: func.func @conversion_out_of_range
// CHECK:         stablehlo.convert
func.func @conversion_out_of_range() -> tensor<2xi8> {
  %0 = stablehlo.constant dense<[-129., 1.5]> : tensor<2xf32>
  %1 = stablehlo.convert %0 : (tensor<2xf32>) -> tensor<2xi8>
  return %1 : tensor<2xi8>
}

// CHECK-LABEL: func.func @compare_and_select
// CHECK-NEXT:    stablehlo.constant dense<[7.000000e+00, 2.000000e+00]> : tensor<2xf32>
func.func @compare_and_select() -> tensor<2xf32> {
  %0 = stablehlo.constant dense<[1., 2.]> : tensor<2xf32>
  %1 = stablehlo.constant dense<[7., 2.]> : tensor<2xf32>
  %2 = stablehlo.compare LT, %0, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  %3 = stablehlo.select %2, %1, %0 : tensor<2xi1>, tensor<2xf32>
  return %3 : tensor<2xf32>
}

// CHECK-LABEL: func.func @unsigned_bits
// CHECK-NEXT:    stablehlo.constant dense<[255, 1]> : tensor<2xui8>
func.func @unsigned_bits() -> tensor<2xui8> {
  %0 = stablehlo.constant dense<[-1, 1]> : tensor<2xi8>
  %1 = stablehlo.bitcast_convert %0 : (tensor<2xi8>) -> tensor<2xui8>
  return %1 : tensor<2xui8>
}

// Weights stay stored integers.
// CHECK-LABEL: func.func @dequantized_constant
// CHECK:         stablehlo.uniform_dequantize
func.func @dequantized_constant() -> tensor<2xf32> {
  %0 = "stablehlo.constant"() <{value = dense<[1, 2]> : tensor<2xi8>}> : () -> tensor<2x!quant.uniform<i8:f32, 0.5>>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<2x!quant.uniform<i8:f32, 0.5>>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}
