// RUN: shlo-quant-opt --stablehlo-legalize-quant-to-math --split-input-file %s | FileCheck %s

!x = tensor<1x3x!quant.uniform<i8:f32, 0.5>>
!w = tensor<3x2x!quant.uniform<i8<-127:127>:f32:1, {0.25, 0.5}>>
!a = tensor<1x2x!quant.uniform<i32:f32:1, {0.125, 0.25}>>

// CHECK-LABEL: func.func @accumulator
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<1x3xi8>, %[[ARG1:.*]]: tensor<3x2xi8>)
// CHECK-NEXT:    %[[DOT1:.*]] = stablehlo.dot_general %[[ARG0]], %[[ARG1]], contracting_dims = [1] x [0] : (tensor<1x3xi8>, tensor<3x2xi8>) -> tensor<1x2xi32>
// CHECK-NEXT:    return %[[DOT1]] : tensor<1x2xi32>
func.func @accumulator(%x: !x, %w: !w) -> !a {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (!x, !w) -> !a
  return %0 : !a
}

// -----

!x = tensor<1x3x!quant.uniform<i8:f32, 0.5>>
!w = tensor<3x2x!quant.uniform<i8<-127:127>:f32:1, {0.25, 0.5}>>
!r = tensor<1x2x!quant.uniform<i8:f32, 0.75:-5>>

// CHECK-LABEL: func.func @requantized
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<1x3xi8>, %[[ARG1:.*]]: tensor<3x2xi8>)
// CHECK-NEXT:    %[[DOT1:.*]] = stablehlo.dot_general %[[ARG0]], %[[ARG1]], contracting_dims = [1] x [0] : (tensor<1x3xi8>, tensor<3x2xi8>) -> tensor<1x2xi32>
// CHECK-NEXT:    %[[CV1:.*]] = stablehlo.convert %[[DOT1]] : (tensor<1x2xi32>) -> tensor<1x2xf32>
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<[1.250000e-01, 2.500000e-01]> : tensor<2xf32>
// CHECK-NEXT:    %[[B1:.*]] = stablehlo.broadcast_in_dim %[[C1]], dims = [1] : (tensor<2xf32>) -> tensor<1x2xf32>
// CHECK-NEXT:    %[[MUL1:.*]] = stablehlo.multiply %[[CV1]], %[[B1]] : tensor<1x2xf32>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant dense<7.500000e-01> : tensor<1x2xf32>
// CHECK-NEXT:    %[[DIV1:.*]] = stablehlo.divide %[[MUL1]], %[[C2]] : tensor<1x2xf32>
// CHECK-NEXT:    %[[C3:.*]] = stablehlo.constant dense<-5.000000e+00> : tensor<1x2xf32>
// CHECK-NEXT:    %[[ADD1:.*]] = stablehlo.add %[[DIV1]], %[[C3]] : tensor<1x2xf32>
// CHECK-NEXT:    %[[C4:.*]] = stablehlo.constant dense<-1.280000e+02> : tensor<f32>
// CHECK-NEXT:    %[[C5:.*]] = stablehlo.constant dense<1.270000e+02> : tensor<f32>
// CHECK-NEXT:    %[[CLAMP1:.*]] = stablehlo.clamp %[[C4]], %[[ADD1]], %[[C5]] : (tensor<f32>, tensor<1x2xf32>, tensor<f32>) -> tensor<1x2xf32>
// CHECK-NEXT:    %[[RNE1:.*]] = stablehlo.round_nearest_even %[[CLAMP1]] : tensor<1x2xf32>
// CHECK-NEXT:    %[[CV2:.*]] = stablehlo.convert %[[RNE1]] : (tensor<1x2xf32>) -> tensor<1x2xi8>
// CHECK-NEXT:    return %[[CV2]] : tensor<1x2xi8>
func.func @requantized(%x: !x, %w: !w) -> !r {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (!x, !w) -> !r
  return %0 : !r
}

// -----

!x = tensor<1x3x!quant.uniform<i8:f32, 0.5:7>>
!w = tensor<3x2x!quant.uniform<i8<-127:127>:f32, 0.25>>
!a = tensor<1x2x!quant.uniform<i32:f32, 0.125>>

