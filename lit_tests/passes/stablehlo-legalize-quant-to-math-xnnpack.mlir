// RUN: shlo-quant-opt --stablehlo-legalize-quant-to-math=arithmetic=xnnpack --split-input-file %s | FileCheck %s

!a = tensor<1x2x!quant.uniform<i32:f32:1, {0.125, 0.25}>>
!r = tensor<1x2x!quant.uniform<i8:f32, 2.0:-5>>

// One multiplication by scale / result scale, halves to even, then the zero point.
// CHECK-LABEL: func.func @accumulator
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<1x2xi32>)
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<[6.250000e-02, 1.250000e-01]> : tensor<2xf32>
// CHECK-NEXT:    %[[BC1:.*]] = stablehlo.broadcast_in_dim %[[C1]], dims = [1] : (tensor<2xf32>) -> tensor<1x2xf32>
// CHECK-NEXT:    %[[CV1:.*]] = stablehlo.convert %[[ARG0]] : (tensor<1x2xi32>) -> tensor<1x2xf32>
// CHECK-NEXT:    %[[MUL1:.*]] = stablehlo.multiply %[[CV1]], %[[BC1]] : tensor<1x2xf32>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant dense<-1.230000e+02> : tensor<f32>
// CHECK-NEXT:    %[[C3:.*]] = stablehlo.constant dense<1.320000e+02> : tensor<f32>
// CHECK-NEXT:    %[[CLAMP1:.*]] = stablehlo.clamp %[[C2]], %[[MUL1]], %[[C3]] : (tensor<f32>, tensor<1x2xf32>, tensor<f32>) -> tensor<1x2xf32>
// CHECK-NEXT:    %[[RNE1:.*]] = stablehlo.round_nearest_even %[[CLAMP1]] : tensor<1x2xf32>
// CHECK-NEXT:    %[[CV2:.*]] = stablehlo.convert %[[RNE1]] : (tensor<1x2xf32>) -> tensor<1x2xi32>
// CHECK-NEXT:    %[[C4:.*]] = stablehlo.constant dense<-5> : tensor<1x2xi32>
// CHECK-NEXT:    %[[ADD1:.*]] = stablehlo.add %[[CV2]], %[[C4]] : tensor<1x2xi32>
// CHECK-NEXT:    %[[CV3:.*]] = stablehlo.convert %[[ADD1]] : (tensor<1x2xi32>) -> tensor<1x2xi8>
// CHECK-NEXT:    return %[[CV3]] : tensor<1x2xi8>
func.func @accumulator(%a: !a) -> !r {
  %0 = stablehlo.uniform_quantize %a : (!a) -> !r
  return %0 : !r
}

// -----

!r = tensor<4x!quant.uniform<i8:f32, 0.25:3>>

// Times the reciprocal of the scale; NaN becomes the largest.
// CHECK-LABEL: func.func @quantize
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<4xf32>)
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<4.000000e+00> : tensor<4xf32>
// CHECK-NEXT:    %[[MUL1:.*]] = stablehlo.multiply %[[ARG0]], %[[C1]] : tensor<4xf32>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant dense<1.240000e+02> : tensor<4xf32>
// CHECK-NEXT:    %[[LT1:.*]] = stablehlo.compare LT, %[[MUL1]], %[[C2]] : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xi1>
// CHECK-NEXT:    %[[SEL1:.*]] = stablehlo.select %[[LT1]], %[[MUL1]], %[[C2]] : tensor<4xi1>, tensor<4xf32>
// CHECK-NEXT:    %[[C3:.*]] = stablehlo.constant dense<-1.310000e+02> : tensor<f32>
// CHECK-NEXT:    %[[C4:.*]] = stablehlo.constant dense<1.240000e+02> : tensor<f32>
// CHECK-NEXT:    %[[CLAMP1:.*]] = stablehlo.clamp %[[C3]], %[[SEL1]], %[[C4]] : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT:    %[[RNE1:.*]] = stablehlo.round_nearest_even %[[CLAMP1]] : tensor<4xf32>
// CHECK-NEXT:    %[[CV1:.*]] = stablehlo.convert %[[RNE1]] : (tensor<4xf32>) -> tensor<4xi32>
// CHECK-NEXT:    %[[C5:.*]] = stablehlo.constant dense<3> : tensor<4xi32>
// CHECK-NEXT:    %[[ADD1:.*]] = stablehlo.add %[[CV1]], %[[C5]] : tensor<4xi32>
// CHECK-NEXT:    %[[CV2:.*]] = stablehlo.convert %[[ADD1]] : (tensor<4xi32>) -> tensor<4xi8>
// CHECK-NEXT:    return %[[CV2]] : tensor<4xi8>
func.func @quantize(%x: tensor<4xf32>) -> !r {
  %0 = stablehlo.uniform_quantize %x : (tensor<4xf32>) -> !r
  return %0 : !r
}

