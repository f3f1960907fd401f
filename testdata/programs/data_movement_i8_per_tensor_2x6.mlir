// Transpose, reshape, slice, pad, reverse and concatenate move stored integers.
!q = !quant.uniform<i8:f32, 0.05:-11>
func.func @main(%x: tensor<2x6x!q>, %p: tensor<!q>) -> tensor<4x10x!q> {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x6x!q>) -> tensor<6x2x!q>
  %1 = stablehlo.reshape %0 : (tensor<6x2x!q>) -> tensor<4x3x!q>
  %2 = stablehlo.pad %1, %p, low = [0, 1], high = [0, 1], interior = [0, 1] : (tensor<4x3x!q>, tensor<!q>) -> tensor<4x7x!q>
  %3 = stablehlo.slice %1 [0:4, 0:3] : (tensor<4x3x!q>) -> tensor<4x3x!q>
  %4 = stablehlo.reverse %3, dims = [0] : tensor<4x3x!q>
  %5 = stablehlo.concatenate %2, %4, dim = 1 : (tensor<4x7x!q>, tensor<4x3x!q>) -> tensor<4x10x!q>
  return %5 : tensor<4x10x!q>
}
