// RUN: gc-opt %s --gc-mix-labels --split-input-file | FileCheck %s
// RUN: gc-opt %s --gc-inference --gc-mix-labels --split-input-file | FileCheck %s --check-prefix=BOTH
// RUN: gc-opt %s --split-input-file --gc-mix-labels --gc-autodiff --gc-optimizer --gc-accumulate="micro-batches=4" 2>&1 | FileCheck %s --check-prefix=PARTS --implicit-check-not=warning

gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.5]>

// Both losses are of the same logits; what counts right answers goes on with the first label.
// CHECK-LABEL: func.func @model(
// CHECK-SAME:    %[[X:.*]]: tensor<8x4xf32> {gc.input = "image"}, %[[LABEL:.*]]: tensor<8xi32> {gc.input = "label"}
// CHECK-SAME:    %[[MIXED:.*]]: tensor<8xi32> {gc.input = "mixed_label"}, %[[SHARE:.*]]: tensor<f32> {gc.input = "share"})
// CHECK:         %[[LOGITS:.*]] = gc.linear
// CHECK:         %[[OWN:.*]], %{{.*}} = gc.cross_entropy %[[LOGITS]], %[[LABEL]]
// CHECK:         %[[OTHER:.*]], %{{.*}} = gc.cross_entropy %[[LOGITS]], %[[MIXED]]
// CHECK:         %[[A:.*]] = gc.mul %[[SHARE]], %[[OWN]]
// CHECK:         %[[B:.*]] = gc.mul %[[SHARE]], %[[OTHER]]
// CHECK:         %[[REST:.*]] = gc.sub %[[OTHER]], %[[B]]
// CHECK:         %[[LOSS:.*]] = gc.add %[[A]], %[[REST]]
// CHECK:         %[[CORRECT:.*]] = gc.accuracy %[[LOGITS]], %[[LABEL]]
// CHECK:         return %[[LOSS]], %[[CORRECT]]

// Evaluation has one label.
// BOTH-LABEL: func.func @model(
// BOTH-SAME:    gc.input = "share"
// BOTH-LABEL: func.func @evaluate(
// BOTH-NOT:     share
// BOTH:         gc.cross_entropy
// BOTH-NOT:     gc.cross_entropy
// BOTH:         return

// A micro-batch has its own labels and its own share, and the mean of the losses of all is the loss.
// PARTS-LABEL: func.func @train(
// PARTS-SAME:    tensor<2x4xf32> {gc.input = "image"}, %{{.*}}: tensor<2xi32> {gc.input = "label"}, %{{.*}}: tensor<2xi32> {gc.input = "mixed_label"}, %{{.*}}: tensor<f32> {gc.input = "share"})
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %label: tensor<8xi32> {gc.input = "label"})
    -> (tensor<f32> {gc.output = "loss"}, tensor<f32> {gc.output = "correct"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %logits = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %logits, %label : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  %correct = gc.accuracy %logits, %label : (tensor<8x3xf32>, tensor<8xi32>) -> tensor<f32>
  return %loss, %correct : tensor<f32>, tensor<f32>
}

// -----

gc.parameter @w : tensor<3x4xf32> = #gc.init<constant, [0.5]>

// An auxiliary loss is mixed as well, where it enters.
// CHECK-LABEL: func.func @model(
// CHECK-COUNT-4: gc.cross_entropy
// CHECK:         %[[SMALL:.*]] = gc.scale
// CHECK:         gc.add %{{.*}}, %[[SMALL]]
// CHECK-NEXT:    return
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %label: tensor<8xi32> {gc.input = "label"})
    -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3x4xf32>
  %logits = gc.linear %x, %w : (tensor<8x4xf32>, tensor<3x4xf32>) -> tensor<8x3xf32>
  %bent = gc.tanh %logits : (tensor<8x3xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %logits, %label : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  %aux, %lse2 = gc.cross_entropy %bent, %label : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  %small = gc.scale %aux {factor = 0.25 : f32} : (tensor<f32>) -> tensor<f32>
  %sum = gc.add %loss, %small : (tensor<f32>, tensor<f32>) -> tensor<f32>
  return %sum : tensor<f32>
}
