// RUN: shlo-quant-opt --stablehlo-legalize-qdq-to-quantized-op --split-input-file %s | FileCheck %s

!x = tensor<1x1x3x3x!quant.uniform<i8:f32, 0.5:7>>
!w = tensor<2x1x2x2x!quant.uniform<i8<-127:127>:f32:0, {0.25, 0.5}>>
!r = tensor<1x2x2x2x!quant.uniform<i8:f32, 1.0:-128>>

// CHECK-LABEL: func.func @convolution_bias_relu
// CHECK-SAME:    (%[[X:.*]]: tensor<1x1x3x3x
// CHECK:         %[[W:.*]] = stablehlo.constant() {{.*}} tensor<2x1x2x2x!quant.uniform<i8<-127:127>:f32:0,
// CHECK:         %[[A:.*]] = stablehlo.convolution(%[[X]], %[[W]]) {{.*}} -> tensor<1x2x2x2x!quant.uniform<i32:f32:1, {1.250000e-01,2.500000e-01}>>
// CHECK:         %[[B:.*]] = stablehlo.constant() <{value = dense<[20, -13]> : tensor<2xi32>}> : () -> tensor<2x!quant.uniform<i32:f32:0, {1.250000e-01,2.500000e-01}>>
// CHECK:         %[[BB:.*]] = stablehlo.broadcast_in_dim %[[B]], dims = [1]
// CHECK:         %[[S:.*]] = stablehlo.add %[[A]], %[[BB]] : tensor<1x2x2x2x!quant.uniform<i32:f32:1,
// CHECK:         %[[Q:.*]] = stablehlo.uniform_quantize %[[S]] {{.*}} -> tensor<1x2x2x2x!quant.uniform<i8:f32, 1.000000e+00:-128>>
// CHECK-NEXT:    return %[[Q]]
func.func @convolution_bias_relu(%x: !x) -> !r {
  %w = "stablehlo.constant"() <{value = dense<[[[[127, -1], [50, 0]]], [[[-127, 64], [3, -5]]]]> : tensor<2x1x2x2xi8>}> : () -> !w
  %b = stablehlo.constant dense<[2.5, -3.25]> : tensor<2xf32>
  %z = stablehlo.constant dense<0.0> : tensor<1x2x2x2xf32>
  %0 = stablehlo.uniform_dequantize %x : (!x) -> tensor<1x1x3x3xf32>
  %1 = stablehlo.uniform_dequantize %w : (!w) -> tensor<2x1x2x2xf32>
  %2 = stablehlo.convolution(%0, %1) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x3x3xf32>, tensor<2x1x2x2xf32>) -> tensor<1x2x2x2xf32>
  %3 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<2xf32>) -> tensor<1x2x2x2xf32>
  %4 = stablehlo.add %2, %3 : tensor<1x2x2x2xf32>
  %5 = stablehlo.maximum %4, %z : tensor<1x2x2x2xf32>
  %q = stablehlo.uniform_quantize %5 : (tensor<1x2x2x2xf32>) -> !r
  return %q : !r
}

// -----

!x = tensor<2x3x!quant.uniform<i8:f32, 0.5:7>>
!w = tensor<3x2x!quant.uniform<i8:f32, 0.25>>
!r = tensor<2x2x!quant.uniform<i8:f32, 1.0:3>>

// The bias is 2^28 / (0.5 * 0.25): it does not fit 32 bits, so the sum stays float; the dot does not.
// CHECK-LABEL: func.func @bias_beyond_32_bits
// CHECK:         stablehlo.dot_general {{.*}} -> tensor<2x2x!quant.uniform<i32:f32, 1.250000e-01>>
// CHECK-NEXT:    %[[F:.*]] = stablehlo.uniform_dequantize
// CHECK:         %[[S:.*]] = stablehlo.add %[[F]], %{{.*}} : tensor<2x2xf32>
// CHECK-NEXT:    stablehlo.uniform_quantize %[[S]]
func.func @bias_beyond_32_bits(%x: !x) -> !r {
  %w = "stablehlo.constant"() <{value = dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>}> : () -> !w
  %b = stablehlo.constant dense<[268435456.0, 1.0]> : tensor<2xf32>
  %0 = stablehlo.uniform_dequantize %x : (!x) -> tensor<2x3xf32>
  %1 = stablehlo.uniform_dequantize %w : (!w) -> tensor<3x2xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %3 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
  %4 = stablehlo.add %2, %3 : tensor<2x2xf32>
  %q = stablehlo.uniform_quantize %4 : (tensor<2x2xf32>) -> !r
  return %q : !r
}

