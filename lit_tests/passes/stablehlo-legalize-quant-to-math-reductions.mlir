// RUN: shlo-quant-opt --stablehlo-legalize-quant-to-math --split-input-file %s | FileCheck %s

!q = tensor<2x8x!quant.uniform<i8:f32, 0.5:3>>
!s = tensor<!quant.uniform<i32:f32, 0.5>>
!r = tensor<2x!quant.uniform<i32:f32, 0.5>>

// Eight integers of 9 bits cannot leave 32.
// CHECK-LABEL: func.func @sum_in_wider_storage
// CHECK-SAME:    (%[[X:.*]]: tensor<2x8xi8>)
// CHECK-NEXT:    %[[INIT:.*]] = stablehlo.constant dense<0> : tensor<i32>
// CHECK-NEXT:    %[[WIDE:.*]] = stablehlo.convert %[[X]] : (tensor<2x8xi8>) -> tensor<2x8xi32>
// CHECK-NEXT:    %[[Z:.*]] = stablehlo.constant dense<-3> : tensor<2x8xi32>
// CHECK-NEXT:    %[[D:.*]] = stablehlo.add %[[WIDE]], %[[Z]] : tensor<2x8xi32>
// CHECK-NEXT:    %[[R:.*]] = stablehlo.reduce(%[[D]] init: %[[INIT]]) applies stablehlo.add across dimensions = [1] : (tensor<2x8xi32>, tensor<i32>) -> tensor<2xi32>
// CHECK-NEXT:    return %[[R]] : tensor<2xi32>
func.func @sum_in_wider_storage(%x: !q) -> !r {
  %i = "stablehlo.constant"() <{value = dense<0> : tensor<i32>}> : () -> !s
  %0 = "stablehlo.reduce"(%x, %i) ({
  ^bb0(%a: !s, %b: !s):
    %1 = stablehlo.add %a, %b : !s
    stablehlo.return %1 : !s
  }) {dimensions = array<i64: 1>} : (!q, !s) -> !r
  return %0 : !r
}

// -----

!q = tensor<2x8x!quant.uniform<i8:f32, 0.5:3>>
!s = tensor<!quant.uniform<i32:f32, 0.5>>
!r = tensor<2x!quant.uniform<i32:f32, 0.5>>

// With an init value of any size, each step saturates.
// CHECK-LABEL: func.func @sum_that_may_overflow
// CHECK-SAME:    (%[[X:.*]]: tensor<2x8xi8>, %[[INIT:.*]]: tensor<i32>)
// CHECK:         %[[R:.*]] = stablehlo.reduce(%{{.*}} init: %[[INIT]]) across dimensions = [1] : (tensor<2x8xi32>, tensor<i32>) -> tensor<2xi32>
// CHECK-NEXT:    reducer(%[[A:.*]]: tensor<i32>, %[[B:.*]]: tensor<i32>)  {
// CHECK-NEXT:      %[[AW:.*]] = stablehlo.convert %[[A]] : (tensor<i32>) -> tensor<i64>
// CHECK-NEXT:      %[[BW:.*]] = stablehlo.convert %[[B]] : (tensor<i32>) -> tensor<i64>
// CHECK-NEXT:      %[[SUM:.*]] = stablehlo.add %[[AW]], %[[BW]] : tensor<i64>
// CHECK-NEXT:      %[[MIN:.*]] = stablehlo.constant dense<-2147483648> : tensor<i64>
// CHECK-NEXT:      %[[MAX:.*]] = stablehlo.constant dense<2147483647> : tensor<i64>
// CHECK-NEXT:      %[[CLAMPED:.*]] = stablehlo.clamp %[[MIN]], %[[SUM]], %[[MAX]] : tensor<i64>
// CHECK-NEXT:      %[[NARROW:.*]] = stablehlo.convert %[[CLAMPED]] : (tensor<i64>) -> tensor<i32>
// CHECK-NEXT:      stablehlo.return %[[NARROW]] : tensor<i32>
func.func @sum_that_may_overflow(%x: !q, %i: !s) -> !r {
  %0 = "stablehlo.reduce"(%x, %i) ({
  ^bb0(%a: !s, %b: !s):
    %1 = stablehlo.add %a, %b : !s
    stablehlo.return %1 : !s
  }) {dimensions = array<i64: 1>} : (!q, !s) -> !r
  return %0 : !r
}

