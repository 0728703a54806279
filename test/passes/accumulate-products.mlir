// RUN: gc-opt %s --gc-select-cpu --split-input-file | FileCheck %s
// RUN: gc-opt %s --gc-select-cpu --gc-plan-memory --gc-check-memory --split-input-file > /dev/null

// The library adds filter and bias gradient to their accumulators; neither exists apart.
// CHECK-LABEL: func.func @convolution(
// CHECK-SAME:    %[[X:.*]]: tensor<2x8x8x16xf32>, %[[DY:.*]]: tensor<2x8x8x32xf32>
// CHECK-NEXT:    gc.accumulate_product (%[[A:.*]] = %[[X]] : tensor<2x8x8x16xf32>, %[[B:.*]] = %[[DY]] : tensor<2x8x8x32xf32>) into [@w.gradient, @b.gradient] attributes {gc.workspace
// CHECK-NEXT:      %[[DW:.*]], %[[DB:.*]] = gc.conv2d_grad_filter %[[A]], %[[B]]
// CHECK-NEXT:      gc.yield %[[DW]], %[[DB]] : tensor<32x3x3x16xf32>, tensor<32xf32>
// CHECK-NEXT:    }
// CHECK-NEXT:    return
gc.state @w.gradient accumulator : tensor<32x3x3x16xf32> = #gc.init<constant, [0.0]>
gc.state @b.gradient accumulator : tensor<32xf32> = #gc.init<constant, [0.0]>
func.func @convolution(%x: tensor<2x8x8x16xf32>, %dy: tensor<2x8x8x32xf32>) attributes {gc.list = "micro_batch"} {
  %dw, %db = gc.conv2d_grad_filter %x, %dy {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<2x8x8x16xf32>, tensor<2x8x8x32xf32>) -> (tensor<32x3x3x16xf32>, tensor<32xf32>)
  gc.accumulate @b.gradient, %db : tensor<32xf32>
  gc.accumulate @w.gradient, %dw : tensor<32x3x3x16xf32>
  return
}

// -----

// CHECK-LABEL: func.func @linear(
// CHECK-NEXT:    gc.accumulate_product ({{.*}}) into [@w.gradient]
// CHECK-NEXT:      %[[DW:.*]] = gc.linear_grad_weight
// CHECK-NEXT:      gc.yield %[[DW]] : tensor<6x4xf32>
gc.state @w.gradient accumulator : tensor<6x4xf32> = #gc.init<constant, [0.0]>
func.func @linear(%x: tensor<5x4xf32>, %dy: tensor<5x6xf32>) attributes {gc.list = "micro_batch"} {
  %dw = gc.linear_grad_weight %x, %dy : (tensor<5x4xf32>, tensor<5x6xf32>) -> tensor<6x4xf32>
  gc.accumulate @w.gradient, %dw : tensor<6x4xf32>
  return
}

// -----

// No library sums rows: a kernel of ours does, and another adds.
// CHECK-LABEL: func.func @sum(
// CHECK-NEXT:    %[[DB:.*]] = gc.reduce_sum
// CHECK-NEXT:    gc.accumulate @b.gradient, %[[DB]]
gc.state @b.gradient accumulator : tensor<6xf32> = #gc.init<constant, [0.0]>
func.func @sum(%dy: tensor<5x6xf32>) attributes {gc.list = "micro_batch"} {
  %db = gc.reduce_sum %dy {dimensions = array<i64: 0>} : (tensor<5x6xf32>) -> tensor<6xf32>
  gc.accumulate @b.gradient, %db : tensor<6xf32>
  return
}

// -----

// A result that something else reads must exist; here also: a weight that is used twice, where the
// sum of both gradients is accumulated.
// CHECK-LABEL: func.func @used(
// CHECK-COUNT-3: = gc.linear_grad_weight
// CHECK-NOT:     gc.accumulate_product
gc.state @w.gradient accumulator : tensor<6x4xf32> = #gc.init<constant, [0.0]>
gc.state @v.gradient accumulator : tensor<6x4xf32> = #gc.init<constant, [0.0]>
func.func @used(%x: tensor<5x4xf32>, %dy: tensor<5x6xf32>) -> tensor<6x4xf32> attributes {gc.list = "micro_batch"} {
  %dw = gc.linear_grad_weight %x, %dy : (tensor<5x4xf32>, tensor<5x6xf32>) -> tensor<6x4xf32>
  gc.accumulate @w.gradient, %dw : tensor<6x4xf32>
  %d1 = gc.linear_grad_weight %x, %dy : (tensor<5x4xf32>, tensor<5x6xf32>) -> tensor<6x4xf32>
  %d2 = gc.linear_grad_weight %x, %dy : (tensor<5x4xf32>, tensor<5x6xf32>) -> tensor<6x4xf32>
  %d = gc.add %d1, %d2 : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
  gc.accumulate @v.gradient, %d : tensor<6x4xf32>
  return %dw : tensor<6x4xf32>
}

// -----

// Something reads the accumulator between the product and the addition: it must see the old sum.
// CHECK-LABEL: func.func @read_between(
// CHECK:         %[[DW:.*]] = gc.linear_grad_weight
// CHECK:         gc.accumulate @w.gradient, %[[DW]]
gc.state @w.gradient accumulator : tensor<6x4xf32> = #gc.init<constant, [0.0]>
func.func @read_between(%x: tensor<5x4xf32>, %dy: tensor<5x6xf32>) -> tensor<6x4xf32> attributes {gc.list = "micro_batch"} {
  %dw = gc.linear_grad_weight %x, %dy : (tensor<5x4xf32>, tensor<5x6xf32>) -> tensor<6x4xf32>
  %old = gc.read @w.gradient : tensor<6x4xf32>
  %copy = gc.scale %old {factor = 1.0 : f32} : (tensor<6x4xf32>) -> tensor<6x4xf32>
  gc.accumulate @w.gradient, %dw : tensor<6x4xf32>
  return %copy : tensor<6x4xf32>
}
