// RUN: shlo-quant-opt --split-input-file --verify-diagnostics %s
// RUN: not shlo-quant-opt --split-input-file %s 2>&1 | FileCheck %s

// CHECK: opt-split-input-file.mlir:[[@LINE+13]]:10: error: use of value '%arg0' expects different type
// CHECK: opt-split-input-file.mlir:[[@LINE+10]]:22: note: prior use here
// CHECK-LABEL: func.func @right
// CHECK: // -----
// CHECK-LABEL: func.func @also_right
func.func @right() {
  return
}

// -----

func.func @wrong_use(%arg0: tensor<2xf32>) -> tensor<2xf32> { // expected-note {{prior use here}}
  // expected-error @+1 {{use of value '%arg0' expects different type}}
  return %arg0 : tensor<3xf32>
}

// -----

func.func @wrong_types(%arg0: tensor<2xf32>, %arg1: tensor<3xf32>) -> tensor<2xf32> {
  // expected-error-re @below {{requires the same shape|compatible}}
  %0 = "stablehlo.add"(%arg0, %arg1) : (tensor<2xf32>, tensor<3xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @also_right() {
  return
}

// -----
