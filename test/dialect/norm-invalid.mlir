// RUN: gc-opt %s --split-input-file --verify-diagnostics

func.func @batch_norm_weight(%x: tensor<2x3x3x4xf32>, %w: tensor<4xf32>, %s: tensor<3xf32>) {
  // expected-error @below {{weight must have one element per channel of 'tensor<2x3x3x4xf32>', got 'tensor<3xf32>'}}
  %y:3 = gc.batch_norm %x, %s, %w {epsilon = 0.1 : f32} : (tensor<2x3x3x4xf32>, tensor<3xf32>, tensor<4xf32>) -> (tensor<2x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @batch_norm_bias(%x: tensor<2x3x3x4xf32>, %w: tensor<4xf32>, %s: tensor<3xf32>) {
  // expected-error @below {{bias must have one element per channel of 'tensor<2x3x3x4xf32>', got 'tensor<3xf32>'}}
  %y:3 = gc.batch_norm %x, %w, %s {epsilon = 0.1 : f32} : (tensor<2x3x3x4xf32>, tensor<4xf32>, tensor<3xf32>) -> (tensor<2x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @normalize_mean(%x: tensor<2x3x3x4xf32>, %w: tensor<4xf32>, %s: tensor<3xf32>) {
  // expected-error @below {{mean must have one element per channel of 'tensor<2x3x3x4xf32>', got 'tensor<3xf32>'}}
  %y = gc.normalize %x, %s, %w, %w, %w : (tensor<2x3x3x4xf32>, tensor<3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x3x3x4xf32>
  return
}

// -----

func.func @normalize_rstd(%x: tensor<2x3x3x4xf32>, %w: tensor<4xf32>, %s: tensor<3xf32>) {
  // expected-error @below {{rstd must have one element per channel of 'tensor<2x3x3x4xf32>', got 'tensor<3xf32>'}}
  %y = gc.normalize %x, %w, %s, %w, %w : (tensor<2x3x3x4xf32>, tensor<4xf32>, tensor<3xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x3x3x4xf32>
  return
}

// -----

func.func @batch_norm_grad_params_gradient(%x: tensor<2x3x3x4xf32>, %w: tensor<4xf32>, %d: tensor<2x3x4x4xf32>) {
  // expected-error @below {{gradient must be 'tensor<2x3x3x4xf32>', got 'tensor<2x3x4x4xf32>'}}
  %y:2 = gc.batch_norm_grad_params %d, %x, %w, %w : (tensor<2x3x4x4xf32>, tensor<2x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @batch_norm_grad_input_channel(%x: tensor<2x3x3x4xf32>, %w: tensor<4xf32>, %s: tensor<3xf32>) {
  // expected-error @below {{per-channel operand must have one element per channel of 'tensor<2x3x3x4xf32>', got 'tensor<3xf32>'}}
  %y = gc.batch_norm_grad_input %x, %x, %w, %w, %w, %w, %s : (tensor<2x3x3x4xf32>, tensor<2x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<3xf32>) -> tensor<2x3x3x4xf32>
  return
}

// -----

func.func @layer_norm_scalar(%x: tensor<f32>, %w: tensor<4xf32>) {
  // expected-error @below {{weight must have one element per channel of 'tensor<f32>', got 'tensor<4xf32>'}}
  %y:3 = gc.layer_norm %x, %w, %w {epsilon = 0.1 : f32} : (tensor<f32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<f32>, tensor<f32>, tensor<f32>)
  return
}

// -----

func.func @layer_norm_weight(%x: tensor<2x3x3x4xf32>, %w: tensor<4xf32>, %s: tensor<3xf32>) {
  // expected-error @below {{weight must have one element per channel of 'tensor<2x3x3x4xf32>', got 'tensor<3xf32>'}}
  %y:3 = gc.layer_norm %x, %s, %w {epsilon = 0.1 : f32} : (tensor<2x3x3x4xf32>, tensor<3xf32>, tensor<4xf32>) -> (tensor<2x3x3x4xf32>, tensor<2x3x3xf32>, tensor<2x3x3xf32>)
  return
}

// -----

func.func @layer_norm_grad_mean(%x: tensor<2x3x3x4xf32>, %w: tensor<4xf32>, %s: tensor<3xf32>) {
  // expected-error @below {{mean must be 'tensor<2x3x3xf32>', got 'tensor<4xf32>'}}
  %y:3 = gc.layer_norm_grad %x, %x, %w, %w, %w : (tensor<2x3x3x4xf32>, tensor<2x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @group_norm_groups(%x: tensor<2x3x3x4xf32>, %w: tensor<4xf32>, %s: tensor<3xf32>) {
  // expected-error @below {{3 groups do not divide 4 channels}}
  %y:3 = gc.group_norm %x, %w, %w {epsilon = 0.1 : f32, groups = 3 : i64} : (tensor<2x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x3x3x4xf32>, tensor<2x3xf32>, tensor<2x3xf32>)
  return
}

// -----

func.func @group_norm_grad_groups(%x: tensor<2x3x3x4xf32>, %w: tensor<4xf32>, %m: tensor<2x3xf32>) {
  // expected-error @below {{3 groups do not divide 4 channels}}
  %y:3 = gc.group_norm_grad %x, %x, %m, %m, %w {groups = 3 : i64} : (tensor<2x3x3x4xf32>, tensor<2x3x3x4xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<4xf32>) -> (tensor<2x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @group_norm_grad_mean(%x: tensor<2x3x3x4xf32>, %w: tensor<4xf32>, %m: tensor<2x3xf32>) {
  // expected-error @below {{mean must be 'tensor<2x2xf32>', got 'tensor<2x3xf32>'}}
  %y:3 = gc.group_norm_grad %x, %x, %m, %m, %w {groups = 2 : i64} : (tensor<2x3x3x4xf32>, tensor<2x3x3x4xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<4xf32>) -> (tensor<2x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}
