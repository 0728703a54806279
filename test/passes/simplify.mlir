// RUN: gc-opt %s --gc-simplify | FileCheck %s

// The pool comes first, so that the adjoint of ReLU reads the small output.
// CHECK-LABEL: func.func @pooled(
// CHECK:         %[[P:.*]], %{{.*}} = gc.max_pool %arg0
// CHECK:         %[[R:.*]] = gc.relu %[[P]] : (tensor<2x2x2x3xf32>) -> tensor<2x2x2x3xf32>
// CHECK:         return %[[R]]
func.func @pooled(%x: tensor<2x4x4x3xf32>) -> tensor<2x2x2x3xf32> {
  %r = gc.relu %x : (tensor<2x4x4x3xf32>) -> tensor<2x4x4x3xf32>
  %y, %i = gc.max_pool %r {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0>}
      : (tensor<2x4x4x3xf32>) -> (tensor<2x2x2x3xf32>, tensor<2x2x2x3xi8>)
  return %y : tensor<2x2x2x3xf32>
}

// Somebody else reads the ReLU: it stays.
// CHECK-LABEL: func.func @shared(
// CHECK:         %[[R:.*]] = gc.relu %arg0
// CHECK:         gc.max_pool %[[R]]
func.func @shared(%x: tensor<2x4x4x3xf32>) -> (tensor<2x2x2x3xf32>, tensor<2x4x4x3xf32>) {
  %r = gc.relu %x : (tensor<2x4x4x3xf32>) -> tensor<2x4x4x3xf32>
  %y, %i = gc.max_pool %r {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0>}
      : (tensor<2x4x4x3xf32>) -> (tensor<2x2x2x3xf32>, tensor<2x2x2x3xi8>)
  return %y, %r : tensor<2x2x2x3xf32>, tensor<2x4x4x3xf32>
}
