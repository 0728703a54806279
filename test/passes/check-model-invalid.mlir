// What passes would ignore, and what contradicts itself.
// RUN: gc-opt %s --gc-check-model --split-input-file --verify-diagnostics

// The model that the others break.
gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %y = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}

// -----

gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %y = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}
// expected-error @below {{'builtin.module' has no meaning in a model: expected gc.parameter, gc.state and one function}}
module {
}

// -----

gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %y = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}
// expected-error @below {{'func.func' op would be ignored: a model is one function, 'model'; remove this one}}
func.func private @other(tensor<4xf32>)

// -----

gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %y = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}
// expected-error @below {{is a command list already: expected a model that no pass has changed}}
func.func @other() attributes {gc.list = "step"} {
  return
}

// -----

gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
// expected-error @below {{has no attribute 'classes'}}
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}) -> (tensor<f32> {gc.output = "loss"}) attributes {classes = 3 : i64} {
  %w = gc.read @w : tensor<3x4xf32>
  %y = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}

// -----

gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
// expected-error @below {{input #0 has no name: add {gc.input = "..."}}}
func.func @model(%x: tensor<8x4xf32>, %l: tensor<8xi32> {gc.input = "label"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %y = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}

// -----

gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
// expected-error @below {{input #1 is called 'image', as is input #0}}
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "image"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %y = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}

// -----

gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
// expected-error @below {{output #1 has no name: add {gc.output = "..."}}}
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}) -> (tensor<f32> {gc.output = "loss"}, tensor<f32>) {
  %w = gc.read @w : tensor<3x4xf32>
  %y = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss, %loss : tensor<f32>, tensor<f32>
}

// -----

gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
// expected-error @below {{input #2 must be a static tensor of f32 or i32 with up to 8 dimensions from 1 to 2147483647, got 'tensor<8xf64>'}}
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}, %z: tensor<8xf64> {gc.input = "z"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %y = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}

// -----

gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
// expected-error @below {{input #2 must be a static tensor of f32 or i32 with up to 8 dimensions from 1 to 2147483647, got 'tensor<0xf32>'}}
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}, %z: tensor<0xf32> {gc.input = "z"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %y = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}

// -----

gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
// expected-error @below {{input #2 must be a static tensor of f32 or i32 with up to 8 dimensions from 1 to 2147483647, got 'tensor<8xindex>'}}
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}, %z: tensor<8xindex> {gc.input = "z"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %y = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}

// -----

gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
// expected-error @below {{input #2 must be a static tensor of f32 or i32 with up to 8 dimensions from 1 to 2147483647, got 'tensor<8xcomplex<f32>>'}}
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}, %z: tensor<8xcomplex<f32>> {gc.input = "z"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %y = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}

// -----

gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
// expected-error @below {{input #2 must be a static tensor of f32 or i32 with up to 8 dimensions from 1 to 2147483647, got 'memref<8xf32>'}}
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}, %z: memref<8xf32> {gc.input = "z"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %y = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}

// -----

gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
// expected-error @below {{input #2 must be a static tensor of f32 or i32 with up to 8 dimensions from 1 to 2147483647, got 'tuple<f32>'}}
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}, %z: tuple<f32> {gc.input = "z"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %y = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}

// -----

gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
// expected-error @below {{input #2 must be a static tensor of f32 or i32 with up to 8 dimensions from 1 to 2147483647, got 'f32'}}
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}, %z: f32 {gc.input = "z"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %y = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}

// -----

gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
// expected-error @below {{input #2 must be a static tensor of f32 or i32 with up to 8 dimensions from 1 to 2147483647, got 'tensor<*xf32>'}}
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}, %z: tensor<*xf32> {gc.input = "z"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %y = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}

// -----

gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
// expected-error @below {{input #2 must be a static tensor of f32 or i32 with up to 8 dimensions from 1 to 2147483647, got 'tensor<?xf32>'}}
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}, %z: tensor<?xf32> {gc.input = "z"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %y = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}

// -----

gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %y = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  // expected-error @below {{'arith.constant' is not an op of gc: a model has gc ops alone}}
  %c = arith.constant dense<0.0> : tensor<4xf32>
  return %loss : tensor<f32>
}

// -----

gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %y = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  // expected-error @below {{belongs to a step, which passes make of a model}}
  gc.accumulate @w, %w : tensor<3x4xf32>
  return %loss : tensor<f32>
}

// -----

// Micro-batches would scale the seed, and the loss with it.
gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %y = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %mean, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  // expected-error @below {{belongs to a step, which passes make of a model}}
  %seed = gc.gradient_seed {scale = 1.0 : f32} : () -> tensor<f32>
  %loss = gc.mul %mean, %seed : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

module attributes {gc.classes = 10 : i64} {
gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %y = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  // expected-error @below {{'gc.cross_entropy' op has logits of 3 classes, but the module says gc.classes = 10}}
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}
}

// -----

gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
gc.state @g generator : tensor<2xi64> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %g = gc.read @g : tensor<2xi64>
  // expected-note @below {{the other dropout}}
  %a = gc.dropout %x, %g {probability = 0.5 : f32, id = 3 : i64} : (tensor<8x4xf32>, tensor<2xi64>) -> tensor<8x4xf32>
  // expected-error @below {{has the id 3 of another dropout, and so its mask; ids must differ}}
  %b = gc.dropout %a, %g {probability = 0.5 : f32, id = 3 : i64} : (tensor<8x4xf32>, tensor<2xi64>) -> tensor<8x4xf32>
  %y = gc.linear %b, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}

