// RUN: shlo-quant-opt --stablehlo-legalize-qdq-to-quantized-op=arithmetic=xnnpack --split-input-file %s | FileCheck %s

!x = tensor<1x4x!quant.uniform<i8:f32, 0.5:3>>
!w = tensor<4x2x!quant.uniform<i8<-127:127>:f32:1, {0.25, 0.5}>>
!r = tensor<1x2x!quant.uniform<i8:f32, 2.0:-5>>

// Biases in steps of 0.125 and 0.25.
// CHECK-LABEL: func.func @bias
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<1x4x!quant.uniform<i8:f32, 5.000000e-01:3>>)
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant() <{value = dense<{{\[\[}}1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi8>}> : () -> tensor<4x2x!quant.uniform<i8<-127:127>:f32:1, {2.500000e-01,5.000000e-01}>>
// CHECK-NEXT:    %[[DOT1:.*]] = stablehlo.dot_general %[[ARG0]], %[[C1]], contracting_dims = [1] x [0] : (tensor<1x4x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<4x2x!quant.uniform<i8<-127:127>:f32:1, {2.500000e-01,5.000000e-01}>>) -> tensor<1x2x!quant.uniform<i32:f32:1, {1.250000e-01,2.500000e-01}>>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant() <{value = dense<[8, -2]> : tensor<2xi32>}> : () -> tensor<2x!quant.uniform<i32:f32:0, {1.250000e-01,2.500000e-01}>>
// CHECK-NEXT:    %[[BC1:.*]] = stablehlo.broadcast_in_dim %[[C2]], dims = [1] : (tensor<2x!quant.uniform<i32:f32:0, {1.250000e-01,2.500000e-01}>>) -> tensor<1x2x!quant.uniform<i32:f32:1, {1.250000e-01,2.500000e-01}>>
// CHECK-NEXT:    %[[ADD1:.*]] = stablehlo.add %[[DOT1]], %[[BC1]] : tensor<1x2x!quant.uniform<i32:f32:1, {1.250000e-01,2.500000e-01}>>
// CHECK-NEXT:    %[[Q1:.*]] = stablehlo.uniform_quantize %[[ADD1]] : (tensor<1x2x!quant.uniform<i32:f32:1, {1.250000e-01,2.500000e-01}>>) -> tensor<1x2x!quant.uniform<i8:f32, 2.000000e+00:-5>>
// CHECK-NEXT:    return %[[Q1]] : tensor<1x2x!quant.uniform<i8:f32, 2.000000e+00:-5>>
func.func @bias(%x: !x) -> !r {
  %w = stablehlo.constant() <{value = dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi8>}> : () -> !w
  %b = stablehlo.constant dense<[[1.0, -0.5]]> : tensor<1x2xf32>
  %0 = stablehlo.uniform_dequantize %x : (!x) -> tensor<1x4xf32>
  %1 = stablehlo.uniform_dequantize %w : (!w) -> tensor<4x2xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<1x4xf32>, tensor<4x2xf32>) -> tensor<1x2xf32>
  %3 = stablehlo.add %2, %b : tensor<1x2xf32>
  %4 = stablehlo.uniform_quantize %3 : (tensor<1x2xf32>) -> !r
  return %4 : !r
}

// Nothing quantizes the sum: XNNPACK computes it in floats.
// CHECK-LABEL: func.func @not_quantized
// CHECK:         stablehlo.dot_general {{.*}} : (tensor<1x4xf32>, tensor<4x2xf32>) -> tensor<1x2xf32>
func.func @not_quantized(%x: !x) -> tensor<1x2xf32> {
  %w = stablehlo.constant() <{value = dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi8>}> : () -> !w
  %0 = stablehlo.uniform_dequantize %x : (!x) -> tensor<1x4xf32>
  %1 = stablehlo.uniform_dequantize %w : (!w) -> tensor<4x2xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<1x4xf32>, tensor<4x2xf32>) -> tensor<1x2xf32>
  return %2 : tensor<1x2xf32>
}

// -----

!x = tensor<1x4x!quant.uniform<i8:f32, 0.5:3>>
!y = tensor<4x2x!quant.uniform<i8:f32, 0.25>>
!r = tensor<1x2x!quant.uniform<i8:f32, 2.0:-5>>

