// RUN: gc-opt %s --gc-inference --gc-autodiff --gc-optimizer="kind=sgd" --gc-mixed-precision="type=bf16" | FileCheck %s
// RUN: gc-opt %s --gc-autodiff --gc-optimizer="kind=sgd" --gc-mixed-precision="type=f32" | FileCheck %s --check-prefix=SINGLE
// RUN: gc-opt %s --gc-autodiff --gc-optimizer="kind=sgd" --gc-mixed-precision="type=bf16 of=fc=f32" | FileCheck %s --check-prefix=OF
// RUN: gc-opt %s --gc-autodiff --gc-optimizer="kind=sgd" --gc-mixed-precision="type=bf16 of=*=f32,fc=bf16" | FileCheck %s --check-prefix=LAST
// RUN: gc-opt %s --gc-autodiff --gc-optimizer="kind=sgd" --gc-accumulate="micro-batches=2" --gc-mixed-precision="type=bf16" | FileCheck %s --check-prefix=ACCUMULATE

gc.parameter @conv.weight : tensor<4x3x3x2xf32> = #gc.init<constant, [0.0]>
gc.parameter @norm.weight : tensor<4xf32> = #gc.init<constant, [1.0]>
gc.parameter @norm.bias : tensor<4xf32> = #gc.init<constant, [0.0]>
gc.state @norm.running_mean running_statistic : tensor<4xf32> = #gc.init<constant, [0.0]>
gc.state @norm.running_var running_statistic : tensor<4xf32> = #gc.init<constant, [1.0]>
gc.parameter @fc.weight : tensor<3x4xf32> = #gc.init<constant, [0.0]>
gc.parameter @fc.bias : tensor<3xf32> = #gc.init<constant, [0.0]>

// Without it, and with f32, nothing is a half.
// SINGLE-NOT: bf16
// SINGLE-NOT: gc.cast

// Variables, inputs and outputs are as they were.
// CHECK-LABEL: func.func @train(
// CHECK-SAME:    %[[X:.*]]: tensor<8x6x6x2xf32> {gc.input = "image"}
// CHECK-SAME:    -> (tensor<f32> {gc.output = "loss"})
// CHECK:         %[[W:.*]] = gc.read @conv.weight : tensor<4x3x3x2xf32>
// CHECK:         %[[F:.*]] = gc.read @fc.weight : tensor<3x4xf32>
// CHECK:         %[[HX:.*]] = gc.cast %[[X]] : (tensor<8x6x6x2xf32>) -> tensor<8x6x6x2xbf16>
// CHECK:         %[[HW:.*]] = gc.cast %[[W]] : (tensor<4x3x3x2xf32>) -> tensor<4x3x3x2xbf16>
// CHECK:         %[[C:.*]] = gc.conv2d %[[HX]], %[[HW]] {{.*}} -> tensor<8x6x6x4xbf16>
// CHECK:         %[[N:.*]], %[[M:.*]], %[[S:.*]] = gc.batch_norm %[[C]], {{.*}} -> (tensor<8x6x6x4xbf16>, tensor<4xf32>, tensor<4xf32>)
// CHECK:         gc.running_stats {{.*}} %[[M]], %[[S]]
// CHECK:         %[[R:.*]] = gc.relu %[[N]] : (tensor<8x6x6x4xbf16>) -> tensor<8x6x6x4xbf16>
// A sum over a part of a tensor is f32.
// CHECK:         %[[P:.*]] = gc.global_avg_pool %[[R]] : (tensor<8x6x6x4xbf16>) -> tensor<8x4xf32>
// CHECK:         %[[HP:.*]] = gc.cast %[[P]] : (tensor<8x4xf32>) -> tensor<8x4xbf16>
// CHECK:         %[[HF:.*]] = gc.cast %[[F]]
// A bias stays f32.
// CHECK:         %[[L:.*]] = gc.linear %[[HP]], %[[HF]] bias %{{.*}} : (tensor<8x4xbf16>, tensor<3x4xbf16>, tensor<3xf32>) -> tensor<8x3xbf16>
// CHECK:         gc.cross_entropy_grad %[[L]], {{.*}} -> tensor<8x3xbf16>
// Gradients of parameters are written in f32 at once.
// CHECK:         %[[DF:.*]] = gc.linear_grad_weight {{.*}} : (tensor<8x4xbf16>, tensor<8x3xbf16>) -> tensor<3x4xf32>
// The half copy of the forward pass is not kept: it is made again.
// CHECK:         %[[HF2:.*]] = gc.cast %[[F]]
// CHECK-NEXT:    gc.linear_grad_input %{{.*}}, %[[HF2]] : {{.*}} -> tensor<8x4xf32>
// CHECK:         gc.global_avg_pool_grad {{.*}} : (tensor<8x4xf32>) -> tensor<8x6x6x4xbf16>
// CHECK:         gc.batch_norm_grad_params {{.*}} -> (tensor<4xf32>, tensor<4xf32>)
// CHECK:         gc.conv2d_grad_filter {{.*}} : (tensor<8x6x6x2xbf16>, tensor<8x6x6x4xbf16>) -> tensor<4x3x3x2xf32>
// CHECK-NOT:     -> tensor<8x{{.*}}f32>

