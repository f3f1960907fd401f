// RUN: not shlo-quant-opt %s --stablehlo-legalize-to-linalg 2>&1 | FileCheck %s
// RUN: shlo-quant-opt %s --stablehlo-legalize-quant-to-math --stablehlo-legalize-to-linalg | FileCheck %s --check-prefix=LOWERED

// A C++ pass of the wheel that ends its process on quantized types: here that is an error.
// CHECK: error: pass {{.*}}stablehlo-legalize-to-linalg{{.*}}: crashed (SIG{{.*}}); lower quantized types first, with stablehlo-legalize-quant-to-math
// LOWERED: func.func @main(%[[X:.*]]: tensor<2x2xi8>) -> tensor<2x2xi8>
// LOWERED-NEXT: return %[[X]]
func.func @main(%x: tensor<2x2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x2xi8> {
  %b = stablehlo.bitcast_convert %x : (tensor<2x2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x2xi8>
  return %b : tensor<2x2xi8>
}
