// RUN: gc-opt %s --split-input-file --verify-diagnostics

func.func @cross_entropy_samples(%x: tensor<8x10xf32>, %l: tensor<7xi32>) {
  // expected-error @below {{logits 'tensor<8x10xf32>' and labels 'tensor<7xi32>' must have the same number of samples}}
  %y:2 = gc.cross_entropy %x, %l : (tensor<8x10xf32>, tensor<7xi32>) -> (tensor<f32>, tensor<8xf32>)
  return
}

// -----

func.func @cross_entropy_smoothing(%x: tensor<8x10xf32>, %l: tensor<8xi32>) {
  // expected-error @below {{attribute 'label_smoothing' failed to satisfy constraint: 32-bit float attribute that is in [0, 1)}}
  %y:2 = gc.cross_entropy %x, %l {label_smoothing = 1.0 : f32} : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  return
}

// -----

func.func @cross_entropy_labels(%x: tensor<8x10xf32>, %l: tensor<8xi64>) {
  // expected-error @below {{operand #1 must be statically shaped (0D to 8D) tensor (dimensions from 1 to 2147483647, at most 1 TiB) of 32-bit signless integer values, but got 'tensor<8xi64>'}}
  %y:2 = gc.cross_entropy %x, %l : (tensor<8x10xf32>, tensor<8xi64>) -> (tensor<f32>, tensor<8xf32>)
  return
}

// -----

func.func @cross_entropy_grad_logsumexp(%x: tensor<8x10xf32>, %l: tensor<8xi32>, %s: tensor<7xf32>, %d: tensor<f32>) {
  // expected-error @below {{logsumexp must be 'tensor<8xf32>', got 'tensor<7xf32>'}}
  %y = gc.cross_entropy_grad %x, %l, %s, %d : (tensor<8x10xf32>, tensor<8xi32>, tensor<7xf32>, tensor<f32>) -> tensor<8x10xf32>
  return
}

// -----

func.func @accuracy_samples(%x: tensor<8x10xf32>, %l: tensor<7xi32>) {
  // expected-error @below {{logits 'tensor<8x10xf32>' and labels 'tensor<7xi32>' must have the same number of samples}}
  %y = gc.accuracy %x, %l : (tensor<8x10xf32>, tensor<7xi32>) -> tensor<f32>
  return
}

// -----

func.func @cross_entropy_tokens(%x: tensor<8x10xf32>, %l: tensor<2x3xi32>) {
  // expected-error@+1 {{logits 'tensor<8x10xf32>' and labels 'tensor<2x3xi32>' must have the same number of samples}}
  %y:2 = gc.cross_entropy %x, %l : (tensor<8x10xf32>, tensor<2x3xi32>) -> (tensor<f32>, tensor<8xf32>)
  return
}