// Products of two activations are float32.
// CHECK-LABEL: func.func @two_activations
// CHECK:         stablehlo.dot_general {{.*}} : (tensor<1x4xf32>, tensor<4x2xf32>) -> tensor<1x2xf32>
func.func @two_activations(%x: !x, %y: !y) -> !r {
  %0 = stablehlo.uniform_dequantize %x : (!x) -> tensor<1x4xf32>
  %1 = stablehlo.uniform_dequantize %y : (!y) -> tensor<4x2xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<1x4xf32>, tensor<4x2xf32>) -> tensor<1x2xf32>
  %3 = stablehlo.uniform_quantize %2 : (tensor<1x2xf32>) -> !r
  return %3 : !r
}

// -----

!a = tensor<4x!quant.uniform<i8:f32, 0.5:3>>
!b = tensor<4x!quant.uniform<i8:f32, 0.25:-2>>
!r = tensor<4x!quant.uniform<i8:f32, 1.0:7>>

// The relu is a maximum of stored integers: 0 is stored as 7.
// CHECK-LABEL: func.func @add_relu
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>, %[[ARG1:.*]]: tensor<4x!quant.uniform<i8:f32, 2.500000e-01:-2>>)
// CHECK-NEXT:    %[[ADD1:.*]] = stablehlo.add %[[ARG0]], %[[ARG1]] : (tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<4x!quant.uniform<i8:f32, 2.500000e-01:-2>>) -> tensor<4x!quant.uniform<i8:f32, 1.000000e+00:7>>
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant() <{value = dense<7> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 1.000000e+00:7>>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant() <{value = dense<127> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 1.000000e+00:7>>
// CHECK-NEXT:    %[[CLAMP1:.*]] = stablehlo.clamp %[[C1]], %[[ADD1]], %[[C2]] : (tensor<!quant.uniform<i8:f32, 1.000000e+00:7>>, tensor<4x!quant.uniform<i8:f32, 1.000000e+00:7>>, tensor<!quant.uniform<i8:f32, 1.000000e+00:7>>) -> tensor<4x!quant.uniform<i8:f32, 1.000000e+00:7>>
// CHECK-NEXT:    return %[[CLAMP1]] : tensor<4x!quant.uniform<i8:f32, 1.000000e+00:7>>
func.func @add_relu(%a: !a, %b: !b) -> !r {
  %z = stablehlo.constant dense<0.0> : tensor<4xf32>
  %0 = stablehlo.uniform_dequantize %a : (!a) -> tensor<4xf32>
  %1 = stablehlo.uniform_dequantize %b : (!b) -> tensor<4xf32>
  %2 = stablehlo.add %0, %1 : tensor<4xf32>
  %3 = stablehlo.maximum %2, %z : tensor<4xf32>
  %4 = stablehlo.uniform_quantize %3 : (tensor<4xf32>) -> !r
  return %4 : !r
}

// Of other combinations with a clamp, XNNPACK computes the whole in float32.
// CHECK-LABEL: func.func @multiply_relu
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>, %[[ARG1:.*]]: tensor<4x!quant.uniform<i8:f32, 2.500000e-01:-2>>)
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK-NEXT:    %[[DQ1:.*]] = stablehlo.uniform_dequantize %[[ARG0]] : (tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<4xf32>
// CHECK-NEXT:    %[[DQ2:.*]] = stablehlo.uniform_dequantize %[[ARG1]] : (tensor<4x!quant.uniform<i8:f32, 2.500000e-01:-2>>) -> tensor<4xf32>
// CHECK-NEXT:    %[[MUL1:.*]] = stablehlo.multiply %[[DQ1]], %[[DQ2]] : tensor<4xf32>
// CHECK-NEXT:    %[[MAX1:.*]] = stablehlo.maximum %[[MUL1]], %[[C1]] : tensor<4xf32>
// CHECK-NEXT:    %[[Q1:.*]] = stablehlo.uniform_quantize %[[MAX1]] : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 1.000000e+00:7>>
// CHECK-NEXT:    return %[[Q1]] : tensor<4x!quant.uniform<i8:f32, 1.000000e+00:7>>
func.func @multiply_relu(%a: !a, %b: !b) -> !r {
  %z = stablehlo.constant dense<0.0> : tensor<4xf32>
  %0 = stablehlo.uniform_dequantize %a : (!a) -> tensor<4xf32>
  %1 = stablehlo.uniform_dequantize %b : (!b) -> tensor<4xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<4xf32>
  %3 = stablehlo.maximum %2, %z : tensor<4xf32>
  %4 = stablehlo.uniform_quantize %3 : (tensor<4xf32>) -> !r
  return %4 : !r
}

// CHECK-LABEL: func.func @multiply
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>, %[[ARG1:.*]]: tensor<4x!quant.uniform<i8:f32, 2.500000e-01:-2>>)
// CHECK-NEXT:    %[[MUL1:.*]] = stablehlo.multiply %[[ARG0]], %[[ARG1]] : (tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<4x!quant.uniform<i8:f32, 2.500000e-01:-2>>) -> tensor<4x!quant.uniform<i8:f32, 1.000000e+00:7>>
// CHECK-NEXT:    return %[[MUL1]] : tensor<4x!quant.uniform<i8:f32, 1.000000e+00:7>>
func.func @multiply(%a: !a, %b: !b) -> !r {
  %0 = stablehlo.uniform_dequantize %a : (!a) -> tensor<4xf32>
  %1 = stablehlo.uniform_dequantize %b : (!b) -> tensor<4xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<4xf32>
  %3 = stablehlo.uniform_quantize %2 : (tensor<4xf32>) -> !r
  return %3 : !r
}

// A constant that is not quantized.
// CHECK-LABEL: func.func @multiply_by_number
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>)
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<1.000000e-01> : tensor<4xf32>
// CHECK-NEXT:    %[[DQ1:.*]] = stablehlo.uniform_dequantize %[[ARG0]] : (tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<4xf32>
// CHECK-NEXT:    %[[MUL1:.*]] = stablehlo.multiply %[[DQ1]], %[[C1]] : tensor<4xf32>
// CHECK-NEXT:    %[[Q1:.*]] = stablehlo.uniform_quantize %[[MUL1]] : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 1.000000e+00:7>>
// CHECK-NEXT:    return %[[Q1]] : tensor<4x!quant.uniform<i8:f32, 1.000000e+00:7>>
func.func @multiply_by_number(%a: !a) -> !r {
  %n = stablehlo.constant dense<0.1> : tensor<4xf32>
  %0 = stablehlo.uniform_dequantize %a : (!a) -> tensor<4xf32>
  %1 = stablehlo.multiply %0, %n : tensor<4xf32>
  %2 = stablehlo.uniform_quantize %1 : (tensor<4xf32>) -> !r
  return %2 : !r
}

