// Compare values, not stored integers; select by the result.
!a = !quant.uniform<i8:f32, 0.1:3>
!b = !quant.uniform<i8:f32, 0.2:-40>
func.func @main(%a: tensor<32x!a>, %b: tensor<32x!b>, %c: tensor<32x!a>) -> (tensor<32xi1>, tensor<32x!a>) {
  %0 = stablehlo.compare LT, %a, %b : (tensor<32x!a>, tensor<32x!b>) -> tensor<32xi1>
  %1 = stablehlo.select %0, %a, %c : tensor<32xi1>, tensor<32x!a>
  return %0, %1 : tensor<32xi1>, tensor<32x!a>
}
