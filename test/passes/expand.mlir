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

// Other norms have kernels of their own.
// CHECK-LABEL: func.func @layer_norm_stays(
// CHECK-NEXT:    gc.layer_norm
func.func @layer_norm_stays(%x: tensor<5x3xf32>, %w: tensor<3xf32>) -> tensor<5x3xf32> {
  %y, %m, %r = gc.layer_norm %x, %w, %w {epsilon = 0.25 : f32} : (tensor<5x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<5x3xf32>, tensor<5xf32>, tensor<5xf32>)
  return %y : tensor<5x3xf32>
}
