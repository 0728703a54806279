// RUN: gc-opt %s --split-input-file --verify-diagnostics

func.func @factors(%x: tensor<2x4xbf16>, %w: tensor<3x4xf32>) -> tensor<2x3xf32> {
  // expected-error @below {{multiplies 'bf16' by 'f32'; bring both to one type with gc.cast}}
  %y = gc.linear %x, %w : (tensor<2x4xbf16>, tensor<3x4xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

func.func @filter(%x: tensor<2x4x4x2xf32>, %w: tensor<3x1x1x2xbf16>) -> tensor<2x4x4x3xf32> {
  // expected-error @below {{multiplies 'f32' by 'bf16'}}
  %y = gc.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<2x4x4x2xf32>, tensor<3x1x1x2xbf16>) -> tensor<2x4x4x3xf32>
  return %y : tensor<2x4x4x3xf32>
}

// -----

func.func @bytes(%x: tensor<2x4xf32>) -> tensor<8xbf16> {
  // expected-error @below {{are the same bytes and must have the same type of elements}}
  %y = gc.reshape %x : (tensor<2x4xf32>) -> tensor<8xbf16>
  return %y : tensor<8xbf16>
}

// -----

func.func @statistics(%x: tensor<2x4xbf16>, %w: tensor<4xf32>) -> tensor<2x4xbf16> {
  // expected-error @below {{result #1 must be statically shaped (0D to 8D) tensor (dimensions from 1 to 2147483647, at most 1 TiB) of 32-bit float values, but got 'tensor<2xbf16>'}}
  %y, %m, %s = gc.layer_norm %x, %w, %w {epsilon = 1.0e-6 : f32} : (tensor<2x4xbf16>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4xbf16>, tensor<2xbf16>, tensor<2xbf16>)
  return %y : tensor<2x4xbf16>
}

// -----

func.func @bias(%x: tensor<2x4xbf16>, %b: tensor<4xbf16>) -> tensor<2x4xbf16> {
  // expected-error @below {{operand #1 must be 1D tensor (dimensions from 1 to 2147483647, at most 1 TiB) of 32-bit float values, but got 'tensor<4xbf16>'}}
  %y = gc.bias %x, %b : (tensor<2x4xbf16>, tensor<4xbf16>) -> tensor<2x4xbf16>
  return %y : tensor<2x4xbf16>
}

// -----

// expected-error @below {{attribute 'type' failed to satisfy constraint}}
gc.parameter @w : tensor<4xbf16> = #gc.init<constant, [0.0]>

// -----

func.func @shapes(%x: tensor<2x4xf32>) -> tensor<4x2xbf16> {
  // expected-error @below {{requires the same shape for all operands and results}}
  %y = gc.cast %x : (tensor<2x4xf32>) -> tensor<4x2xbf16>
  return %y : tensor<4x2xbf16>
}

// -----

func.func @attribute(%x: tensor<2x4xf32>) -> tensor<2x4xf32> {
  // expected-error @below {{'gc.precision' must be "f32" or "bf16", got "fp32"}}
  %y = gc.exp %x {gc.precision = "fp32"} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
