// RUN: shlo-quant-opt --stablehlo-legalize-qdq-to-quantized-op --split-input-file %s | FileCheck %s

!x = tensor<2x3x!quant.uniform<i8:f32, 0.5:7>>
!t = tensor<3x2x!quant.uniform<i8:f32, 0.5:7>>

// CHECK-LABEL: func.func @transpose
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3x
// CHECK-NEXT:    %[[T:.*]] = stablehlo.transpose %[[X]], dims = [1, 0] : (tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:7>>) -> tensor<3x2x!quant.uniform<i8:f32, 5.000000e-01:7>>
// CHECK-NEXT:    return %[[T]]
func.func @transpose(%x: !x) -> !t {
  %0 = stablehlo.uniform_dequantize %x : (!x) -> tensor<2x3xf32>
  %1 = stablehlo.transpose %0, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %2 = stablehlo.uniform_quantize %1 : (tensor<3x2xf32>) -> !t
  return %2 : !t
}

// CHECK-LABEL: func.func @pad_by_zero
// CHECK:         %[[Z:.*]] = stablehlo.constant() <{value = dense<7> : tensor<i8>}>
// CHECK-NEXT:    stablehlo.pad %{{.*}}, %[[Z]], low = [0, 1], high = [0, 0], interior = [0, 0]
// CHECK-NEXT:    stablehlo.uniform_dequantize
func.func @pad_by_zero(%x: !x) -> tensor<2x4xf32> {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.uniform_dequantize %x : (!x) -> tensor<2x3xf32>
  %1 = stablehlo.pad %0, %z, low = [0, 1], high = [0, 0], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// 0.3 is no multiple of the scale.
// CHECK-LABEL: func.func @pad_by_what_the_type_cannot_hold_left
// CHECK:         stablehlo.pad {{.*}} -> tensor<2x4xf32>
func.func @pad_by_what_the_type_cannot_hold_left(%x: !x) -> tensor<2x4xf32> {
  %z = stablehlo.constant dense<0.3> : tensor<f32>
  %0 = stablehlo.uniform_dequantize %x : (!x) -> tensor<2x3xf32>
  %1 = stablehlo.pad %0, %z, low = [0, 1], high = [0, 0], interior = [0, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// -----

!x = tensor<2x!quant.uniform<i8:f32, 0.5:7>>
!y = tensor<2x!quant.uniform<i8:f32, 0.25:-3>>
!r = tensor<4x!quant.uniform<i8:f32, 0.25:-3>>

// CHECK-LABEL: func.func @concatenate_different_types
// CHECK-SAME:    (%[[X:.*]]: tensor<2x{{.*}}, %[[Y:.*]]: tensor<2x
// CHECK-NEXT:    %[[M:.*]] = stablehlo.uniform_quantize %[[X]] {{.*}} -> tensor<2x!quant.uniform<i8:f32, 2.500000e-01:-3>>
// CHECK-NEXT:    %[[C:.*]] = stablehlo.concatenate %[[M]], %[[Y]], dim = 0
// CHECK-NEXT:    return %[[C]]
func.func @concatenate_different_types(%x: !x, %y: !y) -> !r {
  %0 = stablehlo.uniform_dequantize %x : (!x) -> tensor<2xf32>
  %1 = stablehlo.uniform_dequantize %y : (!y) -> tensor<2xf32>
  %2 = stablehlo.concatenate %0, %1, dim = 0 : (tensor<2xf32>, tensor<2xf32>) -> tensor<4xf32>
  %3 = stablehlo.uniform_quantize %2 : (tensor<4xf32>) -> !r
  return %3 : !r
}

// CHECK-LABEL: func.func @embedding_table
// CHECK:         %[[T:.*]] = stablehlo.constant() <{value = dense<{{\[}}[1, 5], [-3, -7]]> : tensor<2x2xi8>}> : () -> tensor<2x2x!quant.uniform<i8:f32, 2.500000e-01:-3>>
// CHECK-NEXT:    %[[G:.*]] = "stablehlo.gather"(%[[T]],
// CHECK-NEXT:    return %[[G]]
func.func @embedding_table(%i: tensor<1x1xi32>) -> tensor<1x2x!quant.uniform<i8:f32, 0.25:-3>> {
  %t = stablehlo.constant dense<[[1.0, 2.0], [0.0, -1.0]]> : tensor<2x2xf32>
  %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 2>}> : (tensor<2x2xf32>, tensor<1x1xi32>) -> tensor<1x2xf32>
  %1 = stablehlo.uniform_quantize %0 : (tensor<1x2xf32>) -> tensor<1x2x!quant.uniform<i8:f32, 0.25:-3>>
  return %1 : tensor<1x2x!quant.uniform<i8:f32, 0.25:-3>>
}

// -----

!w = tensor<2x6x!quant.uniform<i8:f32:0, {0.5, 0.25}>>

// CHECK-LABEL: func.func @per_axis_reshape
// CHECK-NEXT:    stablehlo.reshape %{{.*}} -> tensor<1x2x3x2x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01}>>
func.func @per_axis_reshape(%w: !w) -> tensor<1x2x3x2xf32> {
  %0 = stablehlo.uniform_dequantize %w : (!w) -> tensor<2x6xf32>
  %1 = stablehlo.reshape %0 : (tensor<2x6xf32>) -> tensor<1x2x3x2xf32>
  return %1 : tensor<1x2x3x2xf32>
}

// CHECK-LABEL: func.func @per_axis_reshape_merging_the_dimension_left
// CHECK-NEXT:    stablehlo.uniform_dequantize
// CHECK-NEXT:    stablehlo.reshape {{.*}} -> tensor<12xf32>
func.func @per_axis_reshape_merging_the_dimension_left(%w: !w) -> tensor<12xf32> {
  %0 = stablehlo.uniform_dequantize %w : (!w) -> tensor<2x6xf32>
  %1 = stablehlo.reshape %0 : (tensor<2x6xf32>) -> tensor<12xf32>
  return %1 : tensor<12xf32>
}
