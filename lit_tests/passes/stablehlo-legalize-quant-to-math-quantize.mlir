// RUN: shlo-quant-opt --stablehlo-legalize-quant-to-math --split-input-file %s | FileCheck %s

!q = tensor<4x!quant.uniform<i8<-100:100>:f32, 0.5:3>>

// CHECK-LABEL: func.func @quantize
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<4xf32>)
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<4xf32>
// CHECK-NEXT:    %[[DIV1:.*]] = stablehlo.divide %[[ARG0]], %[[C1]] : tensor<4xf32>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant dense<3.000000e+00> : tensor<4xf32>
// CHECK-NEXT:    %[[ADD1:.*]] = stablehlo.add %[[DIV1]], %[[C2]] : tensor<4xf32>
// CHECK-NEXT:    %[[C3:.*]] = stablehlo.constant dense<-1.000000e+02> : tensor<f32>
// CHECK-NEXT:    %[[C4:.*]] = stablehlo.constant dense<1.000000e+02> : tensor<f32>
// CHECK-NEXT:    %[[CLAMP1:.*]] = stablehlo.clamp %[[C3]], %[[ADD1]], %[[C4]] : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT:    %[[RNE1:.*]] = stablehlo.round_nearest_even %[[CLAMP1]] : tensor<4xf32>
// CHECK-NEXT:    %[[CV1:.*]] = stablehlo.convert %[[RNE1]] : (tensor<4xf32>) -> tensor<4xi8>
// CHECK-NEXT:    return %[[CV1]] : tensor<4xi8>
func.func @quantize(%x: tensor<4xf32>) -> !q {
  %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> !q
  return %0 : !q
}

// -----

!q = tensor<4x!quant.uniform<i8:f32, 0.5>>

// Without a zero point nothing is added.
// CHECK-LABEL: func.func @quantize_symmetric
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<4xf32>)
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<4xf32>
// CHECK-NEXT:    %[[DIV1:.*]] = stablehlo.divide %[[ARG0]], %[[C1]] : tensor<4xf32>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant dense<-1.280000e+02> : tensor<f32>
// CHECK-NEXT:    %[[C3:.*]] = stablehlo.constant dense<1.270000e+02> : tensor<f32>
// CHECK-NEXT:    %[[CLAMP1:.*]] = stablehlo.clamp %[[C2]], %[[DIV1]], %[[C3]] : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT:    %[[RNE1:.*]] = stablehlo.round_nearest_even %[[CLAMP1]] : tensor<4xf32>
// CHECK-NEXT:    %[[CV1:.*]] = stablehlo.convert %[[RNE1]] : (tensor<4xf32>) -> tensor<4xi8>
// CHECK-NEXT:    return %[[CV1]] : tensor<4xi8>
func.func @quantize_symmetric(%x: tensor<4xf32>) -> !q {
  %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> !q
  return %0 : !q
}

// -----

!q = tensor<4x!quant.uniform<i32:f32, 0.5>>

// f32 cannot hold 2147483647, so integers are clamped, too.
// CHECK-LABEL: func.func @quantize_to_32_bits
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<4xf32>)
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<4xf32>
// CHECK-NEXT:    %[[DIV1:.*]] = stablehlo.divide %[[ARG0]], %[[C1]] : tensor<4xf32>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant dense<-2.14748365E+9> : tensor<f32>
// CHECK-NEXT:    %[[C3:.*]] = stablehlo.constant dense<2.14748365E+9> : tensor<f32>
// CHECK-NEXT:    %[[CLAMP1:.*]] = stablehlo.clamp %[[C2]], %[[DIV1]], %[[C3]] : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT:    %[[RNE1:.*]] = stablehlo.round_nearest_even %[[CLAMP1]] : tensor<4xf32>
// CHECK-NEXT:    %[[CV1:.*]] = stablehlo.convert %[[RNE1]] : (tensor<4xf32>) -> tensor<4xi64>
// CHECK-NEXT:    %[[C4:.*]] = stablehlo.constant dense<-2147483648> : tensor<i64>
// CHECK-NEXT:    %[[C5:.*]] = stablehlo.constant dense<2147483647> : tensor<i64>
// CHECK-NEXT:    %[[CLAMP2:.*]] = stablehlo.clamp %[[C4]], %[[CV1]], %[[C5]] : (tensor<i64>, tensor<4xi64>, tensor<i64>) -> tensor<4xi64>
// CHECK-NEXT:    %[[CV2:.*]] = stablehlo.convert %[[CLAMP2]] : (tensor<4xi64>) -> tensor<4xi32>
// CHECK-NEXT:    return %[[CV2]] : tensor<4xi32>
func.func @quantize_to_32_bits(%x: tensor<4xf32>) -> !q {
  %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> !q
  return %0 : !q
}

