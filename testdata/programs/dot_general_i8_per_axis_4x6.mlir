// A linear layer in the form of its weights in PyTorch: [out, in], per-axis on axis 0; 32-bit sums.
!x = !quant.uniform<i8:f32, 0.05:-11>
!w = !quant.uniform<i8<-127:127>:f32:0, {0.01, 0.02, 0.015, 0.007, 0.3}>
!sum = !quant.uniform<i32:f32:1, {5.0e-4, 1.0e-3, 7.5e-4, 3.5e-4, 0.015}>
!out = !quant.uniform<i8:f32, 0.09:4>
func.func @main(%x: tensor<4x6x!x>, %w: tensor<5x6x!w>) -> (tensor<4x5x!sum>, tensor<4x5x!out>) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [1] : (tensor<4x6x!x>, tensor<5x6x!w>) -> tensor<4x5x!sum>
  %1 = stablehlo.uniform_quantize %0 : (tensor<4x5x!sum>) -> tensor<4x5x!out>
  return %0, %1 : tensor<4x5x!sum>, tensor<4x5x!out>
}
