// Maximum of two parameter sets, unsigned storage: the order of stored integers is not the order of values.
!a = !quant.uniform<u8:f32, 0.1:3>
!b = !quant.uniform<u8:f32, 0.05:200>
!c = !quant.uniform<u8:f32, 0.1:20>
func.func @main(%a: tensor<32x!a>, %b: tensor<32x!b>) -> (tensor<32x!c>, tensor<32x!a>) {
  %0 = stablehlo.maximum %a, %b : (tensor<32x!a>, tensor<32x!b>) -> tensor<32x!c>
  %1 = stablehlo.maximum %a, %a : tensor<32x!a>
  return %0, %1 : tensor<32x!c>, tensor<32x!a>
}
