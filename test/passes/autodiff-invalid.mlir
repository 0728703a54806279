// RUN: gc-opt %s --gc-autodiff --split-input-file --verify-diagnostics

// expected-error @below {{has no model: expected a function with a result {gc.output = "loss"} and no 'gc.list'}}
module @no_model {
  func.func @f() {
    return
  }
}

// -----

module @two_models {
  // expected-note @below {{the first is 'one'}}
  func.func @one(%x: tensor<f32>) -> (tensor<f32> {gc.output = "loss"}) {
    return %x : tensor<f32>
  }
  // expected-error @below {{is a second model}}
  func.func @two(%x: tensor<f32>) -> (tensor<f32> {gc.output = "loss"}) {
    return %x : tensor<f32>
  }
}

// -----

module @name_taken {
  // expected-error @below {{takes the name 'train' that this pass needs; rename it}}
  func.func @train() {
    return
  }
  func.func @model(%x: tensor<f32>) -> (tensor<f32> {gc.output = "loss"}) {
    return %x : tensor<f32>
  }
}

// -----

module @loss_is_no_scalar {
  // expected-error @below {{has a loss of type 'tensor<3xf32>', expected tensor<f32>}}
  func.func @model(%x: tensor<3xf32>) -> (tensor<3xf32> {gc.output = "loss"}) {
    return %x : tensor<3xf32>
  }
}

// -----

module @unread_parameter {
  // expected-error @below {{does not reach the loss: remove the parameter 'unused', or use it in 'model'}}
  gc.parameter @unused : tensor<3xf32> = #gc.init<constant, [0.0]>
  func.func @model(%x: tensor<f32>) -> (tensor<f32> {gc.output = "loss"}) {
    return %x : tensor<f32>
  }
}

// -----

module @parameter_beside_the_path {
  // expected-error @below {{does not reach the loss: remove the parameter 'w', or use it in 'model'}}
  gc.parameter @w : tensor<f32> = #gc.init<constant, [0.0]>
  func.func @model(%x: tensor<f32>) -> (tensor<f32> {gc.output = "loss"}, tensor<f32> {gc.output = "other"}) {
    %w = gc.read @w : tensor<f32>
    %y = gc.tanh %w : (tensor<f32>) -> tensor<f32>
    return %x, %y : tensor<f32>, tensor<f32>
  }
}

// -----

module @not_differentiable {
  gc.parameter @w : tensor<5x3xf32> = #gc.init<constant, [0.0]>
  func.func @model(%l: tensor<5xi32>) -> (tensor<f32> {gc.output = "loss"}) {
    %w = gc.read @w : tensor<5x3xf32>
    // expected-error @below {{'gc.accuracy' op lies between a parameter and the loss but has no derivative; replace it by differentiable ops}}
    %y = gc.accuracy %w, %l : (tensor<5x3xf32>, tensor<5xi32>) -> tensor<f32>
    return %y : tensor<f32>
  }
}

// -----

module @gradient_of_a_statistic {
  gc.parameter @x : tensor<5x3xf32> = #gc.init<constant, [0.0]>
  func.func @model(%w: tensor<3xf32>) -> (tensor<f32> {gc.output = "loss"}) {
    %x = gc.read @x : tensor<5x3xf32>
    // expected-error @below {{'gc.batch_norm' op result #1 is kept for the adjoint and has no derivative, but the loss depends on it}}
    %y, %mean, %rstd = gc.batch_norm %x, %w, %w {epsilon = 1.0e-5 : f32} : (tensor<5x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<5x3xf32>, tensor<3xf32>, tensor<3xf32>)
    %loss = gc.reduce_sum %mean {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----

module @fused_activation {
  gc.parameter @w : tensor<1x3xf32> = #gc.init<constant, [0.0]>
  func.func @model(%x: tensor<1x3xf32>) -> (tensor<f32> {gc.output = "loss"}) {
    %w = gc.read @w : tensor<1x3xf32>
    // expected-error @below {{'gc.linear' op with activation 'relu' has no adjoint: differentiate before fusing, or write the activation as its own op}}
    %y = gc.linear %x, %w activation = relu : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x1xf32>
    %loss = gc.reshape %y : (tensor<1x1xf32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}

// -----

// What is neither f32 nor bf16 would lose its gradient in silence.
module @narrow_float {
  gc.parameter @w : tensor<3xf32> = #gc.init<constant, [0.0]>
  func.func @model(%x: tensor<f32>) -> (tensor<f32> {gc.output = "loss"}) {
    %w = gc.read @w : tensor<3xf32>
    // expected-error @below {{'arith.truncf' op has a result of type 'tensor<3xf16>' that depends on a parameter, but gradients are tensors of f32 or bf16}}
    %y = arith.truncf %w : tensor<3xf32> to tensor<3xf16>
    return %x : tensor<f32>
  }
}

// -----

module @control_flow {
  // expected-error @below {{has control flow: a model is one block}}
  func.func @model(%x: tensor<f32>) -> (tensor<f32> {gc.output = "loss"}) {
    cf.br ^bb1
  ^bb1:
    return %x : tensor<f32>
  }
}
