// RUN: gc-opt %s --gc-schedule --split-input-file --verify-diagnostics
// RUN: gc-opt %s --gc-rematerialize="policy=all" --split-input-file --verify-diagnostics
// RUN: gc-opt %s --gc-plan-step --split-input-file --verify-diagnostics
// RUN: gc-opt %s --gc-plan-memory --split-input-file --verify-diagnostics

// What an op costs and whether it may run twice is not guessed.
func.func @step(%x: tensor<8x64xf32>) -> tensor<8x64xf32> attributes {gc.list = "micro_batch"} {
  // expected-error @below {{'arith.negf' does not say what it costs and whether it may be repeated}}
  %y = arith.negf %x : tensor<8x64xf32>
  return %y : tensor<8x64xf32>
}
