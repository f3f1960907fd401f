module {
  func.func @main() -> tensor<2x4x5x!quant.uniform<i8:f32, 4.300000e-02:-7>> {
    %cst = stablehlo.constant() <{value = dense<[[[-82, -59, -936, 478, 188], [714, -934, -865, -974, 580], [335, -76, 611, 718, -235], [-748, 815, 826, 877, 66]], [[98, -508, 341, -2, -234], [907, 924, 271, -429, 74], [167, -843, -433, -504, -582], [294, 489, -993, 674, -136]]]> : tensor<2x4x5xi32>}> : () -> tensor<2x4x5x!quant.uniform<i32:f32:1, {2.100000e-03,1.300000e-02,7.000000e-04,1.000000e-01}>>
    %0 = stablehlo.uniform_quantize %cst : (tensor<2x4x5x!quant.uniform<i32:f32:1, {2.100000e-03,1.300000e-02,7.000000e-04,1.000000e-01}>>) -> tensor<2x4x5x!quant.uniform<i8:f32, 4.300000e-02:-7>>
    %1 = stablehlo.bitcast_convert %0 : (tensor<2x4x5x!quant.uniform<i8:f32, 4.300000e-02:-7>>) -> tensor<2x4x5xi8>
    %c = stablehlo.constant dense<[[[-11, -10, -53, 16, 2], [127, -128, -128, -128, 127], [-2, -8, 3, 5, -11], [-128, 127, 127, 127, 127]], [[-2, -32, 10, -7, -18], [127, 127, 75, -128, 15], [-4, -21, -14, -15, -16], [127, 127, -128, 127, -128]]]> : tensor<2x4x5xi8>
    %2 = stablehlo.custom_call @check.eq(%c, %1) : (tensor<2x4x5xi8>, tensor<2x4x5xi8>) -> tensor<i1>
    return %0 : tensor<2x4x5x!quant.uniform<i8:f32, 4.300000e-02:-7>>
  }
}
