// RUN: gc-opt %s --split-input-file --verify-diagnostics

func.func @avg_pool_window(%x: tensor<2x4x4x3xf32>) {
  // expected-error @below {{kernel must be two numbers of at least 1}}
  %y = gc.avg_pool %x {kernel = array<i64: 0, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<2x4x4x3xf32>) -> tensor<2x2x2x3xf32>
  return
}

// -----

func.func @avg_pool_too_small(%x: tensor<2x4x4x3xf32>) {
  // expected-error @below {{a 5x5 window does not fit a 4x4 image}}
  // expected-error @below {{failed to infer returned types}}
  %y = gc.avg_pool %x {kernel = array<i64: 5, 5>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<2x4x4x3xf32>) -> tensor<2x2x2x3xf32>
  return
}

// -----

func.func @avg_pool_padding(%x: tensor<2x4x4x3xf32>) {
  // expected-error @below {{padding must be at most half the kernel}}
  %y = gc.avg_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 2, 2>} : (tensor<2x4x4x3xf32>) -> tensor<2x4x4x3xf32>
  return
}

// -----

func.func @max_pool_byte(%x: tensor<1x12x12x3xf32>) {
  // expected-error @below {{a window has at most 127 elements, so that an index fits a byte}}
  %y:2 = gc.max_pool %x {kernel = array<i64: 12, 12>, strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<1x12x12x3xf32>) -> (tensor<1x1x1x3xf32>, tensor<1x1x1x3xi8>)
  return
}

// -----

func.func @max_pool_grad_index(%i: tensor<2x2x1x3xi8>, %d: tensor<2x2x2x3xf32>) {
  // expected-error @below {{index 'tensor<2x2x1x3xi8>' must have the gradient's shape 'tensor<2x2x2x3xf32>'}}
  %y = gc.max_pool_grad %i, %d {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<2x2x1x3xi8>, tensor<2x2x2x3xf32>) -> tensor<2x4x4x3xf32>
  return
}

// -----

func.func @avg_pool_grad_gradient(%x: tensor<2x4x4x3xf32>) {
  // expected-error @below {{gradient must be 'tensor<2x2x2x3xf32>', got 'tensor<2x4x4x3xf32>'}}
  %y = gc.avg_pool_grad %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<2x4x4x3xf32>) -> tensor<2x4x4x3xf32>
  return
}

// -----

func.func @global_avg_pool_rank(%x: tensor<2x3xf32>) {
  // expected-error @below {{the input needs dimensions between batch and channels, got 'tensor<2x3xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = gc.global_avg_pool %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @global_avg_pool_grad_channels(%x: tensor<2x5xf32>) {
  // expected-error @below {{a gradient 'tensor<2x5xf32>' does not spread over 'tensor<2x4x4x3xf32>'}}
  %y = gc.global_avg_pool_grad %x : (tensor<2x5xf32>) -> tensor<2x4x4x3xf32>
  return
}

// -----

// A window that would begin in the padding after the image is not there.
func.func @max_pool_ceil(%x: tensor<1x5x5x3xf32>) {
  // expected-error @below {{inferred type(s) 'tensor<1x3x3x3xf32>', 'tensor<1x3x3x3xi8>' are incompatible with return type(s) of operation 'tensor<1x4x4x3xf32>', 'tensor<1x4x4x3xi8>'}}
  // expected-error @below {{failed to infer returned types}}
  %y:2 = gc.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 1, 1>, ceil_mode = true} : (tensor<1x5x5x3xf32>) -> (tensor<1x4x4x3xf32>, tensor<1x4x4x3xi8>)
  return
}
