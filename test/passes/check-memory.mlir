// RUN: gc-opt %s --split-input-file --gc-plan-memory=input-slots=1 --gc-check-memory | FileCheck %s
// RUN: gc-gen mnist --batch=2 --image=112 | gc-opt --gc-train="optimizer=adam evaluate" --gc-check-memory -o /dev/null
// RUN: gc-gen mnist --batch=2 --image=112 --norm=group | gc-opt --gc-train="keep-gradients" --gc-check-memory -o /dev/null
// RUN: gc-gen cnn11 --batch=2 --image=32 | gc-opt --gc-train="evaluate momentum=0.9" --gc-check-memory -o /dev/null
// RUN: gc-gen vgg --depth=11 --batch=2 --image=32 | gc-opt --gc-train="optimizer=adamw evaluate" --gc-check-memory -o /dev/null
// RUN: gc-gen resnet --depth=18 --batch=2 --image=64 | gc-opt --gc-train="optimizer=adam evaluate keep-gradients" --gc-check-memory -o /dev/null
// RUN: gc-gen resnet --depth=50 --batch=2 --image=64 | gc-opt --gc-train="evaluate" --gc-check-memory -o /dev/null
// RUN: gc-gen vit --size=tiny --batch=2 | gc-opt --gc-train="optimizer=adam evaluate" --gc-check-memory -o /dev/null
// RUN: gc-gen encoder --batch=2 --layers=2 | gc-opt --gc-train="optimizer=adam evaluate" --gc-check-memory -o /dev/null

// What the planner makes passes. %1 is written over %0, which dies there; the view moves nothing;
// the update comes after the last use of @w.
// CHECK-LABEL: func.func @train
// CHECK:         gc.linear
// CHECK-SAME:      gc.offsets = array<i64: [[A:[0-9]+]]>
// CHECK:         gc.exp
// CHECK-SAME:      gc.offsets = array<i64: [[A]]>
// CHECK:         gc.accumulate
gc.parameter @w : tensor<16x16xf32> = #gc.init<constant, [0.0]>
func.func @train(%x: tensor<8x16xf32> {gc.input = "x"}) -> tensor<128xf32> attributes {gc.list = "micro_batch"} {
  %w = gc.read @w : tensor<16x16xf32>
  %0 = gc.linear %x, %w : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %1 = gc.exp %0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %dw = gc.linear_grad_weight %x, %1 : (tensor<8x16xf32>, tensor<8x16xf32>) -> tensor<16x16xf32>
  %2 = gc.reshape %1 : (tensor<8x16xf32>) -> tensor<128xf32>
  gc.accumulate @w, %dw : tensor<16x16xf32>
  return %2 : tensor<128xf32>
}

// -----

// Two lists share the slots of an input and the transient bytes.
// CHECK-LABEL: func.func @train
// CHECK-LABEL: func.func @evaluate
gc.parameter @w : tensor<16xf32> = #gc.init<constant, [0.0]>
func.func @train(%x: tensor<16xf32> {gc.input = "x"}) -> tensor<16xf32> attributes {gc.list = "micro_batch"} {
  %w = gc.read @w : tensor<16xf32>
  %0 = gc.mul %x, %w : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  gc.gradient @w, %0 : tensor<16xf32>
  gc.accumulate @w, %0 : tensor<16xf32>
  return %0 : tensor<16xf32>
}
func.func @evaluate(%x: tensor<16xf32> {gc.input = "x"}) -> tensor<16xf32> attributes {gc.list = "evaluate"} {
  %w = gc.read @w : tensor<16xf32>
  %0 = gc.add %x, %w : (tensor<16xf32>, tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}
