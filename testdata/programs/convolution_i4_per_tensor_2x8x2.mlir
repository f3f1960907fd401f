// A 1-D convolution of 4-bit integers.
!x = !quant.uniform<i4:f32, 0.5:-1>
!w = !quant.uniform<i4<-7:7>:f32, 0.25>
!out = !quant.uniform<i8:f32, 0.3:5>
func.func @main(%x: tensor<2x8x2x!x>, %w: tensor<3x2x3x!w>) -> tensor<2x8x3x!out> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<2x8x2x!x>, tensor<3x2x3x!w>) -> tensor<2x8x3x!out>
  return %0 : tensor<2x8x3x!out>
}
