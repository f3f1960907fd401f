// A unary function: one dequantize, one quantize.
!q = !quant.uniform<i8:f32, 0.06:10>
!r = !quant.uniform<i8:f32, 0.00390625:-128>
func.func @main(%x: tensor<64x!q>) -> tensor<64x!r> {
  %0 = stablehlo.logistic %x : (tensor<64x!q>) -> tensor<64x!r>
  return %0 : tensor<64x!r>
}
