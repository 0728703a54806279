// RUN: gc-opt %s --split-input-file --verify-diagnostics

func.func @softmax_scalar(%x: tensor<f32>) {
  // expected-error @below {{the input needs a last dimension}}
  // expected-error @below {{failed to infer returned types}}
  %y = gc.softmax %x : (tensor<f32>) -> tensor<f32>
  return
}

// -----

func.func @softmax_grad_gradient(%x: tensor<4xf32>, %d: tensor<3xf32>) {
  // expected-error @below {{gradient must be 'tensor<4xf32>', got 'tensor<3xf32>'}}
  %y = gc.softmax_grad %x, %d : (tensor<4xf32>, tensor<3xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @attention_heads(%x: tensor<2x5x12xf32>) {
  // expected-error @below {{the last dimension 12 must be 3 * heads * head size with 5 heads}}
  // expected-error @below {{failed to infer returned types}}
  %y:2 = gc.attention %x {heads = 5 : i64} : (tensor<2x5x12xf32>) -> (tensor<2x5x4xf32>, tensor<2x5x5xf32>)
  return
}

// -----

func.func @attention_grad_heads(%x: tensor<2x5x12xf32>, %o: tensor<2x5x4xf32>, %l: tensor<2x2x5xf32>) {
  // expected-error @below {{the last dimension 12 must be 3 * heads * head size with 5 heads}}
  %y = gc.attention_grad %x, %o, %l, %o {heads = 5 : i64} : (tensor<2x5x12xf32>, tensor<2x5x4xf32>, tensor<2x2x5xf32>, tensor<2x5x4xf32>) -> tensor<2x5x12xf32>
  return
}

// -----

func.func @attention_grad_output(%x: tensor<2x5x12xf32>, %o: tensor<2x5x3xf32>, %l: tensor<2x2x5xf32>) {
  // expected-error @below {{output must be 'tensor<2x5x4xf32>', got 'tensor<2x5x3xf32>'}}
  %y = gc.attention_grad %x, %o, %l, %o {heads = 2 : i64} : (tensor<2x5x12xf32>, tensor<2x5x3xf32>, tensor<2x2x5xf32>, tensor<2x5x3xf32>) -> tensor<2x5x12xf32>
  return
}

// -----

func.func @attention_grad_logsumexp(%x: tensor<2x5x12xf32>, %o: tensor<2x5x4xf32>, %l: tensor<2x3x5xf32>) {
  // expected-error @below {{logsumexp must be 'tensor<2x2x5xf32>', got 'tensor<2x3x5xf32>'}}
  %y = gc.attention_grad %x, %o, %l, %o {heads = 2 : i64} : (tensor<2x5x12xf32>, tensor<2x5x4xf32>, tensor<2x3x5xf32>, tensor<2x5x4xf32>) -> tensor<2x5x12xf32>
  return
}

// -----

func.func @patch_embed_patches(%x: tensor<2x4x5x3xf32>, %w: tensor<6x2x2x3xf32>, %b: tensor<6xf32>) {
  // expected-error @below {{a 4x5 image with 3 channels does not split into 2x2 patches with 3 channels}}
  // expected-error @below {{failed to infer returned types}}
  %y = gc.patch_embed %x, %w, %b : (tensor<2x4x5x3xf32>, tensor<6x2x2x3xf32>, tensor<6xf32>) -> tensor<2x4x6xf32>
  return
}

// -----

func.func @patch_embed_bias(%x: tensor<2x4x4x3xf32>, %w: tensor<6x2x2x3xf32>, %b: tensor<5xf32>) {
  // expected-error @below {{bias must have one element per channel of 'tensor<2x4x6xf32>', got 'tensor<5xf32>'}}
  %y = gc.patch_embed %x, %w, %b : (tensor<2x4x4x3xf32>, tensor<6x2x2x3xf32>, tensor<5xf32>) -> tensor<2x4x6xf32>
  return
}

// -----

func.func @class_token_token(%x: tensor<2x4x6xf32>, %t: tensor<1x2x6xf32>, %p: tensor<1x5x6xf32>) {
  // expected-error @below {{token must be 'tensor<1x1x6xf32>', got 'tensor<1x2x6xf32>'}}
  %y = gc.class_token %x, %t, %p : (tensor<2x4x6xf32>, tensor<1x2x6xf32>, tensor<1x5x6xf32>) -> tensor<2x5x6xf32>
  return
}

// -----

func.func @class_token_position(%x: tensor<2x4x6xf32>, %t: tensor<1x1x6xf32>, %p: tensor<1x4x6xf32>) {
  // expected-error @below {{position must be 'tensor<1x5x6xf32>', got 'tensor<1x4x6xf32>'}}
  %y = gc.class_token %x, %t, %p : (tensor<2x4x6xf32>, tensor<1x1x6xf32>, tensor<1x4x6xf32>) -> tensor<2x5x6xf32>
  return
}

// -----

func.func @embedding_grad_gradient(%i: tensor<2x5xi32>, %d: tensor<2x4x6xf32>) {
  // expected-error @below {{gradient must be 'tensor<2x5x6xf32>', got 'tensor<2x4x6xf32>'}}
  %y = gc.embedding_grad %i, %d : (tensor<2x5xi32>, tensor<2x4x6xf32>) -> tensor<9x6xf32>
  return
}

// -----

func.func @attention_bias(%x: tensor<2x5x12xf32>, %b: tensor<1x3x5x5xf32>) {
  // expected-error@+1 {{the bias 'tensor<1x3x5x5xf32>' is added to scores of 2x2x5x5: dimension 1 must be 2 or 1}}
  %y:2 = gc.attention %x, %b {heads = 2 : i64} : (tensor<2x5x12xf32>, tensor<1x3x5x5xf32>) -> (tensor<2x5x4xf32>, tensor<2x2x5xf32>)
  return
}

// -----

func.func @attention_bias_keys(%x: tensor<2x5x12xf32>, %b: tensor<1x1x5x1xf32>) {
  // expected-error@+1 {{dimension 3 must be 5}}
  %y:2 = gc.attention %x, %b {heads = 2 : i64} : (tensor<2x5x12xf32>, tensor<1x1x5x1xf32>) -> (tensor<2x5x4xf32>, tensor<2x2x5xf32>)
  return
}
