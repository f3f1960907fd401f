// Quantize, unsigned storage: saturation at 0 and 255.
!q = !quant.uniform<u8:f32, 0.05:130>
func.func @main(%x: tensor<64xf32>) -> tensor<64x!q> {
  %0 = stablehlo.uniform_quantize %x : (tensor<64xf32>) -> tensor<64x!q>
  return %0 : tensor<64x!q>
}
