module {
  func.func @main() -> tensor<2x8x3x!quant.uniform<i8:f32, 3.000000e-01:5>> {
    %cst = stablehlo.constant() <{value = dense<[[[-8, -6], [-5, 6], [6, -2], [-5, 5], [2, 0], [3, 1], [-4, -8], [3, -6]], [[-8, 7], [2, 7], [-4, 7], [1, -8], [1, -5], [4, -2], [2, -2], [-3, -5]]]> : tensor<2x8x2xi4>}> : () -> tensor<2x8x2x!quant.uniform<i4:f32, 5.000000e-01:-1>>
    %cst_0 = stablehlo.constant() <{value = dense<[[[-1, 7, 1], [-4, 3, 6]], [[-7, -5, 3], [6, 7, -6]], [[6, -4, 7], [-3, 4, 0]]]> : tensor<3x2x3xi4>}> : () -> tensor<3x2x3x!quant.uniform<i4<-7:7>:f32, 2.500000e-01>>
    %0 = stablehlo.convolution(%cst, %cst_0) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f], window = {pad = [[1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<2x8x2x!quant.uniform<i4:f32, 5.000000e-01:-1>>, tensor<3x2x3x!quant.uniform<i4<-7:7>:f32, 2.500000e-01>>) -> tensor<2x8x3x!quant.uniform<i8:f32, 3.000000e-01:5>>
    %1 = stablehlo.bitcast_convert %0 : (tensor<2x8x3x!quant.uniform<i8:f32, 3.000000e-01:5>>) -> tensor<2x8x3xi8>
    %c = stablehlo.constant dense<[[[-6, 23, -3], [64, -6, -12], [-45, 1, 20], [37, 47, -6], [-2, -6, 31], [-3, 6, 0], [8, -10, 37], [-6, -35, 4]], [[43, 51, -15], [-12, 30, -3], [33, 38, 8], [-20, -28, 50], [14, -24, 15], [2, -14, 13], [-7, 6, 5], [1, 5, 11]]]> : tensor<2x8x3xi8>
    %2 = stablehlo.custom_call @check.eq(%c, %1) : (tensor<2x8x3xi8>, tensor<2x8x3xi8>) -> tensor<i1>
    return %0 : tensor<2x8x3x!quant.uniform<i8:f32, 3.000000e-01:5>>
  }
}
