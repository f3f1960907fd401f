module {
  func.func @main() -> tensor<2x3x4x!quant.uniform<i8:f32, 0.089999999999999996:4>> {
    %cst = stablehlo.constant() <{value = dense<[[[-83, 40, -73, 92, 63, 78, -33, -46], [88, 5, -18, 82, -40, -128, -36, 83], [20, 67, 112, 47, 123, -59, 21, 87]], [[-38, -18, -84, 39, 44, -28, 10, -96], [65, 49, 38, -124, -100, 14, -62, -126], [-16, -74, 9, 74, 18, -95, -55, 80]]]> : tensor<2x3x8xi8>}> : () -> tensor<2x3x8x!quant.uniform<i8:f32, 5.000000e-02:-11>>
    %cst_0 = stablehlo.constant() <{value = dense<[[[-56, -79, 93, 105], [-92, -37, -49, -79], [31, -16, 121, 74], [15, -63, -107, 12], [101, 108, -98, 46], [-81, -79, 42, 108], [-26, -52, 75, -27], [-1, -35, -101, 83]], [[2, 2, -14, -77], [-6, -112, -118, 113], [9, 93, 92, -37], [-6, -70, -38, -49], [39, -106, 112, 4], [-58, 46, -86, 50], [11, 60, -70, 73], [85, 94, 111, 39]]]> : tensor<2x8x4xi8>}> : () -> tensor<2x8x4x!quant.uniform<i8:f32, 2.000000e-02>>
    %0 = stablehlo.dot_general %cst, %cst_0, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<2x3x8x!quant.uniform<i8:f32, 5.000000e-02:-11>>, tensor<2x8x4x!quant.uniform<i8:f32, 2.000000e-02>>) -> tensor<2x3x4x!quant.uniform<i8:f32, 0.089999999999999996:4>>
    %1 = stablehlo.bitcast_convert %0 : (tensor<2x3x4x!quant.uniform<i8:f32, 0.089999999999999996:4>>) -> tensor<2x3x4xi8>
    %c = stablehlo.constant dense<[[[2, 22, -128, -43], [18, -108, -128, 51], [127, 29, -128, 127]], [[-50, -128, -115, -6], [-128, 33, -128, -26], [127, 25, 127, -128]]]> : tensor<2x3x4xi8>
    %2 = stablehlo.custom_call @check.eq(%c, %1) : (tensor<2x3x4xi8>, tensor<2x3x4xi8>) -> tensor<i1>
    return %0 : tensor<2x3x4x!quant.uniform<i8:f32, 0.089999999999999996:4>>
  }
}
