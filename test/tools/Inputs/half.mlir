// A model that says itself what is a half.
module @half {
  gc.parameter @w : tensor<3x4xf32> = #gc.init<uniform, [-0.5, 0.5]>
  func.func @model(%x: tensor<5x4xf32> {gc.input = "image"}, %t: tensor<5xi32> {gc.input = "label"}) -> (tensor<f32> {gc.output = "loss"}) {
    %w = gc.read @w : tensor<3x4xf32>
    %v = gc.cast %w : (tensor<3x4xf32>) -> tensor<3x4xbf16>
    %h = gc.cast %x : (tensor<5x4xf32>) -> tensor<5x4xbf16>
    %y = gc.linear %h, %v : (tensor<5x4xbf16>, tensor<3x4xbf16>) -> tensor<5x3xbf16>
    %loss, %lse = gc.cross_entropy %y, %t : (tensor<5x3xbf16>, tensor<5xi32>) -> (tensor<f32>, tensor<5xf32>)
    return %loss : tensor<f32>
  }
}
