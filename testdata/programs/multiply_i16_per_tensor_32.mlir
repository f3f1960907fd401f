// Multiply in 16-bit storage.
!a = !quant.uniform<i16:f32, 0.0003:5>
!b = !quant.uniform<i16:f32, 0.0007:-9>
!c = !quant.uniform<i16:f32, 0.011:100>
func.func @main(%a: tensor<32x!a>, %b: tensor<32x!b>) -> tensor<32x!c> {
  %0 = stablehlo.multiply %a, %b : (tensor<32x!a>, tensor<32x!b>) -> tensor<32x!c>
  return %0 : tensor<32x!c>
}
