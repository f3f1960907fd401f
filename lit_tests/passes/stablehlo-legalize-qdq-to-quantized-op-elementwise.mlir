// RUN: shlo-quant-opt --stablehlo-legalize-qdq-to-quantized-op --split-input-file %s | FileCheck %s

!a = tensor<2x!quant.uniform<i8:f32, 0.5:7>>
!b = tensor<2x!quant.uniform<i8:f32, 0.25:-3>>
!c = tensor<2x!quant.uniform<i8:f32, 1.0:-128>>

// CHECK-LABEL: func.func @add_relu
// CHECK-SAME:    (%[[A:.*]]: tensor<2x{{.*}}, %[[B:.*]]: tensor<2x
// CHECK-NEXT:    %[[R:.*]] = stablehlo.add %[[A]], %[[B]] : {{.*}} -> tensor<2x!quant.uniform<i8:f32, 1.000000e+00:-128>>
// CHECK-NEXT:    return %[[R]]
func.func @add_relu(%a: !a, %b: !b) -> !c {
  %z = stablehlo.constant dense<0.0> : tensor<2xf32>
  %0 = stablehlo.uniform_dequantize %a : (!a) -> tensor<2xf32>
  %1 = stablehlo.uniform_dequantize %b : (!b) -> tensor<2xf32>
  %2 = stablehlo.add %0, %1 : tensor<2xf32>
  %3 = stablehlo.maximum %2, %z : tensor<2xf32>
  %4 = stablehlo.uniform_quantize %3 : (tensor<2xf32>) -> !c
  return %4 : !c
}

// The float sum is needed, too: fusing would add twice.
// CHECK-LABEL: func.func @sum_with_two_users_left
// CHECK:         stablehlo.add {{.*}} : tensor<2xf32>
func.func @sum_with_two_users_left(%a: !a, %b: !b) -> (!c, tensor<2xf32>) {
  %0 = stablehlo.uniform_dequantize %a : (!a) -> tensor<2xf32>
  %1 = stablehlo.uniform_dequantize %b : (!b) -> tensor<2xf32>
  %2 = stablehlo.add %0, %1 : tensor<2xf32>
  %3 = stablehlo.uniform_quantize %2 : (tensor<2xf32>) -> !c
  return %3, %2 : !c, tensor<2xf32>
}

// CHECK-LABEL: func.func @float_operand_left
// CHECK:         stablehlo.multiply {{.*}} : tensor<2xf32>
func.func @float_operand_left(%a: !a, %f: tensor<2xf32>) -> !c {
  %0 = stablehlo.uniform_dequantize %a : (!a) -> tensor<2xf32>
  %1 = stablehlo.multiply %0, %f : tensor<2xf32>
  %2 = stablehlo.uniform_quantize %1 : (tensor<2xf32>) -> !c
  return %2 : !c
}

// -----

!a = tensor<2x!quant.uniform<i8:f32, 0.5:7>>

// A float number is the stored integer 1 (or -1) at the scale of its magnitude.
// CHECK-LABEL: func.func @multiply_by_number
// CHECK:         %[[K:.*]] = stablehlo.constant() <{value = dense<-1> : tensor<2xi8>}> : () -> tensor<2x!quant.uniform<i8:f32, 0.30000001192092896>>
// CHECK-NEXT:    stablehlo.multiply %{{.*}}, %[[K]]
func.func @multiply_by_number(%a: !a) -> !a {
  %k = stablehlo.constant dense<-0.3> : tensor<2xf32>
  %0 = stablehlo.uniform_dequantize %a : (!a) -> tensor<2xf32>
  %1 = stablehlo.multiply %0, %k : tensor<2xf32>
  %2 = stablehlo.uniform_quantize %1 : (tensor<2xf32>) -> !a
  return %2 : !a
}

// -----

!a = tensor<2x!quant.uniform<i8:f32, 0.5:7>>
!u = tensor<2x!quant.uniform<u8:f32, 0.25:130>>

// CHECK-LABEL: func.func @mixed_storage
// CHECK-SAME:    (%[[A:.*]]: tensor<2x{{.*}}, %[[U:.*]]: tensor<2x
// CHECK-NEXT:    %[[M:.*]] = stablehlo.uniform_quantize %[[U]] {{.*}} -> tensor<2x!quant.uniform<i8:f32, 2.500000e-01:2>>
// CHECK-NEXT:    stablehlo.multiply %[[A]], %[[M]]
func.func @mixed_storage(%a: !a, %u: !u) -> !a {
  %0 = stablehlo.uniform_dequantize %a : (!a) -> tensor<2xf32>
  %1 = stablehlo.uniform_dequantize %u : (!u) -> tensor<2xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<2xf32>
  %3 = stablehlo.uniform_quantize %2 : (tensor<2xf32>) -> !a
  return %3 : !a
}

// -----

!a = tensor<2x!quant.uniform<i8:f32, 0.5:7>>
!b = tensor<2x!quant.uniform<i8:f32, 0.25:-3>>

// CHECK-LABEL: func.func @identity
// CHECK-SAME:    (%[[A:.*]]: tensor<2x
// CHECK-NEXT:    return %[[A]]
func.func @identity(%a: !a) -> !a {
  %0 = stablehlo.uniform_dequantize %a : (!a) -> tensor<2xf32>
  %1 = stablehlo.uniform_quantize %0 : (tensor<2xf32>) -> !a
  return %1 : !a
}

// CHECK-LABEL: func.func @requantize
// CHECK-SAME:    (%[[A:.*]]: tensor<2x
// CHECK-NEXT:    %[[R:.*]] = stablehlo.uniform_quantize %[[A]] : (tensor<2x!quant.uniform<i8:f32, 5.000000e-01:7>>) -> tensor<2x!quant.uniform<i8:f32, 2.500000e-01:-3>>
// CHECK-NEXT:    return %[[R]]
func.func @requantize(%a: !a) -> !b {
  %0 = stablehlo.uniform_dequantize %a : (!a) -> tensor<2xf32>
  %1 = stablehlo.uniform_quantize %0 : (tensor<2xf32>) -> !b
  return %1 : !b
}

// CHECK-LABEL: func.func @unary
// CHECK-NEXT:    stablehlo.logistic %{{.*}} : (tensor<2x!quant.uniform<i8:f32, 5.000000e-01:7>>) -> tensor<2x!quant.uniform<i8:f32, 2.500000e-01:-3>>
func.func @unary(%a: !a) -> !b {
  %0 = stablehlo.uniform_dequantize %a : (!a) -> tensor<2xf32>
  %1 = stablehlo.logistic %0 : tensor<2xf32>
  %2 = stablehlo.uniform_quantize %1 : (tensor<2xf32>) -> !b
  return %2 : !b
}

// CHECK-LABEL: func.func @chain_of_two_left
// CHECK:         stablehlo.exponential {{.*}} : tensor<2xf32>
// CHECK:         stablehlo.negate {{.*}} : tensor<2xf32>
func.func @chain_of_two_left(%a: !a) -> !b {
  %0 = stablehlo.uniform_dequantize %a : (!a) -> tensor<2xf32>
  %1 = stablehlo.exponential %0 : tensor<2xf32>
  %2 = stablehlo.negate %1 : tensor<2xf32>
  %3 = stablehlo.uniform_quantize %2 : (tensor<2xf32>) -> !b
  return %3 : !b
}
