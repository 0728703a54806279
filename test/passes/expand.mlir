// RUN: gc-opt %s --gc-expand --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @batch_norm(
// CHECK-SAME:    %[[X:.*]]: tensor<5x3xf32>, %[[W:.*]]: tensor<3xf32>, %[[B:.*]]: tensor<3xf32>)
// CHECK-NEXT:    %[[M:.*]], %[[R:.*]] = gc.batch_stats %[[X]] {epsilon = 2.500000e-01 : f32}
// CHECK-NEXT:    %[[Y:.*]] = gc.normalize %[[X]], %[[M]], %[[R]], %[[W]], %[[B]]
// CHECK-NEXT:    return %[[Y]], %[[M]], %[[R]]
func.func @batch_norm(%x: tensor<5x3xf32>, %w: tensor<3xf32>, %b: tensor<3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>, tensor<3xf32>) {
  %y, %m, %r = gc.batch_norm %x, %w, %b {epsilon = 0.25 : f32} : (tensor<5x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>, tensor<3xf32>)
  return %y, %m, %r : tensor<5x3xf32>, tensor<3xf32>, tensor<3xf32>
}

// -----

// CHECK-LABEL: func.func @patch_embed(
// CHECK-SAME:    %[[X:.*]]: tensor<2x6x9x3xf32>, %[[W:.*]]: tensor<5x2x3x3xf32>, %[[B:.*]]: tensor<5xf32>)
// CHECK-NEXT:    %[[C:.*]] = gc.conv2d %[[X]], %[[W]] bias %[[B]] {padding = array<i64: 0, 0>, strides = array<i64: 2, 3>} : {{.*}} -> tensor<2x3x3x5xf32>
// CHECK-NEXT:    %[[Y:.*]] = gc.reshape %[[C]] : (tensor<2x3x3x5xf32>) -> tensor<2x9x5xf32>
// CHECK-NEXT:    return %[[Y]]
func.func @patch_embed(%x: tensor<2x6x9x3xf32>, %w: tensor<5x2x3x3xf32>, %b: tensor<5xf32>) -> tensor<2x9x5xf32> {
  %y = gc.patch_embed %x, %w, %b : (tensor<2x6x9x3xf32>, tensor<5x2x3x3xf32>, tensor<5xf32>) -> tensor<2x9x5xf32>
  return %y : tensor<2x9x5xf32>
}

// -----

// Parts are written to their places where they are made, in whatever order that is.
// CHECK-LABEL: func.func @concat_rows(
// CHECK:         %[[B:.*]] = gc.exp
// CHECK-NEXT:    %[[P:.*]] = gc.pad %[[B]] {axis = 0 : i64, high = 3 : i64, low = 1 : i64}
// CHECK-NEXT:    %[[A:.*]] = gc.neg
// CHECK-NEXT:    %[[Q:.*]] = gc.put_rows %[[P]], %[[A]] {from = 0 : i64}
// CHECK-NEXT:    %[[C:.*]] = gc.tanh
// CHECK-NEXT:    %[[R:.*]] = gc.put_rows %[[Q]], %[[C]] {from = 3 : i64}
// CHECK-NEXT:    return %[[R]]
func.func @concat_rows(%x: tensor<1x3xf32>, %y: tensor<2x3xf32>, %z: tensor<3x3xf32>) -> tensor<6x3xf32> {
  %b = gc.exp %y : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %a = gc.neg %x : (tensor<1x3xf32>) -> tensor<1x3xf32>
  %c = gc.tanh %z : (tensor<3x3xf32>) -> tensor<3x3xf32>
  %r = gc.concat %a, %b, %c {axis = 0 : i64} : (tensor<1x3xf32>, tensor<2x3xf32>, tensor<3x3xf32>) -> tensor<6x3xf32>
  return %r : tensor<6x3xf32>
}

// -----

// How autodiff adds up the gradients of slices: rows that are zero are only written.
// CHECK-LABEL: func.func @sum_of_pads(
// CHECK-SAME:    %[[A:[^:]*]]: tensor<2x3xf32>, %[[B:[^:]*]]: tensor<2x3xf32>, %[[C:[^:]*]]: tensor<1x3xf32>)
// CHECK-NEXT:    %[[P:.*]] = gc.pad %[[A]] {axis = 0 : i64, high = 0 : i64, low = 2 : i64}
// CHECK-NEXT:    %[[Q:.*]] = gc.put_rows %[[P]], %[[B]] {from = 0 : i64}
// CHECK-NEXT:    %[[S:.*]] = gc.slice %[[Q]] {axis = 0 : i64, offset = 1 : i64, size = 1 : i64}
// CHECK-NEXT:    %[[T:.*]] = gc.add %[[S]], %[[C]]
// CHECK-NEXT:    %[[R:.*]] = gc.put_rows %[[Q]], %[[T]] {from = 1 : i64}
// CHECK-NEXT:    return %[[R]]
func.func @sum_of_pads(%a: tensor<2x3xf32>, %b: tensor<2x3xf32>, %c: tensor<1x3xf32>) -> tensor<4x3xf32> {
  %p = gc.pad %a {axis = 0 : i64, low = 2 : i64, high = 0 : i64} : (tensor<2x3xf32>) -> tensor<4x3xf32>
  %q = gc.pad %b {axis = 0 : i64, low = 0 : i64, high = 2 : i64} : (tensor<2x3xf32>) -> tensor<4x3xf32>
  %0 = gc.add %p, %q : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %o = gc.pad %c {axis = 0 : i64, low = 1 : i64, high = 2 : i64} : (tensor<1x3xf32>) -> tensor<4x3xf32>
  %1 = gc.add %o, %0 : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  return %1 : tensor<4x3xf32>
}

// -----

// Along other axes both stay.
// CHECK-LABEL: func.func @columns(
// CHECK-NEXT:    gc.concat
// CHECK-NEXT:    gc.pad
// CHECK-NEXT:    gc.add
func.func @columns(%a: tensor<2x3xf32>) -> tensor<2x6xf32> {
  %0 = gc.concat %a, %a {axis = 1 : i64} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x6xf32>
  %1 = gc.pad %a {axis = 1 : i64, low = 0 : i64, high = 3 : i64} : (tensor<2x3xf32>) -> tensor<2x6xf32>
  %2 = gc.add %0, %1 : (tensor<2x6xf32>, tensor<2x6xf32>) -> tensor<2x6xf32>
  return %2 : tensor<2x6xf32>
}

// -----

// Other norms have kernels of their own.
// CHECK-LABEL: func.func @layer_norm_stays(
// CHECK-NEXT:    gc.layer_norm
func.func @layer_norm_stays(%x: tensor<5x3xf32>, %w: tensor<3xf32>) -> tensor<5x3xf32> {
  %y, %m, %r = gc.layer_norm %x, %w, %w {epsilon = 0.25 : f32} : (tensor<5x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<5x3xf32>, tensor<5xf32>, tensor<5xf32>)
  return %y : tensor<5x3xf32>
}
