gc.parameter @w : tensor<4xf32> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<5x4xf32> {gc.input = "image"}) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<4xf32>
  %y = gc.bias %x, %w : (tensor<5x4xf32>, tensor<4xf32>) -> tensor<5x4xf32>
  %loss = gc.reduce_sum %y {dimensions = array<i64: 0, 1>} : (tensor<5x4xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
