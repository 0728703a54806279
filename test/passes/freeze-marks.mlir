// RUN: gc-opt %s --gc-freeze="names=b" | FileCheck %s --check-prefix=ADDS
// RUN: gc-opt %s --gc-freeze="train-only=a,c" | FileCheck %s --check-prefix=REPLACES
// RUN: gc-opt %s --gc-autodiff | FileCheck %s --check-prefix=OWN

// A model may say itself what is frozen, as an import does of parameters without requires_grad. `names`
// adds to that, `train-only` takes its place.
// ADDS: gc.parameter @a {{.*}} {gc.frozen}
// ADDS: gc.parameter @b {{.*}} {gc.frozen}
// ADDS: gc.parameter @c : tensor<3xf32> = <constant, [0.000000e+00]>{{$}}
// REPLACES: gc.parameter @a : tensor<3xf32> = <constant, [0.000000e+00]>{{$}}
// REPLACES: gc.parameter @b {{.*}} {gc.frozen}
// REPLACES: gc.parameter @c : tensor<3xf32> = <constant, [0.000000e+00]>{{$}}
// OWN-NOT: gc.gradient @a
gc.parameter @a : tensor<3xf32> = #gc.init<constant, [0.0]> {gc.frozen}
gc.parameter @b : tensor<3xf32> = #gc.init<constant, [0.0]>
gc.parameter @c : tensor<3xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<5x3xf32> {gc.input = "image"}) -> (tensor<f32> {gc.output = "loss"}) {
  %a = gc.read @a : tensor<3xf32>
  %b = gc.read @b : tensor<3xf32>
  %c = gc.read @c : tensor<3xf32>
  %0 = gc.bias %x, %a : (tensor<5x3xf32>, tensor<3xf32>) -> tensor<5x3xf32>
  %1 = gc.bias %0, %b : (tensor<5x3xf32>, tensor<3xf32>) -> tensor<5x3xf32>
  %2 = gc.bias %1, %c : (tensor<5x3xf32>, tensor<3xf32>) -> tensor<5x3xf32>
  %3 = gc.mul %2, %2 : (tensor<5x3xf32>, tensor<5x3xf32>) -> tensor<5x3xf32>
  %loss = gc.reduce_sum %3 {dimensions = array<i64: 0, 1>} : (tensor<5x3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
