// RUN: shlo-quant-opt --stablehlo-legalize-qdq-to-quantized-op --split-input-file %s | FileCheck %s

!a = tensor<2x!quant.uniform<i8:f32, 0.5:7>>
!r = tensor<2x!quant.uniform<i8:f32, 0.05:-128>>

// relu6 at (0.05:-128): 0 is stored as -128, 6 as -8.
// CHECK-LABEL: func.func @relu6_as_maximum_minimum
// CHECK-SAME:    (%[[A:.*]]: tensor<2x
// CHECK:         %[[Q:.*]] = stablehlo.uniform_quantize %[[A]]
// CHECK-DAG:     %[[LOW:.*]] = stablehlo.constant() <{value = dense<-128> : tensor<i8>}>
// CHECK-DAG:     %[[HIGH:.*]] = stablehlo.constant() <{value = dense<-8> : tensor<i8>}>
// CHECK:         %[[C:.*]] = stablehlo.clamp %[[LOW]], %[[Q]], %[[HIGH]]
// CHECK-NEXT:    return %[[C]]
func.func @relu6_as_maximum_minimum(%a: !a) -> !r {
  %z = stablehlo.constant dense<0.0> : tensor<2xf32>
  %s = stablehlo.constant dense<6.0> : tensor<2xf32>
  %0 = stablehlo.uniform_dequantize %a : (!a) -> tensor<2xf32>
  %1 = stablehlo.maximum %0, %z : tensor<2xf32>
  %2 = stablehlo.minimum %s, %1 : tensor<2xf32>
  %3 = stablehlo.uniform_quantize %2 : (tensor<2xf32>) -> !r
  return %3 : !r
}

// CHECK-LABEL: func.func @clamp_between_equal_types
// CHECK-SAME:    (%[[A:.*]]: tensor<2x
// CHECK-DAG:     %[[LOW:.*]] = stablehlo.constant() <{value = dense<5> : tensor<i8>}>
// CHECK-DAG:     %[[HIGH:.*]] = stablehlo.constant() <{value = dense<9> : tensor<i8>}>
// CHECK:         stablehlo.clamp %[[LOW]], %[[A]], %[[HIGH]]
func.func @clamp_between_equal_types(%a: !a) -> !a {
  %l = stablehlo.constant dense<-1.0> : tensor<f32>
  %h = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.uniform_dequantize %a : (!a) -> tensor<2xf32>
  %1 = stablehlo.clamp %l, %0, %h : (tensor<f32>, tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %2 = stablehlo.uniform_quantize %1 : (tensor<2xf32>) -> !a
  return %2 : !a
}

// CHECK-LABEL: func.func @relu_at_storage_minimum_vanishes
// CHECK-NOT:     maximum
// CHECK-NOT:     clamp
func.func @relu_at_storage_minimum_vanishes(%a: !a) -> !r {
  %z = stablehlo.constant dense<0.0> : tensor<2xf32>
  %0 = stablehlo.uniform_dequantize %a : (!a) -> tensor<2xf32>
  %1 = stablehlo.maximum %0, %z : tensor<2xf32>
  %2 = stablehlo.uniform_quantize %1 : (tensor<2xf32>) -> !r
  return %2 : !r
}

// One bound for each element is no clamp; as integers 0 and 1 it is a quantized constant of its own scale.
// CHECK-LABEL: func.func @maximum_with_an_array
// CHECK:         %[[C:.*]] = stablehlo.constant() <{value = dense<[0, 1]> : tensor<2xi8>}> : () -> tensor<2x!quant.uniform<i8:f32, 1.000000e+00>>
// CHECK-NEXT:    stablehlo.maximum %{{.*}}, %[[C]] : {{.*}} -> tensor<2x!quant.uniform<i8:f32, 5.000000e-02:-128>>
func.func @maximum_with_an_array(%a: !a) -> !r {
  %z = stablehlo.constant dense<[0.0, 1.0]> : tensor<2xf32>
  %0 = stablehlo.uniform_dequantize %a : (!a) -> tensor<2xf32>
  %1 = stablehlo.maximum %0, %z : tensor<2xf32>
  %2 = stablehlo.uniform_quantize %1 : (tensor<2xf32>) -> !r
  return %2 : !r
}
