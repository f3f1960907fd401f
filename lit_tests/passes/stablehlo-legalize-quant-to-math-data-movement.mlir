// RUN: shlo-quant-opt --stablehlo-legalize-quant-to-math --split-input-file %s | FileCheck %s

!q = tensor<2x3x!quant.uniform<i8:f32:0, {0.5, 0.25:7}>>
!r = tensor<3x2x!quant.uniform<i8:f32:1, {0.5, 0.25:7}>>

// CHECK-LABEL: func.func @transpose
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<2x3xi8>)
// CHECK-NEXT:    %[[TRANSPOSE1:.*]] = stablehlo.transpose %[[ARG0]], dims = [1, 0] : (tensor<2x3xi8>) -> tensor<3x2xi8>
// CHECK-NEXT:    return %[[TRANSPOSE1]] : tensor<3x2xi8>
func.func @transpose(%x: !q) -> !r {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (!q) -> !r
  return %0 : !r
}

// -----

!q = tensor<2x!quant.uniform<i8:f32, 0.5:3>>
!p = tensor<4x!quant.uniform<i8:f32, 0.5:3>>
!s = tensor<!quant.uniform<i8:f32, 0.5:3>>

// CHECK-LABEL: func.func @pad
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<2xi8>, %[[ARG1:.*]]: tensor<i8>)
// CHECK-NEXT:    %[[PAD1:.*]] = stablehlo.pad %[[ARG0]], %[[ARG1]], low = [1], high = [1], interior = [0] : (tensor<2xi8>, tensor<i8>) -> tensor<4xi8>
// CHECK-NEXT:    return %[[PAD1]] : tensor<4xi8>
func.func @pad(%x: !q, %v: !s) -> !p {
  %0 = stablehlo.pad %x, %v, low = [1], high = [1], interior = [0] : (!q, !s) -> !p
  return %0 : !p
}

// -----

!q = tensor<2x!quant.uniform<i8:f32, 0.5:3>>

// CHECK-LABEL: func.func @select
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<2xi1>, %[[ARG1:.*]]: tensor<2xi8>, %[[ARG2:.*]]: tensor<2xi8>)
// CHECK-NEXT:    %[[SELECT1:.*]] = stablehlo.select %[[ARG0]], %[[ARG1]], %[[ARG2]] : tensor<2xi1>, tensor<2xi8>
// CHECK-NEXT:    return %[[SELECT1]] : tensor<2xi8>
func.func @select(%p: tensor<2xi1>, %x: !q, %y: !q) -> !q {
  %0 = stablehlo.select %p, %x, %y : tensor<2xi1>, !q
  return %0 : !q
}

// -----

!q = tensor<2x!quant.uniform<i8:f32, 0.5:3>>
!r = tensor<2x!quant.uniform<i8:f32, 0.5:4>>