// 7 times the sums of %w over the contracted dimension, at run time.
// CHECK-LABEL: func.func @zero_point
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<1x3xi8>, %[[ARG1:.*]]: tensor<3x2xi8>)
// CHECK-NEXT:    %[[DOT1:.*]] = stablehlo.dot_general %[[ARG0]], %[[ARG1]], contracting_dims = [1] x [0] : (tensor<1x3xi8>, tensor<3x2xi8>) -> tensor<1x2xi32>
// CHECK-NEXT:    %[[CV1:.*]] = stablehlo.convert %[[ARG1]] : (tensor<3x2xi8>) -> tensor<3x2xi32>
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT:    %[[REDUCE1:.*]] = stablehlo.reduce(%[[CV1]] init: %[[C1]]) applies stablehlo.add across dimensions = [0] : (tensor<3x2xi32>, tensor<i32>) -> tensor<2xi32>
// CHECK-NEXT:    %[[B1:.*]] = stablehlo.broadcast_in_dim %[[REDUCE1]], dims = [1] : (tensor<2xi32>) -> tensor<1x2xi32>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant dense<7> : tensor<1x2xi32>
// CHECK-NEXT:    %[[MUL1:.*]] = stablehlo.multiply %[[B1]], %[[C2]] : tensor<1x2xi32>
// CHECK-NEXT:    %[[SUB1:.*]] = stablehlo.subtract %[[DOT1]], %[[MUL1]] : tensor<1x2xi32>
// CHECK-NEXT:    return %[[SUB1]] : tensor<1x2xi32>
func.func @zero_point(%x: !x, %w: !w) -> !a {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (!x, !w) -> !a
  return %0 : !a
}

// -----

!x = tensor<1x3x!quant.uniform<i8:f32, 0.5:7>>
!w = tensor<3x2x!quant.uniform<i8<-127:127>:f32:1, {0.25, 0.5}>>
!b = tensor<2x!quant.uniform<i32:f32:0, {0.125, 0.25}>>
!a = tensor<1x2x!quant.uniform<i32:f32:1, {0.125, 0.25}>>

// 1000 - 7 * 9 and -7 - 7 * 5: correction and bias in one constant.
// CHECK-LABEL: func.func @zero_point_and_bias
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<1x3xi8>)
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<{{\[\[}}1, 2], [3, -4], [5, 7]]> : tensor<3x2xi8>
// CHECK-NEXT:    %[[DOT1:.*]] = stablehlo.dot_general %[[ARG0]], %[[C1]], contracting_dims = [1] x [0] : (tensor<1x3xi8>, tensor<3x2xi8>) -> tensor<1x2xi32>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant dense<[937, -42]> : tensor<2xi32>
// CHECK-NEXT:    %[[B1:.*]] = stablehlo.broadcast_in_dim %[[C2]], dims = [1] : (tensor<2xi32>) -> tensor<1x2xi32>
// CHECK-NEXT:    %[[ADD1:.*]] = stablehlo.add %[[DOT1]], %[[B1]] : tensor<1x2xi32>
// CHECK-NEXT:    return %[[ADD1]] : tensor<1x2xi32>
func.func @zero_point_and_bias(%x: !x) -> !a {
  %w = "stablehlo.constant"() <{value = dense<[[1, 2], [3, -4], [5, 7]]> : tensor<3x2xi8>}> : () -> !w
  %b = "stablehlo.constant"() <{value = dense<[1000, -7]> : tensor<2xi32>}> : () -> !b
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (!x, !w) -> !a
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (!b) -> !a
  %2 = stablehlo.add %0, %1 : !a
  return %2 : !a
}

// -----

!x = tensor<1x4x4x2x!quant.uniform<i8:f32, 0.5:7>>
!w = tensor<3x3x2x2x!quant.uniform<i8<-127:127>:f32, 0.25>>
!a = tensor<1x4x4x2x!quant.uniform<i32:f32, 0.125>>

