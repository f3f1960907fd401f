// Max pooling: stays on stored integers.
!q = !quant.uniform<i8:f32, 0.05:-11>
func.func @main(%x: tensor<1x2x6x6x!q>) -> tensor<1x2x3x3x!q> {
  %low = stablehlo.constant() <{value = dense<-128> : tensor<i8>}> : () -> tensor<!q>
  %0 = "stablehlo.reduce_window"(%x, %low) <{
    window_dimensions = array<i64: 1, 1, 3, 3>, window_strides = array<i64: 1, 1, 2, 2>,
    padding = dense<[[0, 0], [0, 0], [0, 1], [0, 1]]> : tensor<4x2xi64>
  }> ({
    ^bb0(%a: tensor<!q>, %b: tensor<!q>):
      %1 = stablehlo.maximum %a, %b : tensor<!q>
      stablehlo.return %1 : tensor<!q>
  }) : (tensor<1x2x6x6x!q>, tensor<!q>) -> tensor<1x2x3x3x!q>
  return %0 : tensor<1x2x3x3x!q>
}
