// Add of a bias to 32-bit sums of the same per-axis type.
!sum = !quant.uniform<i32:f32:1, {0.0021, 0.013, 0.0007}>
!bias = !quant.uniform<i32:f32:0, {0.0021, 0.013, 0.0007}>
func.func @main(%x: tensor<2x3x4x!sum>, %b: tensor<3x!bias>) -> tensor<2x3x4x!sum> {
  %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<3x!bias>) -> tensor<2x3x4x!sum>
  %1 = stablehlo.add %x, %0 : tensor<2x3x4x!sum>
  return %1 : tensor<2x3x4x!sum>
}
