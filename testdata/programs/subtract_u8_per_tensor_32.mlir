// Subtract, unsigned storage.
!a = !quant.uniform<u8:f32, 0.11:100>
!b = !quant.uniform<u8:f32, 0.3:128>
!c = !quant.uniform<u8:f32, 0.35:140>
func.func @main(%a: tensor<32x!a>, %b: tensor<32x!b>) -> tensor<32x!c> {
  %0 = stablehlo.subtract %a, %b : (tensor<32x!a>, tensor<32x!b>) -> tensor<32x!c>
  return %0 : tensor<32x!c>
}