// The border holds the zero point, not 0.
// CHECK-LABEL: func.func @convolution_padding
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<1x4x4x2xi8>)
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<1> : tensor<3x3x2x2xi8>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant dense<7> : tensor<i8>
// CHECK-NEXT:    %[[PAD1:.*]] = stablehlo.pad %[[ARG0]], %[[C2]], low = [0, 1, 1, 0], high = [0, 1, 1, 0], interior = [0, 0, 0, 0] : (tensor<1x4x4x2xi8>, tensor<i8>) -> tensor<1x6x6x2xi8>
// CHECK-NEXT:    %[[CONV1:.*]] = stablehlo.convolution(%[[PAD1]], %[[C1]]) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = {{\[\[}}0, 0], [0, 0]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x6x6x2xi8>, tensor<3x3x2x2xi8>) -> tensor<1x4x4x2xi32>
// CHECK-NEXT:    %[[C3:.*]] = stablehlo.constant dense<-126> : tensor<2xi32>
// CHECK-NEXT:    %[[B1:.*]] = stablehlo.broadcast_in_dim %[[C3]], dims = [3] : (tensor<2xi32>) -> tensor<1x4x4x2xi32>
// CHECK-NEXT:    %[[ADD1:.*]] = stablehlo.add %[[CONV1]], %[[B1]] : tensor<1x4x4x2xi32>
// CHECK-NEXT:    return %[[ADD1]] : tensor<1x4x4x2xi32>
func.func @convolution_padding(%x: !x) -> !a {
  %w = "stablehlo.constant"() <{value = dense<1> : tensor<3x3x2x2xi8>}> : () -> !w
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (!x, !w) -> !a
  return %0 : !a
}

// -----

!x = tensor<1x4x4x2x!quant.uniform<i8:f32, 0.5>>
!w = tensor<3x3x2x2x!quant.uniform<i8<-127:127>:f32, 0.25>>
!a = tensor<1x4x4x2x!quant.uniform<i32:f32, 0.125>>

// CHECK-LABEL: func.func @convolution_padding_symmetric
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<1x4x4x2xi8>, %[[ARG1:.*]]: tensor<3x3x2x2xi8>)
// CHECK-NEXT:    %[[CONV1:.*]] = stablehlo.convolution(%[[ARG0]], %[[ARG1]]) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = {{\[\[}}1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x4x4x2xi8>, tensor<3x3x2x2xi8>) -> tensor<1x4x4x2xi32>
// CHECK-NEXT:    return %[[CONV1]] : tensor<1x4x4x2xi32>
func.func @convolution_padding_symmetric(%x: !x, %w: !w) -> !a {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (!x, !w) -> !a
  return %0 : !a
}

// -----

!x = tensor<1x1x3x3x!quant.uniform<i8:f32, 0.5:7>>
!w = tensor<2x1x2x2x!quant.uniform<i8:f32:0, {0.25:5, 0.5:-3}>>
!a = tensor<1x2x5x5x!quant.uniform<i32:f32:1, {0.125, 0.25}>>

// Weights with zero points: operands are widened, the constant one here, and lhs dilation fills in true zeros.
// CHECK-LABEL: func.func @convolution_of_differences
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<1x1x3x3xi8>)
// CHECK-NEXT:    %[[CV1:.*]] = stablehlo.convert %[[ARG0]] : (tensor<1x1x3x3xi8>) -> tensor<1x1x3x3xi32>
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<7> : tensor<1x1x3x3xi32>
// CHECK-NEXT:    %[[SUB1:.*]] = stablehlo.subtract %[[CV1]], %[[C1]] : tensor<1x1x3x3xi32>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant dense<{{\[\[\[\[}}-4, -3], [-2, -1]]], {{\[\[\[}}-125, 130], [3, 0]]]]> : tensor<2x1x2x2xi32>
// CHECK-NEXT:    %[[CONV1:.*]] = stablehlo.convolution(%[[SUB1]], %[[C2]]) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = {{\[\[}}1, 0], [1, 0]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x1x3x3xi32>, tensor<2x1x2x2xi32>) -> tensor<1x2x5x5xi32>
// CHECK-NEXT:    return %[[CONV1]] : tensor<1x2x5x5xi32>
func.func @convolution_of_differences(%x: !x) -> !a {
  %w = "stablehlo.constant"() <{value = dense<[[[[1, 2], [3, 4]]], [[[-128, 127], [0, -3]]]]> : tensor<2x1x2x2xi8>}> : () -> !w
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 0], [1, 0]], lhs_dilate = [2, 2]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (!x, !w) -> !a
  return %0 : !a
}

