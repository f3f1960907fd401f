// RUN: shlo-quant-opt --legalize-dynamic-shapes --split-input-file %s | FileCheck %s

// The size of the product is the argument's, so that the product keeps one use.
// CHECK-LABEL: func.func @bias
// CHECK-SAME:    (%[[X:.*]]: tensor<?x3xf32>, %[[W:.*]]: tensor<4x3xf32>, %[[B:.*]]: tensor<4xf32>)
// CHECK-NEXT:    %[[D:.*]] = stablehlo.dot_general %[[X]], %[[W]]
// CHECK-NEXT:    %[[N:.*]] = stablehlo.get_dimension_size %[[X]], dim = 0
// CHECK-NEXT:    %[[R:.*]] = stablehlo.reshape %[[N]] : (tensor<i32>) -> tensor<1xi32>
// CHECK-NEXT:    %[[F:.*]] = stablehlo.constant dense<4> : tensor<i32>
// CHECK-NEXT:    %[[G:.*]] = stablehlo.reshape %[[F]]
// CHECK-NEXT:    %[[S:.*]] = stablehlo.concatenate %[[R]], %[[G]], dim = 0
// CHECK-NEXT:    %[[C:.*]] = stablehlo.dynamic_broadcast_in_dim %[[B]], %[[S]], dims = [1]
// CHECK-NEXT:    %[[A:.*]] = stablehlo.add %[[D]], %[[C]]
// CHECK-NEXT:    return %[[A]]
func.func @bias(%x: tensor<?x3xf32>, %w: tensor<4x3xf32>, %b: tensor<4xf32>) -> tensor<?x4xf32> {
  %four = shape.const_shape [4] : tensor<1xindex>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<?x3xf32>, tensor<4x3xf32>) -> tensor<?x4xf32>
  %1 = shape.shape_of %0 : tensor<?x4xf32> -> tensor<2xindex>
  %2 = shape.broadcast %1, %four : tensor<2xindex>, tensor<1xindex> -> tensor<2xindex>
  %3 = stablehlo.dynamic_broadcast_in_dim %0, %2, dims = [0, 1] : (tensor<?x4xf32>, tensor<2xindex>) -> tensor<?x4xf32>
  %4 = stablehlo.dynamic_broadcast_in_dim %b, %2, dims = [1] : (tensor<4xf32>, tensor<2xindex>) -> tensor<?x4xf32>
  %5 = stablehlo.add %3, %4 : tensor<?x4xf32>
  return %5 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @assuming
// CHECK-SAME:    (%[[X:.*]]: tensor<?x4xf32>, %[[Y:.*]]: tensor<?x4xf32>)
// CHECK-NEXT:    %[[A:.*]] = stablehlo.add %[[X]], %[[Y]]
// CHECK-NEXT:    return %[[A]]
func.func @assuming(%x: tensor<?x4xf32>, %y: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %0 = shape.shape_of %x : tensor<?x4xf32> -> tensor<2xindex>
  %1 = shape.shape_of %y : tensor<?x4xf32> -> tensor<2xindex>
  %2 = shape.cstr_broadcastable %0, %1 : tensor<2xindex>, tensor<2xindex>
  %3 = shape.assuming %2 -> (tensor<?x4xf32>) {
    %4 = shape.broadcast %0, %1 : tensor<2xindex>, tensor<2xindex> -> tensor<2xindex>
    %5 = stablehlo.dynamic_broadcast_in_dim %x, %4, dims = [0, 1] : (tensor<?x4xf32>, tensor<2xindex>) -> tensor<?x4xf32>
    %6 = stablehlo.dynamic_broadcast_in_dim %y, %4, dims = [0, 1] : (tensor<?x4xf32>, tensor<2xindex>) -> tensor<?x4xf32>
    %7 = stablehlo.add %5, %6 : tensor<?x4xf32>
    shape.assuming_yield %7 : tensor<?x4xf32>
  }
  return %3 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @merged_dimensions
// CHECK-SAME:    (%[[X:.*]]: tensor<?x5x4xf32>)
// CHECK-NEXT:    %[[N:.*]] = stablehlo.get_dimension_size %[[X]], dim = 0
// CHECK-NEXT:    %[[F:.*]] = stablehlo.constant dense<5> : tensor<i32>
// CHECK-NEXT:    %[[P:.*]] = stablehlo.multiply %[[N]], %[[F]] : tensor<i32>
// CHECK:         stablehlo.dynamic_reshape %[[X]]
func.func @merged_dimensions(%x: tensor<?x5x4xf32>) -> tensor<?x4xf32> {
  %c0 = arith.constant 0 : index
  %c4 = arith.constant 4 : i64
  %c5 = arith.constant 5 : i64
  %0 = tensor.dim %x, %c0 : tensor<?x5x4xf32>
  %1 = arith.index_cast %0 : index to i64
  %2 = arith.muli %1, %c5 : i64
  %3 = tensor.from_elements %2, %c4 : tensor<2xi64>
  %4 = stablehlo.dynamic_reshape %x, %3 : (tensor<?x5x4xf32>, tensor<2xi64>) -> tensor<?x4xf32>
  return %4 : tensor<?x4xf32>
}

// CHECK-LABEL: func.func @static_result
// CHECK-NEXT:    stablehlo.broadcast_in_dim
func.func @static_result(%x: tensor<4xf32>) -> tensor<2x4xf32> {
  %0 = shape.const_shape [2, 4] : tensor<2xindex>
  %1 = stablehlo.dynamic_broadcast_in_dim %x, %0, dims = [1] : (tensor<4xf32>, tensor<2xindex>) -> tensor<2x4xf32>
  return %1 : tensor<2x4xf32>
}
