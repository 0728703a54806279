// RUN: gc-opt %s --gc-autodiff --gc-optimizer --gc-accumulate="micro-batches=2" --split-input-file --verify-diagnostics
// RUN: not gc-opt %S/accumulate.mlir --gc-autodiff --gc-optimizer --gc-accumulate="micro-batches=3" --split-input-file 2>&1 | FileCheck %s --check-prefix=DIVIDE
// RUN: not gc-opt %S/accumulate.mlir --gc-autodiff --gc-optimizer --gc-accumulate="micro-batches=16" --split-input-file 2>&1 | FileCheck %s --check-prefix=LARGE
// RUN: not gc-opt %S/accumulate.mlir --gc-autodiff --gc-optimizer --gc-accumulate="micro-batches=0" --split-input-file 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not gc-opt %S/accumulate.mlir --gc-autodiff --gc-accumulate="micro-batches=2" --split-input-file 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not gc-opt %S/accumulate.mlir --gc-autodiff --gc-optimizer --gc-accumulate="micro-batches=2" --gc-accumulate="micro-batches=2" --split-input-file 2>&1 | FileCheck %s --check-prefix=TWICE
// DIVIDE: error: a batch of 8 cannot be split into 3 equal micro-batches; use 1, 2, 4 or 8
// LARGE: error: a batch of 8 cannot be split into 16 equal micro-batches; use 1, 2, 4 or 8
// ZERO: error: micro-batches must be at least 1, got 0
// NONE: has no updates: run --gc-optimizer first
// TWICE: is there already: --gc-accumulate runs once

gc.parameter @w : tensor<3xf32> = #gc.init<constant, [0.0]>
gc.parameter @b : tensor<3xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<8x3xf32> {gc.input = "x"}, %l: tensor<8xi32> {gc.input = "l"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3xf32>
  %b = gc.read @b : tensor<3xf32>
  // expected-warning @below {{batch statistics are those of a micro-batch, so 2 micro-batches do not give the step of the whole batch: 'batch_norm@accumulate-invalid.mlir:19'; where they must be equal, use one micro-batch, or gc.group_norm instead of gc.batch_norm in the model}}
  %y, %m, %r = gc.batch_norm %x, %w, %b {epsilon = 1.0e-5 : f32} : (tensor<8x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<8x3xf32>, tensor<3xf32>, tensor<3xf32>)
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}

// -----

gc.parameter @w : tensor<8x3xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<8x3xf32> {gc.input = "x"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<8x3xf32>
  // expected-error @below {{requires the same type for all operands and results}}
  %y = gc.mul %x, %w : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x3xf32>
  %loss = gc.reduce_mean %y {dimensions = array<i64: 0, 1>} : (tensor<8x3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

gc.parameter @w : tensor<3xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<8x3xf32> {gc.input = "x"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3xf32>
  %y = gc.bias %x, %w : (tensor<8x3xf32>, tensor<3xf32>) -> tensor<8x3xf32>
  // expected-error @below {{works on single samples of the batch and cannot run on a part of the batch}}
  %s = gc.slice %y {axis = 0 : i64, offset = 0 : i64, size = 1 : i64} : (tensor<8x3xf32>) -> tensor<1x3xf32>
  %loss = gc.reduce_mean %s {dimensions = array<i64: 0, 1>} : (tensor<1x3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

gc.parameter @w : tensor<3xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<8x3xf32> {gc.input = "x"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3xf32>
  %y = gc.bias %x, %w : (tensor<8x3xf32>, tensor<3xf32>) -> tensor<8x3xf32>
  // expected-error @below {{moves elements across the samples of a batch of 8 and cannot run on a part of the batch}}
  %s = gc.reshape %y : (tensor<8x3xf32>) -> tensor<2x12xf32>
  %loss = gc.reduce_mean %s {dimensions = array<i64: 0, 1>} : (tensor<2x12xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// Nothing tells whether these eight are the samples.
gc.parameter @w : tensor<3xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<8x3xf32> {gc.input = "x"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3xf32>
  // expected-error @below {{makes a dimension as long as the batch of 8, and nothing tells whether it is the batch; use another batch}}
  %y = gc.broadcast %w {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<8x3xf32>
  %loss = gc.reduce_mean %y {dimensions = array<i64: 0, 1>} : (tensor<8x3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

gc.parameter @w : tensor<3xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<8x3xf32> {gc.input = "x"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3xf32>
  %y = gc.bias %x, %w : (tensor<8x3xf32>, tensor<3xf32>) -> tensor<8x3xf32>
  // expected-warning @below {{samples are mixed within a micro-batch alone, so 2 micro-batches do not give the step of the whole batch: 'reduce_sum@accumulate-invalid.mlir:78'; use means over the batch, or one micro-batch}}
  %loss = gc.reduce_sum %y {dimensions = array<i64: 0, 1>} : (tensor<8x3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// expected-error @below {{argument 1 holds 4 samples, but the first one 8}}
func.func @model(%x: tensor<8x3xf32> {gc.input = "x"}, %z: tensor<4x3xf32> {gc.input = "z"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3xf32>
  %y = gc.bias %x, %w : (tensor<8x3xf32>, tensor<3xf32>) -> tensor<8x3xf32>
  %loss = gc.reduce_mean %y {dimensions = array<i64: 0, 1>} : (tensor<8x3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
gc.parameter @w : tensor<3xf32> = #gc.init<constant, [0.0]>

// -----

// Each sample meets all others, although each has a place of its own in the result.
gc.parameter @w : tensor<3xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<8x3xf32> {gc.input = "x"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3xf32>
  %y = gc.bias %x, %w : (tensor<8x3xf32>, tensor<3xf32>) -> tensor<8x3xf32>
  // expected-warning @below {{samples are mixed within a micro-batch alone, so 2 micro-batches do not give the step of the whole batch: 'matmul@accumulate-invalid.mlir}}
  %p = gc.matmul %y, %y {transpose_rhs = true} : (tensor<8x3xf32>, tensor<8x3xf32>) -> tensor<8x8xf32>
  %loss = gc.reduce_mean %p {dimensions = array<i64: 0, 1>} : (tensor<8x8xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

gc.parameter @w : tensor<3xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<8x3xf32> {gc.input = "x"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3xf32>
  // expected-error @below {{'arith.constant' does not say what it does to the samples of a batch (BatchOpInterface), so the model cannot run on a part of the batch}}
  %one = arith.constant dense<1.0> : tensor<3xf32>
  %y = gc.bias %x, %w : (tensor<8x3xf32>, tensor<3xf32>) -> tensor<8x3xf32>
  %z = gc.bias %y, %one : (tensor<8x3xf32>, tensor<3xf32>) -> tensor<8x3xf32>
  %loss = gc.reduce_mean %z {dimensions = array<i64: 0, 1>} : (tensor<8x3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