// -----

!x = tensor<1x3x!quant.uniform<u8:f32, 0.5:128>>
!w = tensor<3x2x!quant.uniform<i8:f32, 0.25>>
!a = tensor<1x2x!quant.uniform<i32:f32, 0.125>>

// CHECK-LABEL: func.func @unsigned_times_signed
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<1x3xui8>, %[[ARG1:.*]]: tensor<3x2xi8>)
// CHECK-NEXT:    %[[CV1:.*]] = stablehlo.convert %[[ARG0]] : (tensor<1x3xui8>) -> tensor<1x3xi32>
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<128> : tensor<1x3xi32>
// CHECK-NEXT:    %[[SUB1:.*]] = stablehlo.subtract %[[CV1]], %[[C1]] : tensor<1x3xi32>
// CHECK-NEXT:    %[[CV2:.*]] = stablehlo.convert %[[ARG1]] : (tensor<3x2xi8>) -> tensor<3x2xi32>
// CHECK-NEXT:    %[[DOT1:.*]] = stablehlo.dot_general %[[SUB1]], %[[CV2]], contracting_dims = [1] x [0] : (tensor<1x3xi32>, tensor<3x2xi32>) -> tensor<1x2xi32>
// CHECK-NEXT:    return %[[DOT1]] : tensor<1x2xi32>
func.func @unsigned_times_signed(%x: !x, %w: !w) -> !a {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (!x, !w) -> !a
  return %0 : !a
}

// -----

!x = tensor<1x3x!quant.uniform<i16:f32, 0.5>>
!a = tensor<1x1x!quant.uniform<i32:f32, 0.25>>

// 3 * 32768^2 needs 64 bits, and saturation.
// CHECK-LABEL: func.func @wide_accumulator
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<1x3xi16>, %[[ARG1:.*]]: tensor<1x3xi16>)
// CHECK-NEXT:    %[[DOT1:.*]] = stablehlo.dot_general %[[ARG0]], %[[ARG1]], contracting_dims = [1] x [1] : (tensor<1x3xi16>, tensor<1x3xi16>) -> tensor<1x1xi64>
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<-2147483648> : tensor<i64>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant dense<2147483647> : tensor<i64>
// CHECK-NEXT:    %[[CLAMP1:.*]] = stablehlo.clamp %[[C1]], %[[DOT1]], %[[C2]] : (tensor<i64>, tensor<1x1xi64>, tensor<i64>) -> tensor<1x1xi64>
// CHECK-NEXT:    %[[CV1:.*]] = stablehlo.convert %[[CLAMP1]] : (tensor<1x1xi64>) -> tensor<1x1xi32>
// CHECK-NEXT:    return %[[CV1]] : tensor<1x1xi32>
func.func @wide_accumulator(%x: !x, %w: !x) -> !a {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (!x, !x) -> !a
  return %0 : !a
}

// -----

!x = tensor<1x3x!quant.uniform<i16<-255:255>:f32, 0.5>>
!a = tensor<1x1x!quant.uniform<i32:f32, 0.25>>

// CHECK-LABEL: func.func @bounded_16_bits
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<1x3xi16>, %[[ARG1:.*]]: tensor<1x3xi16>)
// CHECK-NEXT:    %[[DOT1:.*]] = stablehlo.dot_general %[[ARG0]], %[[ARG1]], contracting_dims = [1] x [1] : (tensor<1x3xi16>, tensor<1x3xi16>) -> tensor<1x1xi32>
// CHECK-NEXT:    return %[[DOT1]] : tensor<1x1xi32>
func.func @bounded_16_bits(%x: !x, %w: !x) -> !a {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (!x, !x) -> !a
  return %0 : !a
}

// -----

!w = tensor<2x3x!quant.uniform<i8:f32:0, {0.25, 0.5}>>

