// The Q/DQ form of convolution, bias and relu, as an importer makes it: fused on the third way.
!x = !quant.uniform<i8:f32, 0.0625:-11>
!w = !quant.uniform<i8<-127:127>:f32:0, {0.0078125, 0.015625, 0.03125}>
!out = !quant.uniform<i8:f32, 0.3:-128>
func.func @main(%x: tensor<1x2x5x5xf32>, %w: tensor<3x2x3x3x!w>) -> tensor<1x3x5x5x!out> {
  %bias = stablehlo.constant dense<[[[[0.25]], [[-1.5]], [[0.0]]]]> : tensor<1x3x1x1xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<1x3x5x5xf32>
  %0 = stablehlo.uniform_quantize %x : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5x!x>
  %1 = stablehlo.uniform_dequantize %0 : (tensor<1x2x5x5x!x>) -> tensor<1x2x5x5xf32>
  %2 = stablehlo.uniform_dequantize %w : (tensor<3x2x3x3x!w>) -> tensor<3x2x3x3xf32>
  %3 = stablehlo.convolution(%1, %2) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1],
    window = {pad = [[1, 1], [1, 1]]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x5x5xf32>
  %4 = stablehlo.broadcast_in_dim %bias, dims = [0, 1, 2, 3] : (tensor<1x3x1x1xf32>) -> tensor<1x3x5x5xf32>
  %5 = stablehlo.add %3, %4 : tensor<1x3x5x5xf32>
  %6 = stablehlo.maximum %5, %zero : tensor<1x3x5x5xf32>
  %7 = stablehlo.uniform_quantize %6 : (tensor<1x3x5x5xf32>) -> tensor<1x3x5x5x!out>
  return %7 : tensor<1x3x5x5x!out>
}
