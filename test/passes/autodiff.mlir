// RUN: gc-opt %s --gc-autodiff --split-input-file | FileCheck %s

// The image's gradient is not computed; the ReLU's adjoint reads its output; the bias's gradient is
// the second result of the filter's.
gc.parameter @"conv.weight" : tensor<4x3x3x2xf32> = #gc.init<constant, [0.0]>
gc.parameter @"conv.bias" : tensor<4xf32> = #gc.init<constant, [0.0]>
gc.parameter @"fc.weight" : tensor<3x4xf32> = #gc.init<constant, [0.0]>

// CHECK-LABEL: func.func @train(
// CHECK-SAME:    %[[X:.*]]: tensor<5x7x7x2xf32> {gc.input = "image"}, %[[L:.*]]: tensor<5xi32>
// CHECK-SAME:    -> (tensor<f32> {gc.output = "loss"}, tensor<f32> {gc.output = "correct"})
// CHECK-SAME:    attributes {gc.list = "micro_batch"}
// CHECK:         %[[R:.*]] = gc.relu
// CHECK:         %[[P:.*]] = gc.global_avg_pool %[[R]]
// CHECK:         %[[LOGITS:.*]] = gc.linear %[[P]], %[[W:[^ ]*]]
// CHECK:         %[[LOSS:.*]], %[[LSE:.*]] = gc.cross_entropy %[[LOGITS]], %[[L]]
// CHECK:         %[[CORRECT:.*]] = gc.accuracy
// CHECK-NEXT:    %[[SEED:.*]] = gc.gradient_seed {scale = 1.000000e+00 : f32}
// CHECK-NEXT:    %[[DLOGITS:.*]] = gc.cross_entropy_grad %[[LOGITS]], %[[L]], %[[LSE]], %[[SEED]]
// CHECK-NEXT:    %[[DW:.*]] = gc.linear_grad_weight %[[P]], %[[DLOGITS]]
// CHECK-NEXT:    %[[DP:.*]] = gc.linear_grad_input %[[DLOGITS]], %[[W]]
// CHECK-NEXT:    gc.gradient @fc.weight, %[[DW]]
// CHECK-NEXT:    %[[DR:.*]] = gc.global_avg_pool_grad %[[DP]]
// CHECK-NEXT:    %[[DC:.*]] = gc.relu_grad %[[R]], %[[DR]]
// CHECK-NEXT:    %[[DF:.*]], %[[DB:.*]] = gc.conv2d_grad_filter %[[X]], %[[DC]]
// CHECK-NEXT:    gc.gradient @conv.weight, %[[DF]]
// CHECK-NEXT:    gc.gradient @conv.bias, %[[DB]]
// CHECK-NEXT:    return %[[LOSS]], %[[CORRECT]]
// CHECK-NOT:     gc.conv2d_grad_input
func.func @model(%image: tensor<5x7x7x2xf32> {gc.input = "image"}, %label: tensor<5xi32> {gc.input = "label"})
    -> (tensor<f32> {gc.output = "loss"}, tensor<f32> {gc.output = "correct"}) {
  %f = gc.read @"conv.weight" : tensor<4x3x3x2xf32>
  %b = gc.read @"conv.bias" : tensor<4xf32>
  %w = gc.read @"fc.weight" : tensor<3x4xf32>
  %c = gc.conv2d %image, %f bias %b {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>}
      : (tensor<5x7x7x2xf32>, tensor<4x3x3x2xf32>, tensor<4xf32>) -> tensor<5x7x7x4xf32>
  %r = gc.relu %c : (tensor<5x7x7x4xf32>) -> tensor<5x7x7x4xf32>
  %p = gc.global_avg_pool %r : (tensor<5x7x7x4xf32>) -> tensor<5x4xf32>
  %logits = gc.linear %p, %w : (tensor<5x4xf32>, tensor<3x4xf32>) -> tensor<5x3xf32>
  %loss, %lse = gc.cross_entropy %logits, %label : (tensor<5x3xf32>, tensor<5xi32>) -> (tensor<f32>, tensor<5xf32>)
  %correct = gc.accuracy %logits, %label : (tensor<5x3xf32>, tensor<5xi32>) -> tensor<f32>
  return %loss, %correct : tensor<f32>, tensor<f32>
}

// -----

// Gradients that meet in a value are added, a later use's first; a parameter that is read twice gets
// one gradient, after the last of its adjoints.
gc.parameter @w : tensor<7xf32> = #gc.init<constant, [0.0]>

