// RUN: gc-opt %s --gc-fuse --split-input-file | FileCheck %s

// Bias, addition and ReLU move into the product that they alone use.
// CHECK-LABEL: func.func @epilogue(
// CHECK-SAME:    %[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<16x8xf32>, %[[B:.*]]: tensor<16xf32>, %[[R:.*]]: tensor<4x16xf32>
// CHECK-NEXT:    %[[Y:.*]] = gc.linear %[[X]], %[[W]] bias %[[B]] residual %[[R]] activation = relu
// CHECK-NEXT:    return %[[Y]]
func.func @epilogue(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>, %b: tensor<16xf32>, %r: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %0 = gc.linear %x, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %1 = gc.bias %0, %b : (tensor<4x16xf32>, tensor<16xf32>) -> tensor<4x16xf32>
  %2 = gc.add %r, %1 : (tensor<4x16xf32>, tensor<4x16xf32>) -> tensor<4x16xf32>
  %3 = gc.relu %2 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  return %3 : tensor<4x16xf32>
}

// -----

// The value before the activation is needed elsewhere: the activation stays outside.
// CHECK-LABEL: func.func @epilogue_used_elsewhere(
// CHECK:         %[[Y:.*]] = gc.linear
// CHECK-NOT:     activation
// CHECK:         %[[A:.*]] = gc.gelu %[[Y]]
// CHECK:         return %[[Y]], %[[A]]
func.func @epilogue_used_elsewhere(%x: tensor<4x8xf32>, %w: tensor<16x8xf32>) -> (tensor<4x16xf32>, tensor<4x16xf32>) {
  %0 = gc.linear %x, %w : (tensor<4x8xf32>, tensor<16x8xf32>) -> tensor<4x16xf32>
  %1 = gc.gelu %0 : (tensor<4x16xf32>) -> tensor<4x16xf32>
  return %0, %1 : tensor<4x16xf32>, tensor<4x16xf32>
}

// -----

// A chain over one space is one kernel; a sum over its rows ends it.
// CHECK-LABEL: func.func @group(
// CHECK-NEXT:    %[[G:.*]]:2 = gc.fused (
// CHECK:           %[[D:.*]] = gc.relu_grad
// CHECK:           %[[S:.*]] = gc.reduce_sum %[[D]]
// CHECK:           gc.yield %[[D]], %[[S]]
// CHECK:         return %[[G]]#0, %[[G]]#1
func.func @group(%y: tensor<6x4xf32>, %dy: tensor<6x4xf32>) -> (tensor<6x4xf32>, tensor<4xf32>) {
  %0 = gc.relu_grad %y, %dy : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  %1 = gc.reduce_sum %0 {dimensions = array<i64: 0>} : (tensor<6x4xf32>) -> tensor<4xf32>
  return %0, %1 : tensor<6x4xf32>, tensor<4xf32>
}

// -----

// The sum is complete only when its kernel is done: who reads it runs in another.
// CHECK-LABEL: func.func @sum_feeds_another_kernel(
// CHECK:         %[[S:.*]] = gc.reduce_sum
// CHECK:         gc.bias %{{.*}}, %[[S]]
// CHECK-NOT:     gc.fused
func.func @sum_feeds_another_kernel(%x: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %0 = gc.reduce_sum %x {dimensions = array<i64: 0>} : (tensor<6x4xf32>) -> tensor<4xf32>
  %1 = gc.bias %x, %0 : (tensor<6x4xf32>, tensor<4xf32>) -> tensor<6x4xf32>
  return %1 : tensor<6x4xf32>
}

// -----

// A path from the group to the op through something that cannot be fused keeps them apart.
// CHECK-LABEL: func.func @path_outside(
// CHECK:         gc.relu
// CHECK:         gc.softmax
// CHECK:         gc.add
// CHECK-NOT:     gc.fused
func.func @path_outside(%x: tensor<6x4xf32>) -> tensor<6x4xf32> {
  %0 = gc.relu %x : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %1 = gc.softmax %0 : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %2 = gc.add %0, %1 : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  return %2 : tensor<6x4xf32>
}

// -----

// Different spaces do not share a loop.
// CHECK-LABEL: func.func @other_space(
// CHECK-NOT:     gc.fused
// CHECK:         return
func.func @other_space(%x: tensor<6x4xf32>, %y: tensor<3x5xf32>) -> (tensor<6x4xf32>, tensor<3x5xf32>) {
  %0 = gc.relu %x : (tensor<6x4xf32>) -> tensor<6x4xf32>
  %1 = gc.relu %y : (tensor<3x5xf32>) -> tensor<3x5xf32>
  return %0, %1 : tensor<6x4xf32>, tensor<3x5xf32>
}