// -----

!x = tensor<2x3x!quant.uniform<i8:f32, 0.5:7>>
!y = tensor<3x2x!quant.uniform<i8:f32, 0.25:-9>>

// StableHLO wants rhs zero points of 0: both operands move to 16 bits, where the rhs needs none.
// CHECK-LABEL: func.func @two_activations
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3x{{.*}}, %[[Y:.*]]: tensor<3x2x
// CHECK-NEXT:    %[[X16:.*]] = stablehlo.uniform_quantize %[[X]] {{.*}} -> tensor<2x3x!quant.uniform<i16<-128:127>:f32, 5.000000e-01:7>>
// CHECK-NEXT:    %[[Y16:.*]] = stablehlo.uniform_quantize %[[Y]] {{.*}} -> tensor<3x2x!quant.uniform<i16<-119:136>:f32, 2.500000e-01>>
// CHECK-NEXT:    %[[A:.*]] = stablehlo.dot_general %[[X16]], %[[Y16]], {{.*}} -> tensor<2x2x!quant.uniform<i32:f32, 1.250000e-01>>
// CHECK-NEXT:    %[[F:.*]] = stablehlo.uniform_dequantize %[[A]]
// CHECK-NEXT:    return %[[F]]
func.func @two_activations(%x: !x, %y: !y) -> tensor<2x2xf32> {
  %0 = stablehlo.uniform_dequantize %x : (!x) -> tensor<2x3xf32>
  %1 = stablehlo.uniform_dequantize %y : (!y) -> tensor<3x2xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}

// -----

!x = tensor<2x3x!quant.uniform<u8:f32, 0.5:130>>
!w = tensor<3x2x!quant.uniform<i4<-7:7>:f32:1, {0.25, 0.5}>>

// CHECK-LABEL: func.func @unsigned_activation_4_bit_weight
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3x
// CHECK:         stablehlo.uniform_quantize %[[X]] {{.*}} -> tensor<2x3x!quant.uniform<i8:f32, 5.000000e-01:2>>
// CHECK:         stablehlo.constant() {{.*}} : tensor<3x2xi8>}> : () -> tensor<3x2x!quant.uniform<i8<-7:7>:f32:1, {2.500000e-01,5.000000e-01}>>
// CHECK:         stablehlo.dot_general {{.*}} -> tensor<2x2x!quant.uniform<i32:f32:1, {1.250000e-01,2.500000e-01}>>
func.func @unsigned_activation_4_bit_weight(%x: !x) -> tensor<2x2xf32> {
  %w = "stablehlo.constant"() <{value = dense<[[1, 2], [-3, 4], [5, -6]]> : tensor<3x2xi4>}> : () -> !w
  %0 = stablehlo.uniform_dequantize %x : (!x) -> tensor<2x3xf32>
  %1 = stablehlo.uniform_dequantize %w : (!w) -> tensor<3x2xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}

// -----

!x = tensor<2x3x!quant.uniform<i8:f32, 0.5>>

// CHECK-LABEL: func.func @float_rhs_left
// CHECK:         stablehlo.dot_general {{.*}} -> tensor<2x2xf32>
func.func @float_rhs_left(%x: !x, %w: tensor<3x2xf32>) -> tensor<2x2xf32> {
  %0 = stablehlo.uniform_dequantize %x : (!x) -> tensor<2x3xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}

// -----

!x = tensor<2x3x!quant.uniform<i8:f32, 0.5>>
!w = tensor<3x2x!quant.uniform<i8:f32:0, {0.25, 0.5, 1.0}>>

// CHECK-LABEL: func.func @per_axis_along_summed_dimension_left
// CHECK:         stablehlo.dot_general {{.*}} -> tensor<2x2xf32>
func.func @per_axis_along_summed_dimension_left(%x: !x, %w: !w) -> tensor<2x2xf32> {
  %0 = stablehlo.uniform_dequantize %x : (!x) -> tensor<2x3xf32>
  %1 = stablehlo.uniform_dequantize %w : (!w) -> tensor<3x2xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}

