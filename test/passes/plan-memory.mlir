// RUN: gc-opt %s --gc-plan-memory="input-slots=1" --split-input-file | FileCheck %s

// @w takes 16 * 16 * 4 = 1024 bytes at 0; the input 8 * 16 * 4 = 512 at 1024; what is packed starts at
// 1536. %0 (512 bytes) is saved for the end, so %1 cannot take its place: 1536 and 2048. %1 dies at %2,
// which is written over it. The most alive at once: 1536 + 2 * 512 = 2560.
// CHECK-LABEL: module attributes {gc.arena_bytes = 2560 : i64, gc.lower_bound_bytes = 2560 : i64}
// CHECK:         gc.parameter @w {{.*}}gc.offset = 0 : i64
// CHECK:         func.func @train(%{{.*}}: tensor<8x16xf32> {gc.offsets = array<i64: 1024>}
// CHECK:           %[[A:.*]] = gc.linear {{.*}}gc.offsets = array<i64: [[FIRST:1536|2048]]>
// CHECK:           %[[B:.*]] = gc.tanh %[[A]] {gc.offsets = array<i64: [[SECOND:1536|2048]]>
// CHECK-NOT:       gc.offsets = array<i64: [[FIRST]]>
// CHECK:           gc.exp %[[B]] {gc.offsets = array<i64: [[SECOND]]>
module {
gc.parameter @w : tensor<16x16xf32> = #gc.init<constant, [0.0]>
func.func @train(%x: tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>) attributes {gc.list = "micro_batch"} {
  %w = gc.read @w : tensor<16x16xf32>
  %0 = gc.linear %x, %w : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  %1 = gc.tanh %0 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  %2 = gc.exp %1 : (tensor<8x16xf32>) -> tensor<8x16xf32>
  return %0, %2 : tensor<8x16xf32>, tensor<8x16xf32>
}
}

// -----

// A reshape is the same bytes. A product never writes over its operand: 512 + 512 above the input.
// CHECK-LABEL: module attributes {gc.arena_bytes = 2560 : i64
// CHECK:           gc.relu {{.*}}gc.offsets = array<i64: [[A:[0-9]+]]>
// CHECK:           gc.reshape {{.*}}gc.offsets = array<i64: [[A]]>
// CHECK:           gc.linear
// CHECK-NOT:       gc.offsets = array<i64: [[A]]>
// CHECK:           return
module {
gc.parameter @w : tensor<16x16xf32> = #gc.init<constant, [0.0]>
func.func @train(%x: tensor<4x2x16xf32>) -> tensor<8x16xf32> attributes {gc.list = "micro_batch"} {
  %w = gc.read @w : tensor<16x16xf32>
  %0 = gc.relu %x : (tensor<4x2x16xf32>) -> tensor<4x2x16xf32>
  %1 = gc.reshape %0 : (tensor<4x2x16xf32>) -> tensor<8x16xf32>
  %2 = gc.linear %1, %w : (tensor<8x16xf32>, tensor<16x16xf32>) -> tensor<8x16xf32>
  return %2 : tensor<8x16xf32>
}
}

// -----

// Rows are bytes of what they are taken from, where they begin and end at multiples of 64; those of an input are
// copied, for it may have several places. What is put into rows is written over the whole that dies there.
// CHECK-LABEL: module attributes {gc.arena_bytes =
// CHECK:           gc.slice %arg0 {{.*}}gc.offsets = array<i64: 1024>
// CHECK:           gc.relu %arg0 {gc.offsets = array<i64: 1152>}
// CHECK:           gc.slice {{.*}}gc.offsets = array<i64: 1280>
// CHECK:           gc.slice {{.*}}gc.offsets = array<i64: 1344>
// CHECK:           gc.put_rows {{.*}}gc.offsets = array<i64: 1152>
module {
func.func @train(%x: tensor<16x16xf32>) -> (tensor<16x16xf32>, tensor<2x16xf32>) attributes {gc.list = "micro_batch"} {
  %c = gc.slice %x {axis = 0 : i64, offset = 2 : i64, size = 2 : i64} : (tensor<16x16xf32>) -> tensor<2x16xf32>
  %0 = gc.relu %x : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = gc.slice %0 {axis = 0 : i64, offset = 2 : i64, size = 3 : i64} : (tensor<16x16xf32>) -> tensor<3x16xf32>
  %2 = gc.slice %1 {axis = 0 : i64, offset = 1 : i64, size = 2 : i64} : (tensor<3x16xf32>) -> tensor<2x16xf32>
  %3 = gc.add %2, %c : (tensor<2x16xf32>, tensor<2x16xf32>) -> tensor<2x16xf32>
  %4 = gc.put_rows %0, %3 {from = 5 : i64} : (tensor<16x16xf32>, tensor<2x16xf32>) -> tensor<16x16xf32>
  return %4, %3 : tensor<16x16xf32>, tensor<2x16xf32>
}
}
