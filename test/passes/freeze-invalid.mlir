// RUN: not gc-opt %s --gc-freeze="names=fc.*,fc.weigth" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not gc-opt %s --gc-freeze="train-only=fd.*" 2>&1 | FileCheck %s --check-prefix=ONLY
// RUN: not gc-opt %s --gc-freeze="names=*" 2>&1 | FileCheck %s --check-prefix=ALL
// RUN: not gc-opt %s --gc-freeze="train-only=*" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not gc-opt %s --gc-freeze="names=fc.*,,a" 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not gc-opt %s --gc-freeze="names=fc.bias train-only=fc.weight" 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not gc-opt %s --gc-freeze="names=fc.bias norms" 2>&1 | FileCheck %s --check-prefix=NORMS
// RUN: not gc-opt %s --gc-freeze 2>&1 | FileCheck %s --check-prefix=NOTHING
// RUN: not gc-opt %s --gc-train="freeze=fc.bias train-only=fc.weight" 2>&1 | FileCheck %s --check-prefix=PIPELINE
// RUN: gc-opt %S/Inputs/freeze-invalid.mlir --split-input-file --verify-diagnostics

// NAME: error: freeze: 'fc.weigth' matches no parameter of the model; the nearest name is 'fc.weight'
// ONLY: error: train-only: 'fd.*' matches no parameter of the model; the nearest name is 'fc.bias'
// ALL: error: freeze: every parameter is frozen, and nothing is left to train
// NONE: error: train-only: '*' matches every parameter: nothing is frozen
// EMPTY: error: freeze: 'fc.*,,a' has an empty pattern
// BOTH: error: freeze: names and train-only exclude each other: each says by itself what is trained
// NORMS: error: freeze-norms has no effect: no batch norm with running statistics has both its weight and its bias frozen
// NOTHING: error: freeze: nothing is said to be frozen: give names, train-only or norms
// PIPELINE: freeze and train-only exclude each other
gc.parameter @fc.weight : tensor<3x4xf32> = #gc.init<constant, [0.0]>
gc.parameter @fc.bias : tensor<3xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<5x4xf32> {gc.input = "image"}, %label: tensor<5xi32> {gc.input = "label"})
    -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @fc.weight : tensor<3x4xf32>
  %b = gc.read @fc.bias : tensor<3xf32>
  %logits = gc.linear %x, %w bias %b : (tensor<5x4xf32>, tensor<3x4xf32>, tensor<3xf32>) -> tensor<5x3xf32>
  %loss, %lse = gc.cross_entropy %logits, %label : (tensor<5x3xf32>, tensor<5xi32>) -> (tensor<f32>, tensor<5xf32>)
  return %loss : tensor<f32>
}
