// RUN: shlo-quant-opt --apply-xnnpack-rewrites --split-input-file %s | FileCheck %s

!x = tensor<1x4x!quant.uniform<i8:f32, 0.5:3>>
!w = tensor<4x2x!quant.uniform<i8<-127:127>:f32, 0.25>>
!a = tensor<1x2x!quant.uniform<i8:f32, 2.0:-5>>
!b = tensor<1x2x!quant.uniform<i8:f32, 0.5:-128>>

// The tensor of type (2.0:-5) vanishes.
// CHECK-LABEL: func.func @clamp_merged
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<1x4x!quant.uniform<i8:f32, 5.000000e-01:3>>)
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant() <{value = dense<{{\[\[}}1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi8>}> : () -> tensor<4x2x!quant.uniform<i8<-127:127>:f32, 2.500000e-01>>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<1x2xf32>
// CHECK-NEXT:    %[[DQ1:.*]] = stablehlo.uniform_dequantize %[[ARG0]] : (tensor<1x4x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<1x4xf32>
// CHECK-NEXT:    %[[DQ2:.*]] = stablehlo.uniform_dequantize %[[C1]] : (tensor<4x2x!quant.uniform<i8<-127:127>:f32, 2.500000e-01>>) -> tensor<4x2xf32>
// CHECK-NEXT:    %[[DOT1:.*]] = stablehlo.dot_general %[[DQ1]], %[[DQ2]], contracting_dims = [1] x [0] : (tensor<1x4xf32>, tensor<4x2xf32>) -> tensor<1x2xf32>
// CHECK-NEXT:    %[[MAX1:.*]] = stablehlo.maximum %[[DOT1]], %[[C2]] : tensor<1x2xf32>
// CHECK-NEXT:    %[[Q1:.*]] = stablehlo.uniform_quantize %[[MAX1]] : (tensor<1x2xf32>) -> tensor<1x2x!quant.uniform<i8:f32, 5.000000e-01:-128>>
// CHECK-NEXT:    return %[[Q1]] : tensor<1x2x!quant.uniform<i8:f32, 5.000000e-01:-128>>
func.func @clamp_merged(%x: !x) -> !b {
  %w = stablehlo.constant() <{value = dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi8>}> : () -> !w
  %z = stablehlo.constant dense<0.0> : tensor<1x2xf32>
  %0 = stablehlo.uniform_dequantize %x : (!x) -> tensor<1x4xf32>
  %1 = stablehlo.uniform_dequantize %w : (!w) -> tensor<4x2xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<1x4xf32>, tensor<4x2xf32>) -> tensor<1x2xf32>
  %3 = stablehlo.uniform_quantize %2 : (tensor<1x2xf32>) -> !a
  %4 = stablehlo.uniform_dequantize %3 : (!a) -> tensor<1x2xf32>
  %5 = stablehlo.maximum %4, %z : tensor<1x2xf32>
  %6 = stablehlo.uniform_quantize %5 : (tensor<1x2xf32>) -> !b
  return %6 : !b
}

// Not merged: the tensor before the clamp is a result, so the clamp becomes a table.
// CHECK-LABEL: func.func @clamp_of_result
// CHECK:         %[[DOT:.*]] = stablehlo.dot_general
// CHECK-NEXT:    %[[A:.*]] = stablehlo.uniform_quantize %[[DOT]]
// CHECK:         stablehlo.bitcast_convert %[[A]]
// CHECK:         %[[TABLE:.*]] = "stablehlo.gather"
// CHECK-NEXT:    %[[B:.*]] = stablehlo.uniform_quantize %[[TABLE]]
// CHECK-NEXT:    return %[[A]], %[[B]]
func.func @clamp_of_result(%x: !x) -> (!a, !b) {
  %w = stablehlo.constant() <{value = dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi8>}> : () -> !w
  %z = stablehlo.constant dense<0.0> : tensor<1x2xf32>
  %0 = stablehlo.uniform_dequantize %x : (!x) -> tensor<1x4xf32>
  %1 = stablehlo.uniform_dequantize %w : (!w) -> tensor<4x2xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<1x4xf32>, tensor<4x2xf32>) -> tensor<1x2xf32>
  %3 = stablehlo.uniform_quantize %2 : (tensor<1x2xf32>) -> !a
  %4 = stablehlo.uniform_dequantize %3 : (!a) -> tensor<1x2xf32>
  %5 = stablehlo.maximum %4, %z : tensor<1x2xf32>
  %6 = stablehlo.uniform_quantize %5 : (tensor<1x2xf32>) -> !b
  return %3, %6 : !a, !b
}

