module {
  func.func @main() -> tensor<1x4x3x3x!quant.uniform<i8:f32, 0.089999999999999996:4>> {
    %cst = stablehlo.constant() <{value = dense<"0xFD416C33F5B54F3D5FB88644FB0D03B8AD852937284E356BE8CDEA640F5C13E254A3BE2475094EBF3C58DD5AF63918C8CD792B2FA46FAAA393EFC9F2D8CDD90A2C7C56DDDD8B56E0C319A130928C7F2C0FFE4CC0804D197DA6A493907550F532B9D1FE6101C4205A90F715C7"> : tensor<1x3x6x6xi8>}> : () -> tensor<1x3x6x6x!quant.uniform<i8:f32, 5.000000e-02:-11>>
    %cst_0 = stablehlo.constant() <{value = dense<"0x03AB3E361BEAE1E59944B0018A486376D8CAD2DE8AD71F1A3F1D6B98BB6557454BF601354566BD61E62673A177DEF5E19ECB780D09127627DD08216DE8DDC021E4CCE47051E2109171411A999153372B56094690BDFEBBE9DF5419079773B6D06DA0885F5D0A0C85F0AB5D44"> : tensor<4x3x3x3xi8>}> : () -> tensor<4x3x3x3x!quant.uniform<i8<-127:127>:f32:0, {1.000000e-02,2.000000e-02,1.500000e-02,7.000000e-03}>>
    %cst_1 = stablehlo.constant() <{value = dense<[201, 363, -614, 319]> : tensor<4xi32>}> : () -> tensor<4x!quant.uniform<i32:f32:0, {5.000000e-04,1.000000e-03,7.500000e-04,3.500000e-04}>>
    %0 = stablehlo.convolution(%cst, %cst_0) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {stride = [2, 2], pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x3x6x6x!quant.uniform<i8:f32, 5.000000e-02:-11>>, tensor<4x3x3x3x!quant.uniform<i8<-127:127>:f32:0, {1.000000e-02,2.000000e-02,1.500000e-02,7.000000e-03}>>) -> tensor<1x4x3x3x!quant.uniform<i32:f32:1, {5.000000e-04,1.000000e-03,7.500000e-04,3.500000e-04}>>
    %1 = stablehlo.broadcast_in_dim %cst_1, dims = [1] : (tensor<4x!quant.uniform<i32:f32:0, {5.000000e-04,1.000000e-03,7.500000e-04,3.500000e-04}>>) -> tensor<1x4x3x3x!quant.uniform<i32:f32:1, {5.000000e-04,1.000000e-03,7.500000e-04,3.500000e-04}>>
    %2 = stablehlo.add %0, %1 : tensor<1x4x3x3x!quant.uniform<i32:f32:1, {5.000000e-04,1.000000e-03,7.500000e-04,3.500000e-04}>>
    %3 = stablehlo.uniform_quantize %2 : (tensor<1x4x3x3x!quant.uniform<i32:f32:1, {5.000000e-04,1.000000e-03,7.500000e-04,3.500000e-04}>>) -> tensor<1x4x3x3x!quant.uniform<i8:f32, 0.089999999999999996:4>>
    %4 = stablehlo.bitcast_convert %3 : (tensor<1x4x3x3x!quant.uniform<i8:f32, 0.089999999999999996:4>>) -> tensor<1x4x3x3xi8>
    %c = stablehlo.constant dense<[[[[31, 98, 122], [-96, -123, 17], [127, 70, -62]], [[127, 127, -126], [127, 27, 127], [-120, -128, -128]], [[127, 127, 88], [127, 127, -128], [36, 127, 127]], [[4, -36, 97], [58, 127, 127], [47, -117, -119]]]]> : tensor<1x4x3x3xi8>
    %5 = stablehlo.custom_call @check.eq(%c, %4) : (tensor<1x4x3x3xi8>, tensor<1x4x3x3xi8>) -> tensor<i1>
    return %3 : tensor<1x4x3x3x!quant.uniform<i8:f32, 0.089999999999999996:4>>
  }
}
