// A 2-D convolution as PyTorch has it (NCHW, OIHW), padded with a zero point other than 0, bias and requantize.
!x = !quant.uniform<i8:f32, 0.05:-11>
!w = !quant.uniform<i8<-127:127>:f32:0, {0.01, 0.02, 0.015, 0.007}>
!sum = !quant.uniform<i32:f32:1, {5.0e-4, 1.0e-3, 7.5e-4, 3.5e-4}>
!bias = !quant.uniform<i32:f32:0, {5.0e-4, 1.0e-3, 7.5e-4, 3.5e-4}>
!out = !quant.uniform<i8:f32, 0.09:4>
func.func @main(%x: tensor<1x3x6x6x!x>, %w: tensor<4x3x3x3x!w>, %b: tensor<4x!bias>) -> tensor<1x4x3x3x!out> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {stride = [2, 2], pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x3x6x6x!x>, tensor<4x3x3x3x!w>) -> tensor<1x4x3x3x!sum>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4x!bias>) -> tensor<1x4x3x3x!sum>
  %2 = stablehlo.add %0, %1 : tensor<1x4x3x3x!sum>
  %3 = stablehlo.uniform_quantize %2 : (tensor<1x4x3x3x!sum>) -> tensor<1x4x3x3x!out>
  return %3 : tensor<1x4x3x3x!out>
}
