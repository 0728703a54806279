module @no_gradients {
  // expected-error @below {{has no gradients: run --gc-autodiff first}}
  func.func @train() attributes {gc.list = "micro_batch"} {
    return
  }
}

// -----

module @two_generators {
  gc.parameter @w : tensor<f32> = #gc.init<constant, [0.0]>
  gc.state @a generator : tensor<2xi64> = #gc.init<constant, [0.0]>
  // expected-error @below {{is a second generator: a module counts its steps in one}}
  gc.state @b generator : tensor<2xi64> = #gc.init<constant, [0.0]>
  func.func @train(%g: tensor<f32>) attributes {gc.list = "micro_batch"} {
    gc.gradient @w, %g : tensor<f32>
    return
  }
}

// -----

module @state_name_taken {
  gc.parameter @w : tensor<f32> = #gc.init<constant, [0.0]>
  // expected-error @below {{takes the name 'w.exp_avg' that this pass needs; rename it}}
  gc.parameter @w.exp_avg : tensor<f32> = #gc.init<constant, [0.0]>
  func.func @train(%g: tensor<f32>) attributes {gc.list = "micro_batch"} {
    gc.gradient @w, %g : tensor<f32>
    return
  }
}

// -----

module @returned_parameter {
  gc.parameter @w : tensor<f32> = #gc.init<constant, [0.0]>
  func.func @train(%g: tensor<f32>) -> tensor<f32> attributes {gc.list = "micro_batch"} {
    %w = gc.read @w : tensor<f32>
    gc.gradient @w, %g : tensor<f32>
    // expected-error @below {{returns the value of parameter 'w', which the update changes; return a copy (for instance gc.scale by 1)}}
    return %w : tensor<f32>
  }
}
