// RUN: shlo-quant-opt --fold-dot-reshapes --split-input-file %s | FileCheck %s

// CHECK-LABEL: func.func @linear
// CHECK-SAME:    (%[[X:.*]]: tensor<2x5x8xf32>, %[[W:.*]]: tensor<6x8xf32>, %[[B:.*]]: tensor<6xf32>)
// CHECK-NEXT:    %[[D:.*]] = stablehlo.dot_general %[[X]], %[[W]], contracting_dims = [2] x [1]
// CHECK-NEXT:    %[[C:.*]] = stablehlo.broadcast_in_dim %[[B]], dims = [2] : (tensor<6xf32>) -> tensor<2x5x6xf32>
// CHECK-NEXT:    %[[S:.*]] = stablehlo.add %[[D]], %[[C]] : tensor<2x5x6xf32>
// CHECK-NEXT:    return %[[S]]
func.func @linear(%x: tensor<2x5x8xf32>, %w: tensor<6x8xf32>, %b: tensor<6xf32>) -> tensor<2x5x6xf32> {
  %0 = stablehlo.reshape %x : (tensor<2x5x8xf32>) -> tensor<10x8xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [1] : (tensor<10x8xf32>, tensor<6x8xf32>) -> tensor<10x6xf32>
  %2 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<6xf32>) -> tensor<10x6xf32>
  %3 = stablehlo.add %1, %2 : tensor<10x6xf32>
  %4 = stablehlo.reshape %3 : (tensor<10x6xf32>) -> tensor<2x5x6xf32>
  return %4 : tensor<2x5x6xf32>
}

// CHECK-LABEL: func.func @dynamic
// CHECK-SAME:    (%[[X:.*]]: tensor<?x5x8xf32>, %[[W:.*]]: tensor<6x8xf32>, %[[B:.*]]: tensor<6xf32>, %{{.*}}: tensor<2xi32>, %[[T:.*]]: tensor<3xi32>)
// CHECK-NEXT:    %[[D:.*]] = stablehlo.dot_general %[[X]], %[[W]], contracting_dims = [2] x [1]
// CHECK-NEXT:    %[[C:.*]] = stablehlo.dynamic_broadcast_in_dim %[[B]], %[[T]], dims = [2]
// CHECK-NEXT:    %[[S:.*]] = stablehlo.add %[[D]], %[[C]] : tensor<?x5x6xf32>
// CHECK-NEXT:    return %[[S]]
func.func @dynamic(%x: tensor<?x5x8xf32>, %w: tensor<6x8xf32>, %b: tensor<6xf32>, %m: tensor<2xi32>, %t: tensor<3xi32>) -> tensor<?x5x6xf32> {
  %0 = stablehlo.dynamic_reshape %x, %m : (tensor<?x5x8xf32>, tensor<2xi32>) -> tensor<?x8xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [1] : (tensor<?x8xf32>, tensor<6x8xf32>) -> tensor<?x6xf32>
  %2 = stablehlo.dynamic_broadcast_in_dim %b, %m, dims = [1] : (tensor<6xf32>, tensor<2xi32>) -> tensor<?x6xf32>
  %3 = stablehlo.add %1, %2 : tensor<?x6xf32>
  %4 = stablehlo.dynamic_reshape %3, %t : (tensor<?x6xf32>, tensor<3xi32>) -> tensor<?x5x6xf32>
  return %4 : tensor<?x5x6xf32>
}

// CHECK-LABEL: func.func @split_otherwise
// CHECK-COUNT-2: stablehlo.reshape
func.func @split_otherwise(%x: tensor<2x5x8xf32>, %w: tensor<6x8xf32>) -> tensor<5x2x6xf32> {
  %0 = stablehlo.reshape %x : (tensor<2x5x8xf32>) -> tensor<10x8xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [1] : (tensor<10x8xf32>, tensor<6x8xf32>) -> tensor<10x6xf32>
  %2 = stablehlo.reshape %1 : (tensor<10x6xf32>) -> tensor<5x2x6xf32>
  return %2 : tensor<5x2x6xf32>
}

// CHECK-LABEL: func.func @product_used_twice
// CHECK-COUNT-2: stablehlo.reshape
func.func @product_used_twice(%x: tensor<2x5x8xf32>, %w: tensor<6x8xf32>) -> (tensor<2x5x6xf32>, tensor<10x6xf32>) {
  %0 = stablehlo.reshape %x : (tensor<2x5x8xf32>) -> tensor<10x8xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [1] : (tensor<10x8xf32>, tensor<6x8xf32>) -> tensor<10x6xf32>
  %2 = stablehlo.reshape %1 : (tensor<10x6xf32>) -> tensor<2x5x6xf32>
  return %2, %1 : tensor<2x5x6xf32>, tensor<10x6xf32>
}
