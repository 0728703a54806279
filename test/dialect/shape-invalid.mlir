// RUN: gc-opt %s --split-input-file --verify-diagnostics

func.func @reshape_elements(%x: tensor<2x3x4xf32>) {
  // expected-error @below {{'tensor<2x3x4xf32>' and 'tensor<5x5xf32>' differ in elements}}
  %y = gc.reshape %x : (tensor<2x3x4xf32>) -> tensor<5x5xf32>
  return
}

// -----

func.func @transpose_count(%x: tensor<2x3x4xf32>) {
  // expected-error @below {{permutation must name each of 3 dimensions}}
  // expected-error @below {{failed to infer returned types}}
  %y = gc.transpose %x {permutation = array<i64: 0, 1>} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @transpose_range(%x: tensor<2x3x4xf32>) {
  // expected-error @below {{dimension 3 is out of range for rank 3}}
  %y = gc.transpose %x {permutation = array<i64: 0, 1, 3>} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @transpose_twice(%x: tensor<2x3x4xf32>) {
  // expected-error @below {{dimension 0 is named twice}}
  %y = gc.transpose %x {permutation = array<i64: 0, 0, 1>} : (tensor<2x3x4xf32>) -> tensor<2x2x3xf32>
  return
}

// -----

func.func @concat_axis(%x: tensor<2x3x4xf32>) {
  // expected-error @below {{axis 3 is out of range for rank 3}}
  // expected-error @below {{failed to infer returned types}}
  %y = gc.concat %x, %x {axis = 3 : i64} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @concat_rank(%x: tensor<2x3x4xf32>, %z: tensor<2x3xf32>) {
  // expected-error @below {{operands and result must have the same rank}}
  %y = gc.concat %x, %z {axis = 0 : i64} : (tensor<2x3x4xf32>, tensor<2x3xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @concat_empty() {
  // expected-error @below {{needs at least one operand}}
  // expected-error @below {{failed to infer returned types}}
  %y = gc.concat {axis = 0 : i64} : () -> tensor<1xf32>
  return
}

// -----

func.func @concat_other_axis(%x: tensor<2x3x4xf32>, %z: tensor<2x4x4xf32>) {
  // expected-error @below {{operand 'tensor<2x4x4xf32>' does not fit 'tensor<4x3x4xf32>' outside axis 0}}
  %y = gc.concat %x, %z {axis = 0 : i64} : (tensor<2x3x4xf32>, tensor<2x4x4xf32>) -> tensor<4x3x4xf32>
  return
}

// -----

func.func @slice_range(%x: tensor<2x3x4xf32>) {
  // expected-error @below {{2 elements from 2 on are outside axis 1 of 'tensor<2x3x4xf32>'}}
  %y = gc.slice %x {axis = 1 : i64, offset = 2 : i64, size = 2 : i64} : (tensor<2x3x4xf32>) -> tensor<2x2x4xf32>
  return
}

// -----

func.func @pad_negative(%x: tensor<2x3x4xf32>) {
  // expected-error @below {{low and high must be between 0 and}}
  // expected-error @below {{failed to infer returned types}}
  %y = gc.pad %x {axis = 1 : i64, low = -1 : i64, high = 0 : i64} : (tensor<2x3x4xf32>) -> tensor<2x2x4xf32>
  return
}

// -----

func.func @reduce_sum_range(%x: tensor<2x3x4xf32>) {
  // expected-error @below {{dimension 3 is out of range for rank 3}}
  %y = gc.reduce_sum %x {dimensions = array<i64: 3>} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @reduce_mean_twice(%x: tensor<2x3x4xf32>) {
  // expected-error @below {{dimension 0 is named twice}}
  %y = gc.reduce_mean %x {dimensions = array<i64: 0, 0>} : (tensor<2x3x4xf32>) -> tensor<3x4xf32>
  return
}

// -----

func.func @reduce_max_grad_gradient(%x: tensor<2x3x4xf32>, %o: tensor<3x4xf32>, %d: tensor<2x4xf32>) {
  // expected-error @below {{gradient must be 'tensor<3x4xf32>', got 'tensor<2x4xf32>'}}
  %y = gc.reduce_max_grad %x, %o, %d {dimensions = array<i64: 0>} : (tensor<2x3x4xf32>, tensor<3x4xf32>, tensor<2x4xf32>) -> tensor<2x3x4xf32>
  return
}

// -----

func.func @put_rows_outside(%x: tensor<4x3xf32>, %part: tensor<2x3xf32>) {
  // expected-error @below {{2 rows from 3 on are outside of 'tensor<4x3xf32>'}}
  %y = gc.put_rows %x, %part {from = 3 : i64} : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @put_rows_before(%x: tensor<4x3xf32>, %part: tensor<2x3xf32>) {
  // expected-error @below {{2 rows from -1 on are outside of 'tensor<4x3xf32>'}}
  %y = gc.put_rows %x, %part {from = -1 : i64} : (tensor<4x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @put_rows_of_another_shape(%x: tensor<4x3xf32>, %part: tensor<2x4xf32>) {
  // expected-error @below {{rows of 'tensor<2x4xf32>' do not fit 'tensor<4x3xf32>'}}
  %y = gc.put_rows %x, %part {from = 0 : i64} : (tensor<4x3xf32>, tensor<2x4xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @roll_shift(%x: tensor<4x3xf32>) {
  // expected-error @below {{shift must be between 1 and 2 along axis 1 of 'tensor<4x3xf32>', got 3}}
  %y = gc.roll %x {axis = 1 : i64, shift = 3 : i64} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}

// -----

func.func @flip_axis(%x: tensor<4x3xf32>) {
  // expected-error @below {{axis 2 is out of range for rank 2}}
  %y = gc.flip %x {axis = 2 : i64} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  return
}
