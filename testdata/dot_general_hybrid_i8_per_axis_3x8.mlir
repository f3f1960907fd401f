module {
  func.func @main() -> tensor<3x4xf32> {
    %cst = stablehlo.constant() <{value = dense<[[-52, 123, 121, 117, -6, -86, -27, -81], [-74, -108, -44, 3, 73, -85, 68, -73], [-79, 86, 14, 2, 57, 20, 30, -24]]> : tensor<3x8xi8>}> : () -> tensor<3x8x!quant.uniform<i8:f32, 5.000000e-01>>
    %cst_0 = stablehlo.constant() <{value = dense<[[106, -79, 7, -110], [44, 83, 59, -82], [-22, -40, -103, -38], [-18, 60, -52, 99], [-59, 124, 85, 82], [-45, -88, -121, -73], [68, 32, -125, -11], [-20, -26, 4, 83]]> : tensor<8x4xi8>}> : () -> tensor<8x4x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01,1.250000e-01,1.000000e+00}>>
    %0 = stablehlo.uniform_dequantize %cst : (tensor<3x8x!quant.uniform<i8:f32, 5.000000e-01>>) -> tensor<3x8xf32>
    %1 = stablehlo.dot_general %0, %cst_0, contracting_dims = [1] x [0] : (tensor<3x8xf32>, tensor<8x4x!quant.uniform<i8:f32:1, {5.000000e-01,2.500000e-01,1.250000e-01,1.000000e+00}>>) -> tensor<3x4xf32>
    %cst_1 = stablehlo.constant dense<[[-2.150000e+02, 3070.375, 8.081250e+01, 9.895000e+02], [-1.520000e+03, 2.428500e+03, 3.240000e+02, 1.217450e+04], [-1.669250e+03, 2478.875, 9.712500e+01, 1.098000e+03]]> : tensor<3x4xf32>
    %2 = stablehlo.custom_call @check.eq(%cst_1, %1) : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<i1>
    return %1 : tensor<3x4xf32>
  }
}