// -----

!x = tensor<2x3x!quant.uniform<i16:f32, 0.5>>

// CHECK-LABEL: func.func @accumulator_beyond_32_bits_left
// CHECK:         stablehlo.dot_general {{.*}} -> tensor<2x2xf32>
func.func @accumulator_beyond_32_bits_left(%x: !x, %y: tensor<3x2x!quant.uniform<i16:f32, 0.25>>) -> tensor<2x2xf32> {
  %0 = stablehlo.uniform_dequantize %x : (!x) -> tensor<2x3xf32>
  %1 = stablehlo.uniform_dequantize %y : (tensor<3x2x!quant.uniform<i16:f32, 0.25>>) -> tensor<3x2xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}

// -----

!x = tensor<2x3x!quant.uniform<i8:f32, 0.5:7>>
!y = tensor<3x2x!quant.uniform<u8:f32, 0.25>>

// As i8 the rhs would get zero point -128, which a dot_general does not take.
// CHECK-LABEL: func.func @unsigned_rhs
// CHECK:         stablehlo.uniform_quantize {{.*}} -> tensor<2x3x!quant.uniform<i16<-128:127>:f32, 5.000000e-01:7>>
// CHECK-NEXT:    stablehlo.uniform_quantize {{.*}} -> tensor<3x2x!quant.uniform<i16<0:255>:f32, 2.500000e-01>>
// CHECK-NEXT:    stablehlo.dot_general {{.*}} -> tensor<2x2x!quant.uniform<i32:f32, 1.250000e-01>>
func.func @unsigned_rhs(%x: !x, %y: !y) -> tensor<2x2xf32> {
  %0 = stablehlo.uniform_dequantize %x : (!x) -> tensor<2x3xf32>
  %1 = stablehlo.uniform_dequantize %y : (!y) -> tensor<3x2xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}

// -----

!x = tensor<?x3x!quant.uniform<i8:f32, 0.5:7>>
!w = tensor<3x2x!quant.uniform<i8:f32:1, {0.25, 0.5}>>
!r = tensor<?x2x!quant.uniform<i8:f32, 1.0:3>>

// CHECK-LABEL: func.func @dynamic_batch
// CHECK:         %[[SIZES:.*]] = stablehlo.concatenate
// CHECK:         %[[A:.*]] = stablehlo.dot_general {{.*}} -> tensor<?x2x!quant.uniform<i32:f32:1, {1.250000e-01,2.500000e-01}>>
// CHECK-NEXT:    %[[C:.*]] = stablehlo.constant() <{value = dense<[20, -13]> : tensor<2xi32>}>
// CHECK-NEXT:    %[[B:.*]] = stablehlo.dynamic_broadcast_in_dim %[[C]], %[[SIZES]], dims = [1]
// CHECK-NEXT:    %[[S:.*]] = stablehlo.add %[[A]], %[[B]]
// CHECK-NEXT:    stablehlo.uniform_quantize %[[S]]
func.func @dynamic_batch(%x: !x) -> !r {
  %columns = stablehlo.constant dense<2> : tensor<1xi32>
  %batch = stablehlo.get_dimension_size %x, dim = 0 : (!x) -> tensor<i32>
  %rows = stablehlo.reshape %batch : (tensor<i32>) -> tensor<1xi32>
  %sizes = stablehlo.concatenate %rows, %columns, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %w = "stablehlo.constant"() <{value = dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>}> : () -> !w
  %b = stablehlo.constant dense<[2.5, -3.25]> : tensor<2xf32>
  %0 = stablehlo.uniform_dequantize %x : (!x) -> tensor<?x3xf32>
  %1 = stablehlo.uniform_dequantize %w : (!w) -> tensor<3x2xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<?x3xf32>, tensor<3x2xf32>) -> tensor<?x2xf32>
  %3 = stablehlo.dynamic_broadcast_in_dim %b, %sizes, dims = [1] : (tensor<2xf32>, tensor<2xi32>) -> tensor<?x2xf32>
  %4 = stablehlo.add %2, %3 : tensor<?x2xf32>
  %q = stablehlo.uniform_quantize %4 : (tensor<?x2xf32>) -> !r
  return %q : !r
}
