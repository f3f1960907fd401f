// Sums in 32-bit storage, zero points and all, then a requantize: what average pooling becomes.
!q = !quant.uniform<i8:f32, 0.05:-11>
!sum = !quant.uniform<i32:f32, 0.05:-11>
!mean = !quant.uniform<i8:f32, 0.2:2>
func.func @main(%x: tensor<3x5x4x!q>) -> (tensor<3x4x!sum>, tensor<3x4x!mean>) {
  %zero = stablehlo.constant() <{value = dense<-11> : tensor<i32>}> : () -> tensor<!sum>
  %0 = stablehlo.reduce(%x init: %zero) across dimensions = [1] : (tensor<3x5x4x!q>, tensor<!sum>) -> tensor<3x4x!sum>
    reducer(%a: tensor<!sum>, %b: tensor<!sum>) {
      %2 = stablehlo.add %a, %b : tensor<!sum>
      stablehlo.return %2 : tensor<!sum>
    }
  %1 = stablehlo.uniform_quantize %0 : (tensor<3x4x!sum>) -> tensor<3x4x!mean>
  return %0, %1 : tensor<3x4x!sum>, tensor<3x4x!mean>
}
