// Batch norm, two dropouts (one before, one after a product) and weights, for tests of recomputation.
module @dropout attributes {gc.classes = 10 : i64} {
  gc.parameter @conv.weight : tensor<8x3x3x1xf32> = #gc.init<uniform, [-0.3, 0.3]>
  gc.parameter @norm.weight : tensor<8xf32> = #gc.init<constant, [1.0]>
  gc.parameter @norm.bias : tensor<8xf32> = #gc.init<constant, [0.0]>
  gc.state @norm.running_mean running_statistic : tensor<8xf32> = #gc.init<constant, [0.0]>
  gc.state @norm.running_var running_statistic : tensor<8xf32> = #gc.init<constant, [1.0]>
  gc.parameter @fc1.weight : tensor<32x1568xf32> = #gc.init<uniform, [-0.03, 0.03]>
  gc.parameter @fc2.weight : tensor<10x32xf32> = #gc.init<uniform, [-0.2, 0.2]>
  gc.state @generator generator : tensor<2xi64> = #gc.init<constant, [0.0]>

  func.func @model(%image: tensor<16x14x14x1xf32> {gc.input = "image"},
                   %label: tensor<16xi32> {gc.input = "label"}) -> (tensor<f32> {gc.output = "loss"}) {
    %g = gc.read @generator : tensor<2xi64>
    %w = gc.read @conv.weight : tensor<8x3x3x1xf32>
    %conv = gc.conv2d %image, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>}
        : (tensor<16x14x14x1xf32>, tensor<8x3x3x1xf32>) -> tensor<16x14x14x8xf32>
    %scale = gc.read @norm.weight : tensor<8xf32>
    %shift = gc.read @norm.bias : tensor<8xf32>
    %norm, %mean, %rstd = gc.batch_norm %conv, %scale, %shift {epsilon = 1.0e-5 : f32}
        : (tensor<16x14x14x8xf32>, tensor<8xf32>, tensor<8xf32>) -> (tensor<16x14x14x8xf32>, tensor<8xf32>, tensor<8xf32>)
    gc.running_stats @norm.running_mean, @norm.running_var, %mean, %rstd
        {momentum = 0.1 : f32, epsilon = 1.0e-5 : f32, count = 3136 : i64} : tensor<8xf32>, tensor<8xf32>
    %relu = gc.relu %norm : (tensor<16x14x14x8xf32>) -> tensor<16x14x14x8xf32>
    %first = gc.dropout %relu, %g {probability = 0.25 : f32, id = 0 : i64} : (tensor<16x14x14x8xf32>, tensor<2xi64>) -> tensor<16x14x14x8xf32>
    %flat = gc.reshape %first : (tensor<16x14x14x8xf32>) -> tensor<16x1568xf32>
    %w1 = gc.read @fc1.weight : tensor<32x1568xf32>
    %hidden = gc.linear %flat, %w1 : (tensor<16x1568xf32>, tensor<32x1568xf32>) -> tensor<16x32xf32>
    %active = gc.gelu %hidden : (tensor<16x32xf32>) -> tensor<16x32xf32>
    %second = gc.dropout %active, %g {probability = 0.5 : f32, id = 1 : i64} : (tensor<16x32xf32>, tensor<2xi64>) -> tensor<16x32xf32>
    %w2 = gc.read @fc2.weight : tensor<10x32xf32>
    %logits = gc.linear %second, %w2 : (tensor<16x32xf32>, tensor<10x32xf32>) -> tensor<16x10xf32>
    %loss, %logsumexp = gc.cross_entropy %logits, %label : (tensor<16x10xf32>, tensor<16xi32>) -> (tensor<f32>, tensor<16xf32>)
    return %loss : tensor<f32>
  }
}
