// RUN: gc-opt %s --gc-schedule --split-input-file | FileCheck %s

// Updates run as soon as their gradient is complete: two gradients never exist at once.
// CHECK-LABEL: func.func @updates(
// CHECK:         %[[A:.*]] = gc.linear_grad_weight
// CHECK-NEXT:    gc.accumulate @a, %[[A]]
// CHECK-NEXT:    %[[B:.*]] = gc.linear_grad_weight
// CHECK-NEXT:    gc.accumulate @b, %[[B]]
// CHECK-NEXT:    return
gc.parameter @a : tensor<64x64xf32> = #gc.init<constant, [0.0]>
gc.parameter @b : tensor<64x64xf32> = #gc.init<constant, [0.0]>
func.func @updates(%x: tensor<8x64xf32>, %y: tensor<8x64xf32>) attributes {gc.list = "micro_batch"} {
  %seed = gc.gradient_seed {scale = 1.0 : f32} : () -> tensor<f32>
  %dy = gc.broadcast %seed {dimensions = array<i64>} : (tensor<f32>) -> tensor<8x64xf32>
  %da = gc.linear_grad_weight %x, %dy : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<64x64xf32>
  %db = gc.linear_grad_weight %y, %dy : (tensor<8x64xf32>, tensor<8x64xf32>) -> tensor<64x64xf32>
  gc.accumulate @a, %da : tensor<64x64xf32>
  gc.accumulate @b, %db : tensor<64x64xf32>
  return
}

// -----

// The weight's gradient before the input's: the activation dies before a value as large is made.
// The update waits for the last reader of the weight.
// CHECK-LABEL: func.func @weight_first(
// CHECK:         %[[A:.*]] = gc.relu
// CHECK:         %[[DW:.*]] = gc.linear_grad_weight %[[A]], %[[DY:.*]] :
// CHECK-NEXT:    %[[W:.*]] = gc.read @w
// CHECK-NEXT:    %[[DX:.*]] = gc.linear_grad_input %[[DY]], %[[W]]
// CHECK-NEXT:    gc.accumulate @w, %[[DW]]
// CHECK-NEXT:    gc.reduce_sum %[[DX]]
gc.parameter @w : tensor<8x8xf32> = #gc.init<constant, [0.0]>
func.func @weight_first(%x: tensor<512x8xf32>) -> tensor<8xf32> attributes {gc.list = "micro_batch"} {
  %a = gc.relu %x : (tensor<512x8xf32>) -> tensor<512x8xf32>
  %seed = gc.gradient_seed {scale = 1.0 : f32} : () -> tensor<f32>
  %dy = gc.broadcast %seed {dimensions = array<i64>} : (tensor<f32>) -> tensor<512x8xf32>
  %w = gc.read @w : tensor<8x8xf32>
  %dx = gc.linear_grad_input %dy, %w : (tensor<512x8xf32>, tensor<8x8xf32>) -> tensor<512x8xf32>
  %dw = gc.linear_grad_weight %a, %dy : (tensor<512x8xf32>, tensor<512x8xf32>) -> tensor<8x8xf32>
  gc.accumulate @w, %dw : tensor<8x8xf32>
  %s = gc.reduce_sum %dx {dimensions = array<i64: 0>} : (tensor<512x8xf32>) -> tensor<8xf32>
  return %s : tensor<8xf32>
}

// -----

// A weight's gradient that is larger than all activations comes after the input's: then it lives for
// its update alone.
// CHECK-LABEL: func.func @large_weight(
// CHECK:         %[[DX:.*]] = gc.linear_grad_input %[[DY:.*]], %{{.*}}
// CHECK-NEXT:    gc.reduce_sum %[[DX]]
// CHECK-NEXT:    %[[DW:.*]] = gc.linear_grad_weight %{{.*}}, %[[DY]]
// CHECK-NEXT:    gc.accumulate @w, %[[DW]]
// CHECK-NEXT:    return
gc.parameter @w : tensor<64x64xf32> = #gc.init<constant, [0.0]>
func.func @large_weight(%x: tensor<2x64xf32>) -> tensor<64xf32> attributes {gc.list = "micro_batch"} {
  %a = gc.relu %x : (tensor<2x64xf32>) -> tensor<2x64xf32>
  %seed = gc.gradient_seed {scale = 1.0 : f32} : () -> tensor<f32>
  %dy = gc.broadcast %seed {dimensions = array<i64>} : (tensor<f32>) -> tensor<2x64xf32>
  %w = gc.read @w : tensor<64x64xf32>
  %dw = gc.linear_grad_weight %a, %dy : (tensor<2x64xf32>, tensor<2x64xf32>) -> tensor<64x64xf32>
  %dx = gc.linear_grad_input %dy, %w {gc.workspace = 4096} : (tensor<2x64xf32>, tensor<64x64xf32>) -> tensor<2x64xf32>
  gc.accumulate @w, %dw : tensor<64x64xf32>
  %s = gc.reduce_sum %dx {dimensions = array<i64: 0>} : (tensor<2x64xf32>) -> tensor<64xf32>
  return %s : tensor<64xf32>
}

