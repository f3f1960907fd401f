// RUN: shlo-quant-opt --stablehlo-legalize-quant-to-math --split-input-file %s | FileCheck %s

!q = tensor<4x!quant.uniform<i8:f32, 0.5:3>>
!r = tensor<4x!quant.uniform<i8:f32, 0.25>>

// CHECK-LABEL: func.func @in_float
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<4xi8>)
// CHECK-NEXT:    %[[CV1:.*]] = stablehlo.convert %[[ARG0]] : (tensor<4xi8>) -> tensor<4xi32>
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<3> : tensor<4xi32>
// CHECK-NEXT:    %[[SUB1:.*]] = stablehlo.subtract %[[CV1]], %[[C1]] : tensor<4xi32>
// CHECK-NEXT:    %[[CV2:.*]] = stablehlo.convert %[[SUB1]] : (tensor<4xi32>) -> tensor<4xf32>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<4xf32>
// CHECK-NEXT:    %[[MUL1:.*]] = stablehlo.multiply %[[CV2]], %[[C2]] : tensor<4xf32>
// CHECK-NEXT:    %[[TANH1:.*]] = stablehlo.tanh %[[MUL1]] : tensor<4xf32>
// CHECK-NEXT:    %[[C3:.*]] = stablehlo.constant dense<2.500000e-01> : tensor<4xf32>
// CHECK-NEXT:    %[[DIV1:.*]] = stablehlo.divide %[[TANH1]], %[[C3]] : tensor<4xf32>
// CHECK-NEXT:    %[[C4:.*]] = stablehlo.constant dense<-1.280000e+02> : tensor<f32>
// CHECK-NEXT:    %[[C5:.*]] = stablehlo.constant dense<1.270000e+02> : tensor<f32>
// CHECK-NEXT:    %[[CLAMP1:.*]] = stablehlo.clamp %[[C4]], %[[DIV1]], %[[C5]] : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT:    %[[RNE1:.*]] = stablehlo.round_nearest_even %[[CLAMP1]] : tensor<4xf32>
// CHECK-NEXT:    %[[CV3:.*]] = stablehlo.convert %[[RNE1]] : (tensor<4xf32>) -> tensor<4xi8>
// CHECK-NEXT:    return %[[CV3]] : tensor<4xi8>
func.func @in_float(%x: !q) -> !r {
  %0 = stablehlo.tanh %x : (!q) -> !r
  return %0 : !r
}

// -----

!a = tensor<4x!quant.uniform<i32:f32, 0.5>>

// Both operands may be as large as 32 bits get.
// CHECK-LABEL: func.func @add_saturating
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<4xi32>, %[[ARG1:.*]]: tensor<4xi32>)
// CHECK-NEXT:    %[[CV1:.*]] = stablehlo.convert %[[ARG0]] : (tensor<4xi32>) -> tensor<4xi64>
// CHECK-NEXT:    %[[CV2:.*]] = stablehlo.convert %[[ARG1]] : (tensor<4xi32>) -> tensor<4xi64>
// CHECK-NEXT:    %[[ADD1:.*]] = stablehlo.add %[[CV1]], %[[CV2]] : tensor<4xi64>
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<-2147483648> : tensor<i64>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant dense<2147483647> : tensor<i64>
// CHECK-NEXT:    %[[CLAMP1:.*]] = stablehlo.clamp %[[C1]], %[[ADD1]], %[[C2]] : (tensor<i64>, tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
// CHECK-NEXT:    %[[CV3:.*]] = stablehlo.convert %[[CLAMP1]] : (tensor<4xi64>) -> tensor<4xi32>
// CHECK-NEXT:    return %[[CV3]] : tensor<4xi32>
func.func @add_saturating(%x: !a, %y: !a) -> !a {
  %0 = stablehlo.add %x, %y : !a
  return %0 : !a
}

// -----

!a = tensor<1x2x!quant.uniform<i32:f32:1, {0.5, 0.25}>>
!b = tensor<2x!quant.uniform<i32:f32:0, {0.5, 0.25}>>
!x = tensor<1x3x!quant.uniform<i8:f32, 0.5>>
!w = tensor<3x2x!quant.uniform<i8:f32:1, {1.0, 0.5}>>

// The sum of 3 products of 8 bits and 1000 fits 32 bits.
// CHECK-LABEL: func.func @add_bias
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<1x3xi8>, %[[ARG1:.*]]: tensor<3x2xi8>)
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<[1000, -7]> : tensor<2xi32>
// CHECK-NEXT:    %[[DOT1:.*]] = stablehlo.dot_general %[[ARG0]], %[[ARG1]], contracting_dims = [1] x [0] : (tensor<1x3xi8>, tensor<3x2xi8>) -> tensor<1x2xi32>
// CHECK-NEXT:    %[[B1:.*]] = stablehlo.broadcast_in_dim %[[C1]], dims = [1] : (tensor<2xi32>) -> tensor<1x2xi32>
// CHECK-NEXT:    %[[ADD1:.*]] = stablehlo.add %[[DOT1]], %[[B1]] : tensor<1x2xi32>
// CHECK-NEXT:    return %[[ADD1]] : tensor<1x2xi32>
func.func @add_bias(%x: !x, %w: !w) -> !a {
  %b = "stablehlo.constant"() <{value = dense<[1000, -7]> : tensor<2xi32>}> : () -> !b
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (!x, !w) -> !a
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (!b) -> !a
  %2 = stablehlo.add %0, %1 : !a
  return %2 : !a
}

// -----

!q = tensor<4x!quant.uniform<i8:f32, 0.5:3>>

