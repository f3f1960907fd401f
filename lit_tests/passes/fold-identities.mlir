// RUN: shlo-quant-opt --fold-identities --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @times_one
// CHECK-SAME:    (%[[X:.*]]: tensor
// CHECK-NEXT:    return %[[X]]
func.func @times_one(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [] : (tensor<f32>) -> tensor<2x3xf32>
  %2 = stablehlo.multiply %1, %x : tensor<2x3xf32>
  %3 = stablehlo.divide %2, %1 : tensor<2x3xf32>
  return %3 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func @one_divided
// CHECK:         stablehlo.divide
func.func @one_divided(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.constant dense<1.0> : tensor<2xf32>
  %1 = stablehlo.divide %0, %x : tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: func.func @nearly_ones
// CHECK:         stablehlo.multiply
func.func @nearly_ones(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.constant dense<[1.0, 1.5]> : tensor<2xf32>
  %1 = stablehlo.multiply %0, %x : tensor<2xf32>
  return %1 : tensor<2xf32>
}

// -0.0 + 0.0 is 0.0.
// CHECK-LABEL: func.func @plus_zero
// CHECK:         stablehlo.add
func.func @plus_zero(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = stablehlo.constant dense<0.0> : tensor<2xf32>
  %1 = stablehlo.add %0, %x : tensor<2xf32>
  return %1 : tensor<2xf32>
}

// CHECK-LABEL: func.func @reshapes
// CHECK-SAME:    (%[[X:.*]]: tensor
// CHECK-NEXT:    %[[R:.*]] = stablehlo.reshape %[[X]] : (tensor<2x3xf32>) -> tensor<3x2xf32>
// CHECK-NEXT:    return %[[R]], %[[X]]
func.func @reshapes(%x: tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<2x3xf32>) {
  %0 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<6xf32>
  %1 = stablehlo.reshape %0 : (tensor<6xf32>) -> tensor<3x2xf32>
  %2 = stablehlo.reshape %0 : (tensor<6xf32>) -> tensor<2x3xf32>
  return %1, %2 : tensor<3x2xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @nothing_moves
// CHECK-SAME:    (%[[X:.*]]: tensor
// CHECK-NEXT:    return %[[X]]
func.func @nothing_moves(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %p = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.transpose %x, dims = [0, 1] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = stablehlo.slice %1 [0:2, 0:2] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %3 = stablehlo.pad %2, %p, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %4 = stablehlo.concatenate %3, dim = 0 : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %5 = stablehlo.convert %4 : tensor<2x2xf32>
  return %5 : tensor<2x2xf32>
}

// CHECK-LABEL: func.func @same_shape_but_moved
// CHECK-COUNT-2: stablehlo.{{transpose|broadcast_in_dim}}
// CHECK:         stablehlo.pad
func.func @same_shape_but_moved(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %p = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %2 = stablehlo.pad %1, %p, low = [1, 0], high = [-1, 0], interior = [0, 0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}
