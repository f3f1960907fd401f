// A batch matrix product with an 8-bit result: rounds to nearest and saturates.
!x = !quant.uniform<i8:f32, 0.05:-11>
!y = !quant.uniform<i8:f32, 0.02>
!out = !quant.uniform<i8:f32, 0.09:4>
func.func @main(%x: tensor<2x3x8x!x>, %y: tensor<2x8x4x!y>) -> tensor<2x3x4x!out> {
  %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [0], contracting_dims = [2] x [1]
    : (tensor<2x3x8x!x>, tensor<2x8x4x!y>) -> tensor<2x3x4x!out>
  return %0 : tensor<2x3x4x!out>
}
