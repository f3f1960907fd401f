module {
  func.func @main() -> tensor<3x8x!quant.uniform<i8<-127:127>:f32:0, {3.500000e-01:3,1.250000e-01:-16,4.000000e-02}>> {
    %cst = stablehlo.constant() <{value = dense<[[1, 95, 127, 122, -72, -2, 52, 36], [-64, -56, 114, -3, 59, -48, -32, -19], [58, -12, -112, 29, -54, -48, -59, -37]]> : tensor<3x8xi8>}> : () -> tensor<3x8x!quant.uniform<i8:f32:0, {1.100000e-01:-8,5.200000e-01:4,3.000000e-02}>>
    %0 = stablehlo.uniform_quantize %cst : (tensor<3x8x!quant.uniform<i8:f32:0, {1.100000e-01:-8,5.200000e-01:4,3.000000e-02}>>) -> tensor<3x8x!quant.uniform<i8<-127:127>:f32:0, {3.500000e-01:3,1.250000e-01:-16,4.000000e-02}>>
    %1 = stablehlo.bitcast_convert %0 : (tensor<3x8x!quant.uniform<i8<-127:127>:f32:0, {3.500000e-01:3,1.250000e-01:-16,4.000000e-02}>>) -> tensor<3x8xi8>
    %c = stablehlo.constant dense<[[6, 35, 45, 44, -17, 5, 22, 17], [-127, -127, 127, -45, 127, -127, -127, -112], [44, -9, -84, 22, -40, -36, -44, -28]]> : tensor<3x8xi8>
    %2 = stablehlo.custom_call @check.eq(%c, %1) : (tensor<3x8xi8>, tensor<3x8xi8>) -> tensor<i1>
    return %0 : tensor<3x8x!quant.uniform<i8<-127:127>:f32:0, {3.500000e-01:3,1.250000e-01:-16,4.000000e-02}>>
  }
}
