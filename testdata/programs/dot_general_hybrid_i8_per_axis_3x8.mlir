// Float activations, quantized weights: dequantize, then a float product.
!w = !quant.uniform<i8:f32:1, {0.5, 0.25, 0.125, 1.0}>
func.func @main(%x: tensor<3x8x!quant.uniform<i8:f32, 0.5>>, %w: tensor<8x4x!w>) -> tensor<3x4xf32> {
  %0 = stablehlo.uniform_dequantize %x : (tensor<3x8x!quant.uniform<i8:f32, 0.5>>) -> tensor<3x8xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<3x8xf32>, tensor<8x4x!w>) -> tensor<3x4xf32>
  return %1 : tensor<3x4xf32>
}
