// RUN: shlo-quant-opt %s | FileCheck %s --check-prefix=PARSE
// RUN: shlo-quant-opt --cse --stablehlo-legalize-quantized-op-to-qdq %s | FileCheck %s
// RUN: shlo-quant-opt "--pass-pipeline=builtin.module(func.func(cse),stablehlo-legalize-quantized-op-to-qdq)" %s | FileCheck %s
// RUN: cat %s | shlo-quant-opt --cse --stablehlo-legalize-quantized-op-to-qdq - | FileCheck %s
// RUN: shlo-quant-opt --emit-bytecode -o %t.bc %s && shlo-quant-opt %t.bc | FileCheck %s --check-prefix=PARSE
// RUN: shlo-quant-opt --mlir-print-debuginfo %s | FileCheck %s --check-prefix=LOCATION
// RUN: shlo-quant-opt --cse --stablehlo-legalize-quantized-op-to-qdq --mlir-print-ir-after-all %s -o %t.mlir 2>&1 | FileCheck %s --check-prefix=AFTER
// RUN: shlo-quant-opt --canonicalize=max-iterations=1 --stablehlo-legalize-quant-to-math=arithmetic=spec %s | FileCheck %s --check-prefix=OPTIONS

// PARSE-COUNT-2: stablehlo.abs

// CHECK-LABEL: func.func @abs
// CHECK:         [[FLOAT:%.+]] = stablehlo.uniform_dequantize
// CHECK-NEXT:    [[ABS:%.+]] = stablehlo.abs [[FLOAT]]
// CHECK-NEXT:    [[RESULT:%.+]] = stablehlo.uniform_quantize [[ABS]]
// CHECK-NEXT:    return [[RESULT]], [[RESULT]]

// LOCATION: loc("{{.*}}opt.mlir":[[@LINE+11]]:{{[0-9]+}})

// AFTER:       IR Dump After cse
// AFTER:         stablehlo.abs %arg0
// AFTER:       IR Dump After stablehlo-legalize-quantized-op-to-qdq
// AFTER:         stablehlo.uniform_dequantize

// OPTIONS-NOT: !quant

!q = !quant.uniform<i8:f32, 0.5:3>
func.func @abs(%arg0: tensor<2x!q>) -> (tensor<2x!q>, tensor<2x!q>) {
  %0 = stablehlo.abs %arg0 : tensor<2x!q>
  %1 = stablehlo.abs %arg0 : tensor<2x!q>
  return %0, %1 : tensor<2x!q>, tensor<2x!q>
}