// -----

!a = tensor<4x!quant.uniform<i8:f32, 0.5:3>>
!b = tensor<4x!quant.uniform<i8:f32, 0.25:-2>>
!r = tensor<4x!quant.uniform<i8:f32, 1.0:7>>

// The larger ratio, 0.5, is 2**20 after a shift by 21; the constant is 2**20 - 3 * 2**20 + 2 * 2**19.
// CHECK-LABEL: func.func @add
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<4xi8>, %[[ARG1:.*]]: tensor<4xi8>)
// CHECK-NEXT:    %[[CV1:.*]] = stablehlo.convert %[[ARG0]] : (tensor<4xi8>) -> tensor<4xi32>
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<1048576> : tensor<4xi32>
// CHECK-NEXT:    %[[MUL1:.*]] = stablehlo.multiply %[[CV1]], %[[C1]] : tensor<4xi32>
// CHECK-NEXT:    %[[CV2:.*]] = stablehlo.convert %[[ARG1]] : (tensor<4xi8>) -> tensor<4xi32>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant dense<524288> : tensor<4xi32>
// CHECK-NEXT:    %[[MUL2:.*]] = stablehlo.multiply %[[CV2]], %[[C2]] : tensor<4xi32>
// CHECK-NEXT:    %[[C3:.*]] = stablehlo.constant dense<-1048576> : tensor<4xi32>
// CHECK-NEXT:    %[[ADD1:.*]] = stablehlo.add %[[MUL1]], %[[C3]] : tensor<4xi32>
// CHECK-NEXT:    %[[ADD2:.*]] = stablehlo.add %[[ADD1]], %[[MUL2]] : tensor<4xi32>
// CHECK-NEXT:    %[[C4:.*]] = stablehlo.constant dense<21> : tensor<4xi32>
// CHECK-NEXT:    %[[SHIFT1:.*]] = stablehlo.shift_right_arithmetic %[[ADD2]], %[[C4]] : tensor<4xi32>
// CHECK-NEXT:    %[[C5:.*]] = stablehlo.constant dense<7> : tensor<4xi32>
// CHECK-NEXT:    %[[ADD3:.*]] = stablehlo.add %[[SHIFT1]], %[[C5]] : tensor<4xi32>
// CHECK-NEXT:    %[[C6:.*]] = stablehlo.constant dense<-128> : tensor<i32>
// CHECK-NEXT:    %[[C7:.*]] = stablehlo.constant dense<127> : tensor<i32>
// CHECK-NEXT:    %[[CLAMP1:.*]] = stablehlo.clamp %[[C6]], %[[ADD3]], %[[C7]] : (tensor<i32>, tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
// CHECK-NEXT:    %[[CV3:.*]] = stablehlo.convert %[[CLAMP1]] : (tensor<4xi32>) -> tensor<4xi8>
// CHECK-NEXT:    return %[[CV3]] : tensor<4xi8>
func.func @add(%a: !a, %b: !b) -> !r {
  %0 = stablehlo.add %a, %b : (!a, !b) -> !r
  return %0 : !r
}