// CHECK-LABEL: func.func @evaluate(
// CHECK:         gc.normalize {{.*}} : (tensor<8x6x6x4xbf16>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<8x6x6x4xbf16>
// CHECK:         gc.cross_entropy {{.*}} : (tensor<8x3xbf16>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)

// The layer is in f32, forward and backward, and the rest is not.
// OF-LABEL: func.func @train(
// OF:         gc.conv2d {{.*}} -> tensor<8x6x6x4xbf16>
// OF:         gc.global_avg_pool {{.*}} -> tensor<8x4xf32>
// OF-NEXT:    %[[L:.*]] = gc.linear {{.*}} : (tensor<8x4xf32>, tensor<3x4xf32>, tensor<3xf32>) -> tensor<8x3xf32>
// OF:         gc.cross_entropy {{.*}} : (tensor<8x3xbf16>
// OF:         gc.linear_grad_weight {{.*}} : (tensor<8x4xf32>, tensor<8x3xf32>)
// OF:         gc.linear_grad_input {{.*}} : (tensor<8x3xf32>, tensor<3x4xf32>)
// OF:         gc.conv2d_grad_filter {{.*}} : (tensor<8x6x6x2xbf16>

// The last pattern that fits wins.
// LAST-LABEL: func.func @train(
// LAST:         gc.conv2d {{.*}} -> tensor<8x6x6x4xf32>
// LAST:         gc.linear {{.*}} : (tensor<8x4xbf16>, tensor<3x4xbf16>, tensor<3xf32>)

// Gradients add up in f32.
// ACCUMULATE-LABEL: func.func @train(
// ACCUMULATE:         gc.conv2d_grad_filter {{.*}} -> tensor<4x3x3x2xf32>
// ACCUMULATE:         gc.accumulate @conv.weight.gradient

func.func @model(%x: tensor<8x6x6x2xf32> {gc.input = "image"}, %t: tensor<8xi32> {gc.input = "label"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @conv.weight : tensor<4x3x3x2xf32>
  %g = gc.read @norm.weight : tensor<4xf32>
  %b = gc.read @norm.bias : tensor<4xf32>
  %f = gc.read @fc.weight : tensor<3x4xf32>
  %h = gc.read @fc.bias : tensor<3xf32>
  %c = gc.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<8x6x6x2xf32>, tensor<4x3x3x2xf32>) -> tensor<8x6x6x4xf32> loc("conv")
  %n, %m, %s = gc.batch_norm %c, %g, %b {epsilon = 1.0e-5 : f32} : (tensor<8x6x6x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<8x6x6x4xf32>, tensor<4xf32>, tensor<4xf32>) loc("norm")
  gc.running_stats @norm.running_mean, @norm.running_var, %m, %s {momentum = 0.1 : f32, epsilon = 1.0e-5 : f32, count = 288 : i64} : tensor<4xf32>, tensor<4xf32> loc("norm")
  %r = gc.relu %n : (tensor<8x6x6x4xf32>) -> tensor<8x6x6x4xf32> loc("act")
  %p = gc.global_avg_pool %r : (tensor<8x6x6x4xf32>) -> tensor<8x4xf32> loc("pool")
  %l = gc.linear %p, %f bias %h : (tensor<8x4xf32>, tensor<3x4xf32>, tensor<3xf32>) -> tensor<8x3xf32> loc("fc")
  %loss, %lse = gc.cross_entropy %l, %t : (tensor<8x3xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>) loc("loss")
  return %loss : tensor<f32>
}
