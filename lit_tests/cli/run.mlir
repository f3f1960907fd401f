// RUN: shlo-quant run --random 0 %s | FileCheck %s
// RUN: shlo-quant run --random 0 --json %s | FileCheck %s --check-prefix=JSON
// RUN: not shlo-quant run %s 2>&1 | FileCheck %s --check-prefix=MISSING

// CHECK: output type min max first values
// CHECK: 0 tensor<3x2x!quant.uniform<i8:f32, 5.000000e-01:3>> {{-?[0-9]+ -?[0-9]+ -?[0-9]+}}, {{.*}}, ...

// JSON:      "output": 0,
// JSON-NEXT: "type": "tensor<3x2x!quant.uniform<i8:f32, 5.000000e-01:3>>"

// MISSING: shlo-quant: error: the program takes 1 input, got 0

!q = !quant.uniform<i8:f32, 0.5:3>
func.func @main(%arg0: tensor<2x3x!q>) -> tensor<3x2x!q> {
  %0 = stablehlo.transpose %arg0, dims = [1, 0] : (tensor<2x3x!q>) -> tensor<3x2x!q>
  return %0 : tensor<3x2x!q>
}
