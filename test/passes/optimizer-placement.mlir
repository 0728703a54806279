// RUN: gc-opt %s --gc-optimizer=kind=adam | FileCheck %s

// The gradient of @w is complete before its value is read for the last time, through a view: the
// update waits. @x has no later use and is updated at once; the coefficients come before it.
gc.parameter @w : tensor<9xf32> = #gc.init<constant, [0.0]>
gc.parameter @x : tensor<3xf32> = #gc.init<constant, [0.0]>

// CHECK-LABEL: func.func @train(
// CHECK:         %[[V:.*]] = gc.reshape
// CHECK:         gc.scale
// CHECK-NEXT:    gc.read @generator
// CHECK-NEXT:    gc.read @learning_rate
// CHECK-NEXT:    gc.optimizer_coefficients
// CHECK-NEXT:    gc.adam @x
// CHECK-NEXT:    gc.transpose %[[V]]
// CHECK-NEXT:    gc.adam @w
// CHECK-NEXT:    gc.neg
// CHECK-NEXT:    gc.advance
func.func @train(%dw: tensor<9xf32>, %dx: tensor<3xf32>) -> tensor<3x3xf32> attributes {gc.list = "micro_batch"} {
  %w = gc.read @w : tensor<9xf32>
  %v = gc.reshape %w : (tensor<9xf32>) -> tensor<3x3xf32>
  gc.gradient @w, %dw : tensor<9xf32>
  %s = gc.scale %dx {factor = 2.0 : f32} : (tensor<3xf32>) -> tensor<3xf32>
  gc.gradient @x, %s : tensor<3xf32>
  %t = gc.transpose %v {permutation = array<i64: 1, 0>} : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %n = gc.neg %t : (tensor<3x3xf32>) -> tensor<3x3xf32>
  return %n : tensor<3x3xf32>
}
