// RUN: shlo-quant-opt --stablehlo-legalize-qdq-to-quantized-op --split-input-file %s | FileCheck %s

!x = tensor<2x4x!quant.uniform<i8:f32, 0.5:7>>
!r = tensor<2x!quant.uniform<i8:f32, 0.5:7>>

// CHECK-LABEL: func.func @mean
// CHECK-SAME:    (%[[X:.*]]: tensor<2x4x
// CHECK:         %[[S:.*]] = stablehlo.reduce(%[[X]] init: %{{.*}}) across dimensions = [1] : (tensor<2x4x!quant.uniform<i8:f32, 5.000000e-01:7>>, tensor<!quant.uniform<i32:f32, 5.000000e-01>>) -> tensor<2x!quant.uniform<i32:f32, 5.000000e-01>>
// CHECK:         %[[D:.*]] = stablehlo.divide %[[S]], %{{.*}} -> tensor<2x!quant.uniform<i32:f32, 5.000000e-01:7>>
// CHECK-NEXT:    %[[Q:.*]] = stablehlo.uniform_quantize %[[D]] : {{.*}} -> tensor<2x!quant.uniform<i8:f32, 5.000000e-01:7>>
// CHECK-NEXT:    return %[[Q]]
func.func @mean(%x: !x) -> !r {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %n = stablehlo.constant dense<4.0> : tensor<2xf32>
  %0 = stablehlo.uniform_dequantize %x : (!x) -> tensor<2x4xf32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
  %2 = stablehlo.divide %1, %n : tensor<2xf32>
  %3 = stablehlo.uniform_quantize %2 : (tensor<2xf32>) -> !r
  return %3 : !r
}

// CHECK-LABEL: func.func @sum_of_a_float_island_left
// CHECK:         stablehlo.reduce{{.*}} -> tensor<2xf32>
func.func @sum_of_a_float_island_left(%x: !x) -> tensor<2xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.uniform_dequantize %x : (!x) -> tensor<2x4xf32>
  %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -----

!x = tensor<1x4x!quant.uniform<i8:f32, 0.5:7>>
!r = tensor<1x3x!quant.uniform<i8:f32, 0.5:7>>

// CHECK-LABEL: func.func @max_pool_with_padding
// CHECK:         %[[I:.*]] = stablehlo.constant() <{value = dense<-128> : tensor<i8>}>
// CHECK:         "stablehlo.reduce_window"(%{{.*}}, %[[I]])
// CHECK:         stablehlo.maximum %{{.*}} : tensor<!quant.uniform<i8:f32, 5.000000e-01:7>>
// CHECK:         -> tensor<1x3x!quant.uniform<i8:f32, 5.000000e-01:7>>
func.func @max_pool_with_padding(%x: !x) -> !r {
  %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.uniform_dequantize %x : (!x) -> tensor<1x4xf32>
  %1 = "stablehlo.reduce_window"(%0, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {padding = dense<[[0, 0], [1, 1]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>} : (tensor<1x4xf32>, tensor<f32>) -> tensor<1x3xf32>
  %2 = stablehlo.uniform_quantize %1 : (tensor<1x3xf32>) -> !r
  return %2 : !r
}

// A window of padding alone gives -inf, which is no stored integer.
// CHECK-LABEL: func.func @max_pool_window_of_padding_left
// CHECK:         "stablehlo.reduce_window"
// CHECK:         stablehlo.maximum %{{.*}} : tensor<f32>
func.func @max_pool_window_of_padding_left(%x: !x) -> tensor<1x4xf32> {
  %z = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.uniform_dequantize %x : (!x) -> tensor<1x4xf32>
  %1 = "stablehlo.reduce_window"(%0, %z) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %m = stablehlo.maximum %a, %b : tensor<f32>
    stablehlo.return %m : tensor<f32>
  }) {padding = dense<[[0, 0], [2, 2]]> : tensor<2x2xi64>, window_dimensions = array<i64: 1, 2>, window_strides = array<i64: 1, 2>} : (tensor<1x4xf32>, tensor<f32>) -> tensor<1x4xf32>
  return %1 : tensor<1x4xf32>
}
