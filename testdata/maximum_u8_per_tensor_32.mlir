module {
  func.func @main() -> (tensor<32x!quant.uniform<u8:f32, 1.000000e-01:20>>, tensor<32x!quant.uniform<u8:f32, 1.000000e-01:3>>) {
    %cst = stablehlo.constant() <{value = dense<[-50, 115, 119, 94, -101, -62, 89, 93, 6, 39, 76, 59, 94, -127, -125, 59, -46, -104, -109, -80, 49, 8, 104, -77, -7, -124, -111, 20, 114, -96, -83, 16]> : tensor<32xi8>}> : () -> tensor<32x!quant.uniform<u8:f32, 1.000000e-01:3>>
    %cst_0 = stablehlo.constant() <{value = dense<[-63, -95, 100, 92, 57, 108, 123, 119, 30, -35, -19, 0, 116, -56, 5, -34, -67, -72, -43, -127, -79, -32, 22, 16, -39, -5, 105, 122, 18, 102, 39, -116]> : tensor<32xi8>}> : () -> tensor<32x!quant.uniform<u8:f32, 5.000000e-02:200>>
    %0 = stablehlo.maximum %cst, %cst_0 : (tensor<32x!quant.uniform<u8:f32, 1.000000e-01:3>>, tensor<32x!quant.uniform<u8:f32, 5.000000e-02:200>>) -> tensor<32x!quant.uniform<u8:f32, 1.000000e-01:20>>
    %1 = stablehlo.maximum %cst, %cst : tensor<32x!quant.uniform<u8:f32, 1.000000e-01:3>>
    %2 = stablehlo.bitcast_convert %0 : (tensor<32x!quant.uniform<u8:f32, 1.000000e-01:20>>) -> tensor<32xui8>
    %c = stablehlo.constant dense<[223, 132, 136, 111, 172, 211, 106, 110, 23, 56, 93, 76, 111, 146, 148, 76, 227, 169, 164, 193, 66, 32, 121, 196, 255, 149, 162, 37, 131, 177, 190, 33]> : tensor<32xui8>
    %3 = stablehlo.custom_call @check.eq(%c, %2) : (tensor<32xui8>, tensor<32xui8>) -> tensor<i1>
    %4 = stablehlo.bitcast_convert %1 : (tensor<32x!quant.uniform<u8:f32, 1.000000e-01:3>>) -> tensor<32xui8>
    %c_1 = stablehlo.constant dense<[206, 115, 119, 94, 155, 194, 89, 93, 6, 39, 76, 59, 94, 129, 131, 59, 210, 152, 147, 176, 49, 8, 104, 179, 249, 132, 145, 20, 114, 160, 173, 16]> : tensor<32xui8>
    %5 = stablehlo.custom_call @check.eq(%c_1, %4) : (tensor<32xui8>, tensor<32xui8>) -> tensor<i1>
    return %0, %1 : tensor<32x!quant.uniform<u8:f32, 1.000000e-01:20>>, tensor<32x!quant.uniform<u8:f32, 1.000000e-01:3>>
  }
}