// -----

!q = tensor<2x3x!quant.uniform<u8:bf16:0, {0.5:3, 0.25:200}>>

// CHECK-LABEL: func.func @quantize_per_axis_unsigned_bf16
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<2x3xbf16>)
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<[5.000000e-01, 2.500000e-01]> : tensor<2xbf16>
// CHECK-NEXT:    %[[B1:.*]] = stablehlo.broadcast_in_dim %[[C1]], dims = [0] : (tensor<2xbf16>) -> tensor<2x3xbf16>
// CHECK-NEXT:    %[[DIV1:.*]] = stablehlo.divide %[[ARG0]], %[[B1]] : tensor<2x3xbf16>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant dense<[3.000000e+00, 2.000000e+02]> : tensor<2xbf16>
// CHECK-NEXT:    %[[B2:.*]] = stablehlo.broadcast_in_dim %[[C2]], dims = [0] : (tensor<2xbf16>) -> tensor<2x3xbf16>
// CHECK-NEXT:    %[[ADD1:.*]] = stablehlo.add %[[DIV1]], %[[B2]] : tensor<2x3xbf16>
// CHECK-NEXT:    %[[C3:.*]] = stablehlo.constant dense<0.000000e+00> : tensor<bf16>
// CHECK-NEXT:    %[[C4:.*]] = stablehlo.constant dense<2.550000e+02> : tensor<bf16>
// CHECK-NEXT:    %[[CLAMP1:.*]] = stablehlo.clamp %[[C3]], %[[ADD1]], %[[C4]] : (tensor<bf16>, tensor<2x3xbf16>, tensor<bf16>) -> tensor<2x3xbf16>
// CHECK-NEXT:    %[[RNE1:.*]] = stablehlo.round_nearest_even %[[CLAMP1]] : tensor<2x3xbf16>
// CHECK-NEXT:    %[[CV1:.*]] = stablehlo.convert %[[RNE1]] : (tensor<2x3xbf16>) -> tensor<2x3xui8>
// CHECK-NEXT:    return %[[CV1]] : tensor<2x3xui8>
func.func @quantize_per_axis_unsigned_bf16(%x: tensor<2x3xbf16>) -> !q {
  %0 = stablehlo.uniform_quantize %x : (tensor<2x3xbf16>) -> !q
  return %0 : !q
}

// -----

!q = tensor<?x3x!quant.uniform<i8:f32, 0.5:3>>

// CHECK-LABEL: func.func @dequantize_dynamic
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<?x3xi8>)
// CHECK-NEXT:    %[[CV1:.*]] = stablehlo.convert %[[ARG0]] : (tensor<?x3xi8>) -> tensor<?x3xi32>
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<3> : tensor<i32>
// CHECK-NEXT:    %[[N1:.*]] = stablehlo.get_dimension_size %[[ARG0]], dim = 0 : (tensor<?x3xi8>) -> tensor<i32>
// CHECK-NEXT:    %[[RESHAPE1:.*]] = stablehlo.reshape %[[N1]] : (tensor<i32>) -> tensor<1xi32>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant dense<3> : tensor<1xi32>
// CHECK-NEXT:    %[[S1:.*]] = stablehlo.concatenate %[[RESHAPE1]], %[[C2]], dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
// CHECK-NEXT:    %[[DB1:.*]] = stablehlo.dynamic_broadcast_in_dim %[[C1]], %[[S1]], dims = [] : (tensor<i32>, tensor<2xi32>) -> tensor<?x3xi32>
// CHECK-NEXT:    %[[SUB1:.*]] = stablehlo.subtract %[[CV1]], %[[DB1]] : tensor<?x3xi32>
// CHECK-NEXT:    %[[CV2:.*]] = stablehlo.convert %[[SUB1]] : (tensor<?x3xi32>) -> tensor<?x3xf32>
// CHECK-NEXT:    %[[C3:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<f32>
// CHECK-NEXT:    %[[DB2:.*]] = stablehlo.dynamic_broadcast_in_dim %[[C3]], %[[S1]], dims = [] : (tensor<f32>, tensor<2xi32>) -> tensor<?x3xf32>
// CHECK-NEXT:    %[[MUL1:.*]] = stablehlo.multiply %[[CV2]], %[[DB2]] : tensor<?x3xf32>
// CHECK-NEXT:    return %[[MUL1]] : tensor<?x3xf32>
func.func @dequantize_dynamic(%x: !q) -> tensor<?x3xf32> {
  %0 = stablehlo.uniform_dequantize %x : (!q) -> tensor<?x3xf32>
  return %0 : tensor<?x3xf32>
}

