// RUN: gc-opt %s --split-input-file --verify-diagnostics

func.func @bias_channels(%x: tensor<8x4xf32>, %b: tensor<3xf32>) {
  // expected-error @below {{bias must have one element per channel of 'tensor<8x4xf32>', got 'tensor<3xf32>'}}
  %y = gc.bias %x, %b : (tensor<8x4xf32>, tensor<3xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @add_shapes(%x: tensor<8xf32>, %b: tensor<3xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  %y = gc.add %x, %b : (tensor<8xf32>, tensor<3xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @relu_of_integers(%x: tensor<8xi32>) {
  // expected-error @below {{operand #0 must be statically shaped (0D to 8D) tensor (dimensions from 1 to 2147483647, at most 1 TiB) of 32-bit float or bfloat16 type values, but got 'tensor<8xi32>'}}
  %y = gc.relu %x : (tensor<8xi32>) -> tensor<8xi32>
  return
}

// -----

func.func @relu_of_dynamic(%x: tensor<?xf32>) {
  // expected-error @below {{operand #0 must be statically shaped (0D to 8D) tensor (dimensions from 1 to 2147483647, at most 1 TiB) of 32-bit float or bfloat16 type values, but got 'tensor<?xf32>'}}
  %y = gc.relu %x : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

func.func @dropout_probability(%x: tensor<8xf32>, %g: tensor<2xi64>) {
  // expected-error @below {{probability must be in [0, 1), got 1.0}}
  %y = gc.dropout %x, %g {probability = 1.0 : f32, id = 0 : i64} : (tensor<8xf32>, tensor<2xi64>) -> tensor<8xf32>
  return
}

// -----

func.func @dropout_micro_batch(%x: tensor<8xf32>, %g: tensor<2xi64>, %m: tensor<2xi64>) {
  // expected-error @below {{micro_batch must hold one number, the index of the micro-batch}}
  %y = gc.dropout %x, %g, %m {probability = 0.5 : f32, id = 0 : i64} : (tensor<8xf32>, tensor<2xi64>, tensor<2xi64>) -> tensor<8xf32>
  return
}

// -----

func.func @dropout_generator(%x: tensor<8xf32>, %g: tensor<3xi64>) {
  // expected-error @below {{generator must hold (seed, step)}}
  %y = gc.dropout %x, %g {probability = 0.5 : f32, id = 0 : i64} : (tensor<8xf32>, tensor<3xi64>) -> tensor<8xf32>
  return
}

// -----

func.func @broadcast_count(%x: tensor<4xf32>) {
  // expected-error @below {{dimensions must have one entry per input dimension, 1}}
  %y = gc.broadcast %x {dimensions = array<i64: 0, 1>} : (tensor<4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @broadcast_range(%x: tensor<4xf32>) {
  // expected-error @below {{dimension 2 is out of range for rank 2}}
  %y = gc.broadcast %x {dimensions = array<i64: 2>} : (tensor<4xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @broadcast_order(%x: tensor<4x4xf32>) {
  // expected-error @below {{dimensions must ascend}}
  %y = gc.broadcast %x {dimensions = array<i64: 1, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @broadcast_twice(%x: tensor<4x4xf32>) {
  // expected-error @below {{dimension 0 is named twice}}
  %y = gc.broadcast %x {dimensions = array<i64: 0, 0>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @broadcast_size(%x: tensor<3xf32>) {
  // expected-error @below {{input dimension 0 (3) does not fit result dimension 1 (4)}}
  %y = gc.broadcast %x {dimensions = array<i64: 1>} : (tensor<3xf32>) -> tensor<8x4xf32>
  return
}

// -----

func.func @pow_of_zero(%x: tensor<8xf32>) {
  // expected-error @below {{exponent must not be 0: the result would be 1 everywhere}}
  %y = gc.pow %x {exponent = 0.0 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @pow_too_large(%x: tensor<8xf32>) {
  // expected-error @below {{a whole exponent is at most 32, got 3.300000e+01}}
  %y = gc.pow %x {exponent = 33.0 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @clamp_without_bounds(%x: tensor<8xf32>) {
  // expected-error @below {{needs low, high or both}}
  %y = gc.clamp %x : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @clamp_bounds(%x: tensor<8xf32>) {
  // expected-error @below {{low must not be above high, got 1.0}}
  %y = gc.clamp %x {low = 1.0 : f32, high = 0.0 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @leaky_relu_slope(%x: tensor<8xf32>) {
  // expected-error @below {{attribute 'slope' failed to satisfy constraint: 32-bit float attribute that is finite and not negative}}
  %y = gc.leaky_relu %x {slope = -0.1 : f32} : (tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @masked_fill_nan(%x: tensor<8xf32>) {
  // expected-error @below {{attribute 'value' failed to satisfy constraint: 32-bit float attribute that is not NaN}}
  %y = gc.masked_fill %x, %x {value = 0x7FC00000 : f32} : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}

// -----

func.func @select_shapes(%x: tensor<8xf32>, %m: tensor<1xf32>) {
  // expected-error @below {{requires the same type for all operands and results}}
  %y = gc.select %m, %x, %x : (tensor<1xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
  return
}