// -----

// A transpose right before its reader, after an op with a large workspace.
// CHECK-LABEL: func.func @transpose_late(
// CHECK:         gc.softmax
// CHECK:         gc.transpose
// CHECK-NEXT:    gc.matmul
func.func @transpose_late(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {gc.list = "evaluate"} {
  %t = gc.transpose %x {permutation = array<i64: 1, 0>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = gc.softmax %y {gc.workspace = 65536} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %z = gc.matmul %t, %s : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %z : tensor<64x64xf32>
}

// -----

// The branch that leaves less alive first.
// CHECK-LABEL: func.func @branches(
// CHECK:         gc.relu
// CHECK-NEXT:    gc.reduce_sum
// CHECK-NEXT:    gc.neg
// CHECK-NEXT:    gc.exp
// CHECK-NEXT:    gc.bias
func.func @branches(%x: tensor<64x64xf32>) -> tensor<64x64xf32> attributes {gc.list = "evaluate"} {
  %a = gc.neg %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = gc.exp %a : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = gc.relu %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %d = gc.reduce_sum %c {dimensions = array<i64: 0>} : (tensor<64x64xf32>) -> tensor<64xf32>
  %e = gc.bias %b, %d : (tensor<64x64xf32>, tensor<64xf32>) -> tensor<64x64xf32>
  return %e : tensor<64x64xf32>
}

// -----

// What does not lower the peak leaves the forward pass as it is, and forward ops stay before the
// gradient, also where only backward ops read them.
// CHECK-LABEL: func.func @forward_stays(
// CHECK-NEXT:    gc.neg
// CHECK-NEXT:    gc.exp
// CHECK-NEXT:    gc.relu
// CHECK-NEXT:    gc.gradient_seed
func.func @forward_stays(%x: tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>) attributes {gc.list = "micro_batch"} {
  %a = gc.neg %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %b = gc.exp %x : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %c = gc.relu %b : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %seed = gc.gradient_seed {scale = 1.0 : f32} : () -> tensor<f32>
  %dy = gc.broadcast %seed {dimensions = array<i64>} : (tensor<f32>) -> tensor<64x64xf32>
  %d = gc.mul %a, %dy : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %c, %d : tensor<64x64xf32>, tensor<64x64xf32>
}

// -----

// A read sees the variable before the update that follows it, a later read after.
// CHECK-LABEL: func.func @reads(
// CHECK:         %[[OLD:.*]] = gc.read @w
// CHECK-NEXT:    gc.scale %[[OLD]] {factor = 2.
// CHECK-NEXT:    gc.accumulate @w
// CHECK-NEXT:    %[[NEW:.*]] = gc.read @w
// CHECK-NEXT:    gc.scale %[[NEW]] {factor = 3.
gc.parameter @w : tensor<64xf32> = #gc.init<constant, [0.0]>
func.func @reads(%x: tensor<64xf32>) -> (tensor<64xf32>, tensor<64xf32>) attributes {gc.list = "micro_batch"} {
  %old = gc.read @w : tensor<64xf32>
  %a = gc.scale %old {factor = 2.0 : f32} : (tensor<64xf32>) -> tensor<64xf32>
  gc.accumulate @w, %x : tensor<64xf32>
  %new = gc.read @w : tensor<64xf32>
  %b = gc.scale %new {factor = 3.0 : f32} : (tensor<64xf32>) -> tensor<64xf32>
  return %a, %b : tensor<64xf32>, tensor<64xf32>
}

// -----

// Only lists of commands are ordered.
// CHECK-LABEL: func.func @no_list(
// CHECK-NEXT:    gc.transpose
// CHECK-NEXT:    gc.softmax
func.func @no_list(%x: tensor<64x64xf32>, %y: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %t = gc.transpose %x {permutation = array<i64: 1, 0>} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %s = gc.softmax %y {gc.workspace = 65536} : (tensor<64x64xf32>) -> tensor<64x64xf32>
  %z = gc.matmul %t, %s : (tensor<64x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
  return %z : tensor<64x64xf32>
}