// -----

!q = tensor<4x!quant.uniform<i32:f32, 0.5:-7>>

// CHECK-LABEL: func.func @dequantize_32_bits
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<4xi32>)
// CHECK-NEXT:    %[[CV1:.*]] = stablehlo.convert %[[ARG0]] : (tensor<4xi32>) -> tensor<4xi64>
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<-7> : tensor<4xi64>
// CHECK-NEXT:    %[[SUB1:.*]] = stablehlo.subtract %[[CV1]], %[[C1]] : tensor<4xi64>
// CHECK-NEXT:    %[[CV2:.*]] = stablehlo.convert %[[SUB1]] : (tensor<4xi64>) -> tensor<4xf32>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<4xf32>
// CHECK-NEXT:    %[[MUL1:.*]] = stablehlo.multiply %[[CV2]], %[[C2]] : tensor<4xf32>
// CHECK-NEXT:    return %[[MUL1]] : tensor<4xf32>
func.func @dequantize_32_bits(%x: !q) -> tensor<4xf32> {
  %0 = stablehlo.uniform_dequantize %x : (!q) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

!q = tensor<4x!quant.uniform<i8:f32, 0.5:3>>
!r = tensor<4x!quant.uniform<i8:f32, 0.25:-5>>

// CHECK-LABEL: func.func @requantize
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<4xi8>)
// CHECK-NEXT:    %[[CV1:.*]] = stablehlo.convert %[[ARG0]] : (tensor<4xi8>) -> tensor<4xi32>
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<3> : tensor<4xi32>
// CHECK-NEXT:    %[[SUB1:.*]] = stablehlo.subtract %[[CV1]], %[[C1]] : tensor<4xi32>
// CHECK-NEXT:    %[[CV2:.*]] = stablehlo.convert %[[SUB1]] : (tensor<4xi32>) -> tensor<4xf32>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<4xf32>
// CHECK-NEXT:    %[[MUL1:.*]] = stablehlo.multiply %[[CV2]], %[[C2]] : tensor<4xf32>
// CHECK-NEXT:    %[[C3:.*]] = stablehlo.constant dense<2.500000e-01> : tensor<4xf32>
// CHECK-NEXT:    %[[DIV1:.*]] = stablehlo.divide %[[MUL1]], %[[C3]] : tensor<4xf32>
// CHECK-NEXT:    %[[C4:.*]] = stablehlo.constant dense<-5.000000e+00> : tensor<4xf32>
// CHECK-NEXT:    %[[ADD1:.*]] = stablehlo.add %[[DIV1]], %[[C4]] : tensor<4xf32>
// CHECK-NEXT:    %[[C5:.*]] = stablehlo.constant dense<-1.280000e+02> : tensor<f32>
// CHECK-NEXT:    %[[C6:.*]] = stablehlo.constant dense<1.270000e+02> : tensor<f32>
// CHECK-NEXT:    %[[CLAMP1:.*]] = stablehlo.clamp %[[C5]], %[[ADD1]], %[[C6]] : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT:    %[[RNE1:.*]] = stablehlo.round_nearest_even %[[CLAMP1]] : tensor<4xf32>
// CHECK-NEXT:    %[[CV3:.*]] = stablehlo.convert %[[RNE1]] : (tensor<4xf32>) -> tensor<4xi8>
// CHECK-NEXT:    return %[[CV3]] : tensor<4xi8>
func.func @requantize(%x: !q) -> !r {
  %0 = stablehlo.uniform_quantize %x : (!q) -> !r
  return %0 : !r
}

// -----

!q = tensor<4x!quant.uniform<i8:f32, 0.5:3>>
!r = tensor<4x!quant.uniform<i8:f32, 0.5:-5>>

