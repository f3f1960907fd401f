// What follows a convolution: 32-bit sums, per-axis, to 8 bits.
!sum = !quant.uniform<i32:f32:1, {0.0021, 0.013, 0.0007, 0.1}>
!out = !quant.uniform<i8:f32, 0.043:-7>
func.func @main(%x: tensor<2x4x5x!sum>) -> tensor<2x4x5x!out> {
  %0 = stablehlo.uniform_quantize %x : (tensor<2x4x5x!sum>) -> tensor<2x4x5x!out>
  return %0 : tensor<2x4x5x!out>
}
