// RUN: gc-opt %s --gc-inference --gc-autodiff --gc-optimizer="kind=sgd lr=0.5" --gc-accumulate="micro-batches=4" --split-input-file | FileCheck %s
// RUN: gc-opt %s --gc-autodiff --gc-optimizer="kind=adam keep-gradients=true" --gc-accumulate="micro-batches=2" --split-input-file | FileCheck %s --check-prefix=ADAM
// RUN: gc-opt %s --gc-autodiff --gc-optimizer="kind=sgd lr=0.5" --split-input-file > %t.one
// RUN: gc-opt %s --gc-autodiff --gc-optimizer="kind=sgd lr=0.5" --gc-accumulate="micro-batches=1" --split-input-file | diff %t.one -

// A quarter of the batch everywhere, a quarter of the gradient's seed; the update moves to @step.
// CHECK:       gc.parameter @w : tensor<3x4xf32>
// CHECK-DAG:   gc.state @generator generator
// CHECK-DAG:   gc.state @learning_rate schedule
// CHECK:       gc.state @w.gradient accumulator : tensor<3x4xf32> = <constant, [0.{{0*}}e+00]>
// CHECK-NEXT:  gc.state @window_scale accumulator : tensor<f32> = <constant, [1.{{0*}}e+00]>
// CHECK-LABEL: func.func @train(
// CHECK-SAME:    %[[X:.*]]: tensor<2x4xf32> {gc.input = "image"}, %[[L:.*]]: tensor<2xi32>
// CHECK-SAME:    attributes {gc.list = "micro_batch"}
// CHECK-NEXT:    %[[W:.*]] = gc.read @w : tensor<3x4xf32>
// CHECK-NEXT:    %[[Y:.*]] = gc.linear %[[X]], %[[W]] : (tensor<2x4xf32>, tensor<3x4xf32>) -> tensor<2x3xf32>
// CHECK-NEXT:    %[[LOSS:.*]], %[[LSE:.*]] = gc.cross_entropy %[[Y]], %[[L]] : {{.*}} -> (tensor<f32>, tensor<2xf32>)
// CHECK-NEXT:    %[[SEED:.*]] = gc.gradient_seed {scale = 2.500000e-01 : f32}
// CHECK-NEXT:    %[[WINDOW:.*]] = gc.read @window_scale : tensor<f32>
// CHECK-NEXT:    %[[D:.*]] = gc.mul %[[SEED]], %[[WINDOW]]
// CHECK-NEXT:    %[[DY:.*]] = gc.cross_entropy_grad %[[Y]], %[[L]], %[[LSE]], %[[D]] : {{.*}} -> tensor<2x3xf32>
// CHECK-NEXT:    %[[DW:.*]] = gc.linear_grad_weight %[[X]], %[[DY]] : (tensor<2x4xf32>, tensor<2x3xf32>) -> tensor<3x4xf32>
// CHECK-NEXT:    gc.accumulate @w.gradient, %[[DW]] : tensor<3x4xf32>
// CHECK-NEXT:    return %[[LOSS]] : tensor<f32>
// CHECK-LABEL: func.func @step() attributes {gc.list = "step"}
// CHECK-NEXT:    %[[G:.*]] = gc.read @generator
// CHECK-NEXT:    %[[LR:.*]] = gc.read @learning_rate
// CHECK-NEXT:    %[[C:.*]] = gc.optimizer_coefficients %[[G]], %[[LR]]
// CHECK-NEXT:    %[[SUM:.*]] = gc.read @w.gradient : tensor<3x4xf32>
// CHECK-NEXT:    gc.sgd @w, %[[SUM]], %[[C]]
// CHECK-NEXT:    gc.clear @w.gradient : tensor<3x4xf32>
// CHECK-NEXT:    gc.advance @generator
// CHECK-NEXT:    return
// CHECK-LABEL: func.func @evaluate(
// CHECK-SAME:    tensor<2x4xf32>
// CHECK:         gc.linear {{.*}} -> tensor<2x3xf32>

// The step count belongs to the step; a gradient that is kept is copied before it is cleared.
// ADAM-LABEL: func.func @train(
// ADAM-NOT:     gc.advance
// ADAM-NOT:     @generator
// ADAM-LABEL: func.func @step()
// ADAM-NEXT:    %[[G:.*]] = gc.read @generator
// ADAM-NEXT:    %[[LR:.*]] = gc.read @learning_rate
// ADAM-NEXT:    %[[C:.*]] = gc.optimizer_coefficients %[[G]], %[[LR]]
// ADAM-NEXT:    %[[SUM:.*]] = gc.read @w.gradient
// ADAM-NEXT:    %[[COPY:.*]] = gc.scale %[[SUM]] {factor = 1.000000e+00 : f32}
// ADAM-NEXT:    gc.gradient @w, %[[COPY]]
// ADAM-NEXT:    gc.adam @w moments @w.exp_avg, @w.exp_avg_sq, %[[SUM]], %[[C]]
// ADAM-NEXT:    gc.clear @w.gradient
// ADAM-NEXT:    gc.advance @generator
// ADAM-NEXT:    return
gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"})
    -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %y = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}

// -----

// A mean over the batch: its adjoint divides by the elements of a micro-batch. The filter is as long
// as the batch and stays; the reshape joins batch and rows; dropout counts micro-batches.
// CHECK:       gc.state @micro_batch accumulator : tensor<1xi64>
// CHECK-LABEL: func.func @train(
// CHECK-NEXT:    %[[M:.*]] = gc.read @micro_batch : tensor<1xi64>
// CHECK:         gc.conv2d {{.*}} -> tensor<2x3x3x8xf32>
// CHECK-NEXT:    gc.dropout %{{.*}}, %{{.*}}, %[[M]] {id = 0
// CHECK-NEXT:    gc.reshape {{.*}} -> tensor<18x8xf32>
// CHECK:         gc.scale %{{.*}} {factor = 0.0069444445 : f32} : (tensor<f32>) -> tensor<f32>
// CHECK-NEXT:    gc.broadcast %{{.*}} {dimensions = array<i64>} : (tensor<f32>) -> tensor<18x8xf32>
// CHECK:         gc.reshape {{.*}} -> tensor<2x3x3x8xf32>
// CHECK:         gc.conv2d_grad_filter {{.*}} -> tensor<8x1x1x2xf32>
// CHECK:         gc.advance @micro_batch {modulo = 4 : i64}
// CHECK-LABEL: func.func @step()
// CHECK-NOT:     micro_batch
// CHECK:         gc.advance @generator
gc.parameter @w : tensor<8x1x1x2xf32> = #gc.init<constant, [0.0]>
gc.state @generator generator : tensor<2xi64> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<8x3x3x2xf32> {gc.input = "image"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<8x1x1x2xf32>
  %g = gc.read @generator : tensor<2xi64>
  %y = gc.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<8x3x3x2xf32>, tensor<8x1x1x2xf32>) -> tensor<8x3x3x8xf32>
  %d = gc.dropout %y, %g {probability = 0.5 : f32, id = 0 : i64} : (tensor<8x3x3x8xf32>, tensor<2xi64>) -> tensor<8x3x3x8xf32>
  %r = gc.reshape %d : (tensor<8x3x3x8xf32>) -> tensor<72x8xf32>
  %s = gc.mul %r, %r : (tensor<72x8xf32>, tensor<72x8xf32>) -> tensor<72x8xf32>
  %loss = gc.reduce_mean %s {dimensions = array<i64: 0, 1>} : (tensor<72x8xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
