module {
  func.func @main() -> tensor<8x3x!quant.uniform<i8:f32:1, {3.500000e-01:3,1.250000e-01:-16,4.000000e-02}>> {
    %cst = stablehlo.constant() <{value = dense<[[82, -67, -23], [16, -99, 3], [16, -105, 37], [-44, 105, 99], [4, 74, 17], [-50, -117, 9], [83, 109, -88], [-11, -68, -28]]> : tensor<8x3xi8>}> : () -> tensor<8x3x!quant.uniform<i8:f32:1, {1.100000e-01:-8,5.200000e-01:4,3.000000e-02}>>
    %0 = stablehlo.uniform_quantize %cst : (tensor<8x3x!quant.uniform<i8:f32:1, {1.100000e-01:-8,5.200000e-01:4,3.000000e-02}>>) -> tensor<8x3x!quant.uniform<i8:f32:1, {3.500000e-01:3,1.250000e-01:-16,4.000000e-02}>>
    %1 = stablehlo.bitcast_convert %0 : (tensor<8x3x!quant.uniform<i8:f32:1, {3.500000e-01:3,1.250000e-01:-16,4.000000e-02}>>) -> tensor<8x3xi8>
    %c = stablehlo.constant dense<[[31, -128, -17], [11, -128, 2], [11, -128, 28], [-8, 127, 74], [7, 127, 13], [-10, -128, 7], [32, 127, -66], [2, -128, -21]]> : tensor<8x3xi8>
    %2 = stablehlo.custom_call @check.eq(%c, %1) : (tensor<8x3xi8>, tensor<8x3xi8>) -> tensor<i1>
    return %0 : tensor<8x3x!quant.uniform<i8:f32:1, {3.500000e-01:3,1.250000e-01:-16,4.000000e-02}>>
  }
}
