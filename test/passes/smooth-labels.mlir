// RUN: gc-opt %s --gc-smooth-labels=epsilon=0.25 | FileCheck %s --check-prefix=SET
// RUN: gc-opt %s --gc-smooth-labels=epsilon=0 | FileCheck %s --check-prefix=PLAIN
// RUN: gc-opt %s --gc-smooth-labels=epsilon=0.25 --gc-inference --gc-autodiff | FileCheck %s --check-prefix=TRAIN
// RUN: not gc-opt %s --gc-smooth-labels=epsilon=1 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not gc-opt %s --gc-smooth-labels=epsilon=-0.5 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not gc-opt %s --gc-smooth-labels=epsilon=nan 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not gc-opt %S/Inputs/smooth-labels-invalid.mlir --gc-smooth-labels=epsilon=0.1 2>&1 | FileCheck %s --check-prefix=NONE

// What the model says itself is replaced.
// SET: gc.cross_entropy %{{.*}}, %{{.*}} {label_smoothing = 2.500000e-01 : f32}
// PLAIN: gc.cross_entropy %{{[^ ]*}}, %{{[^ ]*}} :
// RANGE: error: label smoothing must be from 0 on, below 1
// NONE: error: 'func.func' op has no gc.cross_entropy: label smoothing would have no effect

// Of the training step alone: the loss in inference mode is the plain one.
// TRAIN-LABEL: func.func @train(
// TRAIN:         gc.cross_entropy %{{.*}}, %{{.*}} {label_smoothing = 2.500000e-01 : f32}
// TRAIN:         gc.cross_entropy_grad {{.*}} {label_smoothing = 2.500000e-01 : f32}
// TRAIN-LABEL: func.func @evaluate(
// TRAIN:         gc.cross_entropy %{{[^ ]*}}, %{{[^ ]*}} :
gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<5x4xf32> {gc.input = "image"}, %label: tensor<5xi32> {gc.input = "label"})
    -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %logits = gc.linear %x, %w : (tensor<5x4xf32>, tensor<3x4xf32>) -> tensor<5x3xf32>
  %loss, %lse = gc.cross_entropy %logits, %label {label_smoothing = 0.125 : f32} : (tensor<5x3xf32>, tensor<5xi32>) -> (tensor<f32>, tensor<5xf32>)
  return %loss : tensor<f32>
}
