// RUN: gc-opt %s --gc-split="parts=2" --split-input-file | FileCheck %s
// RUN: gc-opt %s --gc-split="parts=2 from=b to=b" --split-input-file | FileCheck %s --check-prefix=NAMED
// RUN: gc-opt %s --gc-split="parts=1" --split-input-file | FileCheck %s --check-prefix=WHOLE

// The chain goes to the pool, behind which little is left. Reads stay whole; the product, whose weights are larger
// than a part of what it reads and writes, ends it.
// CHECK-LABEL: func.func @model(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<4x8x8x1xf32>
// CHECK-COUNT-2: gc.read
// CHECK-NOT:     gc.read
// CHECK:         %[[X0:.*]] = gc.slice %[[X]] {axis = 0 : i64, offset = 0 : i64, size = 2 : i64} : (tensor<4x8x8x1xf32>) -> tensor<2x8x8x1xf32>
// CHECK-NEXT:    %[[A0:.*]] = gc.conv2d %[[X0]], {{.*}} -> tensor<2x8x8x16xf32>
// CHECK-NEXT:    %[[R0:.*]] = gc.relu %[[A0]]
// CHECK-NEXT:    %[[B0:.*]] = gc.conv2d %[[R0]], {{.*}} -> tensor<2x8x8x16xf32>
// CHECK-NEXT:    %[[P0:.*]], %{{.*}} = gc.max_pool %[[B0]]
// CHECK-NEXT:    %[[X1:.*]] = gc.slice %[[X]] {axis = 0 : i64, offset = 2 : i64, size = 2 : i64}
// CHECK-NEXT:    gc.conv2d %[[X1]]
// CHECK-NEXT:    gc.relu
// CHECK-NEXT:    gc.conv2d
// CHECK-NEXT:    %[[P1:.*]], %{{.*}} = gc.max_pool
// CHECK-NEXT:    %[[Y:.*]] = gc.concat %[[P0]], %[[P1]] {axis = 0 : i64} : (tensor<2x1x1x16xf32>, tensor<2x1x1x16xf32>) -> tensor<4x1x1x16xf32>
// CHECK:         gc.reshape %[[Y]] : (tensor<4x1x1x16xf32>) -> tensor<4x16xf32>
// CHECK-NOT:     gc.slice

// One chain by the names of its layers: the second product alone.
// NAMED-LABEL: func.func @model(
// NAMED:         %[[R:.*]] = gc.relu
// NAMED:         %[[R0:.*]] = gc.slice %[[R]]
// NAMED-NEXT:    %[[B0:.*]] = gc.conv2d %[[R0]]
// NAMED-NEXT:    %[[R1:.*]] = gc.slice %[[R]]
// NAMED-NEXT:    %[[B1:.*]] = gc.conv2d %[[R1]]
// NAMED-NEXT:    %[[B:.*]] = gc.concat %[[B0]], %[[B1]]
// NAMED-NEXT:    gc.max_pool %[[B]]

// WHOLE-LABEL: func.func @model(
// WHOLE-NOT:     gc.slice
gc.parameter @a : tensor<16x3x3x1xf32> = #gc.init<constant, [0.0]>
gc.parameter @b : tensor<16x3x3x16xf32> = #gc.init<constant, [0.0]>
gc.parameter @w : tensor<64x16xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<4x8x8x1xf32> {gc.input = "x"}, %l: tensor<4xi32> {gc.input = "l"}) -> (tensor<f32> {gc.output = "loss"}) {
  %wa = gc.read @a : tensor<16x3x3x1xf32>
  %a = gc.conv2d %x, %wa {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<4x8x8x1xf32>, tensor<16x3x3x1xf32>) -> tensor<4x8x8x16xf32> loc("a")
  %r = gc.relu %a : (tensor<4x8x8x16xf32>) -> tensor<4x8x8x16xf32> loc("r")
  %wb = gc.read @b : tensor<16x3x3x16xf32>
  %b = gc.conv2d %r, %wb {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<4x8x8x16xf32>, tensor<16x3x3x16xf32>) -> tensor<4x8x8x16xf32> loc("b")
  %p, %i = gc.max_pool %b {kernel = array<i64: 8, 8>, strides = array<i64: 8, 8>, padding = array<i64: 0, 0>} : (tensor<4x8x8x16xf32>) -> (tensor<4x1x1x16xf32>, tensor<4x1x1x16xi8>) loc("p")
  %f = gc.reshape %p : (tensor<4x1x1x16xf32>) -> tensor<4x16xf32> loc("f")
  %w = gc.read @w : tensor<64x16xf32>
  %y = gc.linear %f, %w : (tensor<4x16xf32>, tensor<64x16xf32>) -> tensor<4x64xf32> loc("y")
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<4x64xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// -----

// Batch norm mixes samples, and its statistics are no rows of the batch though there are as many channels: a chain
// on each side. Dropout numbers its elements from the first of the batch, and is none of a chain's.
// CHECK-LABEL: func.func @model(
// CHECK:         gc.concat {{.*}} -> tensor<4x4xf32>
// CHECK-NEXT:    %[[N:.*]], %[[M:.*]], %[[S:.*]] = gc.batch_norm {{.*}} : (tensor<4x4xf32>
// CHECK-NEXT:    gc.slice %[[N]]
// CHECK:         %[[T:.*]] = gc.concat {{.*}} -> tensor<4x4xf32>
// CHECK-NEXT:    gc.dropout %[[T]], {{.*}} : (tensor<4x4xf32>, tensor<2xi64>) -> tensor<4x4xf32>

// NAMED-LABEL: func.func @model(
// NAMED:         gc.concat
// NAMED-NOT:     gc.concat
gc.parameter @s : tensor<4xf32> = #gc.init<constant, [1.0]>
gc.state @generator generator : tensor<2xi64> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<4x4xf32> {gc.input = "x"}, %l: tensor<4xi32> {gc.input = "l"}) -> (tensor<f32> {gc.output = "loss"}) {
  %s = gc.read @s : tensor<4xf32>
  %g = gc.read @generator : tensor<2xi64>
  %a = gc.tanh %x : (tensor<4x4xf32>) -> tensor<4x4xf32> loc("a")
  %n, %m, %d = gc.batch_norm %a, %s, %s {epsilon = 0.25 : f32} : (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>)
  %t = gc.bias %n, %s : (tensor<4x4xf32>, tensor<4xf32>) -> tensor<4x4xf32> loc("b")
  %o = gc.dropout %t, %g {probability = 0.5 : f32, id = 1 : i64} : (tensor<4x4xf32>, tensor<2xi64>) -> tensor<4x4xf32>
  %loss, %lse = gc.cross_entropy %o, %l : (tensor<4x4xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}