// -----

!a = tensor<4x!quant.uniform<i8:f32, 0.5:3>>
!r = tensor<4x!quant.uniform<i8:f32, 1.0:7>>

// CHECK-LABEL: func.func @relu_within_one_type
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>)
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant() <{value = dense<3> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant() <{value = dense<127> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-NEXT:    %[[CLAMP1:.*]] = stablehlo.clamp %[[C1]], %[[ARG0]], %[[C2]] : (tensor<!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>, tensor<!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>
// CHECK-NEXT:    return %[[CLAMP1]] : tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>
func.func @relu_within_one_type(%a: !a) -> !a {
  %z = stablehlo.constant dense<0.0> : tensor<4xf32>
  %0 = stablehlo.uniform_dequantize %a : (!a) -> tensor<4xf32>
  %1 = stablehlo.maximum %0, %z : tensor<4xf32>
  %2 = stablehlo.uniform_quantize %1 : (tensor<4xf32>) -> !a
  return %2 : !a
}

// Into other parameters it is a table's work (apply-xnnpack-rewrites).
// CHECK-LABEL: func.func @relu_into_another_type
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>)
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<4xf32>
// CHECK-NEXT:    %[[DQ1:.*]] = stablehlo.uniform_dequantize %[[ARG0]] : (tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<4xf32>
// CHECK-NEXT:    %[[MAX1:.*]] = stablehlo.maximum %[[DQ1]], %[[C1]] : tensor<4xf32>
// CHECK-NEXT:    %[[Q1:.*]] = stablehlo.uniform_quantize %[[MAX1]] : (tensor<4xf32>) -> tensor<4x!quant.uniform<i8:f32, 1.000000e+00:7>>
// CHECK-NEXT:    return %[[Q1]] : tensor<4x!quant.uniform<i8:f32, 1.000000e+00:7>>
func.func @relu_into_another_type(%a: !a) -> !r {
  %z = stablehlo.constant dense<0.0> : tensor<4xf32>
  %0 = stablehlo.uniform_dequantize %a : (!a) -> tensor<4xf32>
  %1 = stablehlo.maximum %0, %z : tensor<4xf32>
  %2 = stablehlo.uniform_quantize %1 : (tensor<4xf32>) -> !r
  return %2 : !r
}
