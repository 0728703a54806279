// What mobile networks are made of, in small: a stem with hardswish, a depthwise convolution with
// squeeze-excite, a grouped and dilated one with ReLU6, pools with windows that hang over the end, a
// transposed convolution, and constants.
module @mobile attributes {gc.classes = 10 : i64} {
  gc.parameter @stem.weight : tensor<16x3x3x1xf32> = #gc.init<uniform, [-0.33, 0.33]>
      {file_shape = array<i64: 16, 1, 3, 3>, file_split = array<i64: 16, 1, 3, 3>, file_permutation = array<i64: 0, 2, 3, 1>}
  gc.parameter @depthwise.weight : tensor<16x3x3x1xf32> = #gc.init<uniform, [-0.33, 0.33]>
      {file_shape = array<i64: 16, 1, 3, 3>, file_split = array<i64: 16, 1, 3, 3>, file_permutation = array<i64: 0, 2, 3, 1>}
  gc.parameter @depthwise.bias : tensor<16xf32> = #gc.init<uniform, [-0.33, 0.33]>
  gc.parameter @squeeze.weight : tensor<4x16xf32> = #gc.init<uniform, [-0.25, 0.25]>
  gc.parameter @squeeze.bias : tensor<4xf32> = #gc.init<uniform, [-0.25, 0.25]>
  gc.parameter @excite.weight : tensor<16x4xf32> = #gc.init<uniform, [-0.5, 0.5]>
  gc.parameter @excite.bias : tensor<16xf32> = #gc.init<uniform, [-0.5, 0.5]>
  gc.parameter @grouped.weight : tensor<32x3x3x4xf32> = #gc.init<uniform, [-0.17, 0.17]>
      {file_shape = array<i64: 32, 4, 3, 3>, file_split = array<i64: 32, 4, 3, 3>, file_permutation = array<i64: 0, 2, 3, 1>}
  gc.parameter @up.weight : tensor<32x2x2x8xf32> = #gc.init<uniform, [-0.17, 0.17]>
      {file_shape = array<i64: 32, 8, 2, 2>, file_split = array<i64: 32, 8, 2, 2>, file_permutation = array<i64: 0, 2, 3, 1>}
  gc.parameter @fc.weight : tensor<10x8xf32> = #gc.init<uniform, [-0.35, 0.35]>
  gc.parameter @fc.bias : tensor<10xf32> = #gc.init<uniform, [-0.35, 0.35]>
  // One where a channel is left out, and a number for each place of a row.
  gc.state @mask constant : tensor<8xf32> = #gc.init<values, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0]>
  gc.state @places constant : tensor<6xf32> = #gc.init<values, [-0.5, -0.25, 0.0, 0.25, 0.5, 0.75]>

  func.func @model(%image: tensor<16x28x28x1xf32> {gc.input = "image"},
                   %label: tensor<16xi32> {gc.input = "label"})
      -> (tensor<f32> {gc.output = "loss"}, tensor<f32> {gc.output = "correct"}) {
    %w0 = gc.read @stem.weight : tensor<16x3x3x1xf32>
    %stem = gc.conv2d %image, %w0 {strides = array<i64: 2, 2>, padding = array<i64: 1, 1>}
        : (tensor<16x28x28x1xf32>, tensor<16x3x3x1xf32>) -> tensor<16x14x14x16xf32>
    %swish = gc.hardswish %stem : (tensor<16x14x14x16xf32>) -> tensor<16x14x14x16xf32>

    %w1 = gc.read @depthwise.weight : tensor<16x3x3x1xf32>
    %b1 = gc.read @depthwise.bias : tensor<16xf32>
    %depthwise = gc.conv2d %swish, %w1 bias %b1 {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>, groups = 16 : i64}
        : (tensor<16x14x14x16xf32>, tensor<16x3x3x1xf32>, tensor<16xf32>) -> tensor<16x14x14x16xf32>

    %mean = gc.global_avg_pool %depthwise : (tensor<16x14x14x16xf32>) -> tensor<16x16xf32>
    %w2 = gc.read @squeeze.weight : tensor<4x16xf32>
    %b2 = gc.read @squeeze.bias : tensor<4xf32>
    %squeeze = gc.linear %mean, %w2 bias %b2 : (tensor<16x16xf32>, tensor<4x16xf32>, tensor<4xf32>) -> tensor<16x4xf32>
    %gelu = gc.gelu %squeeze approximate = tanh : (tensor<16x4xf32>) -> tensor<16x4xf32>
    %w3 = gc.read @excite.weight : tensor<16x4xf32>
    %b3 = gc.read @excite.bias : tensor<16xf32>
    %excite = gc.linear %gelu, %w3 bias %b3 : (tensor<16x4xf32>, tensor<16x4xf32>, tensor<16xf32>) -> tensor<16x16xf32>
    %gate = gc.hardsigmoid %excite : (tensor<16x16xf32>) -> tensor<16x16xf32>
    %gates = gc.broadcast %gate {dimensions = array<i64: 0, 3>} : (tensor<16x16xf32>) -> tensor<16x14x14x16xf32>
    %gated = gc.mul %depthwise, %gates : (tensor<16x14x14x16xf32>, tensor<16x14x14x16xf32>) -> tensor<16x14x14x16xf32>

    %pool, %index = gc.max_pool %gated {kernel = array<i64: 3, 3>, strides = array<i64: 3, 3>, padding = array<i64: 0, 0>, ceil_mode = true}
        : (tensor<16x14x14x16xf32>) -> (tensor<16x5x5x16xf32>, tensor<16x5x5x16xi8>)
    %w4 = gc.read @grouped.weight : tensor<32x3x3x4xf32>
    %grouped = gc.conv2d %pool, %w4 {strides = array<i64: 1, 1>, padding = array<i64: 2, 2>, dilation = array<i64: 2, 2>, groups = 4 : i64}
        : (tensor<16x5x5x16xf32>, tensor<32x3x3x4xf32>) -> tensor<16x5x5x32xf32>
    %clamped = gc.clamp %grouped {low = 0.0 : f32, high = 6.0 : f32, open = true} : (tensor<16x5x5x32xf32>) -> tensor<16x5x5x32xf32>
    %average = gc.avg_pool %clamped {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0>, ceil_mode = true, count_padding = false}
        : (tensor<16x5x5x32xf32>) -> tensor<16x3x3x32xf32>

    %w5 = gc.read @up.weight : tensor<32x2x2x8xf32>
    %up = gc.conv2d_grad_input %average, %w5 {strides = array<i64: 2, 2>, padding = array<i64: 0, 0>}
        : (tensor<16x3x3x32xf32>, tensor<32x2x2x8xf32>) -> tensor<16x6x6x8xf32>
    %places = gc.read @places : tensor<6xf32>
    %everywhere = gc.broadcast %places {dimensions = array<i64: 2>} : (tensor<6xf32>) -> tensor<16x6x6x8xf32>
    %placed = gc.add %up, %everywhere : (tensor<16x6x6x8xf32>, tensor<16x6x6x8xf32>) -> tensor<16x6x6x8xf32>
    %rolled = gc.roll %placed {axis = 2 : i64, shift = 2 : i64} : (tensor<16x6x6x8xf32>) -> tensor<16x6x6x8xf32>
    %flipped = gc.flip %rolled {axis = 1 : i64} : (tensor<16x6x6x8xf32>) -> tensor<16x6x6x8xf32>
    %elu = gc.elu %flipped {alpha = 1.0 : f32} : (tensor<16x6x6x8xf32>) -> tensor<16x6x6x8xf32>
    %features = gc.global_avg_pool %elu : (tensor<16x6x6x8xf32>) -> tensor<16x8xf32>
    %mask = gc.read @mask : tensor<8xf32>
    %masks = gc.broadcast %mask {dimensions = array<i64: 1>} : (tensor<8xf32>) -> tensor<16x8xf32>
    %kept = gc.masked_fill %features, %masks {value = 0.0 : f32} : (tensor<16x8xf32>, tensor<16x8xf32>) -> tensor<16x8xf32>

    %w6 = gc.read @fc.weight : tensor<10x8xf32>
    %b6 = gc.read @fc.bias : tensor<10xf32>
    %logits = gc.linear %kept, %w6 bias %b6 : (tensor<16x8xf32>, tensor<10x8xf32>, tensor<10xf32>) -> tensor<16x10xf32>
    %loss, %logsumexp = gc.cross_entropy %logits, %label : (tensor<16x10xf32>, tensor<16xi32>) -> (tensor<f32>, tensor<16xf32>)
    %correct = gc.accuracy %logits, %label : (tensor<16x10xf32>, tensor<16xi32>) -> tensor<f32>
    return %loss, %correct : tensor<f32>, tensor<f32>
  }
}
