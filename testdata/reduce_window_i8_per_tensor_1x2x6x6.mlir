module {
  func.func @main() -> tensor<1x2x3x3x!quant.uniform<i8:f32, 5.000000e-02:-11>> {
    %cst = stablehlo.constant() <{value = dense<[[[[31, 13, 89, -49, 15, 122], [96, -128, 76, -65, 20, -101], [9, 79, 51, -117, -52, -106], [-110, -6, 59, -94, -48, 117], [-64, 6, 107, 47, 2, -108], [-26, -72, 10, -100, -112, -124]], [[71, 28, 64, -100, 124, 74], [-68, 57, 89, -99, -54, -105], [-89, -20, 2, 120, 9, -56], [-21, -80, 79, 31, 7, -24], [13, -122, 100, -39, -107, 72], [61, 100, 84, -75, -46, -115]]]]> : tensor<1x2x6x6xi8>}> : () -> tensor<1x2x6x6x!quant.uniform<i8:f32, 5.000000e-02:-11>>
    %cst_0 = stablehlo.constant() <{value = dense<-128> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 5.000000e-02:-11>>
    %0 = "stablehlo.reduce_window"(%cst, %cst_0) <{padding = dense<[[0, 0], [0, 0], [0, 1], [0, 1]]> : tensor<4x2xi64>, window_dimensions = array<i64: 1, 1, 3, 3>, window_strides = array<i64: 1, 1, 2, 2>}> ({
    ^bb0(%arg0: tensor<!quant.uniform<i8:f32, 5.000000e-02:-11>>, %arg1: tensor<!quant.uniform<i8:f32, 5.000000e-02:-11>>):
      %3 = stablehlo.maximum %arg0, %arg1 : tensor<!quant.uniform<i8:f32, 5.000000e-02:-11>>
      stablehlo.return %3 : tensor<!quant.uniform<i8:f32, 5.000000e-02:-11>>
    }) : (tensor<1x2x6x6x!quant.uniform<i8:f32, 5.000000e-02:-11>>, tensor<!quant.uniform<i8:f32, 5.000000e-02:-11>>) -> tensor<1x2x3x3x!quant.uniform<i8:f32, 5.000000e-02:-11>>
    %1 = stablehlo.bitcast_convert %0 : (tensor<1x2x3x3x!quant.uniform<i8:f32, 5.000000e-02:-11>>) -> tensor<1x2x3x3xi8>
    %c = stablehlo.constant dense<[[[[96, 89, 122], [107, 107, 117], [107, 107, 2]], [[89, 124, 124], [100, 120, 72], [100, 100, 72]]]]> : tensor<1x2x3x3xi8>
    %2 = stablehlo.custom_call @check.eq(%c, %1) : (tensor<1x2x3x3xi8>, tensor<1x2x3x3xi8>) -> tensor<i1>
    return %0 : tensor<1x2x3x3x!quant.uniform<i8:f32, 5.000000e-02:-11>>
  }
}