// -----

!q = tensor<2x8x!quant.uniform<i8:f32, 0.5:3>>
!s = tensor<!quant.uniform<i8:f32, 0.5:3>>
!r = tensor<2x7x!quant.uniform<i8:f32, 0.5:3>>

// CHECK-LABEL: func.func @maximum_of_one_type
// CHECK-SAME:    (%[[X:.*]]: tensor<2x8xi8>)
// CHECK-NEXT:    %[[INIT:.*]] = stablehlo.constant dense<-128> : tensor<i8>
// CHECK-NEXT:    %[[R:.*]] = "stablehlo.reduce_window"(%[[X]], %[[INIT]])
// CHECK-NEXT:    ^bb0(%[[A:.*]]: tensor<i8>, %[[B:.*]]: tensor<i8>):
// CHECK-NEXT:      %[[M:.*]] = stablehlo.maximum %[[A]], %[[B]] : tensor<i8>
// CHECK-NEXT:      stablehlo.return %[[M]] : tensor<i8>
// CHECK-NEXT:    }) : (tensor<2x8xi8>, tensor<i8>) -> tensor<2x7xi8>
// CHECK-NEXT:    return %[[R]] : tensor<2x7xi8>
func.func @maximum_of_one_type(%x: !q) -> !r {
  %i = "stablehlo.constant"() <{value = dense<-128> : tensor<i8>}> : () -> !s
  %0 = "stablehlo.reduce_window"(%x, %i) ({
  ^bb0(%a: !s, %b: !s):
    %1 = stablehlo.maximum %a, %b : !s
    stablehlo.return %1 : !s
  }) {window_dimensions = array<i64: 1, 2>} : (!q, !s) -> !r
  return %0 : !r
}

// -----

!q = tensor<3x!quant.uniform<u8:f32, 0.5:100>>
!s = tensor<!quant.uniform<u8:f32, 0.5:100>>

// CHECK-LABEL: func.func @control_flow
// CHECK-SAME:    (%[[X:.*]]: tensor<3xui8>, %[[P:.*]]: tensor<i1>) -> tensor<3xui8>
// CHECK-NEXT:    %[[S:.*]] = "stablehlo.sort"(%[[X]])
// CHECK-NEXT:    ^bb0(%[[A:.*]]: tensor<ui8>, %[[B:.*]]: tensor<ui8>):
// CHECK-NEXT:      %[[C:.*]] = stablehlo.compare  GT, %[[A]], %[[B]] : (tensor<ui8>, tensor<ui8>) -> tensor<i1>
// CHECK-NEXT:      stablehlo.return %[[C]] : tensor<i1>
// CHECK-NEXT:    }) : (tensor<3xui8>) -> tensor<3xui8>
// CHECK-NEXT:    %[[R:.*]] = "stablehlo.if"(%[[P]]) ({
// CHECK-NEXT:      %[[CALL:.*]] = func.call @identity(%[[S]]) : (tensor<3xui8>) -> tensor<3xui8>
// CHECK-NEXT:      stablehlo.return %[[CALL]] : tensor<3xui8>
// CHECK-NEXT:    }, {
// CHECK-NEXT:      stablehlo.return %[[X]] : tensor<3xui8>
// CHECK-NEXT:    }) : (tensor<i1>) -> tensor<3xui8>
// CHECK-NEXT:    return %[[R]] : tensor<3xui8>
func.func @control_flow(%x: !q, %p: tensor<i1>) -> !q {
  %0 = "stablehlo.sort"(%x) ({
  ^bb0(%a: !s, %b: !s):
    %2 = stablehlo.compare GT, %a, %b : (!s, !s) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  }) {dimension = 0 : i64} : (!q) -> !q
  %1 = "stablehlo.if"(%p) ({
    %3 = func.call @identity(%0) : (!q) -> !q
    stablehlo.return %3 : !q
  }, {
    stablehlo.return %x : !q
  }) : (tensor<i1>) -> !q
  return %1 : !q
}
// CHECK:       func.func private @identity(%[[Y:.*]]: tensor<3xui8>) -> tensor<3xui8>
func.func private @identity(%x: !q) -> !q {
  return %x : !q
}
