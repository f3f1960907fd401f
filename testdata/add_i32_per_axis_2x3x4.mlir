module {
  func.func @main() -> tensor<2x3x4x!quant.uniform<i32:f32:1, {2.100000e-03,1.300000e-02,7.000000e-04}>> {
    %cst = stablehlo.constant() <{value = dense<[[[-292, -781, -607, 223], [347, -239, 846, -918], [-88, -171, 409, 693]], [[286, -245, -41, 108], [6, -634, -280, -548], [27, -874, 60, 768]]]> : tensor<2x3x4xi32>}> : () -> tensor<2x3x4x!quant.uniform<i32:f32:1, {2.100000e-03,1.300000e-02,7.000000e-04}>>
    %cst_0 = stablehlo.constant() <{value = dense<[307, -12, 600]> : tensor<3xi32>}> : () -> tensor<3x!quant.uniform<i32:f32:0, {2.100000e-03,1.300000e-02,7.000000e-04}>>
    %0 = stablehlo.broadcast_in_dim %cst_0, dims = [1] : (tensor<3x!quant.uniform<i32:f32:0, {2.100000e-03,1.300000e-02,7.000000e-04}>>) -> tensor<2x3x4x!quant.uniform<i32:f32:1, {2.100000e-03,1.300000e-02,7.000000e-04}>>
    %1 = stablehlo.add %cst, %0 : tensor<2x3x4x!quant.uniform<i32:f32:1, {2.100000e-03,1.300000e-02,7.000000e-04}>>
    %2 = stablehlo.bitcast_convert %1 : (tensor<2x3x4x!quant.uniform<i32:f32:1, {2.100000e-03,1.300000e-02,7.000000e-04}>>) -> tensor<2x3x4xi32>
    %c = stablehlo.constant dense<[[[15, -474, -300, 530], [335, -251, 834, -930], [512, 429, 1009, 1293]], [[593, 62, 266, 415], [-6, -646, -292, -560], [627, -274, 660, 1368]]]> : tensor<2x3x4xi32>
    %3 = stablehlo.custom_call @check.eq(%c, %2) : (tensor<2x3x4xi32>, tensor<2x3x4xi32>) -> tensor<i1>
    return %1 : tensor<2x3x4x!quant.uniform<i32:f32:1, {2.100000e-03,1.300000e-02,7.000000e-04}>>
  }
}