// Not merged: clamp and tanh make one table for XNNPACK. Here each is one.
// CHECK-LABEL: func.func @clamp_in_table
// CHECK:         %[[DOT:.*]] = stablehlo.dot_general
// CHECK-NEXT:    %[[A:.*]] = stablehlo.uniform_quantize %[[DOT]]
// CHECK:         stablehlo.bitcast_convert %[[A]]
// CHECK:         %[[T1:.*]] = "stablehlo.gather"
// CHECK-NEXT:    %[[B:.*]] = stablehlo.uniform_quantize %[[T1]]
// CHECK:         stablehlo.bitcast_convert %[[B]]
// CHECK:         %[[T2:.*]] = "stablehlo.gather"
// CHECK-NEXT:    stablehlo.uniform_quantize %[[T2]]
func.func @clamp_in_table(%x: !x) -> !a {
  %w = stablehlo.constant() <{value = dense<[[1, 2], [3, 4], [5, 6], [7, 8]]> : tensor<4x2xi8>}> : () -> !w
  %z = stablehlo.constant dense<0.0> : tensor<1x2xf32>
  %0 = stablehlo.uniform_dequantize %x : (!x) -> tensor<1x4xf32>
  %1 = stablehlo.uniform_dequantize %w : (!w) -> tensor<4x2xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<1x4xf32>, tensor<4x2xf32>) -> tensor<1x2xf32>
  %3 = stablehlo.uniform_quantize %2 : (tensor<1x2xf32>) -> !a
  %4 = stablehlo.uniform_dequantize %3 : (!a) -> tensor<1x2xf32>
  %5 = stablehlo.maximum %4, %z : tensor<1x2xf32>
  %6 = stablehlo.uniform_quantize %5 : (tensor<1x2xf32>) -> !b
  %7 = stablehlo.uniform_dequantize %6 : (!b) -> tensor<1x2xf32>
  %8 = stablehlo.tanh %7 : tensor<1x2xf32>
  %9 = stablehlo.uniform_quantize %8 : (tensor<1x2xf32>) -> !a
  return %9 : !a
}

// -----

!a = tensor<4x!quant.uniform<i8:f32, 0.5:3>>
!b = tensor<4x!quant.uniform<i8:f32, 1.0:-7>>

// The entries are for 0, 1, .. 127, -128, .. -1: |(q - 3) / 2| - 7, halves to even: 0 is (1.5 -> 2) - 7.
// CHECK-LABEL: func.func @table
// CHECK-SAME:    (%[[A:.*]]: tensor<4x
// CHECK-NEXT:    %[[BITS:.*]] = stablehlo.bitcast_convert %[[A]] : (tensor<4x!quant.uniform<i8:f32, 5.000000e-01:3>>) -> tensor<4xui8>
// CHECK-NEXT:    %[[INDEX:.*]] = stablehlo.convert %[[BITS]] : (tensor<4xui8>) -> tensor<4xi32>
// CHECK-NEXT:    %[[ENTRIES:.*]] = stablehlo.constant() <{value = dense<"0xFBFAF9F9F9FAFBFBFBFC
// CHECK-NEXT:    %[[TABLE:.*]] = stablehlo.uniform_dequantize %[[ENTRIES]] : (tensor<256x!quant.uniform<i8:f32, 1.000000e+00:-7>>) -> tensor<256xf32>
// CHECK-NEXT:    %[[VALUE:.*]] = "stablehlo.gather"(%[[TABLE]], %[[INDEX]])
// CHECK-SAME:      collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>
// CHECK-NEXT:    %[[B:.*]] = stablehlo.uniform_quantize %[[VALUE]]
// CHECK-NEXT:    return %[[B]]
func.func @table(%a: !a) -> !b {
  %0 = stablehlo.uniform_dequantize %a : (!a) -> tensor<4xf32>
  %1 = stablehlo.abs %0 : tensor<4xf32>
  %2 = stablehlo.uniform_quantize %1 : (tensor<4xf32>) -> !b
  return %2 : !b
}