// The constant is 2**20 - 3 * 2**20 - 2 * 2**19.
// CHECK-LABEL: func.func @subtract
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<4xi8>, %[[ARG1:.*]]: tensor<4xi8>)
// CHECK-NEXT:    %[[CV1:.*]] = stablehlo.convert %[[ARG0]] : (tensor<4xi8>) -> tensor<4xi32>
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<1048576> : tensor<4xi32>
// CHECK-NEXT:    %[[MUL1:.*]] = stablehlo.multiply %[[CV1]], %[[C1]] : tensor<4xi32>
// CHECK-NEXT:    %[[CV2:.*]] = stablehlo.convert %[[ARG1]] : (tensor<4xi8>) -> tensor<4xi32>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant dense<-524288> : tensor<4xi32>
// CHECK-NEXT:    %[[MUL2:.*]] = stablehlo.multiply %[[CV2]], %[[C2]] : tensor<4xi32>
// CHECK-NEXT:    %[[C3:.*]] = stablehlo.constant dense<-3145728> : tensor<4xi32>
// CHECK-NEXT:    %[[ADD1:.*]] = stablehlo.add %[[MUL1]], %[[C3]] : tensor<4xi32>
// CHECK-NEXT:    %[[ADD2:.*]] = stablehlo.add %[[ADD1]], %[[MUL2]] : tensor<4xi32>
// CHECK-NEXT:    %[[C4:.*]] = stablehlo.constant dense<21> : tensor<4xi32>
// CHECK-NEXT:    %[[SHIFT1:.*]] = stablehlo.shift_right_arithmetic %[[ADD2]], %[[C4]] : tensor<4xi32>
// CHECK-NEXT:    %[[C5:.*]] = stablehlo.constant dense<7> : tensor<4xi32>
// CHECK-NEXT:    %[[ADD3:.*]] = stablehlo.add %[[SHIFT1]], %[[C5]] : tensor<4xi32>
// CHECK-NEXT:    %[[C6:.*]] = stablehlo.constant dense<-128> : tensor<i32>
// CHECK-NEXT:    %[[C7:.*]] = stablehlo.constant dense<127> : tensor<i32>
// CHECK-NEXT:    %[[CLAMP1:.*]] = stablehlo.clamp %[[C6]], %[[ADD3]], %[[C7]] : (tensor<i32>, tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
// CHECK-NEXT:    %[[CV3:.*]] = stablehlo.convert %[[CLAMP1]] : (tensor<4xi32>) -> tensor<4xi8>
// CHECK-NEXT:    return %[[CV3]] : tensor<4xi8>
func.func @subtract(%a: !a, %b: !b) -> !r {
  %0 = stablehlo.subtract %a, %b : (!a, !b) -> !r
  return %0 : !r
}

