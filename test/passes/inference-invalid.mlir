// RUN: gc-opt %s --gc-inference --split-input-file --verify-diagnostics

module @name_taken {
  // expected-error @below {{takes the name 'evaluate' that this pass needs; rename it}}
  func.func @evaluate() {
    return
  }
  func.func @model(%x: tensor<f32>) -> (tensor<f32> {gc.output = "loss"}) {
    return %x : tensor<f32>
  }
}

// -----

module @statistics_of_nothing {
  gc.state @m running_statistic : tensor<3xf32> = #gc.init<constant, [0.0]>
  gc.state @v running_statistic : tensor<3xf32> = #gc.init<constant, [1.0]>
  func.func @model(%x: tensor<f32>, %mean: tensor<3xf32>) -> (tensor<f32> {gc.output = "loss"}) {
    // expected-error @below {{takes no mean and inverse deviation of one batch norm}}
    gc.running_stats @m, @v, %mean, %mean {momentum = 0.1 : f32, epsilon = 0.01 : f32, count = 5 : i64} : tensor<3xf32>, tensor<3xf32>
    return %x : tensor<f32>
  }
}

// -----

module @other_change {
  gc.state @generator generator : tensor<2xi64> = #gc.init<constant, [0.0]>
  func.func @model(%x: tensor<f32>) -> (tensor<f32> {gc.output = "loss"}) {
    // expected-error @below {{'gc.advance' op belongs to training and has no form for inference}}
    gc.advance @generator
    return %x : tensor<f32>
  }
}

// -----

module @does_not_answer {
  func.func @model(%x: tensor<f32>) -> (tensor<f32> {gc.output = "loss"}) {
    // expected-error @below {{'arith.negf' does not say what it becomes in inference mode}}
    %y = arith.negf %x : tensor<f32>
    return %y : tensor<f32>
  }
}
