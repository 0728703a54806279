// RUN: gc-opt %s --gc-inference --split-input-file | FileCheck %s

gc.parameter @w : tensor<3xf32> = #gc.init<constant, [1.0]>
gc.parameter @b : tensor<3xf32> = #gc.init<constant, [0.0]>
gc.state @m running_statistic : tensor<3xf32> = #gc.init<constant, [0.0]>
gc.state @v running_statistic : tensor<3xf32> = #gc.init<constant, [1.0]>
gc.state @generator generator : tensor<2xi64> = #gc.init<constant, [0.0]>

// The model itself stays.
// CHECK-LABEL: func.func @model(
// CHECK:         gc.batch_norm
// CHECK:         gc.running_stats
// CHECK:         gc.dropout
// CHECK-LABEL: func.func @evaluate(
// CHECK-SAME:    %[[X:.*]]: tensor<5x3xf32> {gc.input = "image"}) -> (tensor<f32> {gc.output = "loss"}) attributes {gc.list = "evaluate"}
// CHECK-NOT:     gc.read @generator
// CHECK:         %[[W:.*]] = gc.read @w
// CHECK:         %[[B:.*]] = gc.read @b
// CHECK:         %[[M:.*]] = gc.read @m
// CHECK:         %[[V:.*]] = gc.read @v
// CHECK:         %[[R:.*]] = gc.inverse_deviation %[[V]] {epsilon = 0.00999{{[0-9]*}} : f32}
// CHECK:         %[[Y:.*]] = gc.normalize %[[X]], %[[M]], %[[R]], %[[W]], %[[B]]
// CHECK-NOT:     gc.batch_norm
// CHECK-NOT:     gc.running_stats
// CHECK-NOT:     gc.dropout
// CHECK:         gc.reduce_sum %[[Y]]
func.func @model(%x: tensor<5x3xf32> {gc.input = "image"}) -> (tensor<f32> {gc.output = "loss"}) {
  %g = gc.read @generator : tensor<2xi64>
  %w = gc.read @w : tensor<3xf32>
  %b = gc.read @b : tensor<3xf32>
  %y, %mean, %rstd = gc.batch_norm %x, %w, %b {epsilon = 0.01 : f32} : (tensor<5x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>, tensor<3xf32>)
  gc.running_stats @m, @v, %mean, %rstd {momentum = 0.1 : f32, epsilon = 0.01 : f32, count = 5 : i64} : tensor<3xf32>, tensor<3xf32>
  %d = gc.dropout %y, %g {probability = 0.5 : f32, id = 0 : i64} : (tensor<5x3xf32>, tensor<2xi64>) -> tensor<5x3xf32>
  %loss = gc.reduce_sum %d {dimensions = array<i64: 0, 1>} : (tensor<5x3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Losses of a test split are plain ones.
// CHECK-LABEL: func.func @model(
// CHECK:         gc.cross_entropy %{{.*}}, %{{.*}} {label_smoothing = 2.500000e-01 : f32}
// CHECK-LABEL: func.func @evaluate(
// CHECK:         gc.cross_entropy %{{[^ ]*}}, %{{[^ ]*}} :
func.func @model(%x: tensor<5x3xf32>, %l: tensor<5xi32>) -> (tensor<f32> {gc.output = "loss"}) {
  %loss, %lse = gc.cross_entropy %x, %l {label_smoothing = 0.25 : f32} : (tensor<5x3xf32>, tensor<5xi32>) -> (tensor<f32>, tensor<5xf32>)
  return %loss : tensor<f32>
}

// -----

// A norm that keeps no running statistics uses the batch's in inference too, as in PyTorch.
// CHECK-LABEL: func.func @evaluate(
// CHECK-NOT:     gc.normalize
// CHECK:         gc.batch_norm
func.func @model(%x: tensor<5x3xf32>, %w: tensor<3xf32>) -> (tensor<f32> {gc.output = "loss"}) {
  %y, %mean, %rstd = gc.batch_norm %x, %w, %w {epsilon = 0.01 : f32} : (tensor<5x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %loss = gc.reduce_sum %y {dimensions = array<i64: 0, 1>} : (tensor<5x3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

gc.state @m running_statistic : tensor<3xf32> = #gc.init<constant, [0.0]>
gc.state @v running_statistic : tensor<3xf32> = #gc.init<constant, [1.0]>

// Statistics written apart are replaced as well.
// CHECK-LABEL: func.func @evaluate(
// CHECK-NOT:     gc.batch_stats
// CHECK:         %[[M:.*]] = gc.read @m
// CHECK:         %[[R:.*]] = gc.inverse_deviation
// CHECK:         gc.normalize %{{.*}}, %[[M]], %[[R]]
func.func @model(%x: tensor<5x3xf32>, %w: tensor<3xf32>) -> (tensor<f32> {gc.output = "loss"}) {
  %mean, %rstd = gc.batch_stats %x {epsilon = 0.01 : f32} : (tensor<5x3xf32>) -> (tensor<3xf32>, tensor<3xf32>)
  gc.running_stats @m, @v, %mean, %rstd {momentum = 0.1 : f32, epsilon = 0.01 : f32, count = 5 : i64} : tensor<3xf32>, tensor<3xf32>
  %y = gc.normalize %x, %mean, %rstd, %w, %w : (tensor<5x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<5x3xf32>
  %loss = gc.reduce_sum %y {dimensions = array<i64: 0, 1>} : (tensor<5x3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
