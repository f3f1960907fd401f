module {
  func.func @main() -> (tensor<2x4x3x!quant.uniform<i8:f32:2, {5.000000e-02:-11,1.000000e-01,2.000000e-01:7}>>, tensor<2x4x3xf32>) {
    %cst = stablehlo.constant() <{value = dense<[[-29, 33, -95, -115], [44, -115, 48, 12], [59, -73, -14, 69]]> : tensor<3x4xi8>}> : () -> tensor<3x4x!quant.uniform<i8:f32:0, {5.000000e-02:-11,1.000000e-01,2.000000e-01:7}>>
    %0 = stablehlo.transpose %cst, dims = [1, 0] : (tensor<3x4x!quant.uniform<i8:f32:0, {5.000000e-02:-11,1.000000e-01,2.000000e-01:7}>>) -> tensor<4x3x!quant.uniform<i8:f32:1, {5.000000e-02:-11,1.000000e-01,2.000000e-01:7}>>
    %1 = stablehlo.broadcast_in_dim %0, dims = [1, 2] : (tensor<4x3x!quant.uniform<i8:f32:1, {5.000000e-02:-11,1.000000e-01,2.000000e-01:7}>>) -> tensor<2x4x3x!quant.uniform<i8:f32:2, {5.000000e-02:-11,1.000000e-01,2.000000e-01:7}>>
    %2 = stablehlo.uniform_dequantize %1 : (tensor<2x4x3x!quant.uniform<i8:f32:2, {5.000000e-02:-11,1.000000e-01,2.000000e-01:7}>>) -> tensor<2x4x3xf32>
    %3 = stablehlo.bitcast_convert %1 : (tensor<2x4x3x!quant.uniform<i8:f32:2, {5.000000e-02:-11,1.000000e-01,2.000000e-01:7}>>) -> tensor<2x4x3xi8>
    %c = stablehlo.constant dense<[[[-29, 44, 59], [33, -115, -73], [-95, 48, -14], [-115, 12, 69]], [[-29, 44, 59], [33, -115, -73], [-95, 48, -14], [-115, 12, 69]]]> : tensor<2x4x3xi8>
    %4 = stablehlo.custom_call @check.eq(%c, %3) : (tensor<2x4x3xi8>, tensor<2x4x3xi8>) -> tensor<i1>
    %cst_0 = stablehlo.constant dense<[[[-0.900000035, 4.400000e+00, 10.4000006], [2.200000e+00, -1.150000e+01, -1.600000e+01], [-4.20000029, 4.800000e+00, -4.20000029], [-5.20000029, 1.200000e+00, 12.4000006]], [[-0.900000035, 4.400000e+00, 10.4000006], [2.200000e+00, -1.150000e+01, -1.600000e+01], [-4.20000029, 4.800000e+00, -4.20000029], [-5.20000029, 1.200000e+00, 12.4000006]]]> : tensor<2x4x3xf32>
    %5 = stablehlo.custom_call @check.eq(%cst_0, %2) : (tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<i1>
    return %1, %2 : tensor<2x4x3x!quant.uniform<i8:f32:2, {5.000000e-02:-11,1.000000e-01,2.000000e-01:7}>>, tensor<2x4x3xf32>
  }
}