// CHECK-LABEL: func.func @multiply
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<4xi8>, %[[ARG1:.*]]: tensor<4xi8>)
// CHECK-NEXT:    %[[CV1:.*]] = stablehlo.convert %[[ARG0]] : (tensor<4xi8>) -> tensor<4xi32>
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<3> : tensor<4xi32>
// CHECK-NEXT:    %[[SUB1:.*]] = stablehlo.subtract %[[CV1]], %[[C1]] : tensor<4xi32>
// CHECK-NEXT:    %[[CV2:.*]] = stablehlo.convert %[[ARG1]] : (tensor<4xi8>) -> tensor<4xi32>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant dense<-2> : tensor<4xi32>
// CHECK-NEXT:    %[[SUB2:.*]] = stablehlo.subtract %[[CV2]], %[[C2]] : tensor<4xi32>
// CHECK-NEXT:    %[[MUL1:.*]] = stablehlo.multiply %[[SUB1]], %[[SUB2]] : tensor<4xi32>
// CHECK-NEXT:    %[[C3:.*]] = stablehlo.constant dense<1.250000e-01> : tensor<4xf32>
// CHECK-NEXT:    %[[CV3:.*]] = stablehlo.convert %[[MUL1]] : (tensor<4xi32>) -> tensor<4xf32>
// CHECK-NEXT:    %[[MUL2:.*]] = stablehlo.multiply %[[CV3]], %[[C3]] : tensor<4xf32>
// CHECK-NEXT:    %[[C4:.*]] = stablehlo.constant dense<-1.350000e+02> : tensor<f32>
// CHECK-NEXT:    %[[C5:.*]] = stablehlo.constant dense<1.200000e+02> : tensor<f32>
// CHECK-NEXT:    %[[CLAMP1:.*]] = stablehlo.clamp %[[C4]], %[[MUL2]], %[[C5]] : (tensor<f32>, tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
// CHECK-NEXT:    %[[RNE1:.*]] = stablehlo.round_nearest_even %[[CLAMP1]] : tensor<4xf32>
// CHECK-NEXT:    %[[CV4:.*]] = stablehlo.convert %[[RNE1]] : (tensor<4xf32>) -> tensor<4xi32>
// CHECK-NEXT:    %[[C6:.*]] = stablehlo.constant dense<7> : tensor<4xi32>
// CHECK-NEXT:    %[[ADD1:.*]] = stablehlo.add %[[CV4]], %[[C6]] : tensor<4xi32>
// CHECK-NEXT:    %[[CV5:.*]] = stablehlo.convert %[[ADD1]] : (tensor<4xi32>) -> tensor<4xi8>
// CHECK-NEXT:    return %[[CV5]] : tensor<4xi8>
func.func @multiply(%a: !a, %b: !b) -> !r {
  %0 = stablehlo.multiply %a, %b : (!a, !b) -> !r
  return %0 : !r
}

// -----

!a = tensor<4x!quant.uniform<i8:f32, 0.5:3>>
!b = tensor<4x!quant.uniform<i8:f32, 0.5:-2>>

// Equal scales.
// CHECK-LABEL: func.func @move_zero_point
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<4xi8>)
// CHECK-NEXT:    %[[CV1:.*]] = stablehlo.convert %[[ARG0]] : (tensor<4xi8>) -> tensor<4xi32>
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<-5> : tensor<4xi32>
// CHECK-NEXT:    %[[ADD1:.*]] = stablehlo.add %[[CV1]], %[[C1]] : tensor<4xi32>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant dense<-128> : tensor<i32>
// CHECK-NEXT:    %[[C3:.*]] = stablehlo.constant dense<127> : tensor<i32>
// CHECK-NEXT:    %[[CLAMP1:.*]] = stablehlo.clamp %[[C2]], %[[ADD1]], %[[C3]] : (tensor<i32>, tensor<4xi32>, tensor<i32>) -> tensor<4xi32>
// CHECK-NEXT:    %[[CV2:.*]] = stablehlo.convert %[[CLAMP1]] : (tensor<4xi32>) -> tensor<4xi8>
// CHECK-NEXT:    return %[[CV2]] : tensor<4xi8>
func.func @move_zero_point(%a: !a) -> !b {
  %0 = stablehlo.uniform_quantize %a : (!a) -> !b
  return %0 : !b
}

// -----

!a = tensor<1x2x2x2x!quant.uniform<i8:f32, 0.5:3>>
!r = tensor<1x2x1x1x!quant.uniform<i8:f32, 1.0:7>>

