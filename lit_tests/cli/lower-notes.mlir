// RUN: shlo-quant lower %s --to integer -o /dev/null 2>&1 | FileCheck %s
// RUN: shlo-quant inspect %s | FileCheck %s --check-prefix=QDQ

!x = tensor<2x3x!quant.uniform<i8:f32, 0.5:7>>
!w = tensor<3x2x!quant.uniform<i8:f32, 0.25>>
!r = tensor<2x2x!quant.uniform<i8:f32, 1.0:3>>

// CHECK: shlo-quant: note: {{.*}}lower-notes.mlir:[[@LINE+10]]:{{[0-9]+}}: stablehlo.add: stays in float: bias does not fit 32 bits: 2147483648 in channel 0, at scale 0.125
// QDQ: dot_general
// QDQ: native: 0 of 1
func.func @main(%x: !x) -> !r {
  %w = "stablehlo.constant"() <{value = dense<[[1, 2], [3, 4], [5, 6]]> : tensor<3x2xi8>}> : () -> !w
  %b = stablehlo.constant dense<[268435456.0, 1.0]> : tensor<2xf32>
  %0 = stablehlo.uniform_dequantize %x : (!x) -> tensor<2x3xf32>
  %1 = stablehlo.uniform_dequantize %w : (!w) -> tensor<3x2xf32>
  %2 = stablehlo.dot_general %0, %1, contracting_dims = [1] x [0] : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %3 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
  %4 = stablehlo.add %2, %3 : tensor<2x2xf32>
  %q = stablehlo.uniform_quantize %4 : (tensor<2x2xf32>) -> !r
  return %q : !r
}