// A clamp into other parameters adds the zero point before it rounds: 0 is (-1.5 - 7 = -8.5 -> -8).
// CHECK-LABEL: func.func @clamp_table
// CHECK:         stablehlo.constant() <{value = dense<"0xF8F8F8F9FAFA
func.func @clamp_table(%a: !a) -> !b {
  %high = stablehlo.constant dense<100.0> : tensor<4xf32>
  %0 = stablehlo.uniform_dequantize %a : (!a) -> tensor<4xf32>
  %1 = stablehlo.minimum %0, %high : tensor<4xf32>
  %2 = stablehlo.uniform_quantize %1 : (tensor<4xf32>) -> !b
  return %2 : !b
}

// Kernels on integers of their own: a clamp within one type, a requantize, a sum.
// CHECK-LABEL: func.func @no_table
// CHECK-NOT:     gather
func.func @no_table(%a: !a) -> (!a, !b, !b) {
  %zero = stablehlo.constant dense<0.0> : tensor<4xf32>
  %0 = stablehlo.uniform_dequantize %a : (!a) -> tensor<4xf32>
  %1 = stablehlo.maximum %0, %zero : tensor<4xf32>
  %2 = stablehlo.uniform_quantize %1 : (tensor<4xf32>) -> !a
  %3 = stablehlo.uniform_quantize %0 : (tensor<4xf32>) -> !b
  %4 = stablehlo.add %0, %0 : tensor<4xf32>
  %5 = stablehlo.uniform_quantize %4 : (tensor<4xf32>) -> !b
  return %2, %3, %5 : !a, !b, !b
}

// -----

!a = tensor<4x!quant.uniform<i8:f32, 0.5>>
!b = tensor<4x!quant.uniform<i8:f32, 0.5:1>>

// A square is a table that adds the zero point before it rounds: 1 is (0.25 / 0.5 + 1 = 1.5 -> 2).
// CHECK-LABEL: func.func @square
// CHECK:         stablehlo.constant() <{value = dense<"0x0102
func.func @square(%a: !a) -> !b {
  %0 = stablehlo.uniform_dequantize %a : (!a) -> tensor<4xf32>
  %1 = stablehlo.multiply %0, %0 : tensor<4xf32>
  %2 = stablehlo.uniform_quantize %1 : (tensor<4xf32>) -> !b
  return %2 : !b
}

// Behind another function it is a product, inside one table: 1 is (0.25 / 0.5 = 0.5 -> 0) + 1.
// CHECK-LABEL: func.func @square_in_table
// CHECK:         stablehlo.constant() <{value = dense<"0x0101
func.func @square_in_table(%a: !a) -> !b {
  %zero = stablehlo.constant dense<0.0> : tensor<4xf32>
  %0 = stablehlo.uniform_dequantize %a : (!a) -> tensor<4xf32>
  %1 = stablehlo.maximum %0, %zero : tensor<4xf32>
  %2 = stablehlo.uniform_quantize %1 : (tensor<4xf32>) -> !a
  %3 = stablehlo.uniform_dequantize %2 : (!a) -> tensor<4xf32>
  %4 = stablehlo.multiply %3, %3 : tensor<4xf32>
  %5 = stablehlo.uniform_quantize %4 : (tensor<4xf32>) -> !b
  return %5 : !b
}

// -----

// CHECK-LABEL: func.func @average_pool
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<1x1x4x4xf32>)
// CHECK-NEXT:    %[[S1:.*]] = stablehlo.slice %[[ARG0]] [0:1, 0:1, 0:3:2, 0:3:2] : (tensor<1x1x4x4xf32>) -> tensor<1x1x2x2xf32>
// CHECK-NEXT:    %[[S2:.*]] = stablehlo.slice %[[ARG0]] [0:1, 0:1, 1:4:2, 0:3:2] : (tensor<1x1x4x4xf32>) -> tensor<1x1x2x2xf32>
// CHECK-NEXT:    %[[S3:.*]] = stablehlo.slice %[[ARG0]] [0:1, 0:1, 0:3:2, 1:4:2] : (tensor<1x1x4x4xf32>) -> tensor<1x1x2x2xf32>
// CHECK-NEXT:    %[[S4:.*]] = stablehlo.slice %[[ARG0]] [0:1, 0:1, 1:4:2, 1:4:2] : (tensor<1x1x4x4xf32>) -> tensor<1x1x2x2xf32>
// CHECK-NEXT:    %[[ADD1:.*]] = stablehlo.add %[[S3]], %[[S4]] : tensor<1x1x2x2xf32>
// CHECK-NEXT:    %[[ADD2:.*]] = stablehlo.add %[[S1]], %[[S2]] : tensor<1x1x2x2xf32>
// CHECK-NEXT:    %[[ADD3:.*]] = stablehlo.add %[[ADD1]], %[[ADD2]] : tensor<1x1x2x2xf32>
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<2.500000e-01> : tensor<1x1x2x2xf32>
// CHECK-NEXT:    %[[MUL1:.*]] = stablehlo.multiply %[[ADD3]], %[[C1]] : tensor<1x1x2x2xf32>
// CHECK-NEXT:    return %[[MUL1]] : tensor<1x1x2x2xf32>
func.func @average_pool(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x2x2xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %count = stablehlo.constant dense<4.0> : tensor<1x1x2x2xf32>
  %0 = "stablehlo.reduce_window"(%x, %zero) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>} : (tensor<1x1x4x4xf32>, tensor<f32>) -> tensor<1x1x2x2xf32>
  %1 = stablehlo.divide %0, %count : tensor<1x1x2x2xf32>
  return %1 : tensor<1x1x2x2xf32>
}

