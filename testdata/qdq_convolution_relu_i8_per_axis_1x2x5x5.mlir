module {
  func.func @main() -> tensor<1x3x5x5x!quant.uniform<i8:f32, 3.000000e-01:-128>> {
    %cst = stablehlo.constant dense<[[[[-7.06722545, -5.52295828, 6.80741072, 7.47698688, 6.04199839], [1.14428031, 3.99452209, -2.62393856, -1.7269578, -1.42091203], [4.42519093, 7.04821253, -7.448340e-01, 5.72549105, -1.22250855], [-3.86444974, -3.67549276, 4.065970e+00, -2.42236757, -3.1579566], [-2.71190548, 3.54335976, 8.32693958, -0.323293388, 9.44312381]], [[0.161836296, -1.05194664, 7.836230e+00, 8.56180858, -2.11743307], [-3.71126628, 8.29635524, -1.449193, 2.18331361, -5.73694277], [-0.225058645, 8.48732948, 9.331020e+00, -3.11450863, 0.698021948], [-5.53811026, 3.59796691, -7.30716991, -0.730793535, -3.62451434], [-3.942320e+00, -6.8698554, 1.85729456, 8.88503647, 3.22524261]]]]> : tensor<1x2x5x5xf32>
    %cst_0 = stablehlo.constant() <{value = dense<[[[[88, 37, 115], [118, 35, -48], [-2, -25, -98]], [[-119, 9, -9], [125, -60, 57], [96, -35, 70]]], [[[106, -55, -21], [-112, -4, 78], [20, -8, -30]], [[114, 14, -17], [0, -27, 110], [-87, -52, 7]]], [[[111, 123, -70], [-123, -56, 6], [-84, 101, 120]], [[24, 68, 21], [107, 50, 7], [17, -67, 50]]]]> : tensor<3x2x3x3xi8>}> : () -> tensor<3x2x3x3x!quant.uniform<i8<-127:127>:f32:0, {7.812500e-03,1.562500e-02,3.125000e-02}>>
    %cst_1 = stablehlo.constant dense<[[[[2.500000e-01]], [[-1.500000e+00]], [[0.000000e+00]]]]> : tensor<1x3x1x1xf32>
    %cst_2 = stablehlo.constant dense<0.000000e+00> : tensor<1x3x5x5xf32>
    %0 = stablehlo.uniform_quantize %cst : (tensor<1x2x5x5xf32>) -> tensor<1x2x5x5x!quant.uniform<i8:f32, 6.250000e-02:-11>>
    %1 = stablehlo.uniform_dequantize %0 : (tensor<1x2x5x5x!quant.uniform<i8:f32, 6.250000e-02:-11>>) -> tensor<1x2x5x5xf32>
    %2 = stablehlo.uniform_dequantize %cst_0 : (tensor<3x2x3x3x!quant.uniform<i8<-127:127>:f32:0, {7.812500e-03,1.562500e-02,3.125000e-02}>>) -> tensor<3x2x3x3xf32>
    %3 = stablehlo.convolution(%1, %2) dim_numbers = [b, f, 0, 1]x[o, i, 0, 1]->[b, f, 0, 1], window = {pad = [[1, 1], [1, 1]]} {batch_group_count = 1 : i64, feature_group_count = 1 : i64} : (tensor<1x2x5x5xf32>, tensor<3x2x3x3xf32>) -> tensor<1x3x5x5xf32>
    %4 = stablehlo.broadcast_in_dim %cst_1, dims = [0, 1, 2, 3] : (tensor<1x3x1x1xf32>) -> tensor<1x3x5x5xf32>
    %5 = stablehlo.add %3, %4 : tensor<1x3x5x5xf32>
    %6 = stablehlo.maximum %5, %cst_2 : tensor<1x3x5x5xf32>
    %7 = stablehlo.uniform_quantize %6 : (tensor<1x3x5x5xf32>) -> tensor<1x3x5x5x!quant.uniform<i8:f32, 3.000000e-01:-128>>
    %8 = stablehlo.bitcast_convert %7 : (tensor<1x3x5x5x!quant.uniform<i8:f32, 3.000000e-01:-128>>) -> tensor<1x3x5x5xi8>
    %c = stablehlo.constant dense<[[[[-121, -128, -118, -109, -56], [-128, -128, -70, -107, -128], [-85, -128, -111, -109, -128], [-105, -128, -109, -128, -100], [-128, -122, -128, -94, -104]], [[-128, -19, -59, -128, -128], [-46, -128, -128, -127, -22], [-50, -128, -101, -92, -128], [-128, -118, 8, -128, -128], [-128, -103, -122, -128, -128]], [[41, -72, -106, -128, -128], [-16, -128, -97, 127, -6], [-128, -76, 66, -128, -128], [-104, 127, 73, -128, 28], [-128, -128, -128, -128, -128]]]]> : tensor<1x3x5x5xi8>
    %9 = stablehlo.custom_call @check.eq(%c, %8) : (tensor<1x3x5x5xi8>, tensor<1x3x5x5xi8>) -> tensor<i1>
    return %7 : tensor<1x3x5x5x!quant.uniform<i8:f32, 3.000000e-01:-128>>
  }
}
