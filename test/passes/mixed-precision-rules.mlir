// RUN: gc-opt %s --gc-mixed-precision="type=bf16" --split-input-file | FileCheck %s

// The statistics of rows, groups and heads stay f32, and so do the parameters of a channel.
// CHECK-LABEL: func.func @statistics(
// CHECK:         gc.layer_norm {{.*}} : (tensor<2x5x12xbf16>, tensor<12xf32>, tensor<12xf32>) -> (tensor<2x5x12xbf16>, tensor<2x5xf32>, tensor<2x5xf32>)
// CHECK:         gc.attention {{.*}} : (tensor<2x5x12xbf16>) -> (tensor<2x5x4xbf16>, tensor<2x2x5xf32>)
// CHECK:         gc.softmax {{.*}} : (tensor<2x5x4xbf16>) -> tensor<2x5x4xbf16>
// A product writes f32 where only f32 is read.
// CHECK:         gc.linear {{.*}} : (tensor<2x5x4xbf16>, tensor<3x4xbf16>) -> tensor<2x5x3xf32>
// CHECK-NEXT:    return
func.func @statistics(%x: tensor<2x5x12xf32>, %w: tensor<12xf32>, %b: tensor<12xf32>, %v: tensor<3x4xf32>) -> tensor<2x5x3xf32> attributes {gc.list = "evaluate"} {
  %n, %m, %s = gc.layer_norm %x, %w, %b {epsilon = 1.0e-6 : f32} : (tensor<2x5x12xf32>, tensor<12xf32>, tensor<12xf32>) -> (tensor<2x5x12xf32>, tensor<2x5xf32>, tensor<2x5xf32>)
  %o, %lse = gc.attention %n {heads = 2 : i64} : (tensor<2x5x12xf32>) -> (tensor<2x5x4xf32>, tensor<2x2x5xf32>)
  %p = gc.softmax %o : (tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  %y = gc.linear %p, %v : (tensor<2x5x4xf32>, tensor<3x4xf32>) -> tensor<2x5x3xf32>
  return %y : tensor<2x5x3xf32>
}

// -----

// The parameters that are read once are read as they are.
// CHECK-LABEL: func.func @tokens(
// CHECK-SAME:    %{{.*}}, %[[C:.*]]: tensor<1x1x4xf32>, %[[P:.*]]: tensor<1x4x4xf32>, %[[T:.*]]: tensor<9x4xf32>
// CHECK:         %[[E:.*]] = gc.embedding %{{.*}}, %[[T]] : (tensor<2x3xi32>, tensor<9x4xf32>) -> tensor<2x3x4xbf16>
// CHECK-NEXT:    gc.class_token %[[E]], %[[C]], %[[P]] : (tensor<2x3x4xbf16>, tensor<1x1x4xf32>, tensor<1x4x4xf32>) -> tensor<2x4x4xbf16>
// CHECK:         gc.linear
func.func @tokens(%i: tensor<2x3xi32>, %c: tensor<1x1x4xf32>, %p: tensor<1x4x4xf32>, %t: tensor<9x4xf32>, %v: tensor<3x4xf32>) -> tensor<2x4x3xf32> attributes {gc.list = "evaluate"} {
  %e = gc.embedding %i, %t : (tensor<2x3xi32>, tensor<9x4xf32>) -> tensor<2x3x4xf32>
  %k = gc.class_token %e, %c, %p : (tensor<2x3x4xf32>, tensor<1x1x4xf32>, tensor<1x4x4xf32>) -> tensor<2x4x4xf32>
  %y = gc.linear %k, %v : (tensor<2x4x4xf32>, tensor<3x4xf32>) -> tensor<2x4x3xf32>
  return %y : tensor<2x4x3xf32>
}

// -----

// An op that says so stays in f32. What it reads is widened once for all of its kind, and nothing
// else is; what only it reads is written in f32.
// CHECK-LABEL: func.func @attribute(
// CHECK:         %[[A:.*]] = gc.linear {{.*}} -> tensor<2x4xbf16>
// CHECK:         %[[W:.*]] = gc.cast %[[A]] : (tensor<2x4xbf16>) -> tensor<2x4xf32>
// CHECK-NEXT:    %[[E:.*]] = gc.exp %[[W]] {gc.precision = "f32"} : (tensor<2x4xf32>) -> tensor<2x4xf32>
// CHECK-NEXT:    %[[L:.*]] = gc.tanh %[[W]] {gc.precision = "f32"}
// CHECK-NEXT:    %[[H:.*]] = gc.cast %[[E]] : (tensor<2x4xf32>) -> tensor<2x4xbf16>
// CHECK-NEXT:    gc.add %[[H]], %[[A]] : (tensor<2x4xbf16>, tensor<2x4xbf16>) -> tensor<2x4xbf16>
func.func @attribute(%x: tensor<2x4xf32>, %v: tensor<4x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) attributes {gc.list = "evaluate"} {
  %a = gc.linear %x, %v : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %e = gc.exp %a {gc.precision = "f32"} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %l = gc.tanh %a {gc.precision = "f32"} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %s = gc.add %e, %a : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = gc.linear %s, %v : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  return %y, %l : tensor<2x4xf32>, tensor<2x4xf32>
}

// -----

// A function that is no command list is nobody's step.
// CHECK-LABEL: func.func @other(
// CHECK-NOT:     bf16
func.func @other(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %e = gc.exp %x : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = gc.exp %e : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}

// -----

// These have one type: where only f32 is read of them they are f32, and read f32.
// CHECK-LABEL: func.func @alike(
// CHECK:         %[[E:.*]] = gc.patch_embed {{.*}} : (tensor<2x4x4x3xf32>, tensor<12x2x2x3xf32>, tensor<12xf32>) -> tensor<2x4x12xf32>
// CHECK-NEXT:    gc.class_token %[[E]], {{.*}} : (tensor<2x4x12xf32>, tensor<1x1x12xf32>, tensor<1x5x12xf32>) -> tensor<2x5x12xf32>
// CHECK-NEXT:    gc.attention {{.*}} : (tensor<2x5x12xf32>) -> (tensor<2x5x4xf32>, tensor<2x2x5xf32>)
// CHECK-NEXT:    gc.exp {{.*}} {gc.precision = "f32"} : (tensor<2x5x4xf32>)
// CHECK-NOT:     bf16
func.func @alike(%x: tensor<2x4x4x3xf32>, %w: tensor<12x2x2x3xf32>, %b: tensor<12xf32>, %c: tensor<1x1x12xf32>, %p: tensor<1x5x12xf32>) -> tensor<2x5x4xf32> attributes {gc.list = "evaluate"} {
  %e = gc.patch_embed %x, %w, %b : (tensor<2x4x4x3xf32>, tensor<12x2x2x3xf32>, tensor<12xf32>) -> tensor<2x4x12xf32>
  %t = gc.class_token %e, %c, %p : (tensor<2x4x12xf32>, tensor<1x1x12xf32>, tensor<1x5x12xf32>) -> tensor<2x5x12xf32>
  %o, %lse = gc.attention %t {heads = 2 : i64} : (tensor<2x5x12xf32>) -> (tensor<2x5x4xf32>, tensor<2x2x5xf32>)
  %y = gc.exp %o {gc.precision = "f32"} : (tensor<2x5x4xf32>) -> tensor<2x5x4xf32>
  return %y : tensor<2x5x4xf32>
}
