// RUN: gc-opt %s --gc-autodiff --gc-expand --gc-fuse | FileCheck %s

// The mask of ReLU is derived from the norm's input, which the same kernel reads anyway: %a is read by
// the weight gradient alone.
// CHECK-LABEL: func.func @train(
// CHECK:         %[[C:.*]] = gc.conv2d
// CHECK:         %[[A:.*]] = gc.fused (%{{.*}} = %[[C]] :
// CHECK:         gc.conv2d %[[A]]
// CHECK:         gc.gradient_seed
// CHECK:         gc.conv2d_grad_filter %[[A]]
// CHECK:         %[[DA:.*]] = gc.conv2d_grad_input
// CHECK-NOT:     %[[A]]
// CHECK:         gc.fused (
// CHECK-SAME:      %[[C]]
// CHECK:           gc.normalize {{.*}}gc.rederived
// CHECK:           %[[MASK:.*]] = gc.relu {{.*}}gc.rederived
// CHECK:           gc.relu_grad %[[MASK]]
// CHECK:         return
gc.parameter @w1 : tensor<4x3x3x2xf32> = #gc.init<constant, [0.0]>
gc.parameter @w2 : tensor<4x3x3x4xf32> = #gc.init<constant, [0.0]>
gc.parameter @s : tensor<4xf32> = #gc.init<constant, [1.0]>
gc.parameter @t : tensor<4xf32> = #gc.init<constant, [0.0]>
gc.parameter @fc : tensor<3x4xf32> = #gc.init<constant, [0.0]>
gc.state @m running_statistic : tensor<4xf32> = #gc.init<constant, [0.0]>
gc.state @v running_statistic : tensor<4xf32> = #gc.init<constant, [1.0]>
func.func @model(%x: tensor<5x7x7x2xf32> {gc.input = "image"}, %label: tensor<5xi32> {gc.input = "label"})
    -> (tensor<f32> {gc.output = "loss"}) {
  %w1 = gc.read @w1 : tensor<4x3x3x2xf32>
  %w2 = gc.read @w2 : tensor<4x3x3x4xf32>
  %s = gc.read @s : tensor<4xf32>
  %t = gc.read @t : tensor<4xf32>
  %fc = gc.read @fc : tensor<3x4xf32>
  %c = gc.conv2d %x, %w1 {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<5x7x7x2xf32>, tensor<4x3x3x2xf32>) -> tensor<5x7x7x4xf32>
  %n, %mean, %rstd = gc.batch_norm %c, %s, %t {epsilon = 1.0e-5 : f32} : (tensor<5x7x7x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<5x7x7x4xf32>, tensor<4xf32>, tensor<4xf32>)
  gc.running_stats @m, @v, %mean, %rstd {momentum = 0.1 : f32, epsilon = 1.0e-5 : f32, count = 245 : i64} : tensor<4xf32>, tensor<4xf32>
  %a = gc.relu %n : (tensor<5x7x7x4xf32>) -> tensor<5x7x7x4xf32>
  %d = gc.conv2d %a, %w2 {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<5x7x7x4xf32>, tensor<4x3x3x4xf32>) -> tensor<5x7x7x4xf32>
  %p = gc.global_avg_pool %d : (tensor<5x7x7x4xf32>) -> tensor<5x4xf32>
  %logits = gc.linear %p, %fc : (tensor<5x4xf32>, tensor<3x4xf32>) -> tensor<5x3xf32>
  %loss, %lse = gc.cross_entropy %logits, %label : (tensor<5x3xf32>, tensor<5xi32>) -> (tensor<f32>, tensor<5xf32>)
  return %loss : tensor<f32>
}
