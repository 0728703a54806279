// RUN: gc-opt %s --gc-mix-labels --split-input-file --verify-diagnostics

// expected-error @below {{'func.func' op has no input 'label', so no labels can be mixed}}
func.func @no_label(%x: tensor<8x3xf32> {gc.input = "image"}) -> (tensor<f32> {gc.output = "loss"}) {
  %loss = gc.reduce_sum %x {dimensions = array<i64: 0, 1>} : (tensor<8x3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

// expected-error @below {{'func.func' op has no gc.cross_entropy of the input 'label', so there is no loss of mixed labels}}
func.func @no_cross_entropy(%x: tensor<8x3xf32> {gc.input = "image"}, %label: tensor<8xi32> {gc.input = "label"})
    -> (tensor<f32> {gc.output = "loss"}) {
  %correct = gc.accuracy %x, %label : (tensor<8x3xf32>, tensor<8xi32>) -> tensor<f32>
  %loss = gc.reduce_sum %x {dimensions = array<i64: 0, 1>} : (tensor<8x3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}

// -----

func.func @twice(%x: tensor<8x3xf32> {gc.input = "image"}, %label: tensor<8xi32> {gc.input = "label"},
                 // expected-error @below {{the model has an input 'share', a name that mixed labels need; rename it}}
                 %share: tensor<f32> {gc.input = "share"}) -> (tensor<f32> {gc.output = "loss"}) {
  %loss, %lse = gc.cross_entropy %x, %label : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}

// -----

// Of a class, as of a GAN's generator: the mixture of two has no embedding.
func.func @embedded(%table: tensor<3x4xf32>, %x: tensor<8x3xf32> {gc.input = "image"}, %label: tensor<8xi32> {gc.input = "label"})
    -> (tensor<f32> {gc.output = "loss"}) {
  // expected-error @below {{'gc.embedding' op takes labels, and nothing tells what it makes of mixed ones; only gc.cross_entropy is mixed}}
  %e = gc.embedding %label, %table : (tensor<8xi32>, tensor<3x4xf32>) -> tensor<8x4xf32>
  %loss, %lse = gc.cross_entropy %x, %label : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}
