// Transpose and broadcast carry the quantized dimension along.
!q = !quant.uniform<i8:f32:0, {0.05:-11, 0.1, 0.2:7}>
!t = !quant.uniform<i8:f32:1, {0.05:-11, 0.1, 0.2:7}>
!b = !quant.uniform<i8:f32:2, {0.05:-11, 0.1, 0.2:7}>
func.func @main(%x: tensor<3x4x!q>) -> (tensor<2x4x3x!b>, tensor<2x4x3xf32>) {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<3x4x!q>) -> tensor<4x3x!t>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1, 2] : (tensor<4x3x!t>) -> tensor<2x4x3x!b>
  %2 = stablehlo.uniform_dequantize %1 : (tensor<2x4x3x!b>) -> tensor<2x4x3xf32>
  return %1, %2 : tensor<2x4x3x!b>, tensor<2x4x3xf32>
}