// Equal scales: integers do.
// CHECK-LABEL: func.func @requantize_zero_point
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<4xi8>)
// CHECK-NEXT:    %[[CV1:.*]] = stablehlo.convert %[[ARG0]] : (tensor<4xi8>) -> tensor<4xi32>
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<-8> : tensor<4xi32>
// CHECK-NEXT:    %[[ADD1:.*]] = stablehlo.add %[[CV1]], %[[C1]] : tensor<4xi32>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant dense<-128> : tensor<i32>
// CHECK-NEXT:    %[[C3:.*]] = stablehlo.constant dense<127> : tensor<i32>
// CHECK-NEXT:    %[[CLAMP1:.*]] = stablehlo.clamp %[[C2]], %[[ADD1]], %[[C3]] : (tensor<i32>, tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
// CHECK-NEXT:    %[[CV2:.*]] = stablehlo.convert %[[CLAMP1]] : (tensor<4xi32>) -> tensor<4xi8>
// CHECK-NEXT:    return %[[CV2]] : tensor<4xi8>
func.func @requantize_zero_point(%x: !q) -> !r {
  %0 = stablehlo.uniform_quantize %x : (!q) -> !r
  return %0 : !r
}

// -----

!q = tensor<4x!quant.uniform<i8<-127:127>:f32, 0.5>>
!r = tensor<4x!quant.uniform<i16:f32, 0.5>>

// CHECK-LABEL: func.func @requantize_to_wider_storage
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<4xi8>)
// CHECK-NEXT:    %[[CV1:.*]] = stablehlo.convert %[[ARG0]] : (tensor<4xi8>) -> tensor<4xi16>
// CHECK-NEXT:    return %[[CV1]] : tensor<4xi16>
func.func @requantize_to_wider_storage(%x: !q) -> !r {
  %0 = stablehlo.uniform_quantize %x : (!q) -> !r
  return %0 : !r
}

// -----

!q = tensor<4x!quant.uniform<i8:f32, 0.5>>
!r = tensor<4x!quant.uniform<i8<-8:7>:f32, 0.5>>

// CHECK-LABEL: func.func @requantize_to_narrower_bounds
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<4xi8>)
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<-8> : tensor<i8>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant dense<7> : tensor<i8>
// CHECK-NEXT:    %[[CLAMP1:.*]] = stablehlo.clamp %[[C1]], %[[ARG0]], %[[C2]] : (tensor<i8>, tensor<4xi8>, tensor<i8>) -> tensor<4xi8>
// CHECK-NEXT:    return %[[CLAMP1]] : tensor<4xi8>
func.func @requantize_to_narrower_bounds(%x: !q) -> !r {
  %0 = stablehlo.uniform_quantize %x : (!q) -> !r
  return %0 : !r
}

// -----

!q = tensor<4x!quant.uniform<i32:f32, 0.5>>
!r = tensor<4x!quant.uniform<i8:f32, 0.5>>

// Integers of 32 bits may exceed what float32 computes exactly, and the specification computes in float32.
// CHECK-LABEL: func.func @requantize_32_bits_in_float
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<4xi32>)
// CHECK-NEXT:    %[[CV1:.*]] = stablehlo.convert %[[ARG0]] : (tensor<4xi32>) -> tensor<4xf32>
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<4xf32>
// CHECK-NEXT:    %[[MUL1:.*]] = stablehlo.multiply %[[CV1]], %[[C1]] : tensor<4xf32>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant dense<5.000000e-01> : tensor<4xf32>
// CHECK-NEXT:    %[[DIV1:.*]] = stablehlo.divide %[[MUL1]], %[[C2]] : tensor<4xf32>
// CHECK-NEXT:    %[[C3:.*]] = stablehlo.constant dense<-1.280000e+02> : tensor<f32>
// CHECK-NEXT:    %[[C4:.*]] = stablehlo.constant dense<1.270000e+02> : tensor<f32>
// CHECK-NEXT:    %[[CLAMP1:.*]] = stablehlo.clamp %[[C3]], %[[DIV1]], %[[C4]] : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT:    %[[RNE1:.*]] = stablehlo.round_nearest_even %[[CLAMP1]] : tensor<4xf32>
// CHECK-NEXT:    %[[CV2:.*]] = stablehlo.convert %[[RNE1]] : (tensor<4xf32>) -> tensor<4xi8>
// CHECK-NEXT:    return %[[CV2]] : tensor<4xi8>
func.func @requantize_32_bits_in_float(%x: !q) -> !r {
  %0 = stablehlo.uniform_quantize %x : (!q) -> !r
  return %0 : !r
}