// Padding that counts is not XNNPACK's.
// CHECK-LABEL: func.func @counted_padding
// CHECK:         stablehlo.reduce_window
func.func @counted_padding(%x: tensor<1x1x4x4xf32>) -> tensor<1x1x3x3xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %count = stablehlo.constant dense<4.0> : tensor<1x1x3x3xf32>
  %0 = "stablehlo.reduce_window"(%x, %zero) ({
  ^bb0(%a: tensor<f32>, %b: tensor<f32>):
    %s = stablehlo.add %a, %b : tensor<f32>
    stablehlo.return %s : tensor<f32>
  }) {window_dimensions = array<i64: 1, 1, 2, 2>, window_strides = array<i64: 1, 1, 2, 2>, padding = dense<[[0, 0], [0, 0], [1, 1], [1, 1]]> : tensor<4x2xi64>} : (tensor<1x1x4x4xf32>, tensor<f32>) -> tensor<1x1x3x3xf32>
  %1 = stablehlo.divide %0, %count : tensor<1x1x3x3xf32>
  return %1 : tensor<1x1x3x3xf32>
}

// -----

// 0.5 * 0.25 - 0.5 = -0.375.
// CHECK-LABEL: func.func @position
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<8xi64>)
// CHECK:         %[[CV:.*]] = stablehlo.convert %[[ARG0]]
// CHECK:         %[[OFFSET:.*]] = stablehlo.constant dense<-3.750000e-01> : tensor<8xf32>
// CHECK:         %[[MUL:.*]] = stablehlo.multiply %[[CV]], %{{.*}} : tensor<8xf32>
// CHECK-NEXT:    %[[ADD:.*]] = stablehlo.add %[[MUL]], %[[OFFSET]] : tensor<8xf32>
// CHECK-NEXT:    stablehlo.clamp %{{.*}}, %[[ADD]], %{{.*}}
func.func @position(%o: tensor<8xi64>) -> tensor<8xf32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %infinity = stablehlo.constant dense<0x7F800000> : tensor<f32>
  %half = stablehlo.constant dense<0.5> : tensor<8xf32>
  %ratio = stablehlo.constant dense<0.25> : tensor<8xf32>
  %0 = stablehlo.convert %o : (tensor<8xi64>) -> tensor<8xf32>
  %1 = stablehlo.add %0, %half : tensor<8xf32>
  %2 = stablehlo.multiply %1, %ratio : tensor<8xf32>
  %3 = stablehlo.subtract %2, %half : tensor<8xf32>
  %4 = stablehlo.clamp %zero, %3, %infinity : (tensor<f32>, tensor<8xf32>, tensor<f32>) -> tensor<8xf32>
  return %4 : tensor<8xf32>
}

// Not bounded by 0: no bilinear resize.
// CHECK-LABEL: func.func @no_position
// CHECK:         stablehlo.subtract
func.func @no_position(%o: tensor<8xi64>) -> tensor<8xf32> {
  %half = stablehlo.constant dense<0.5> : tensor<8xf32>
  %ratio = stablehlo.constant dense<0.25> : tensor<8xf32>
  %0 = stablehlo.convert %o : (tensor<8xi64>) -> tensor<8xf32>
  %1 = stablehlo.add %0, %half : tensor<8xf32>
  %2 = stablehlo.multiply %1, %ratio : tensor<8xf32>
  %3 = stablehlo.subtract %2, %half : tensor<8xf32>
  return %3 : tensor<8xf32>
}
