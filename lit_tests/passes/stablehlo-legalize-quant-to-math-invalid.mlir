// RUN: shlo-quant-opt --stablehlo-legalize-quant-to-math --split-input-file --verify-diagnostics %s

!q = tensor<2x!quant.uniform<i8:f32, 0.5:3>>
!f8 = tensor<2x!quant.uniform<i8:f8E4M3FN, 0.5>>

// One error for each op.
func.func @main(%x: !q, %y: !f8, %z: tensor<2x!quant.any<i8:f32>>) -> (!q, !f8) {
  // expected-error@+1 {{stablehlo.custom_call: there is no rule for this op on quantized types}}
  %0 = stablehlo.custom_call @elsewhere(%x) : (!q) -> !q
  // expected-error@+1 {{stablehlo.abs: the expressed type must be f16, bf16, f32 or f64, got f8E4M3FN}}
  %1 = stablehlo.abs %y : !f8
  // expected-error@+1 {{func.call: quantized types must be per-tensor or per-axis uniform, got !quant.any<i8:f32>}}
  func.call @any(%z) : (tensor<2x!quant.any<i8:f32>>) -> ()
  return %0, %1 : !q, !f8
}
func.func private @any(tensor<2x!quant.any<i8:f32>>)

// -----

// expected-error@+1 {{func.func: quantized types must be per-tensor or per-axis uniform, got tensor<2x!quant.any<i8:f32>>}}
func.func @unused(%x: tensor<2x!quant.any<i8:f32>>) {
  return
}

// -----

!x = tensor<2x2x!quant.uniform<i8:f32, 0.5>>
!w = tensor<2x2x!quant.uniform<i8:f32:0, {0.5, 0.25}>>

// The verifier checks nothing of the legacy dot.
func.func @summed_dimension(%x: !x, %w: !w) -> !x {
  // expected-error@+1 {{stablehlo.dot: rhs must not be quantized along a dimension that is summed, got 0}}
  %0 = "stablehlo.dot"(%x, %w) : (!x, !w) -> !x
  return %0 : !x
}
