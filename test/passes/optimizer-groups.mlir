// RUN: gc-opt %s --gc-inference --gc-autodiff --gc-optimizer="weight-decay=0.5 no-decay=*.bias lr-scale=fc.*=0.25,conv.weight=4" | FileCheck %s --check-prefix=GROUPS
// RUN: gc-opt %s --gc-inference --gc-autodiff --gc-optimizer="kind=adam clip-norm=2 keep-gradients=true" | FileCheck %s --check-prefix=NORM
// RUN: gc-opt %s --gc-inference --gc-autodiff --gc-optimizer="clip-norm=2" --gc-accumulate="micro-batches=2" | FileCheck %s --check-prefix=PARTS
// RUN: gc-opt %s --gc-inference --gc-autodiff --gc-optimizer="clip-value=2 ema=0.5" | FileCheck %s --check-prefix=EMA
// RUN: not gc-opt %s --gc-autodiff --gc-optimizer="weight-decay=1 no-decay=*.bais" 2>&1 | FileCheck %s --check-prefix=MISSED
// RUN: not gc-opt %s --gc-autodiff --gc-optimizer="lr-scale=fc.wieght=2" 2>&1 | FileCheck %s --check-prefix=MISSED-SCALE
// RUN: not gc-opt %s --gc-autodiff --gc-optimizer="lr-scale=fc.*=2,*.bias=3" 2>&1 | FileCheck %s --check-prefix=TWICE

// MISSED: error: optimizer: no-decay: '*.bais' matches no parameter of the model; the nearest name is 'fc.bias'
// MISSED-SCALE: error: optimizer: lr-scale: 'fc.wieght' matches no parameter of the model; the nearest name is 'fc.weight'
// TWICE: error: optimizer: lr-scale: 'fc.bias' has two factors, by 'fc.*=2' and '*.bias=3'

gc.parameter @"conv.weight" : tensor<4x4xf32> = #gc.init<constant, [0.0]>
gc.parameter @"fc.weight" : tensor<3x4xf32> = #gc.init<constant, [0.0]>
gc.parameter @"fc.bias" : tensor<3xf32> = #gc.init<constant, [0.0]>

// GROUPS-DAG:    gc.sgd @fc.bias, {{.*}} {lr_scale = 2.500000e-01 : f32} :
// GROUPS-DAG:    gc.sgd @fc.weight, {{.*}} {lr_scale = 2.500000e-01 : f32, weight_decay = 5.000000e-01 : f32} :
// GROUPS-DAG:    gc.sgd @conv.weight, {{.*}} {lr_scale = 4.000000e+00 : f32, weight_decay = 5.000000e-01 : f32} :

// Each gradient's squares are added when it is there; every update waits for all of them.
// NORM-LABEL:    func.func @train(
// NORM:            gc.gradient @{{.*}}, %[[G1:.*]] : tensor
// NORM-NEXT:       %[[S1:.*]] = gc.square_sum %[[G1]] : (
// NORM-NOT:        gc.adam
// NORM:            gc.gradient @{{.*}}, %[[G2:.*]] : tensor
// NORM-NEXT:       %[[S2:.*]] = gc.square_sum %[[G2]], %[[S1]] : (
// NORM-NOT:        gc.adam
// NORM:            gc.gradient @{{.*}}, %[[G3:.*]] : tensor
// NORM-NEXT:       %[[S3:.*]] = gc.square_sum %[[G3]], %[[S2]] : (
// NORM-NOT:        gc.square_sum
// NORM:            %[[C:.*]] = gc.optimizer_coefficients %{{.*}}, %{{.*}}, %[[S3]] mode = adam {{{.*}}clip_norm = 2.000000e+00 : f32}
// NORM-COUNT-3:    gc.adam {{.*}}, %[[C]] {
// NORM-NEXT:       gc.advance
// NORM-NEXT:       return

// The norm is that of what the micro-batches have added up.
// PARTS-LABEL:   func.func @train(
// PARTS-NOT:       gc.square_sum
// PARTS-NOT:       gc.sgd
// PARTS-LABEL:   func.func @step()
// PARTS-DAG:       %[[G1:.*]] = gc.read @fc.weight.gradient
// PARTS-DAG:       %[[G2:.*]] = gc.read @fc.bias.gradient
// PARTS-DAG:       %[[G3:.*]] = gc.read @conv.weight.gradient
// PARTS:           %[[S1:.*]] = gc.square_sum %[[G1]] : (
// PARTS-NEXT:      %[[S2:.*]] = gc.square_sum %[[G2]], %[[S1]] : (
// PARTS-NEXT:      %[[S3:.*]] = gc.square_sum %[[G3]], %[[S2]] : (
// PARTS-NEXT:      %[[C:.*]] = gc.optimizer_coefficients {{.*}}, %[[S3]] mode = plain
// PARTS-NOT:       gc.square_sum
// PARTS-COUNT-3:   gc.clear

// EMA-DAG:       gc.state @fc.bias.ema optimizer : tensor<3xf32>
// EMA-LABEL:     func.func @train(
// EMA:             gc.read @fc.weight :
// EMA-DAG:         gc.sgd @fc.bias average @fc.bias.ema, {{.*}} {average_decay = 5.000000e-01 : f32, clip_value = 2.000000e+00 : f32} :
// EMA-DAG:         gc.sgd @fc.weight average @fc.weight.ema,
// EMA-LABEL:     func.func @evaluate(
// EMA-NOT:         gc.read @fc.weight :
// EMA-DAG:         gc.read @fc.weight.ema :
// EMA-DAG:         gc.read @fc.bias.ema :
// EMA-DAG:         gc.read @conv.weight.ema :
func.func @model(%x: tensor<8x4xf32> {gc.input = "image"}, %l: tensor<8xi32> {gc.input = "label"}) -> (tensor<f32> {gc.output = "loss"}) {
  %c = gc.read @"conv.weight" : tensor<4x4xf32>
  %w = gc.read @"fc.weight" : tensor<3x4xf32>
  %b = gc.read @"fc.bias" : tensor<3xf32>
  %h = gc.linear %x, %c : (tensor<8x4xf32>, tensor<4x4xf32>) -> tensor<8x4xf32>
  %y = gc.linear %h, %w bias %b : (tensor<8x4xf32>, tensor<3x4xf32>, tensor<3xf32>) -> tensor<8x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return %loss : tensor<f32>
}
