// A transposed convolution (lhs dilation), channels last, per-axis on the kernel's last dimension.
!x = !quant.uniform<i8:f32, 0.05:-11>
!w = !quant.uniform<i8:f32:3, {0.01, 0.02}>
!out = !quant.uniform<i8:f32, 0.09:4>
func.func @main(%x: tensor<1x4x4x3x!x>, %w: tensor<3x3x3x2x!w>) -> tensor<1x8x8x2x!out> {
  %0 = stablehlo.convolution(%x, %w) dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f],
    window = {pad = [[1, 2], [1, 2]], lhs_dilate = [2, 2]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x4x4x3x!x>, tensor<3x3x3x2x!w>) -> tensor<1x8x8x2x!out>
  return %0 : tensor<1x8x8x2x!out>
}
