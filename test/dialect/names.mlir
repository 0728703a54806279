// RUN: gc-opt %s --gc-autodiff --gc-optimizer --gc-accumulate="micro-batches=2" 2>&1 | FileCheck %s
// RUN: cat %s | gc-opt - --gc-autodiff --gc-optimizer --gc-accumulate="micro-batches=2" 2>&1 | FileCheck %s --check-prefix=PIPE

// Messages call an op after its layer; without one, after the file and line that it was read from.
// CHECK: 'norm1:batch_norm', 'batch_norm@names.mlir:[[#@LINE+11]]'
// PIPE: 'norm1:batch_norm', 'batch_norm@<stdin>:[[#@LINE+10]]'
gc.parameter @w : tensor<3xf32> = #gc.init<constant, [0.0]>
gc.parameter @b : tensor<3xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<8x3xf32> {gc.input = "x"}, %l: tensor<8xi32> {gc.input = "l"})
    -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3xf32>
  %b = gc.read @b : tensor<3xf32>
  %y, %m, %r = gc.batch_norm %x, %w, %b {epsilon = 1.0e-5 : f32}
      : (tensor<8x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<8x3xf32>, tensor<3xf32>, tensor<3xf32>) loc("norm1")
  // The line on which an op begins counts.
  %z, %n, %s = gc.batch_norm %y, %w, %b {epsilon = 1.0e-5 : f32}
      : (tensor<8x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<8x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %loss, %lse = gc.cross_entropy %z, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}