// -----

gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
gc.parameter @s : tensor<4xf32> = #gc.init<constant, [1.0]>
gc.parameter @t : tensor<4xf32> = #gc.init<constant, [0.0]>
gc.state @m running_statistic : tensor<4xf32> = #gc.init<constant, [0.0]>
gc.state @v running_statistic : tensor<4xf32> = #gc.init<constant, [1.0]>
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %s = gc.read @s : tensor<4xf32>
  %t = gc.read @t : tensor<4xf32>
  %n, %mean, %rstd = gc.batch_norm %x, %s, %t {epsilon = 1.0e-5 : f32} : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>)
  // expected-error @below {{counts 9 elements a channel, but the batch norm has 8}}
  gc.running_stats @m, @v, %mean, %rstd {momentum = 0.1 : f32, epsilon = 1.0e-5 : f32, count = 9 : i64} : tensor<4xf32>, tensor<4xf32>
  %y = gc.linear %n, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}

// -----

gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
gc.parameter @s : tensor<4xf32> = #gc.init<constant, [1.0]>
gc.parameter @t : tensor<4xf32> = #gc.init<constant, [0.0]>
gc.state @m running_statistic : tensor<4xf32> = #gc.init<constant, [0.0]>
gc.state @v running_statistic : tensor<4xf32> = #gc.init<constant, [1.0]>
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %s = gc.read @s : tensor<4xf32>
  %t = gc.read @t : tensor<4xf32>
  %n, %mean, %rstd = gc.batch_norm %x, %s, %t {epsilon = 1.0e-5 : f32} : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>)
  // expected-error @below {{has another epsilon than the batch norm}}
  gc.running_stats @m, @v, %mean, %rstd {momentum = 0.1 : f32, epsilon = 1.0e-3 : f32, count = 8 : i64} : tensor<4xf32>, tensor<4xf32>
  %y = gc.linear %n, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}

// -----

gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
gc.parameter @s : tensor<4xf32> = #gc.init<constant, [1.0]>
gc.parameter @t : tensor<4xf32> = #gc.init<constant, [0.0]>
gc.state @m running_statistic : tensor<4xf32> = #gc.init<constant, [0.0]>
gc.state @v running_statistic : tensor<4xf32> = #gc.init<constant, [1.0]>
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %s = gc.read @s : tensor<4xf32>
  %t = gc.read @t : tensor<4xf32>
  %n, %mean, %rstd = gc.batch_norm %x, %s, %t {epsilon = 1.0e-5 : f32} : (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<8x4xf32>, tensor<4xf32>, tensor<4xf32>)
  // expected-error @below {{takes mean and rstd of different ops}}
  gc.running_stats @m, @v, %mean, %t {momentum = 0.1 : f32, epsilon = 1.0e-5 : f32, count = 8 : i64} : tensor<4xf32>, tensor<4xf32>
  %y = gc.linear %n, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}

// -----

// expected-error @below {{the name has a control character}}
module @"a\1Bb" {
gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %y = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}
}

// -----

gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
// expected-error @below {{has a 'correct' of type 'tensor<8xf32>', expected tensor<f32>}}
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}) -> (tensor<f32> {gc.output = "loss"}, tensor<8xf32> {gc.output = "correct"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %y = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss, %lse : tensor<f32>, tensor<8xf32>
}

// -----

gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
// expected-warning @below {{nobody reads the output 'logsumexp', and no plan will have it: the runtime knows 'loss' and 'correct'}}
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}) -> (tensor<f32> {gc.output = "loss"}, tensor<8xf32> {gc.output = "logsumexp"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %y = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss, %lse : tensor<f32>, tensor<8xf32>
}

// -----

gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %y = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  // expected-error @below {{'func.return' has no attribute 'scale'}}
  return {scale = 2.0 : f32} %loss : tensor<f32>
}

// -----

gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}) -> (tensor<f32> {gc.output = "loss"}, tensor<f32> {gc.output = "correct"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %y = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  %count = gc.accuracy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> tensor<f32>
  // expected-error @below {{the output 'correct' is a result of 'gc.neg', which does not say whether the values of several batches are averaged or added up; return what a metric computes, such as gc.accuracy}}
  %wrong = gc.neg %count : (tensor<f32>) -> tensor<f32>
  return %loss, %wrong : tensor<f32>, tensor<f32>
}

// -----

gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}) -> (tensor<f32> {gc.output = "loss"}, tensor<f32> {gc.output = "correct"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %y = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  // expected-error @below {{the output 'correct' is a mean: expected a count of samples, such as gc.accuracy}}
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss, %loss : tensor<f32>, tensor<f32>
}

// -----

// The compiler knows nothing of tokens, but a runtime may: this is a warning.
gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
// expected-warning @below {{nobody fills the input 'tokens': gc-run will refuse the plan, as it knows 'image' and 'label' alone; rename the input}}
func.func @model(%x: tensor<8x4xf32> {gc.input = "tokens"}, %l: tensor<8xi32> {gc.input = "label"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %y = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}
