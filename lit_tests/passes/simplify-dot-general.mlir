// RUN: shlo-quant-opt --simplify-dot-general --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @dot
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3xf32>, %[[W:.*]]: tensor<3x4xf32>)
// CHECK-NEXT:    %[[R:.*]] = stablehlo.dot_general %[[X]], %[[W]], contracting_dims = [1] x [0]
// CHECK-NEXT:    return %[[R]]
func.func @dot(%x: tensor<2x3xf32>, %w: tensor<3x4xf32>) -> tensor<2x4xf32> {
  %0 = stablehlo.dot %x, %w : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %0 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @transposed_weight
// CHECK-SAME:    (%[[X:.*]]: tensor<2x3xf32>, %[[W:.*]]: tensor<4x3xf32>)
// CHECK-NEXT:    %[[R:.*]] = stablehlo.dot_general %[[X]], %[[W]], contracting_dims = [1] x [1]
// CHECK-NEXT:    return %[[R]]
func.func @transposed_weight(%x: tensor<2x3xf32>, %w: tensor<4x3xf32>) -> tensor<2x4xf32> {
  %0 = stablehlo.transpose %w, dims = [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %1 = stablehlo.dot %x, %0 : (tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @transposed_batch
// CHECK-SAME:    (%[[X:.*]]: tensor<2x7x3xf32>, %[[Y:.*]]: tensor<5x2x3xf32>)
// CHECK-NEXT:    %[[R:.*]] = stablehlo.dot_general %[[X]], %[[Y]], batching_dims = [0] x [1], contracting_dims = [2] x [2]
// CHECK-NEXT:    return %[[R]]
func.func @transposed_batch(%x: tensor<2x7x3xf32>, %y: tensor<5x2x3xf32>) -> tensor<2x7x5xf32> {
  %0 = stablehlo.transpose %y, dims = [1, 2, 0] : (tensor<5x2x3xf32>) -> tensor<2x3x5xf32>
  %1 = stablehlo.dot_general %x, %0, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x7x3xf32>, tensor<2x3x5xf32>) -> tensor<2x7x5xf32>
  return %1 : tensor<2x7x5xf32>
}

// The dimensions that survive would change places.
// CHECK-LABEL: func.func @transposed_free_dimensions
// CHECK:         stablehlo.transpose
func.func @transposed_free_dimensions(%x: tensor<2x3xf32>, %w: tensor<4x5x3xf32>) -> tensor<2x5x4xf32> {
  %0 = stablehlo.transpose %w, dims = [2, 1, 0] : (tensor<4x5x3xf32>) -> tensor<3x5x4xf32>
  %1 = stablehlo.dot_general %x, %0, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x5x4xf32>) -> tensor<2x5x4xf32>
  return %1 : tensor<2x5x4xf32>
}

// CHECK-LABEL: func.func @broadcast_weight
// CHECK-SAME:    (%[[X:.*]]: tensor<2x7x3xf32>, %[[W:.*]]: tensor<4x3xf32>)
// CHECK-NEXT:    %[[R:.*]] = stablehlo.dot_general %[[X]], %[[W]], contracting_dims = [2] x [1]
// CHECK-NEXT:    return %[[R]]
func.func @broadcast_weight(%x: tensor<2x7x3xf32>, %w: tensor<4x3xf32>) -> tensor<2x7x4xf32> {
  %0 = stablehlo.transpose %w, dims = [1, 0] : (tensor<4x3xf32>) -> tensor<3x4xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1, 2] : (tensor<3x4xf32>) -> tensor<2x3x4xf32>
  %2 = stablehlo.dot_general %x, %1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x7x3xf32>, tensor<2x3x4xf32>) -> tensor<2x7x4xf32>
  return %2 : tensor<2x7x4xf32>
}

// CHECK-LABEL: func.func @broadcast_weight_merged_batch
// CHECK-SAME:    (%[[X:.*]]: tensor<6x7x3xf32>, %[[W:.*]]: tensor<3x4xf32>)
// CHECK-NEXT:    %[[R:.*]] = stablehlo.dot_general %[[X]], %[[W]], contracting_dims = [2] x [0]
// CHECK-NEXT:    return %[[R]]
func.func @broadcast_weight_merged_batch(%x: tensor<6x7x3xf32>, %w: tensor<3x4xf32>) -> tensor<6x7x4xf32> {
  %0 = stablehlo.broadcast_in_dim %w, dims = [2, 3] : (tensor<3x4xf32>) -> tensor<2x3x3x4xf32>
  %1 = stablehlo.reshape %0 : (tensor<2x3x3x4xf32>) -> tensor<6x3x4xf32>
  %2 = stablehlo.dot_general %x, %1, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<6x7x3xf32>, tensor<6x3x4xf32>) -> tensor<6x7x4xf32>
  return %2 : tensor<6x7x4xf32>
}

// Broadcast along a dimension that is summed over, not along the batch.
// CHECK-LABEL: func.func @broadcast_rows
// CHECK:         stablehlo.broadcast_in_dim
func.func @broadcast_rows(%x: tensor<2x7x3xf32>, %w: tensor<2x4xf32>) -> tensor<2x7x4xf32> {
  %0 = stablehlo.broadcast_in_dim %w, dims = [0, 2] : (tensor<2x4xf32>) -> tensor<2x3x4xf32>
  %1 = stablehlo.dot_general %x, %0, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x7x3xf32>, tensor<2x3x4xf32>) -> tensor<2x7x4xf32>
  return %1 : tensor<2x7x4xf32>
}
