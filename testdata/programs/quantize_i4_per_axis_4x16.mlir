// Quantize to 4 bits, per-axis on the first dimension, zero points that differ.
!q = !quant.uniform<i4:f32:0, {0.5:-1, 0.25, 0.125:3, 1.0:-8}>
func.func @main(%x: tensor<4x16xf32>) -> (tensor<4x16x!q>, tensor<4x16xf32>) {
  %0 = stablehlo.uniform_quantize %x : (tensor<4x16xf32>) -> tensor<4x16x!q>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<4x16x!q>) -> tensor<4x16xf32>
  return %0, %1 : tensor<4x16x!q>, tensor<4x16xf32>
}
