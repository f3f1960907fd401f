// A depthwise convolution with an 8-bit result.
!x = !quant.uniform<i8:f32, 0.05:-11>
!w = !quant.uniform<i8<-127:127>:f32:0, {0.01, 0.02, 0.015, 0.007}>
!out = !quant.uniform<i8:f32, 0.09:4>
func.func @main(%x: tensor<1x4x5x5x!x>, %w: tensor<4x1x3x3x!w>) -> tensor<1x4x5x5x!out> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 4 : i64}
    : (tensor<1x4x5x5x!x>, tensor<4x1x3x3x!w>) -> tensor<1x4x5x5x!out>
  return %0 : tensor<1x4x5x5x!out>
}
