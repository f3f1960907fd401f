module {
  func.func @main() -> (tensor<3x4x!quant.uniform<i32:f32, 5.000000e-02:-11>>, tensor<3x4x!quant.uniform<i8:f32, 2.000000e-01:2>>) {
    %cst = stablehlo.constant() <{value = dense<[[[15, -93, 2, 32], [76, 18, -105, 77], [85, -41, -102, 18], [-86, 106, -127, -31], [-76, -74, 102, 117]], [[69, -123, 54, -37], [-5, 38, -44, -41], [32, 117, -60, -34], [-48, 70, -11, -49], [-4, 1, 35, -72]], [[-56, 77, 122, -86], [115, -23, 96, 50], [102, -93, 66, -49], [3, 22, -83, 113], [-107, 43, 72, 106]]]> : tensor<3x5x4xi8>}> : () -> tensor<3x5x4x!quant.uniform<i8:f32, 5.000000e-02:-11>>
    %cst_0 = stablehlo.constant() <{value = dense<-11> : tensor<i32>}> : () -> tensor<!quant.uniform<i32:f32, 5.000000e-02:-11>>
    %0 = stablehlo.reduce(%cst init: %cst_0) across dimensions = [1] : (tensor<3x5x4x!quant.uniform<i8:f32, 5.000000e-02:-11>>, tensor<!quant.uniform<i32:f32, 5.000000e-02:-11>>) -> tensor<3x4x!quant.uniform<i32:f32, 5.000000e-02:-11>>
     reducer(%arg0: tensor<!quant.uniform<i32:f32, 5.000000e-02:-11>>, %arg1: tensor<!quant.uniform<i32:f32, 5.000000e-02:-11>>)  {
      %6 = stablehlo.add %arg0, %arg1 : tensor<!quant.uniform<i32:f32, 5.000000e-02:-11>>
      stablehlo.return %6 : tensor<!quant.uniform<i32:f32, 5.000000e-02:-11>>
    }
    %1 = stablehlo.uniform_quantize %0 : (tensor<3x4x!quant.uniform<i32:f32, 5.000000e-02:-11>>) -> tensor<3x4x!quant.uniform<i8:f32, 2.000000e-01:2>>
    %2 = stablehlo.bitcast_convert %0 : (tensor<3x4x!quant.uniform<i32:f32, 5.000000e-02:-11>>) -> tensor<3x4xi32>
    %c = stablehlo.constant dense<[[58, -40, -186, 257], [88, 147, 18, -189], [101, 70, 317, 178]]> : tensor<3x4xi32>
    %3 = stablehlo.custom_call @check.eq(%c, %2) : (tensor<3x4xi32>, tensor<3x4xi32>) -> tensor<i1>
    %4 = stablehlo.bitcast_convert %1 : (tensor<3x4x!quant.uniform<i8:f32, 2.000000e-01:2>>) -> tensor<3x4xi8>
    %c_1 = stablehlo.constant dense<[[19, -5, -42, 69], [27, 42, 9, -43], [30, 22, 84, 49]]> : tensor<3x4xi8>
    %5 = stablehlo.custom_call @check.eq(%c_1, %4) : (tensor<3x4xi8>, tensor<3x4xi8>) -> tensor<i1>
    return %0, %1 : tensor<3x4x!quant.uniform<i32:f32, 5.000000e-02:-11>>, tensor<3x4x!quant.uniform<i8:f32, 2.000000e-01:2>>
  }
}
