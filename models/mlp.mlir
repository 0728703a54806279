// A multilayer perceptron for 28x28 grey images, written by hand.
//
//   gc-run models/mlp.mlir --data=fashion-mnist --epochs=1
//
// Parameters are symbols, named and shaped as PyTorch names them; the initializers are those of
// torch.nn.Linear, uniform in 1 / sqrt(inputs): 1 / sqrt(784) = 1 / 28 and 1 / sqrt(64) = 1 / 8.
module @mlp attributes {gc.classes = 10 : i64} {
  gc.parameter @fc1.weight : tensor<64x784xf32> = #gc.init<uniform, [-0.0357142857, 0.0357142857]>
  gc.parameter @fc1.bias : tensor<64xf32> = #gc.init<uniform, [-0.0357142857, 0.0357142857]>
  gc.parameter @fc2.weight : tensor<10x64xf32> = #gc.init<uniform, [-0.125, 0.125]>
  gc.parameter @fc2.bias : tensor<10xf32> = #gc.init<uniform, [-0.125, 0.125]>

  // A batch of 32 to its loss and the number of correct answers. The backward pass and the update
  // are the compiler's work.
  func.func @model(%image: tensor<32x28x28x1xf32> {gc.input = "image"},
                   %label: tensor<32xi32> {gc.input = "label"})
      -> (tensor<f32> {gc.output = "loss"}, tensor<f32> {gc.output = "correct"}) {
    %w1 = gc.read @fc1.weight : tensor<64x784xf32>
    %b1 = gc.read @fc1.bias : tensor<64xf32>
    %w2 = gc.read @fc2.weight : tensor<10x64xf32>
    %b2 = gc.read @fc2.bias : tensor<10xf32>

    // A reshape moves nothing.
    %pixels = gc.reshape %image : (tensor<32x28x28x1xf32>) -> tensor<32x784xf32>
    %product = gc.linear %pixels, %w1 bias %b1 : (tensor<32x784xf32>, tensor<64x784xf32>, tensor<64xf32>) -> tensor<32x64xf32>
    %hidden = gc.relu %product : (tensor<32x64xf32>) -> tensor<32x64xf32>
    %logits = gc.linear %hidden, %w2 bias %b2 : (tensor<32x64xf32>, tensor<10x64xf32>, tensor<10xf32>) -> tensor<32x10xf32>

    %loss, %logsumexp = gc.cross_entropy %logits, %label : (tensor<32x10xf32>, tensor<32xi32>) -> (tensor<f32>, tensor<32xf32>)
    %correct = gc.accuracy %logits, %label : (tensor<32x10xf32>, tensor<32xi32>) -> tensor<f32>
    return %loss, %correct : tensor<f32>, tensor<f32>
  }
}