// CHECK-LABEL: func.func @select_to_another_type
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<2xi1>, %[[ARG1:.*]]: tensor<2xi8>, %[[ARG2:.*]]: tensor<2xi8>)
// CHECK-NEXT:    %[[CV1:.*]] = stablehlo.convert %[[ARG1]] : (tensor<2xi8>) -> tensor<2xi32>
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<1> : tensor<2xi32>
// CHECK-NEXT:    %[[ADD1:.*]] = stablehlo.add %[[CV1]], %[[C1]] : tensor<2xi32>
// CHECK-NEXT:    %[[C2:.*]] = stablehlo.constant dense<-128> : tensor<i32>
// CHECK-NEXT:    %[[C3:.*]] = stablehlo.constant dense<127> : tensor<i32>
// CHECK-NEXT:    %[[CLAMP1:.*]] = stablehlo.clamp %[[C2]], %[[ADD1]], %[[C3]] : (tensor<i32>, tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
// CHECK-NEXT:    %[[CV2:.*]] = stablehlo.convert %[[CLAMP1]] : (tensor<2xi32>) -> tensor<2xi8>
// CHECK-NEXT:    %[[CV3:.*]] = stablehlo.convert %[[ARG2]] : (tensor<2xi8>) -> tensor<2xi32>
// CHECK-NEXT:    %[[C4:.*]] = stablehlo.constant dense<1> : tensor<2xi32>
// CHECK-NEXT:    %[[ADD2:.*]] = stablehlo.add %[[CV3]], %[[C4]] : tensor<2xi32>
// CHECK-NEXT:    %[[C5:.*]] = stablehlo.constant dense<-128> : tensor<i32>
// CHECK-NEXT:    %[[C6:.*]] = stablehlo.constant dense<127> : tensor<i32>
// CHECK-NEXT:    %[[CLAMP2:.*]] = stablehlo.clamp %[[C5]], %[[ADD2]], %[[C6]] : (tensor<i32>, tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
// CHECK-NEXT:    %[[CV4:.*]] = stablehlo.convert %[[CLAMP2]] : (tensor<2xi32>) -> tensor<2xi8>
// CHECK-NEXT:    %[[SELECT1:.*]] = stablehlo.select %[[ARG0]], %[[CV2]], %[[CV4]] : tensor<2xi1>, tensor<2xi8>
// CHECK-NEXT:    return %[[SELECT1]] : tensor<2xi8>
func.func @select_to_another_type(%p: tensor<2xi1>, %x: !q, %y: !q) -> !r {
  %0 = "stablehlo.select"(%p, %x, %y) : (tensor<2xi1>, !q, !q) -> !r
  return %0 : !r
}

// -----

!q = tensor<2x!quant.uniform<u8:f32, 0.5:3>>

// CHECK-LABEL: func.func @unsigned_constant
// CHECK-NEXT:    %[[C1:.*]] = stablehlo.constant dense<[200, 5]> : tensor<2xui8>
// CHECK-NEXT:    return %[[C1]] : tensor<2xui8>
func.func @unsigned_constant() -> !q {
  %0 = "stablehlo.constant"() <{value = dense<[-56, 5]> : tensor<2xi8>}> : () -> !q
  return %0 : !q
}

// -----

!q = tensor<2x!quant.uniform<i8:f32, 0.5:3>>

// CHECK-LABEL: func.func @bitcast_to_storage
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<2xi8>)
// CHECK-NEXT:    return %[[ARG0]] : tensor<2xi8>
func.func @bitcast_to_storage(%x: !q) -> tensor<2xi8> {
  %0 = stablehlo.bitcast_convert %x : (!q) -> tensor<2xi8>
  return %0 : tensor<2xi8>
}

// -----

!q = tensor<2x!quant.uniform<i32:f32, 0.5:3>>

// CHECK-LABEL: func.func @bitcast_to_bytes
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<2xi32>)
// CHECK-NEXT:    %[[BITCAST_CONVERT1:.*]] = stablehlo.bitcast_convert %[[ARG0]] : (tensor<2xi32>) -> tensor<2x4xi8>
// CHECK-NEXT:    return %[[BITCAST_CONVERT1]] : tensor<2x4xi8>
func.func @bitcast_to_bytes(%x: !q) -> tensor<2x4xi8> {
  %0 = stablehlo.bitcast_convert %x : (!q) -> tensor<2x4xi8>
  return %0 : tensor<2x4xi8>
}

// -----

!q = tensor<2x!quant.uniform<i8:f32, 0.5:3>>

// CHECK-LABEL: func.func @custom_call_of_plain_operands
// CHECK-SAME:    (%[[ARG0:.*]]: tensor<2xf32>)
// CHECK-NEXT:    %[[CUSTOM_CALL1:.*]] = stablehlo.custom_call @check.eq(%[[ARG0]], %[[ARG0]]) : (tensor<2xf32>, tensor<2xf32>) -> tensor<i1>
// CHECK-NEXT:    return %[[CUSTOM_CALL1]] : tensor<i1>
func.func @custom_call_of_plain_operands(%x: tensor<2xf32>) -> tensor<i1> {
  %0 = stablehlo.custom_call @check.eq(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<i1>
  return %0 : tensor<i1>
}
