// RUN: gc-opt %s --split-input-file --verify-diagnostics

func.func @conv2d_strides(%x: tensor<2x8x8x3xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @below {{strides and dilation must be two positive numbers each and padding two non-negative ones}}
  // expected-error @below {{failed to infer returned types}}
  %y = gc.conv2d %x, %w {strides = array<i64: 0, 1>, padding = array<i64: 1, 1>} : (tensor<2x8x8x3xf32>, tensor<4x3x3x3xf32>) -> tensor<2x8x8x4xf32>
  return
}

// -----

func.func @conv2d_channels(%x: tensor<2x8x8x5xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @below {{the input has 5 channels, but the filter takes 3}}
  // expected-error @below {{failed to infer returned types}}
  %y = gc.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<2x8x8x5xf32>, tensor<4x3x3x3xf32>) -> tensor<2x8x8x4xf32>
  return
}

// -----

func.func @conv2d_too_small(%x: tensor<2x2x2x3xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @below {{a 3x3 filter does not fit a 2x2 image with padding 0, 0}}
  // expected-error @below {{failed to infer returned types}}
  %y = gc.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>} : (tensor<2x2x2x3xf32>, tensor<4x3x3x3xf32>) -> tensor<2x1x1x4xf32>
  return
}

// -----

func.func @conv2d_result(%x: tensor<2x8x8x3xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @below {{inferred type(s) 'tensor<2x8x8x4xf32>' are incompatible with return type(s) of operation 'tensor<2x7x8x4xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = gc.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<2x8x8x3xf32>, tensor<4x3x3x3xf32>) -> tensor<2x7x8x4xf32>
  return
}

// -----

func.func @conv2d_bias(%x: tensor<2x8x8x3xf32>, %w: tensor<4x3x3x3xf32>, %b: tensor<3xf32>) {
  // expected-error @below {{bias must have one element per channel of 'tensor<2x8x8x4xf32>', got 'tensor<3xf32>'}}
  %y = gc.conv2d %x, %w bias %b {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<2x8x8x3xf32>, tensor<4x3x3x3xf32>, tensor<3xf32>) -> tensor<2x8x8x4xf32>
  return
}

// -----

func.func @conv2d_residual(%x: tensor<2x8x8x3xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @below {{residual must be 'tensor<2x8x8x4xf32>', got 'tensor<2x8x8x3xf32>'}}
  %y = gc.conv2d %x, %w residual %x {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<2x8x8x3xf32>, tensor<4x3x3x3xf32>, tensor<2x8x8x3xf32>) -> tensor<2x8x8x4xf32>
  return
}

// -----

func.func @conv2d_grad_input_gradient(%x: tensor<2x7x8x4xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @below {{gradient must be 'tensor<2x8x8x4xf32>', got 'tensor<2x7x8x4xf32>'}}
  %y = gc.conv2d_grad_input %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<2x7x8x4xf32>, tensor<4x3x3x3xf32>) -> tensor<2x8x8x3xf32>
  return
}

// -----

func.func @conv2d_grad_filter_gradient(%x: tensor<2x8x8x3xf32>, %d: tensor<2x8x8x5xf32>) {
  // expected-error @below {{gradient must be 'tensor<2x8x8x4xf32>', got 'tensor<2x8x8x5xf32>'}}
  %y = gc.conv2d_grad_filter %x, %d {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<2x8x8x3xf32>, tensor<2x8x8x5xf32>) -> tensor<4x3x3x3xf32>
  return
}

// -----

func.func @conv2d_grad_filter_bias(%x: tensor<2x8x8x3xf32>, %d: tensor<2x8x8x4xf32>) {
  // expected-error @below {{bias gradient must have one element per channel of 'tensor<2x8x8x4xf32>', got 'tensor<3xf32>'}}
  %y:2 = gc.conv2d_grad_filter %x, %d {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<2x8x8x3xf32>, tensor<2x8x8x4xf32>) -> (tensor<4x3x3x3xf32>, tensor<3xf32>)
  return
}

// -----

func.func @linear_rows(%x: tensor<5x3xf32>, %w: tensor<6x4xf32>) {
  // expected-error @below {{the rows of 'tensor<5x3xf32>' do not fit the weight 'tensor<6x4xf32>'}}
  // expected-error @below {{failed to infer returned types}}
  %y = gc.linear %x, %w : (tensor<5x3xf32>, tensor<6x4xf32>) -> tensor<5x6xf32>
  return
}

// -----

func.func @linear_bias(%x: tensor<5x4xf32>, %w: tensor<6x4xf32>, %b: tensor<4xf32>) {
  // expected-error @below {{bias must have one element per channel of 'tensor<5x6xf32>', got 'tensor<4xf32>'}}
  %y = gc.linear %x, %w bias %b : (tensor<5x4xf32>, tensor<6x4xf32>, tensor<4xf32>) -> tensor<5x6xf32>
  return
}

// -----

func.func @linear_residual(%x: tensor<5x4xf32>, %w: tensor<6x4xf32>) {
  // expected-error @below {{residual must be 'tensor<5x6xf32>', got 'tensor<5x4xf32>'}}
  %y = gc.linear %x, %w residual %x : (tensor<5x4xf32>, tensor<6x4xf32>, tensor<5x4xf32>) -> tensor<5x6xf32>
  return
}

// -----

func.func @linear_grad_input_rows(%x: tensor<5x7xf32>, %w: tensor<6x4xf32>) {
  // expected-error @below {{the rows of 'tensor<5x7xf32>' do not fit the weight 'tensor<6x4xf32>'}}
  %y = gc.linear_grad_input %x, %w : (tensor<5x7xf32>, tensor<6x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @linear_grad_weight_rows(%x: tensor<5x4xf32>, %d: tensor<3x6xf32>) {
  // expected-error @below {{input 'tensor<5x4xf32>' and gradient 'tensor<3x6xf32>' must have the same rows}}
  %y = gc.linear_grad_weight %x, %d : (tensor<5x4xf32>, tensor<3x6xf32>) -> tensor<6x4xf32>
  return
}

// -----

func.func @matmul_leading(%x: tensor<2x5x4xf32>, %w: tensor<3x4x6xf32>) {
  // expected-error @below {{operands must have rank 2 or more and equal leading dimensions}}
  // expected-error @below {{failed to infer returned types}}
  %y = gc.matmul %x, %w : (tensor<2x5x4xf32>, tensor<3x4x6xf32>) -> tensor<2x5x6xf32>
  return
}

// -----

func.func @matmul_inner(%x: tensor<5x4xf32>, %w: tensor<6x4xf32>) {
  // expected-error @below {{inner dimensions differ: 4 and 6}}
  // expected-error @below {{failed to infer returned types}}
  %y = gc.matmul %x, %w : (tensor<5x4xf32>, tensor<6x4xf32>) -> tensor<5x4xf32>
  return
}

// -----

func.func @conv2d_groups(%x: tensor<2x8x8x6xf32>, %w: tensor<4x3x3x2xf32>) {
  // expected-error @below {{3 groups do not divide 6 input and 4 output channels}}
  // expected-error @below {{failed to infer returned types}}
  %y = gc.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>, groups = 3 : i64} : (tensor<2x8x8x6xf32>, tensor<4x3x3x2xf32>) -> tensor<2x8x8x4xf32>
  return
}

// -----

func.func @conv2d_no_groups(%x: tensor<2x8x8x6xf32>, %w: tensor<4x3x3x6xf32>) {
  // expected-error @below {{0 groups do not divide 6 input and 4 output channels}}
  // expected-error @below {{failed to infer returned types}}
  %y = gc.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>, groups = 0 : i64} : (tensor<2x8x8x6xf32>, tensor<4x3x3x6xf32>) -> tensor<2x8x8x4xf32>
  return
}

// -----

func.func @conv2d_channels_of_a_group(%x: tensor<2x8x8x6xf32>, %w: tensor<4x3x3x6xf32>) {
  // expected-error @below {{the input has 6 channels in 2 groups, but the filter takes 6 for each}}
  // expected-error @below {{failed to infer returned types}}
  %y = gc.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>, groups = 2 : i64} : (tensor<2x8x8x6xf32>, tensor<4x3x3x6xf32>) -> tensor<2x8x8x4xf32>
  return
}

