// RUN: gc-opt %s --gc-batch=size=2 --split-input-file --verify-diagnostics
// RUN: not gc-opt %models/mlp.mlir --gc-batch=size=0 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not gc-opt %models/mlp.mlir --gc-batch 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not gc-opt %models/mlp.mlir --gc-batch=size=2147483648 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not gc-opt %models/mlp.mlir --gc-batch=size=2147483647 2>&1 | FileCheck %s --check-prefix=TENSOR
// RUN: not gc-opt %models/mlp.mlir --gc-inference --gc-batch=size=2 2>&1 | FileCheck %s --check-prefix=LIST
// RUN: not gc-opt %models/mlp.mlir --gc-autodiff --gc-batch=size=2 2>&1 | FileCheck %s --check-prefix=TRAIN
// ZERO: error: size must be from 1 to 2147483647, got 0
// LARGE: error: size must be from 1 to 2147483647, got 2147483648
// TENSOR: error: 'gc.reshape' op operand #0 must be {{.*}}at most 1 TiB
// LIST: error: 'func.func' op is the command list "evaluate" already: --gc-batch takes a model, before --gc-inference and --gc-autodiff
// TRAIN: error: 'func.func' op is the command list "micro_batch" already

// expected-error @below {{argument 0 has no batch: expected a tensor of samples, got 'tensor<f32>'}}
func.func @model(%x: tensor<f32> {gc.input = "x"}) -> (tensor<f32> {gc.output = "loss"}) {
  return %x : tensor<f32>
}

// -----

// expected-error @below {{argument 1 holds 8 samples, but the first one 4}}
func.func @model(%x: tensor<4x3xf32> {gc.input = "x"}, %y: tensor<8xi32> {gc.input = "y"}) -> (tensor<f32> {gc.output = "loss"}) {
  %loss = gc.reduce_mean %x {dimensions = array<i64: 0, 1>} : (tensor<4x3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

gc.parameter @w : tensor<f32> = #gc.init<constant, [0.0]>
// expected-error @below {{has no arguments and thus no batch}}
func.func @model() -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<f32>
  return %w : tensor<f32>
}

// -----

gc.parameter @w : tensor<4x3xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<4x3xf32> {gc.input = "x"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<4x3xf32>
  // expected-error @below {{requires the same type for all operands and results}}
  %y = gc.mul %x, %w : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  %loss = gc.reduce_mean %y {dimensions = array<i64: 0, 1>} : (tensor<4x3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

func.func @model(%x: tensor<4x3xf32> {gc.input = "x"}) -> (tensor<f32> {gc.output = "loss"}) {
  // expected-error @below {{works on single samples of the batch and cannot run on a batch of 2}}
  %s = gc.slice %x {axis = 0 : i64, offset = 0 : i64, size = 1 : i64} : (tensor<4x3xf32>) -> tensor<1x3xf32>
  %loss = gc.reduce_mean %s {dimensions = array<i64: 0, 1>} : (tensor<1x3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

func.func @model(%x: tensor<4x3xf32> {gc.input = "x"}) -> (tensor<f32> {gc.output = "loss"}) {
  // expected-error @below {{moves elements across the samples of a batch of 4 and cannot run on a batch of 2}}
  %s = gc.reshape %x : (tensor<4x3xf32>) -> tensor<2x6xf32>
  %loss = gc.reduce_mean %s {dimensions = array<i64: 0, 1>} : (tensor<2x6xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

gc.parameter @t : tensor<1x3xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<4x3xf32> {gc.input = "x"}) -> (tensor<f32> {gc.output = "loss"}) {
  %t = gc.read @t : tensor<1x3xf32>
  // expected-error @below {{joins samples of the batch with something that is none, and cannot run on a batch of 2: 'tensor<5x3xf32>' becomes 'tensor<3x3xf32>'}}
  %y = gc.concat %t, %x {axis = 0 : i64} : (tensor<1x3xf32>, tensor<4x3xf32>) -> tensor<5x3xf32>
  %loss = gc.reduce_mean %y {dimensions = array<i64: 0, 1>} : (tensor<5x3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Nothing tells whether these four are the samples.
gc.parameter @w : tensor<3xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<4x3xf32> {gc.input = "x"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3xf32>
  // expected-error @below {{makes a dimension as long as the batch of 4, and nothing tells whether it is the batch; use another batch}}
  %y = gc.broadcast %w {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<4x3xf32>
  %loss = gc.reduce_mean %y {dimensions = array<i64: 0, 1>} : (tensor<4x3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Statistics of half-filled batches are no statistics of this one.
gc.parameter @s : tensor<3xf32> = #gc.init<constant, [1.0]>
gc.state @m running_statistic : tensor<3xf32> = #gc.init<constant, [0.0]>
gc.state @v running_statistic : tensor<3xf32> = #gc.init<constant, [1.0]>
func.func @model(%x: tensor<4x3xf32> {gc.input = "x"}) -> (tensor<f32> {gc.output = "loss"}) {
  %s = gc.read @s : tensor<3xf32>
  %n, %m, %r = gc.batch_norm %x, %s, %s {epsilon = 0.25 : f32} : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>)
  // expected-error @below {{counts 6 elements a channel, which is no multiple of the batch of 4}}
  gc.running_stats @m, @v, %m, %r {momentum = 0.5 : f32, epsilon = 0.25 : f32, count = 6 : i64} : tensor<3xf32>, tensor<3xf32>
  %loss = gc.reduce_mean %n {dimensions = array<i64: 0, 1>} : (tensor<4x3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Of one sample nothing tells where it goes unless it is outermost.
func.func @model(%x: tensor<1x3xf32> {gc.input = "x"}) -> (tensor<f32> {gc.output = "loss"}) {
  %t = gc.transpose %x {permutation = array<i64: 1, 0>} : (tensor<1x3xf32>) -> tensor<3x1xf32>
  // expected-error @below {{gets its one sample along dimension 1, and nothing tells where it goes, so it cannot run on a batch of 2; use a model with a batch of at least 2}}
  %y = gc.reshape %t : (tensor<3x1xf32>) -> tensor<3xf32>
  %loss = gc.reduce_mean %y {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
