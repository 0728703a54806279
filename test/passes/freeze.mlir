// RUN: gc-opt %s --gc-freeze="names=conv.weight,norm.*" | FileCheck %s --check-prefix=MARKS
// RUN: gc-opt %s --gc-freeze="train-only=fc.*" | FileCheck %s --check-prefix=MARKS
// RUN: gc-opt %s --gc-freeze="train-only=fc.*" --gc-autodiff | FileCheck %s --check-prefix=HEAD
// RUN: gc-opt %s --gc-freeze="names=norm.*" --gc-autodiff | FileCheck %s --check-prefix=BATCH
// RUN: gc-opt %s --gc-freeze="names=norm.* norms" --gc-autodiff | FileCheck %s --check-prefix=NORMS
// RUN: gc-opt %s --gc-freeze="names=norm.bias" --gc-autodiff | FileCheck %s --check-prefix=BIAS
// RUN: gc-opt %s --gc-freeze="train-only=fc.*" --gc-autodiff --gc-optimizer="kind=adam" | FileCheck %s --check-prefix=STATE

gc.parameter @conv.weight : tensor<4x3x3x2xf32> = #gc.init<constant, [0.0]>
gc.parameter @norm.weight : tensor<4xf32> = #gc.init<constant, [1.0]>
gc.parameter @norm.bias : tensor<4xf32> = #gc.init<constant, [0.0]>
gc.state @norm.running_mean running_statistic : tensor<4xf32> = #gc.init<constant, [0.0]>
gc.state @norm.running_var running_statistic : tensor<4xf32> = #gc.init<constant, [1.0]>
gc.parameter @fc.weight : tensor<3x4xf32> = #gc.init<constant, [0.0]>
gc.parameter @fc.bias : tensor<3xf32> = #gc.init<constant, [0.0]>

// MARKS: gc.parameter @conv.weight {{.*}} {gc.frozen}
// MARKS: gc.parameter @norm.weight {{.*}} {gc.frozen}
// MARKS: gc.parameter @norm.bias {{.*}} {gc.frozen}
// MARKS: gc.parameter @fc.weight : tensor<3x4xf32> = <constant, [0.000000e+00]>{{$}}
// MARKS: gc.batch_norm
// MARKS: gc.running_stats

// Backward ends above the frozen layers, and the norm still sees the batch.
// HEAD-LABEL: func.func @train(
// HEAD:         gc.batch_norm
// HEAD:         gc.running_stats
// HEAD:         gc.cross_entropy_grad
// HEAD-NOT:     gc.linear_grad_input
// HEAD:         gc.linear_grad_weight
// HEAD:         gc.gradient @fc.weight
// HEAD:         gc.gradient @fc.bias
// HEAD-NOT:     gc.gradient
// HEAD-NOT:     _grad

// The gradient passes through a frozen norm, whose statistics are the batch's.
// BATCH-LABEL: func.func @train(
// BATCH:         gc.batch_norm
// BATCH:         gc.batch_norm_grad_input
// BATCH-NOT:     gc.gradient @norm
// BATCH:         gc.gradient @conv.weight

// In inference form the norm keeps nothing of its input for the backward pass.
// NORMS-LABEL: func.func @train(
// NORMS:         %[[W:.*]] = gc.read @norm.weight
// NORMS:         %[[M:.*]] = gc.read @norm.running_mean
// NORMS:         %[[V:.*]] = gc.read @norm.running_var
// NORMS:         %[[S:.*]] = gc.inverse_deviation %[[V]]
// NORMS:         gc.normalize %{{.*}}, %[[M]], %[[S]], %[[W]]
// NORMS-NOT:     gc.running_stats
// NORMS:         %[[DY:.*]] = gc.relu_grad
// NORMS-NEXT:    %[[DX:.*]] = gc.normalize_grad %[[DY]], %[[S]], %[[W]]
// NORMS-NOT:     gc.batch_norm
// NORMS:         gc.gradient @conv.weight

// A norm that is frozen in part is trained in the other.
// BIAS-LABEL: func.func @train(
// BIAS:         gc.gradient @norm.weight
// BIAS-NOT:     gc.gradient @norm.bias
// BIAS:         return

// STATE-NOT: gc.state @conv.weight.exp_avg
// STATE-NOT: gc.state @norm.{{.*}}.exp_avg
// STATE-DAG: gc.state @fc.weight.exp_avg_sq
// STATE-DAG: gc.state @fc.bias.exp_avg_sq
func.func @model(%image: tensor<5x7x7x2xf32> {gc.input = "image"}, %label: tensor<5xi32> {gc.input = "label"})
    -> (tensor<f32> {gc.output = "loss"}) {
  %f = gc.read @conv.weight : tensor<4x3x3x2xf32>
  %s = gc.read @norm.weight : tensor<4xf32>
  %t = gc.read @norm.bias : tensor<4xf32>
  %w = gc.read @fc.weight : tensor<3x4xf32>
  %b = gc.read @fc.bias : tensor<3xf32>
  %c = gc.conv2d %image, %f {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>}
      : (tensor<5x7x7x2xf32>, tensor<4x3x3x2xf32>) -> tensor<5x7x7x4xf32>
  %n, %mean, %rstd = gc.batch_norm %c, %s, %t {epsilon = 0.25 : f32}
      : (tensor<5x7x7x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<5x7x7x4xf32>, tensor<4xf32>, tensor<4xf32>)
  gc.running_stats @norm.running_mean, @norm.running_var, %mean, %rstd {momentum = 0.1 : f32, epsilon = 0.25 : f32, count = 245 : i64} : tensor<4xf32>, tensor<4xf32>
  %r = gc.relu %n : (tensor<5x7x7x4xf32>) -> tensor<5x7x7x4xf32>
  %p = gc.global_avg_pool %r : (tensor<5x7x7x4xf32>) -> tensor<5x4xf32>
  %logits = gc.linear %p, %w bias %b : (tensor<5x4xf32>, tensor<3x4xf32>, tensor<3xf32>) -> tensor<5x3xf32>
  %loss, %lse = gc.cross_entropy %logits, %label : (tensor<5x3xf32>, tensor<5xi32>) -> (tensor<f32>, tensor<5xf32>)
  return %loss : tensor<f32>
}
