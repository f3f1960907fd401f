module {
  func.func @main() -> tensor<4x10x!quant.uniform<i8:f32, 5.000000e-02:-11>> {
    %cst = stablehlo.constant() <{value = dense<[[1, -119, 113, 21, -106, -107], [-98, -40, 26, 86, 29, -39]]> : tensor<2x6xi8>}> : () -> tensor<2x6x!quant.uniform<i8:f32, 5.000000e-02:-11>>
    %cst_0 = stablehlo.constant() <{value = dense<-34> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 5.000000e-02:-11>>
    %0 = stablehlo.transpose %cst, dims = [1, 0] : (tensor<2x6x!quant.uniform<i8:f32, 5.000000e-02:-11>>) -> tensor<6x2x!quant.uniform<i8:f32, 5.000000e-02:-11>>
    %1 = stablehlo.reshape %0 : (tensor<6x2x!quant.uniform<i8:f32, 5.000000e-02:-11>>) -> tensor<4x3x!quant.uniform<i8:f32, 5.000000e-02:-11>>
    %2 = stablehlo.pad %1, %cst_0, low = [0, 1], high = [0, 1], interior = [0, 1] : (tensor<4x3x!quant.uniform<i8:f32, 5.000000e-02:-11>>, tensor<!quant.uniform<i8:f32, 5.000000e-02:-11>>) -> tensor<4x7x!quant.uniform<i8:f32, 5.000000e-02:-11>>
    %3 = stablehlo.slice %1 [0:4, 0:3] : (tensor<4x3x!quant.uniform<i8:f32, 5.000000e-02:-11>>) -> tensor<4x3x!quant.uniform<i8:f32, 5.000000e-02:-11>>
    %4 = stablehlo.reverse %3, dims = [0] : tensor<4x3x!quant.uniform<i8:f32, 5.000000e-02:-11>>
    %5 = stablehlo.concatenate %2, %4, dim = 1 : (tensor<4x7x!quant.uniform<i8:f32, 5.000000e-02:-11>>, tensor<4x3x!quant.uniform<i8:f32, 5.000000e-02:-11>>) -> tensor<4x10x!quant.uniform<i8:f32, 5.000000e-02:-11>>
    %6 = stablehlo.bitcast_convert %5 : (tensor<4x10x!quant.uniform<i8:f32, 5.000000e-02:-11>>) -> tensor<4x10xi8>
    %c = stablehlo.constant dense<[[-34, 1, -34, -98, -34, -119, -34, 29, -107, -39], [-34, -40, -34, 113, -34, 26, -34, 21, 86, -106], [-34, 21, -34, 86, -34, -106, -34, -40, 113, 26], [-34, 29, -34, -107, -34, -39, -34, 1, -98, -119]]> : tensor<4x10xi8>
    %7 = stablehlo.custom_call @check.eq(%c, %6) : (tensor<4x10xi8>, tensor<4x10xi8>) -> tensor<i1>
    return %5 : tensor<4x10x!quant.uniform<i8:f32, 5.000000e-02:-11>>
  }
}
