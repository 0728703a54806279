// RUN: gc-opt %s --gc-batch=size=2 --split-input-file --verify-roundtrip | FileCheck %s
// RUN: gc-opt %s --gc-batch=size=4 --split-input-file > %t.same
// RUN: gc-opt %s --split-input-file | diff - %t.same
// RUN: gc-opt %s --gc-batch=size=6 --split-input-file | gc-opt --gc-batch=size=4 --split-input-file | diff - %t.same

// Samples lead every value that comes of the inputs. 4 samples of 3 x 3 are 36 elements a channel, 2
// are 18. A reshape may join samples with what follows them: 4 * 9 rows become 2 * 9. Parameters that
// happen to be 4 long stay.
gc.parameter @w : tensor<4x1x1x2xf32> = #gc.init<constant, [0.0]>
gc.parameter @s : tensor<4xf32> = #gc.init<constant, [1.0]>
gc.state @m running_statistic : tensor<4xf32> = #gc.init<constant, [0.0]>
gc.state @v running_statistic : tensor<4xf32> = #gc.init<constant, [1.0]>
// CHECK:       gc.parameter @w : tensor<4x1x1x2xf32>
// CHECK-LABEL: func.func @model(
// CHECK-SAME:    %[[X:[^:]*]]: tensor<2x3x3x2xf32> {gc.input = "x"}, %[[L:[^:]*]]: tensor<2xi32> {gc.input = "l"}
// CHECK:         gc.conv2d %[[X]], %{{.*}} : (tensor<2x3x3x2xf32>, tensor<4x1x1x2xf32>) -> tensor<2x3x3x4xf32>
// CHECK:         gc.batch_norm {{.*}} -> (tensor<2x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>)
// CHECK:         gc.running_stats {{.*}}count = 18 : i64
// CHECK:         gc.reshape {{.*}} : (tensor<2x3x3x4xf32>) -> tensor<18x4xf32>
// CHECK:         gc.reshape {{.*}} : (tensor<18x4xf32>) -> tensor<2x36xf32>
// CHECK:         gc.transpose {{.*}} -> tensor<36x2xf32>
// CHECK:         gc.transpose {{.*}} -> tensor<2x36xf32>
// CHECK:         gc.cross_entropy {{.*}} : (tensor<2x36xf32>, tensor<2xi32>) -> (tensor<f32>, tensor<2xf32>)
func.func @model(%x: tensor<4x3x3x2xf32> {gc.input = "x"}, %l: tensor<4xi32> {gc.input = "l"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<4x1x1x2xf32>
  %s = gc.read @s : tensor<4xf32>
  %c = gc.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<4x3x3x2xf32>, tensor<4x1x1x2xf32>) -> tensor<4x3x3x4xf32>
  %n, %m, %r = gc.batch_norm %c, %s, %s {epsilon = 0.25 : f32} : (tensor<4x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>)
  gc.running_stats @m, @v, %m, %r {momentum = 0.5 : f32, epsilon = 0.25 : f32, count = 36 : i64} : tensor<4xf32>, tensor<4xf32>
  %a = gc.reshape %n : (tensor<4x3x3x4xf32>) -> tensor<36x4xf32>
  %b = gc.reshape %a : (tensor<36x4xf32>) -> tensor<4x36xf32>
  %t = gc.transpose %b {permutation = array<i64: 1, 0>} : (tensor<4x36xf32>) -> tensor<36x4xf32>
  %u = gc.transpose %t {permutation = array<i64: 1, 0>} : (tensor<36x4xf32>) -> tensor<4x36xf32>
  %loss, %lse = gc.cross_entropy %u, %l : (tensor<4x36xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}

// -----

// What a broadcast makes is the batch where it meets the batch.
// CHECK-LABEL: func.func @model(
// CHECK:         gc.broadcast {{.*}} : (tensor<3xf32>) -> tensor<2x3xf32>
// CHECK:         gc.mul {{.*}} -> tensor<2x3xf32>
gc.parameter @w : tensor<3xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<4x3xf32> {gc.input = "x"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3xf32>
  %b = gc.broadcast %w {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<4x3xf32>
  %y = gc.mul %x, %b : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %loss = gc.reduce_mean %y {dimensions = array<i64: 0, 1>} : (tensor<4x3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
