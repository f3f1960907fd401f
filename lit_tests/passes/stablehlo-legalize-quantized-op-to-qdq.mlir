// RUN: shlo-quant-opt --stablehlo-legalize-quantized-op-to-qdq --split-input-file %s | FileCheck %s

!a = tensor<2x!quant.uniform<i8:f32, 0.5:7>>
!b = tensor<2x!quant.uniform<i8:f32, 0.25:-3>>

// CHECK-LABEL: func.func @add
// CHECK-SAME:    (%[[A:.*]]: tensor<2x{{.*}}, %[[B:.*]]: tensor<2x
// CHECK-NEXT:    %[[FA:.*]] = stablehlo.uniform_dequantize %[[A]]
// CHECK-NEXT:    %[[FB:.*]] = stablehlo.uniform_dequantize %[[B]]
// CHECK-NEXT:    %[[S:.*]] = stablehlo.add %[[FA]], %[[FB]] : tensor<2xf32>
// CHECK-NEXT:    %[[Q:.*]] = stablehlo.uniform_quantize %[[S]] : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 5.000000e-01:7>>
// CHECK-NEXT:    return %[[Q]]
func.func @add(%a: !a, %b: !b) -> !a {
  %0 = stablehlo.add %a, %b : (!a, !b) -> !a
  return %0 : !a
}

// CHECK-LABEL: func.func @requantize
// CHECK-NEXT:    %[[F:.*]] = stablehlo.uniform_dequantize
// CHECK-NEXT:    stablehlo.uniform_quantize %[[F]] : (tensor<2xf32>) -> tensor<2x!quant.uniform<i8:f32, 2.500000e-01:-3>>
func.func @requantize(%a: !a) -> !b {
  %0 = stablehlo.uniform_quantize %a : (!a) -> !b
  return %0 : !b
}

// CHECK-LABEL: func.func @compare_has_no_quantized_result
// CHECK:         %[[C:.*]] = stablehlo.compare LT, %{{.*}}, %{{.*}} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
// CHECK-NEXT:    return %[[C]]
func.func @compare_has_no_quantized_result(%a: !a, %b: !a) -> tensor<2xi1> {
  %0 = stablehlo.compare LT, %a, %b : (!a, !a) -> tensor<2xi1>
  return %0 : tensor<2xi1>
}

// CHECK-LABEL: func.func @bitcast_and_float_ops_left
// CHECK-NEXT:    stablehlo.bitcast_convert
// CHECK-NEXT:    stablehlo.abs %{{.*}} : tensor<2xf32>
// CHECK-NEXT:    return
func.func @bitcast_and_float_ops_left(%a: !a, %f: tensor<2xf32>) -> (tensor<2xi8>, tensor<2xf32>) {
  %0 = stablehlo.bitcast_convert %a : (!a) -> tensor<2xi8>
  %1 = stablehlo.abs %f : tensor<2xf32>
  return %0, %1 : tensor<2xi8>, tensor<2xf32>
}

// -----

!w = tensor<3x2x!quant.uniform<i8:f32:1, {0.25, 0.5}>>

// CHECK-LABEL: func.func @hybrid_dot
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3xf32>, %[[W:.*]]: tensor<3x2x
// CHECK-NEXT:    %[[F:.*]] = stablehlo.uniform_dequantize %[[W]]
// CHECK-NEXT:    %[[D:.*]] = stablehlo.dot_general %[[X]], %[[F]], contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
// CHECK-NEXT:    return %[[D]]
func.func @hybrid_dot(%x: tensor<2x3xf32>, %w: !w) -> tensor<2x2xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, !w) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

!x = tensor<2x3x!quant.uniform<i8:f32, 0.5:7>>
!e = tensor<!quant.uniform<i32:f32, 0.5>>
!r = tensor<2x!quant.uniform<i32:f32, 0.5>>

// CHECK-LABEL: func.func @sum_in_32_bits
// CHECK:         %[[S:.*]] = stablehlo.reduce(%{{.*}} init: %{{.*}}) applies stablehlo.add across dimensions = [1] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2xf32>
// CHECK-NEXT:    stablehlo.uniform_quantize %[[S]] : (tensor<2xf32>) -> tensor<2x!quant.uniform<i32:f32, 5.000000e-01>>
func.func @sum_in_32_bits(%x: !x, %i: !e) -> !r {
  %0 = stablehlo.reduce(%x init: %i) across dimensions = [1] : (!x, !e) -> !r
    reducer(%a: !e, %b: !e) {
      %1 = stablehlo.add %a, %b : !e
      stablehlo.return %1 : !e
    }
  return %0 : !r
}

// -----

!x = tensor<2x3x!quant.uniform<i8:f32, 0.5:7>>
!e = tensor<!quant.uniform<i8:f32, 0.5:7>>
!r = tensor<2x!quant.uniform<i8:f32, 0.5:7>>

// Every step of an 8-bit sum saturates, so only the body is written out.
// CHECK-LABEL: func.func @sum_in_8_bits
// CHECK:         stablehlo.reduce{{.*}} : (tensor<2x3x!quant{{.*}}, tensor<!quant{{.*}}) -> tensor<2x!quant
// CHECK:         stablehlo.add %{{.*}}, %{{.*}} : tensor<f32>
// CHECK-NEXT:    stablehlo.uniform_quantize
func.func @sum_in_8_bits(%x: !x, %i: !e) -> !r {
  %0 = stablehlo.reduce(%x init: %i) across dimensions = [1] : (!x, !e) -> !r
    reducer(%a: !e, %b: !e) {
      %1 = stablehlo.add %a, %b : !e
      stablehlo.return %1 : !e
    }
  return %0 : !r
}
