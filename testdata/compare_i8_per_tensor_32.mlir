module {
  func.func @main() -> (tensor<32xi1>, tensor<32x!quant.uniform<i8:f32, 1.000000e-01:3>>) {
    %cst = stablehlo.constant() <{value = dense<[79, -16, -101, 97, 118, 1, 120, 43, -38, 87, 26, -89, -125, 79, -117, 24, 6, -36, -115, -26, 84, 50, -95, -21, 31, -92, 13, 122, 101, -6, 74, 85]> : tensor<32xi8>}> : () -> tensor<32x!quant.uniform<i8:f32, 1.000000e-01:3>>
    %cst_0 = stablehlo.constant() <{value = dense<[79, 54, -120, 102, -7, 14, 58, 79, -28, 113, -35, 24, -83, -69, 10, 80, 93, 107, 105, 43, 120, 46, 123, -109, -71, 36, -21, -15, 94, -13, -60, -49]> : tensor<32xi8>}> : () -> tensor<32x!quant.uniform<i8:f32, 2.000000e-01:-40>>
    %cst_1 = stablehlo.constant() <{value = dense<[93, -5, 63, -112, 78, -62, 61, 114, 105, -54, 13, -54, 28, 122, -115, -76, -87, 109, -75, -3, 127, -39, -36, 96, 84, -121, 12, -37, -23, 65, -19, 112]> : tensor<32xi8>}> : () -> tensor<32x!quant.uniform<i8:f32, 1.000000e-01:3>>
    %0 = stablehlo.compare LT, %cst, %cst_0 : (tensor<32x!quant.uniform<i8:f32, 1.000000e-01:3>>, tensor<32x!quant.uniform<i8:f32, 2.000000e-01:-40>>) -> tensor<32xi1>
    %1 = stablehlo.select %0, %cst, %cst_1 : tensor<32xi1>, tensor<32x!quant.uniform<i8:f32, 1.000000e-01:3>>
    %c = stablehlo.constant dense<[true, true, false, true, false, true, true, true, true, true, false, true, true, false, true, true, true, true, true, true, true, true, true, false, false, true, true, false, true, true, false, false]> : tensor<32xi1>
    %2 = stablehlo.custom_call @check.eq(%c, %0) : (tensor<32xi1>, tensor<32xi1>) -> tensor<i1>
    %3 = stablehlo.bitcast_convert %1 : (tensor<32x!quant.uniform<i8:f32, 1.000000e-01:3>>) -> tensor<32xi8>
    %c_2 = stablehlo.constant dense<[79, -16, 63, 97, 78, 1, 120, 43, -38, 87, 13, -89, -125, 122, -117, 24, 6, -36, -115, -26, 84, 50, -95, 96, 84, -92, 13, -37, 101, -6, -19, 112]> : tensor<32xi8>
    %4 = stablehlo.custom_call @check.eq(%c_2, %3) : (tensor<32xi8>, tensor<32xi8>) -> tensor<i1>
    return %0, %1 : tensor<32xi1>, tensor<32x!quant.uniform<i8:f32, 1.000000e-01:3>>
  }
}
