// Clamp between quantized scalars: relu6 with a requantize.
!q = !quant.uniform<i8:f32, 0.08:-20>
!r = !quant.uniform<i8:f32, 0.0235294122:-128>
func.func @main(%x: tensor<4x16x!q>) -> tensor<4x16x!r> {
  %low = stablehlo.constant() <{value = dense<-20> : tensor<i8>}> : () -> tensor<!q>
  %high = stablehlo.constant() <{value = dense<55> : tensor<i8>}> : () -> tensor<!q>
  %0 = stablehlo.clamp %low, %x, %high : (tensor<!q>, tensor<4x16x!q>, tensor<!q>) -> tensor<4x16x!r>
  return %0 : tensor<4x16x!r>
}