// -----

func.func @conv2d_dilation(%x: tensor<2x8x8x3xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @below {{strides and dilation must be two positive numbers each and padding two non-negative ones}}
  // expected-error @below {{failed to infer returned types}}
  %y = gc.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>, dilation = array<i64: 0, 1>} : (tensor<2x8x8x3xf32>, tensor<4x3x3x3xf32>) -> tensor<2x8x8x4xf32>
  return
}

// -----

func.func @conv2d_dilated_too_far(%x: tensor<2x8x8x3xf32>, %w: tensor<4x3x3x3xf32>) {
  // expected-error @below {{a 9x5 filter does not fit a 8x8 image with padding 0, 0}}
  // expected-error @below {{failed to infer returned types}}
  %y = gc.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 0, 0>, dilation = array<i64: 4, 2>} : (tensor<2x8x8x3xf32>, tensor<4x3x3x3xf32>) -> tensor<2x8x8x4xf32>
  return
}

// -----

func.func @conv2d_grad_filter_of_groups(%x: tensor<2x8x8x6xf32>, %d: tensor<2x8x8x4xf32>) {
  // expected-error @below {{the input has 6 channels in 2 groups, but the filter takes 6 for each}}
  %y = gc.conv2d_grad_filter %x, %d {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>, groups = 2 : i64} : (tensor<2x8x8x6xf32>, tensor<2x8x8x4xf32>) -> tensor<4x3x3x6xf32>
  return
}
