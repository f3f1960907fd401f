// A dilated convolution of unsigned integers with zero points on both sides; u8 is signed to upstream's lowering.
!x = !quant.uniform<u8:f32, 0.05:117>
!w = !quant.uniform<u8:f32, 0.02:131>
!out = !quant.uniform<u8:f32, 0.3:128>
func.func @main(%x: tensor<1x2x7x7x!x>, %w: tensor<3x2x3x3x!w>) -> tensor<1x3x5x5x!out> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {pad = [[1, 1], [1, 1]], rhs_dilate = [2, 2]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x2x7x7x!x>, tensor<3x2x3x3x!w>) -> tensor<1x3x5x5x!out>
  return %0 : tensor<1x3x5x5x!out>
}