// CHECK-LABEL: func.func @maximum
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<4xi8>, %[[ARG1:.*]]: tensor<4xi8>)
// CHECK-NEXT:    %[[MAXIMUM1:.*]] = stablehlo.maximum %[[ARG0]], %[[ARG1]] : tensor<4xi8>
// CHECK-NEXT:    return %[[MAXIMUM1]] : tensor<4xi8>
func.func @maximum(%x: !q, %y: !q) -> !q {
  %0 = stablehlo.maximum %x, %y : !q
  return %0 : !q
}

// -----

!q = tensor<4x!quant.uniform<i8:f32, 0.5:3>>
!r = tensor<4x!quant.uniform<i8:f32, 0.5:4>>

// CHECK-LABEL: func.func @maximum_of_two_types
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<4xi8>, %[[ARG1:.*]]: tensor<4xi8>)
// CHECK-NEXT:    %[[CV1:.*]] = stablehlo.convert %[[ARG0]] : (tensor<4xi8>) -> tensor<4xi32>
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<3> : tensor<4xi32>
// CHECK-NEXT:    %[[SUB1:.*]] = stablehlo.subtract %[[CV1]], %[[C1]] : tensor<4xi32>
// CHECK-NEXT:    %[[CV2:.*]] = stablehlo.convert %[[SUB1]] : (tensor<4xi32>) -> tensor<4xf32>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<4xf32>
// CHECK-NEXT:    %[[MUL1:.*]] = stablehlo.multiply %[[CV2]], %[[C2]] : tensor<4xf32>
// CHECK-NEXT:    %[[CV3:.*]] = stablehlo.convert %[[ARG1]] : (tensor<4xi8>) -> tensor<4xi32>
// CHECK-NEXT:    %[[C3:.*]] = stablehlo.constant dense<4> : tensor<4xi32>
// CHECK-NEXT:    %[[SUB2:.*]] = stablehlo.subtract %[[CV3]], %[[C3]] : tensor<4xi32>
// CHECK-NEXT:    %[[CV4:.*]] = stablehlo.convert %[[SUB2]] : (tensor<4xi32>) -> tensor<4xf32>
// CHECK-NEXT:    %[[C4:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<4xf32>
// CHECK-NEXT:    %[[MUL2:.*]] = stablehlo.multiply %[[CV4]], %[[C4]] : tensor<4xf32>
// CHECK-NEXT:    %[[MAXIMUM1:.*]] = stablehlo.maximum %[[MUL1]], %[[MUL2]] : tensor<4xf32>
// CHECK-NEXT:    %[[C5:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<4xf32>
// CHECK-NEXT:    %[[DIV1:.*]] = stablehlo.divide %[[MAXIMUM1]], %[[C5]] : tensor<4xf32>
// CHECK-NEXT:    %[[C6:.*]] = stablehlo.constant dense<3.000000e+00> : tensor<4xf32>
// CHECK-NEXT:    %[[ADD1:.*]] = stablehlo.add %[[DIV1]], %[[C6]] : tensor<4xf32>
// CHECK-NEXT:    %[[C7:.*]] = stablehlo.constant dense<-1.280000e+02> : tensor<f32>
// CHECK-NEXT:    %[[C8:.*]] = stablehlo.constant dense<1.270000e+02> : tensor<f32>
// CHECK-NEXT:    %[[CLAMP1:.*]] = stablehlo.clamp %[[C7]], %[[ADD1]], %[[C8]] : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT:    %[[RNE1:.*]] = stablehlo.round_nearest_even %[[CLAMP1]] : tensor<4xf32>
// CHECK-NEXT:    %[[CV5:.*]] = stablehlo.convert %[[RNE1]] : (tensor<4xf32>) -> tensor<4xi8>
// CHECK-NEXT:    return %[[CV5]] : tensor<4xi8>
func.func @maximum_of_two_types(%x: !q, %y: !r) -> !q {
  %0 = stablehlo.maximum %x, %y : (!q, !r) -> !q
  return %0 : !q
}

// -----

!q = tensor<4x!quant.uniform<u8:f32, 0.5:3>>

// CHECK-LABEL: func.func @compare
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<4xui8>, %[[ARG1:.*]]: tensor<4xui8>)
// CHECK-NEXT:    %[[COMPARE1:.*]] = stablehlo.compare LT, %[[ARG0]], %[[ARG1]] : (tensor<4xui8>, tensor<4xui8>) -> tensor<4xi1>
// CHECK-NEXT:    return %[[COMPARE1]] : tensor<4xi1>
func.func @compare(%x: !q, %y: !q) -> tensor<4xi1> {
  %0 = stablehlo.compare LT, %x, %y, FLOAT : (!q, !q) -> tensor<4xi1>
  return %0 : tensor<4xi1>
}

// -----

!q = tensor<4x!quant.uniform<i8:f32, 0.5:3>>
!s = tensor<!quant.uniform<i8:f32, 0.5:3>>

// CHECK-LABEL: func.func @clamp
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<i8>, %[[ARG1:.*]]: tensor<4xi8>, %[[ARG2:.*]]: tensor<i8>)
// CHECK-NEXT:    %[[CLAMP1:.*]] = stablehlo.clamp %[[ARG0]], %[[ARG1]], %[[ARG2]] : (tensor<i8>, tensor<4xi8>, tensor<i8>) -> tensor<4xi8>
// CHECK-NEXT:    return %[[CLAMP1]] : tensor<4xi8>
func.func @clamp(%l: !s, %x: !q, %h: !s) -> !q {
  %0 = stablehlo.clamp %l, %x, %h : (!s, !q, !s) -> !q
  return %0 : !q
}
