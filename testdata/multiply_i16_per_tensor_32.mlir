module {
  func.func @main() -> tensor<32x!quant.uniform<i16:f32, 1.100000e-02:100>> {
    %cst = stablehlo.constant() <{value = dense<[3207, 17598, -29264, 9326, -5206, 8757, 27469, 12322, 29413, -23496, -18488, 32467, 10467, -17500, -9843, 29978, -3219, -23274, -21632, 31404, -1846, -30656, -22358, -11301, -16330, -13549, 2412, -9120, -11784, -12947, -32208, 17466]> : tensor<32xi16>}> : () -> tensor<32x!quant.uniform<i16:f32, 3.000000e-04:5>>
    %cst_0 = stablehlo.constant() <{value = dense<[11799, -10543, 32384, 17853, 19753, 22876, 11935, 31772, -20355, 20141, -1642, 11640, -5409, -235, -31053, -7538, 22661, -29911, -6312, 2817, -6717, -5963, -10118, -16154, 16917, -22626, 12420, -24192, -28550, 18780, 3900, 4489]> : tensor<32xi16>}> : () -> tensor<32x!quant.uniform<i16:f32, 7.000000e-04:-9>>
    %0 = stablehlo.multiply %cst, %cst_0 : (tensor<32x!quant.uniform<i16:f32, 3.000000e-04:5>>, tensor<32x!quant.uniform<i16:f32, 7.000000e-04:-9>>) -> tensor<32x!quant.uniform<i16:f32, 1.100000e-02:100>>
    %1 = stablehlo.bitcast_convert %0 : (tensor<32x!quant.uniform<i16:f32, 1.100000e-02:100>>) -> tensor<32xi16>
    %c = stablehlo.constant dense<[822, -3438, -18000, 3278, -1866, 3924, 6362, 7573, -11323, -8940, 677, 7319, -979, 176, 5936, -4208, -1295, 13389, 2704, 1794, 337, 3585, 4416, 3585, -5178, 5952, 671, 4313, 6524, -4546, -2304, 1599]> : tensor<32xi16>
    %2 = stablehlo.custom_call @check.eq(%c, %1) : (tensor<32xi16>, tensor<32xi16>) -> tensor<i1>
    return %0 : tensor<32x!quant.uniform<i16:f32, 1.100000e-02:100>>
  }
}
