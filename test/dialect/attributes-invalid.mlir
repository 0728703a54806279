// An attribute that would be ignored is an error.
// RUN: gc-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<2x8x8x3xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @below {{'gc.conv2d' op has no attribute 'dilations'; it has activation, dilation, groups, padding, strides; did you mean 'dilation'?}}
  %y = gc.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>, dilations = array<i64: 2, 2>} : (tensor<2x8x8x3xf32>, tensor<4x3x3x3xf32>) -> tensor<2x6x6x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'gc.relu' op has no attribute 'inplace'; it has none}}
  %y = gc.relu %x {inplace = true} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<2x8x8x3xf32>) {
  // expected-error @below {{has no attribute 'return_indices'; it has ceil_mode, kernel, padding, strides}}
  %y, %i = gc.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0>, return_indices = true} : (tensor<2x8x8x3xf32>) -> (tensor<2x4x4x3xf32>, tensor<2x4x4x3xi8>)
  return
}

// -----

func.func @f(%a: tensor<4x4xf32>) {
  // expected-error @below {{has no attribute 'transpose_rsh'; it has transpose_lhs, transpose_rhs; did you mean 'transpose_rhs'?}}
  %y = gc.matmul %a, %a {transpose_rsh = true} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'gc.relu' op has no attribute 'inplace'; it has none}}
  %y = "gc.relu"(%x) {inplace = true} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{gc has no attribute 'gc.recomputd'; did you mean 'gc.recomputed'?}}
  %y = gc.gelu %x {gc.recomputd} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'gc.classes' belongs to a module, not to an op of a step}}
  %y = gc.gelu %x {gc.classes = 4 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'gc.workspace' must be a 64-bit integer from 0 on, got -1}}
  %y = gc.gelu %x {gc.workspace = -1 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'gc.offsets' must be array<i64>, got 8}}
  %y = gc.gelu %x {gc.offsets = 8 : i64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) {
  // expected-error @below {{'gc.seconds' must be a finite number from 0 on}}
  %y = gc.gelu %x {gc.seconds = 0x7FF8000000000000 : f64} : (tensor<4xf32>) -> tensor<4xf32>
  return
}

// -----

// expected-error @below {{'gc.parameter' op has no attribute 'trainable'; it has file_permutation, file_shape, file_split, init, sym_name, type}}
gc.parameter @w : tensor<4xf32> = #gc.init<constant, [0.0]> {trainable = false}

// -----

// expected-error @below {{gc has no attribute 'gc.inputs'; did you mean 'gc.input'?}}
func.func @f(%x: tensor<4xf32> {gc.inputs = "x"}) {
  return
}

// -----

// expected-error @below {{'gc.input' must be a name without control characters, got ""}}
func.func @f(%x: tensor<4xf32> {gc.input = ""}) {
  return
}

// -----

// expected-error @below {{'gc.input' belongs to an argument, not to a result of a function}}
func.func @f(%x: tensor<4xf32>) -> (tensor<4xf32> {gc.input = "x"}) {
  return %x : tensor<4xf32>
}

// -----

// expected-error @below {{'gc.list' must be "micro_batch", "step" or "evaluate", got "later"}}
func.func @f() attributes {gc.list = "later"} {
  return
}

// -----

// expected-error @below {{'gc.classes' must be a 64-bit integer from 1 on, got 0}}
module attributes {gc.classes = 0 : i64} {
}

// -----

// expected-error @below {{gc has no attribute 'gc.budget'}}
module attributes {gc.budget = 1024 : i64} {
}

// -----

func.func @f(%x: tensor<4x4xf32>) {
  // expected-error @below {{has no attribute 'transpose'; it has transpose_lhs, transpose_rhs}}
  %y = "gc.matmul"(%x, %x) <{transpose = true}> : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

// Attributes of other dialects are theirs.
module attributes {foo.bar = 1 : i64} {
  func.func @f(%x: tensor<4xf32> {foo.bar}) -> tensor<4xf32> attributes {foo.bar} {
    %y = gc.gelu %x {foo.bar} : (tensor<4xf32>) -> tensor<4xf32>
    return %y : tensor<4xf32>
  }
}
