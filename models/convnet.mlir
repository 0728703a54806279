// A small convolutional network for 28x28 grey images, written by hand.
//
//   gc-run models/convnet.mlir --data=fashion-mnist --epochs=1 --evaluate
//
// Images are NHWC and filters OHWI inside, but the weight file holds PyTorch's OIHW: the file's
// axes permuted by file_permutation give ours.
module @convnet attributes {gc.classes = 10 : i64} {
  gc.parameter @conv.weight : tensor<16x3x3x1xf32> = #gc.init<uniform, [-0.3333333333, 0.3333333333]>
      {file_shape = array<i64: 16, 1, 3, 3>, file_split = array<i64: 16, 1, 3, 3>, file_permutation = array<i64: 0, 2, 3, 1>}
  gc.parameter @norm.weight : tensor<16xf32> = #gc.init<constant, [1.0]>
  gc.parameter @norm.bias : tensor<16xf32> = #gc.init<constant, [0.0]>
  // State is kept and saved like a parameter, but not trained.
  gc.state @norm.running_mean running_statistic : tensor<16xf32> = #gc.init<constant, [0.0]>
  gc.state @norm.running_var running_statistic : tensor<16xf32> = #gc.init<constant, [1.0]>
  gc.parameter @fc.weight : tensor<10x16xf32> = #gc.init<uniform, [-0.25, 0.25]>
  gc.parameter @fc.bias : tensor<10xf32> = #gc.init<uniform, [-0.25, 0.25]>

  func.func @model(%image: tensor<32x28x28x1xf32> {gc.input = "image"},
                   %label: tensor<32xi32> {gc.input = "label"})
      -> (tensor<f32> {gc.output = "loss"}, tensor<f32> {gc.output = "correct"}) {
    %w = gc.read @conv.weight : tensor<16x3x3x1xf32>
    %conv = gc.conv2d %image, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>}
        : (tensor<32x28x28x1xf32>, tensor<16x3x3x1xf32>) -> tensor<32x28x28x16xf32>

    // The norm itself has no effects, so it may be computed twice; its running statistics move in
    // an op of their own, once a step. count is 32 * 28 * 28.
    %scale = gc.read @norm.weight : tensor<16xf32>
    %shift = gc.read @norm.bias : tensor<16xf32>
    %norm, %mean, %rstd = gc.batch_norm %conv, %scale, %shift {epsilon = 1.0e-5 : f32}
        : (tensor<32x28x28x16xf32>, tensor<16xf32>, tensor<16xf32>) -> (tensor<32x28x28x16xf32>, tensor<16xf32>, tensor<16xf32>)
    gc.running_stats @norm.running_mean, @norm.running_var, %mean, %rstd
        {momentum = 0.1 : f32, epsilon = 1.0e-5 : f32, count = 25088 : i64} : tensor<16xf32>, tensor<16xf32>
    %relu = gc.relu %norm : (tensor<32x28x28x16xf32>) -> tensor<32x28x28x16xf32>

    %pool, %index = gc.max_pool %relu {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0>}
        : (tensor<32x28x28x16xf32>) -> (tensor<32x14x14x16xf32>, tensor<32x14x14x16xi8>)
    %mean_pixel = gc.global_avg_pool %pool : (tensor<32x14x14x16xf32>) -> tensor<32x16xf32>
    %fc = gc.read @fc.weight : tensor<10x16xf32>
    %bias = gc.read @fc.bias : tensor<10xf32>
    %logits = gc.linear %mean_pixel, %fc bias %bias : (tensor<32x16xf32>, tensor<10x16xf32>, tensor<10xf32>) -> tensor<32x10xf32>
    %loss, %logsumexp = gc.cross_entropy %logits, %label : (tensor<32x10xf32>, tensor<32xi32>) -> (tensor<f32>, tensor<32xf32>)
    %correct = gc.accuracy %logits, %label : (tensor<32x10xf32>, tensor<32xi32>) -> tensor<f32>
    return %loss, %correct : tensor<f32>, tensor<f32>
  }
}
