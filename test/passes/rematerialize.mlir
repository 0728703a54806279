// RUN: gc-opt %s --gc-autodiff --gc-rematerialize="policy=all" | FileCheck %s
// RUN: gc-opt %s --gc-autodiff --gc-rematerialize="policy=none" | FileCheck %s --check-prefix=NONE
// RUN: not gc-opt %s --gc-autodiff --gc-rematerialize="policy=budget budget=64" 2>&1 | FileCheck %s --check-prefix=BUDGET
// RUN: not gc-opt %s --gc-autodiff --gc-rematerialize="policy=budget budget=-1GB" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: gc-opt %models/convnet.mlir --gc-train="policy=budget budget=8.2MB" | FileCheck %s --check-prefix=TRAIN
// RUN: not gc-opt %s --gc-autodiff --gc-rematerialize="policy=some" 2>&1 | FileCheck %s --check-prefix=POLICY

// Everything that backward needs is computed again before it, marked; running statistics are not.
// CHECK-LABEL: func.func @train(
// CHECK-SAME:    gc.recomputed_ops
// CHECK:         gc.running_stats
// CHECK:         gc.gradient_seed
// CHECK:         %[[C:.*]] = gc.conv2d {{.*}}gc.recomputed
// CHECK:         gc.batch_norm %[[C]]{{.*}}gc.recomputed
// CHECK-NOT:     gc.running_stats
// CHECK:         gc.conv2d_grad_filter
// CHECK:         return

// NONE-LABEL: func.func @train(
// NONE-NOT:     gc.recomputed
// NONE:         return

// BUDGET: error: the budget of 64 bytes (0.0 MiB) cannot be met: this step needs at least
// SIZE: error: budget '-1GB' is not a size above 0
// TRAIN: module {{.*}}gc.arena_bytes = 81{{[0-9]+}}
// TRAIN: gc.recomputed
// POLICY: error: unknown policy 'some': use none, all, sqrt, checkpoints or budget
gc.parameter @w1 : tensor<4x3x3x2xf32> = #gc.init<constant, [0.0]>
gc.parameter @s : tensor<4xf32> = #gc.init<constant, [1.0]>
gc.parameter @t : tensor<4xf32> = #gc.init<constant, [0.0]>
gc.parameter @fc : tensor<3x4xf32> = #gc.init<constant, [0.0]>
gc.state @m running_statistic : tensor<4xf32> = #gc.init<constant, [0.0]>
gc.state @v running_statistic : tensor<4xf32> = #gc.init<constant, [1.0]>
func.func @model(%x: tensor<5x7x7x2xf32> {gc.input = "image"}, %label: tensor<5xi32> {gc.input = "label"})
    -> (tensor<f32> {gc.output = "loss"}) {
  %w1 = gc.read @w1 : tensor<4x3x3x2xf32>
  %s = gc.read @s : tensor<4xf32>
  %t = gc.read @t : tensor<4xf32>
  %fc = gc.read @fc : tensor<3x4xf32>
  %c = gc.conv2d %x, %w1 {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<5x7x7x2xf32>, tensor<4x3x3x2xf32>) -> tensor<5x7x7x4xf32>
  %n, %mean, %rstd = gc.batch_norm %c, %s, %t {epsilon = 1.0e-5 : f32} : (tensor<5x7x7x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<5x7x7x4xf32>, tensor<4xf32>, tensor<4xf32>)
  gc.running_stats @m, @v, %mean, %rstd {momentum = 0.1 : f32, epsilon = 1.0e-5 : f32, count = 245 : i64} : tensor<4xf32>, tensor<4xf32>
  %a = gc.relu %n : (tensor<5x7x7x4xf32>) -> tensor<5x7x7x4xf32>
  %p = gc.global_avg_pool %a : (tensor<5x7x7x4xf32>) -> tensor<5x4xf32>
  %logits = gc.linear %p, %fc : (tensor<5x4xf32>, tensor<3x4xf32>) -> tensor<5x3xf32>
  %loss, %lse = gc.cross_entropy %logits, %label : (tensor<5x3xf32>, tensor<5xi32>) -> (tensor<f32>, tensor<5xf32>)
  return %loss : tensor<f32>
}