// CHECK-LABEL: func.func @train(
// CHECK:         %[[W0:.*]] = gc.read @w
// CHECK:         %[[W1:.*]] = gc.read @w
// CHECK:         %[[A:.*]] = gc.tanh %[[W0]]
// CHECK:         gc.gradient_seed
// CHECK-NEXT:    %[[DC:.*]] = gc.broadcast
// CHECK-NEXT:    %[[DA1:.*]] = gc.mul %[[DC]], %[[W1]]
// CHECK-NEXT:    %[[DW1:.*]] = gc.mul %[[DC]], %[[B:.*]] :
// CHECK-NEXT:    %[[DA0:.*]] = gc.mul %[[DA1]], %[[A]]
// CHECK-NEXT:    %[[DA2:.*]] = gc.mul %[[DA1]], %[[A]]
// CHECK-NEXT:    %[[DA:.*]] = gc.add %[[DA0]], %[[DA2]]
// CHECK-NEXT:    %[[T0:.*]] = gc.mul %[[DA]], %[[A]]
// CHECK-NEXT:    %[[T1:.*]] = gc.mul %[[T0]], %[[A]]
// CHECK-NEXT:    %[[DW0:.*]] = gc.sub %[[DA]], %[[T1]]
// CHECK-NEXT:    %[[DW:.*]] = gc.add %[[DW0]], %[[DW1]]
// CHECK-NEXT:    gc.gradient @w, %[[DW]]
// CHECK-NEXT:    return
func.func @model() -> (tensor<f32> {gc.output = "loss"}) {
  %w0 = gc.read @w : tensor<7xf32>
  %w1 = gc.read @w : tensor<7xf32>
  %a = gc.tanh %w0 : (tensor<7xf32>) -> tensor<7xf32>
  %b = gc.mul %a, %a : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>
  %c = gc.mul %b, %w1 : (tensor<7xf32>, tensor<7xf32>) -> tensor<7xf32>
  %loss = gc.reduce_sum %c {dimensions = array<i64: 0>} : (tensor<7xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// State gets no gradient, running statistics stay as they are, and a function that is already a
// command list is left alone.
gc.parameter @w : tensor<3xf32> = #gc.init<constant, [1.0]>
gc.parameter @b : tensor<3xf32> = #gc.init<constant, [0.0]>
gc.state @m running_statistic : tensor<3xf32> = #gc.init<constant, [0.0]>
gc.state @v running_statistic : tensor<3xf32> = #gc.init<constant, [1.0]>

// CHECK-LABEL: func.func @train(
// CHECK:         %[[Y:.*]], %[[MEAN:.*]], %[[RSTD:.*]] = gc.batch_norm %[[X:.*]], %{{.*}}, %{{.*}} {
// CHECK:         gc.running_stats @m, @v, %[[MEAN]], %[[RSTD]]
// CHECK:         gc.gradient_seed
// CHECK-NOT:     gc.running_stats
// CHECK:         %[[DW:.*]], %[[DB:.*]] = gc.batch_norm_grad_params %{{.*}}, %[[X]], %[[MEAN]], %[[RSTD]]
// CHECK-NOT:     gc.batch_norm_grad_input
// CHECK:         gc.gradient @w, %[[DW]]
// CHECK:         gc.gradient @b, %[[DB]]
func.func @model(%x: tensor<5x3xf32>) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3xf32>
  %b = gc.read @b : tensor<3xf32>
  %m = gc.read @m : tensor<3xf32>
  %y, %mean, %rstd = gc.batch_norm %x, %w, %b {epsilon = 1.0e-5 : f32} : (tensor<5x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>, tensor<3xf32>)
  gc.running_stats @m, @v, %mean, %rstd {momentum = 0.1 : f32, epsilon = 1.0e-5 : f32, count = 5 : i64} : tensor<3xf32>, tensor<3xf32>
  %z = gc.bias %y, %m : (tensor<5x3xf32>, tensor<3xf32>) -> tensor<5x3xf32>
  %loss = gc.reduce_sum %z {dimensions = array<i64: 0, 1>} : (tensor<5x3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
// CHECK-LABEL: func.func @evaluate(
// CHECK-NOT:     gc.gradient_seed
// CHECK:         return
func.func @evaluate(%x: tensor<f32>) -> (tensor<f32> {gc.output = "loss"}) attributes {gc.list = "evaluate"} {
  return %x : tensor<f32>
}

// -----

// A gradient has the type of what it is the gradient of; sums are f32.
gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
gc.parameter @b : tensor<3xf32> = #gc.init<constant, [0.0]>

// CHECK-LABEL: func.func @train(
// CHECK:         gc.cross_entropy_grad {{.*}} -> tensor<5x3xbf16>
// CHECK-DAG:     %[[DW:.*]] = gc.linear_grad_weight {{.*}} : (tensor<5x4xbf16>, tensor<5x3xbf16>) -> tensor<3x4xbf16>
// CHECK-DAG:     %[[S:.*]] = gc.cast %[[DW]] : (tensor<3x4xbf16>) -> tensor<3x4xf32>
// CHECK-DAG:     %[[DB:.*]] = gc.reduce_sum {{.*}} : (tensor<5x3xbf16>) -> tensor<3xf32>
// CHECK-DAG:     gc.gradient @w, %[[S]] : tensor<3x4xf32>
// CHECK-DAG:     gc.gradient @b, %[[DB]] : tensor<3xf32>
func.func @model(%x: tensor<5x4xbf16>, %label: tensor<5xi32>) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %b = gc.read @b : tensor<3xf32>
  %h = gc.cast %w : (tensor<3x4xf32>) -> tensor<3x4xbf16>
  %y = gc.linear %x, %h bias %b : (tensor<5x4xbf16>, tensor<3x4xbf16>, tensor<3xf32>) -> tensor<5x3xbf16>
  %loss, %lse = gc.cross_entropy %y, %label : (tensor<5x3xbf16>, tensor<5xi32>) -> (tensor<f32>, tensor<5xf32>)
  return %loss : tensor<f32>
}
