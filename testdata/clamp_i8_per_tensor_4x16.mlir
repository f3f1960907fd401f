module {
  func.func @main() -> tensor<4x16x!quant.uniform<i8:f32, 0.023529412199999999:-128>> {
    %cst = stablehlo.constant() <{value = dense<[[107, 89, -101, -77, 60, -96, -126, -83, -35, 72, -42, 37, 91, -65, 70, -101], [-117, -84, -26, -12, -33, 84, -18, -20, 123, -103, -114, -19, 53, -54, 45, -67], [10, 26, 103, 100, -84, -107, 127, -99, 36, -62, 3, -80, 108, 89, 83, -92], [-92, 69, -49, -38, -39, 85, 73, 107, 87, -111, 47, -77, 56, 26, -44, -1]]> : tensor<4x16xi8>}> : () -> tensor<4x16x!quant.uniform<i8:f32, 8.000000e-02:-20>>
    %cst_0 = stablehlo.constant() <{value = dense<-20> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 8.000000e-02:-20>>
    %cst_1 = stablehlo.constant() <{value = dense<55> : tensor<i8>}> : () -> tensor<!quant.uniform<i8:f32, 8.000000e-02:-20>>
    %0 = stablehlo.clamp %cst_0, %cst, %cst_1 : (tensor<!quant.uniform<i8:f32, 8.000000e-02:-20>>, tensor<4x16x!quant.uniform<i8:f32, 8.000000e-02:-20>>, tensor<!quant.uniform<i8:f32, 8.000000e-02:-20>>) -> tensor<4x16x!quant.uniform<i8:f32, 0.023529412199999999:-128>>
    %1 = stablehlo.bitcast_convert %0 : (tensor<4x16x!quant.uniform<i8:f32, 0.023529412199999999:-128>>) -> tensor<4x16xi8>
    %c = stablehlo.constant dense<[[127, 127, -128, -128, 127, -128, -128, -128, -128, 127, -128, 66, 127, -128, 127, -128], [-128, -128, -128, -101, -128, 127, -121, -128, 127, -128, -128, -125, 120, -128, 93, -128], [-26, 28, 127, 127, -128, -128, 127, -128, 62, -128, -50, -128, 127, 127, 127, -128], [-128, 127, -128, -128, -128, 127, 127, 127, 127, -128, 100, -128, 127, 28, -128, -63]]> : tensor<4x16xi8>
    %2 = stablehlo.custom_call @check.eq(%c, %1) : (tensor<4x16xi8>, tensor<4x16xi8>) -> tensor<i1>
    return %0 : tensor<4x16x!quant.uniform<i8:f32, 0.023529412199999999:-128>>
  }
}