// CHECK-LABEL: func.func @hybrid
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<1x3xf32>, %[[ARG1:.*]]: tensor<2x3xi8>)
// CHECK-NEXT:    %[[CV1:.*]] = stablehlo.convert %[[ARG1]] : (tensor<2x3xi8>) -> tensor<2x3xf32>
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<[2.500000e-01, 5.000000e-01]> : tensor<2xf32>
// CHECK-NEXT:    %[[B1:.*]] = stablehlo.broadcast_in_dim %[[C1]], dims = [0] : (tensor<2xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %[[MUL1:.*]] = stablehlo.multiply %[[CV1]], %[[B1]] : tensor<2x3xf32>
// CHECK-NEXT:    %[[DOT1:.*]] = stablehlo.dot_general %[[ARG0]], %[[MUL1]], contracting_dims = [1] x [1] : (tensor<1x3xf32>, tensor<2x3xf32>) -> tensor<1x2xf32>
// CHECK-NEXT:    return %[[DOT1]] : tensor<1x2xf32>
func.func @hybrid(%x: tensor<1x3xf32>, %w: !w) -> tensor<1x2xf32> {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<1x3xf32>, !w) -> tensor<1x2xf32>
  return %0 : tensor<1x2xf32>
}

// -----

!x = tensor<?x3x!quant.uniform<i8:f32, 0.5>>
!w = tensor<3x2x!quant.uniform<i8<-127:127>:f32:1, {0.25, 0.5}>>
!r = tensor<?x2x!quant.uniform<i8:f32, 0.75>>

// CHECK-LABEL: func.func @dynamic_batch
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<?x3xi8>, %[[ARG1:.*]]: tensor<3x2xi8>)
// CHECK-NEXT:    %[[DOT1:.*]] = stablehlo.dot_general %[[ARG0]], %[[ARG1]], contracting_dims = [1] x [0] : (tensor<?x3xi8>, tensor<3x2xi8>) -> tensor<?x2xi32>
// CHECK-NEXT:    %[[CV1:.*]] = stablehlo.convert %[[DOT1]] : (tensor<?x2xi32>) -> tensor<?x2xf32>
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<[1.250000e-01, 2.500000e-01]> : tensor<2xf32>
// CHECK-NEXT:    %[[N1:.*]] = stablehlo.get_dimension_size %[[DOT1]], dim = 0 : (tensor<?x2xi32>) -> tensor<i32>
// CHECK-NEXT:    %[[RESHAPE1:.*]] = stablehlo.reshape %[[N1]] : (tensor<i32>) -> tensor<1xi32>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant dense<2> : tensor<1xi32>
// CHECK-NEXT:    %[[S1:.*]] = stablehlo.concatenate %[[RESHAPE1]], %[[C2]], dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
// CHECK-NEXT:    %[[DB1:.*]] = stablehlo.dynamic_broadcast_in_dim %[[C1]], %[[S1]], dims = [1] : (tensor<2xf32>, tensor<2xi32>) -> tensor<?x2xf32>
// CHECK-NEXT:    %[[MUL1:.*]] = stablehlo.multiply %[[CV1]], %[[DB1]] : tensor<?x2xf32>
// CHECK-NEXT:    %[[C3:.*]] = stablehlo.constant dense<7.500000e-01> : tensor<f32>
// CHECK-NEXT:    %[[DB2:.*]] = stablehlo.dynamic_broadcast_in_dim %[[C3]], %[[S1]], dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x2xf32>
// CHECK-NEXT:    %[[DIV1:.*]] = stablehlo.divide %[[MUL1]], %[[DB2]] : tensor<?x2xf32>
// CHECK-NEXT:    %[[C4:.*]] = stablehlo.constant dense<-1.280000e+02> : tensor<f32>
// CHECK-NEXT:    %[[C5:.*]] = stablehlo.constant dense<1.270000e+02> : tensor<f32>
// CHECK-NEXT:    %[[CLAMP1:.*]] = stablehlo.clamp %[[C4]], %[[DIV1]], %[[C5]] : (tensor<f32>, tensor<?x2xf32>, tensor<f32>) -> tensor<?x2xf32>
// CHECK-NEXT:    %[[RNE1:.*]] = stablehlo.round_nearest_even %[[CLAMP1]] : tensor<?x2xf32>
// CHECK-NEXT:    %[[CV2:.*]] = stablehlo.convert %[[RNE1]] : (tensor<?x2xf32>) -> tensor<?x2xi8>
// CHECK-NEXT:    return %[[CV2]] : tensor<?x2xi8>
func.func @dynamic_batch(%x: !x, %w: !w) -> !r {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (!x, !w) -> !r
  return %0 : !r
}
