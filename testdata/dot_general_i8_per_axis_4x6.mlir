module {
  func.func @main() -> (tensor<4x5x!quant.uniform<i32:f32:1, {5.000000e-04,1.000000e-03,7.500000e-04,3.500000e-04,1.500000e-02}>>, tensor<4x5x!quant.uniform<i8:f32, 0.089999999999999996:4>>) {
    %cst = stablehlo.constant() <{value = dense<[[-26, 1, -111, 15, 77, -105], [95, 56, 95, 118, -60, -116], [-98, 25, 43, -62, -25, -44], [4, 61, 120, 60, -24, -120]]> : tensor<4x6xi8>}> : () -> tensor<4x6x!quant.uniform<i8:f32, 5.000000e-02:-11>>
    %cst_0 = stablehlo.constant() <{value = dense<[[97, 118, 33, 92, 108, 0], [10, -85, 26, 16, -2, 7], [109, 96, 120, 46, 41, 15], [18, -125, 124, -19, -76, -123], [89, -57, -50, 31, 118, -99]]> : tensor<5x6xi8>}> : () -> tensor<5x6x!quant.uniform<i8<-127:127>:f32:0, {1.000000e-02,2.000000e-02,1.500000e-02,7.000000e-03,3.000000e-01}>>
    %0 = stablehlo.dot_general %cst, %cst_0, contracting_dims = [1] x [1] : (tensor<4x6x!quant.uniform<i8:f32, 5.000000e-02:-11>>, tensor<5x6x!quant.uniform<i8<-127:127>:f32:0, {1.000000e-02,2.000000e-02,1.500000e-02,7.000000e-03,3.000000e-01}>>) -> tensor<4x5x!quant.uniform<i32:f32:1, {5.000000e-04,1.000000e-03,7.500000e-04,3.500000e-04,1.500000e-02}>>
    %1 = stablehlo.uniform_quantize %0 : (tensor<4x5x!quant.uniform<i32:f32:1, {5.000000e-04,1.000000e-03,7.500000e-04,3.500000e-04,1.500000e-02}>>) -> tensor<4x5x!quant.uniform<i8:f32, 0.089999999999999996:4>>
    %2 = stablehlo.bitcast_convert %0 : (tensor<4x5x!quant.uniform<i32:f32:1, {5.000000e-04,1.000000e-03,7.500000e-04,3.500000e-04,1.500000e-02}>>) -> tensor<4x5xi32>
    %c = stablehlo.constant dense<[[8557, -4188, -9089, -9790, 23477], [28262, -452, 33056, 20865, 8927], [-8613, -3545, -2962, 6722, -12461], [19402, -2165, 25365, 20560, 2139]]> : tensor<4x5xi32>
    %3 = stablehlo.custom_call @check.eq(%c, %2) : (tensor<4x5xi32>, tensor<4x5xi32>) -> tensor<i1>
    %4 = stablehlo.bitcast_convert %1 : (tensor<4x5x!quant.uniform<i8:f32, 0.089999999999999996:4>>) -> tensor<4x5xi8>
    %c_1 = stablehlo.constant dense<[[52, -43, -72, -34, 127], [127, -1, 127, 85, 127], [-44, -35, -21, 30, -128], [112, -20, 127, 84, 127]]> : tensor<4x5xi8>
    %5 = stablehlo.custom_call @check.eq(%c_1, %4) : (tensor<4x5xi8>, tensor<4x5xi8>) -> tensor<i1>
    return %0, %1 : tensor<4x5x!quant.uniform<i32:f32:1, {5.000000e-04,1.000000e-03,7.500000e-04,3.500000e-04,1.500000e-02}>>, tensor<4x5x!quant.uniform<i8:f32, 0.089999999999999996:4>>
  }
}