// The multiplier is 0.5 / 1.0 / 4, the offset 7 - 4 * 3 * 0.125.
// CHECK-LABEL: func.func @mean
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<1x2x2x2xi8>)
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT:    %[[CV1:.*]] = stablehlo.convert %[[ARG0]] : (tensor<1x2x2x2xi8>) -> tensor<1x2x2x2xi32>
// CHECK-NEXT:    %[[SUM1:.*]] = stablehlo.reduce(%[[CV1]] init: %[[C1]]) applies stablehlo.add across dimensions = [2, 3] : (tensor<1x2x2x2xi32>, tensor<i32>) -> tensor<1x2xi32>
// CHECK-NEXT:    %[[R1:.*]] = stablehlo.reshape %[[SUM1]] : (tensor<1x2xi32>) -> tensor<1x2x1x1xi32>
// CHECK-NEXT:    %[[CV2:.*]] = stablehlo.convert %[[R1]] : (tensor<1x2x1x1xi32>) -> tensor<1x2x1x1xf32>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant dense<1.250000e-01> : tensor<1x2x1x1xf32>
// CHECK-NEXT:    %[[MUL1:.*]] = stablehlo.multiply %[[CV2]], %[[C2]] : tensor<1x2x1x1xf32>
// CHECK-NEXT:    %[[C3:.*]] = stablehlo.constant dense<5.500000e+00> : tensor<1x2x1x1xf32>
// CHECK-NEXT:    %[[ADD1:.*]] = stablehlo.add %[[MUL1]], %[[C3]] : tensor<1x2x1x1xf32>
// CHECK-NEXT:    %[[C4:.*]] = stablehlo.constant dense<-1.280000e+02> : tensor<f32>
// CHECK-NEXT:    %[[C5:.*]] = stablehlo.constant dense<1.270000e+02> : tensor<f32>
// CHECK-NEXT:    %[[CLAMP1:.*]] = stablehlo.clamp %[[C4]], %[[ADD1]], %[[C5]] : (tensor<f32>, tensor<1x2x1x1xf32>, tensor<f32>) -> tensor<1x2x1x1xf32>
// CHECK-NEXT:    %[[RNE1:.*]] = stablehlo.round_nearest_even %[[CLAMP1]] : tensor<1x2x1x1xf32>
// CHECK-NEXT:    %[[CV3:.*]] = stablehlo.convert %[[RNE1]] : (tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xi8>
// CHECK-NEXT:    return %[[CV3]] : tensor<1x2x1x1xi8>
func.func @mean(%a: !a) -> !r {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %count = stablehlo.constant dense<4.0> : tensor<1x2x1x1xf32>
  %0 = stablehlo.uniform_dequantize %a : (!a) -> tensor<1x2x2x2xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [2, 3] : (tensor<1x2x2x2xf32>, tensor<f32>) -> tensor<1x2xf32>
  %2 = stablehlo.reshape %1 : (tensor<1x2xf32>) -> tensor<1x2x1x1xf32>
  %3 = stablehlo.divide %2, %count : tensor<1x2x1x1xf32>
  %4 = stablehlo.uniform_quantize %3 : (tensor<1x2x1x1xf32>) -> !r
  return %4 : !r
}

// -----

!a = tensor<1x2x2x2x!quant.uniform<i8:f32, 0.5:3>>
!r = tensor<1x2x1x1x!quant.uniform<i8:f32, 1.0:7>>

// A sum of something else than all pixels stays in floats.
// CHECK-LABEL: func.func @no_mean
// CHECK:         stablehlo.reduce(%{{.*}} init: %{{.*}}) applies stablehlo.add across dimensions = [2, 3] : (tensor<1x2x2x2xf32>, tensor<f32>) -> tensor<1x2xf32>
func.func @no_mean(%a: !a) -> !r {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %count = stablehlo.constant dense<3.0> : tensor<1x2x1x1xf32>
  %0 = stablehlo.uniform_dequantize %a : (!a) -> tensor<1x2x2x2xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [2, 3] : (tensor<1x2x2x2xf32>, tensor<f32>) -> tensor<1x2xf32>
  %2 = stablehlo.reshape %1 : (tensor<1x2xf32>) -> tensor<1x2x1x1xf32>
  %3 = stablehlo.divide %2, %count : tensor<1x2x1x1xf32>
  %4 = stablehlo.uniform_quantize %3 : (tensor<1x2x1x1xf32>) -> !r
  return %4 : !r
}
