module {
  func.func @main() -> tensor<32x!quant.uniform<u8:f32, 3.500000e-01:140>> {
    %cst = stablehlo.constant() <{value = dense<[-88, -68, 59, -113, -64, -105, 31, -78, 107, 78, -52, 29, -9, 85, 45, 44, -127, 7, 109, -102, 80, 26, -7, -37, 22, 81, -8, 0, -124, 125, -35, 75]> : tensor<32xi8>}> : () -> tensor<32x!quant.uniform<u8:f32, 1.100000e-01:100>>
    %cst_0 = stablehlo.constant() <{value = dense<[-29, 31, -85, 3, 117, 63, 102, -70, 70, -98, -113, -124, -8, -67, -68, 77, 67, 65, 54, -40, -98, 62, 10, -40, -104, -37, 25, 56, 70, -103, 40, -28]> : tensor<32xi8>}> : () -> tensor<32x!quant.uniform<u8:f32, 3.000000e-01:128>>
    %0 = stablehlo.subtract %cst, %cst_0 : (tensor<32x!quant.uniform<u8:f32, 1.100000e-01:100>>, tensor<32x!quant.uniform<u8:f32, 3.000000e-01:128>>) -> tensor<32x!quant.uniform<u8:f32, 3.500000e-01:140>>
    %1 = stablehlo.bitcast_convert %0 : (tensor<32x!quant.uniform<u8:f32, 3.500000e-01:140>>) -> tensor<32xui8>
    %c = stablehlo.constant dense<[77, 251, 90, 255, 178, 212, 141, 115, 192, 107, 160, 114, 83, 83, 71, 166, 201, 165, 206, 82, 108, 173, 255, 102, 95, 56, 255, 170, 200, 126, 253, 46]> : tensor<32xui8>
    %2 = stablehlo.custom_call @check.eq(%c, %1) : (tensor<32xui8>, tensor<32xui8>) -> tensor<i1>
    return %0 : tensor<32x!quant.uniform<u8:f32, 3.500000e-01:140>>
  }
}
