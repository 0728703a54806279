// Sizes, numbers and names that no pass could handle are refused where they are written.
// RUN: gc-opt %s --split-input-file --verify-diagnostics

func.func @f(%x: tensor<0x4xf32>) -> tensor<0x4xf32> {
  // expected-error @below {{must be statically shaped (0D to 8D) tensor (dimensions from 1 to 2147483647, at most 1 TiB) of 32-bit float or bfloat16 type values, but got 'tensor<0x4xf32>'}}
  %y = gc.relu %x : (tensor<0x4xf32>) -> tensor<0x4xf32>
  return %y : tensor<0x4xf32>
}

// -----

func.func @f(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  // expected-error @below {{must be statically shaped (0D to 8D) tensor (dimensions from 1 to 2147483647, at most 1 TiB) of 32-bit float or bfloat16 type values, but got 'tensor<?x4xf32>'}}
  %y = gc.relu %x : (tensor<?x4xf32>) -> tensor<?x4xf32>
  return %y : tensor<?x4xf32>
}

// -----

func.func @f(%x: tensor<2147483648xf32>) -> tensor<2147483648xf32> {
  // expected-error @below {{must be statically shaped (0D to 8D) tensor (dimensions from 1 to 2147483647, at most 1 TiB) of 32-bit float or bfloat16 type values, but got 'tensor<2147483648xf32>'}}
  %y = gc.relu %x : (tensor<2147483648xf32>) -> tensor<2147483648xf32>
  return %y : tensor<2147483648xf32>
}

// -----

func.func @f(%x: tensor<4294967296xf32>) -> tensor<4294967296xf32> {
  // expected-error @below {{must be statically shaped (0D to 8D) tensor (dimensions from 1 to 2147483647, at most 1 TiB) of 32-bit float or bfloat16 type values, but got 'tensor<4294967296xf32>'}}
  %y = gc.relu %x : (tensor<4294967296xf32>) -> tensor<4294967296xf32>
  return %y : tensor<4294967296xf32>
}

// -----

func.func @f(%x: tensor<9223372036854775807xf32>) -> tensor<9223372036854775807xf32> {
  // expected-error @below {{must be statically shaped (0D to 8D) tensor (dimensions from 1 to 2147483647, at most 1 TiB) of 32-bit float or bfloat16 type values, but got 'tensor<9223372036854775807xf32>'}}
  %y = gc.relu %x : (tensor<9223372036854775807xf32>) -> tensor<9223372036854775807xf32>
  return %y : tensor<9223372036854775807xf32>
}

// -----

func.func @f(%x: tensor<65536x65536x65536xf32>) -> tensor<65536x65536x65536xf32> {
  // expected-error @below {{must be statically shaped (0D to 8D) tensor (dimensions from 1 to 2147483647, at most 1 TiB) of 32-bit float or bfloat16 type values, but got 'tensor<65536x65536x65536xf32>'}}
  %y = gc.relu %x : (tensor<65536x65536x65536xf32>) -> tensor<65536x65536x65536xf32>
  return %y : tensor<65536x65536x65536xf32>
}

// -----

func.func @f(%x: tensor<2147483647x2147483647x2147483647xf32>) -> tensor<2147483647x2147483647x2147483647xf32> {
  // expected-error @below {{must be statically shaped (0D to 8D) tensor (dimensions from 1 to 2147483647, at most 1 TiB) of 32-bit float or bfloat16 type values, but got 'tensor<2147483647x2147483647x2147483647xf32>'}}
  %y = gc.relu %x : (tensor<2147483647x2147483647x2147483647xf32>) -> tensor<2147483647x2147483647x2147483647xf32>
  return %y : tensor<2147483647x2147483647x2147483647xf32>
}

// -----

func.func @f(%x: tensor<1x1x1x1x1x1x1x1x1xf32>) -> tensor<1x1x1x1x1x1x1x1x1xf32> {
  // expected-error @below {{must be statically shaped (0D to 8D) tensor (dimensions from 1 to 2147483647, at most 1 TiB) of 32-bit float or bfloat16 type values, but got 'tensor<1x1x1x1x1x1x1x1x1xf32>'}}
  %y = gc.relu %x : (tensor<1x1x1x1x1x1x1x1x1xf32>) -> tensor<1x1x1x1x1x1x1x1x1xf32>
  return %y : tensor<1x1x1x1x1x1x1x1x1xf32>
}

// -----

func.func @f(%x: tensor<4xf64>) -> tensor<4xf64> {
  // expected-error @below {{must be statically shaped (0D to 8D) tensor (dimensions from 1 to 2147483647, at most 1 TiB) of 32-bit float or bfloat16 type values, but got 'tensor<4xf64>'}}
  %y = gc.relu %x : (tensor<4xf64>) -> tensor<4xf64>
  return %y : tensor<4xf64>
}

// -----

func.func @f(%x: tensor<4xf16>) -> tensor<4xf16> {
  // expected-error @below {{must be statically shaped (0D to 8D) tensor (dimensions from 1 to 2147483647, at most 1 TiB) of 32-bit float or bfloat16 type values, but got 'tensor<4xf16>'}}
  %y = gc.relu %x : (tensor<4xf16>) -> tensor<4xf16>
  return %y : tensor<4xf16>
}

// -----

func.func @f(%x: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  // expected-error @below {{must be statically shaped (0D to 8D) tensor (dimensions from 1 to 2147483647, at most 1 TiB) of 32-bit float or bfloat16 type values, but got 'tensor<4xf8E4M3FN>'}}
  %y = gc.relu %x : (tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN>
  return %y : tensor<4xf8E4M3FN>
}

// -----

func.func @f(%x: tensor<4xindex>) -> tensor<4xindex> {
  // expected-error @below {{must be statically shaped (0D to 8D) tensor (dimensions from 1 to 2147483647, at most 1 TiB) of 32-bit float or bfloat16 type values, but got 'tensor<4xindex>'}}
  %y = gc.relu %x : (tensor<4xindex>) -> tensor<4xindex>
  return %y : tensor<4xindex>
}

// -----

func.func @f(%x: tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>> {
  // expected-error @below {{must be statically shaped (0D to 8D) tensor (dimensions from 1 to 2147483647, at most 1 TiB) of 32-bit float or bfloat16 type values, but got 'tensor<4xcomplex<f32>>'}}
  %y = gc.relu %x : (tensor<4xcomplex<f32>>) -> tensor<4xcomplex<f32>>
  return %y : tensor<4xcomplex<f32>>
}

// -----

func.func @f(%x: tensor<4xvector<2xf32>>) -> tensor<4xvector<2xf32>> {
  // expected-error @below {{must be statically shaped (0D to 8D) tensor (dimensions from 1 to 2147483647, at most 1 TiB) of 32-bit float or bfloat16 type values, but got 'tensor<4xvector<2xf32>>'}}
  %y = gc.relu %x : (tensor<4xvector<2xf32>>) -> tensor<4xvector<2xf32>>
  return %y : tensor<4xvector<2xf32>>
}

// -----

func.func @f(%x: tensor<*xf32>) -> tensor<*xf32> {
  // expected-error @below {{must be statically shaped (0D to 8D) tensor (dimensions from 1 to 2147483647, at most 1 TiB) of 32-bit float or bfloat16 type values, but got 'tensor<*xf32>'}}
  %y = gc.relu %x : (tensor<*xf32>) -> tensor<*xf32>
  return %y : tensor<*xf32>
}

// -----

func.func @f(%x: memref<4xf32>) -> memref<4xf32> {
  // expected-error @below {{must be statically shaped (0D to 8D) tensor (dimensions from 1 to 2147483647, at most 1 TiB) of 32-bit float or bfloat16 type values, but got 'memref<4xf32>'}}
  %y = gc.relu %x : (memref<4xf32>) -> memref<4xf32>
  return %y : memref<4xf32>
}

// -----

func.func @f(%x: vector<4xf32>) -> vector<4xf32> {
  // expected-error @below {{must be statically shaped (0D to 8D) tensor (dimensions from 1 to 2147483647, at most 1 TiB) of 32-bit float or bfloat16 type values, but got 'vector<4xf32>'}}
  %y = gc.relu %x : (vector<4xf32>) -> vector<4xf32>
  return %y : vector<4xf32>
}

// -----

func.func @f(%x: tuple<f32>) -> tuple<f32> {
  // expected-error @below {{must be statically shaped (0D to 8D) tensor (dimensions from 1 to 2147483647, at most 1 TiB) of 32-bit float or bfloat16 type values, but got 'tuple<f32>'}}
  %y = gc.relu %x : (tuple<f32>) -> tuple<f32>
  return %y : tuple<f32>
}

// -----

func.func @f(%x: f32) -> f32 {
  // expected-error @below {{must be statically shaped (0D to 8D) tensor (dimensions from 1 to 2147483647, at most 1 TiB) of 32-bit float or bfloat16 type values, but got 'f32'}}
  %y = gc.relu %x : (f32) -> f32
  return %y : f32
}

// -----

func.func @f(%x: tensor<4xf32, "encoding">) -> tensor<4xf32, "encoding"> {
  // expected-error @below {{must be statically shaped (0D to 8D) tensor (dimensions from 1 to 2147483647, at most 1 TiB) of 32-bit float or bfloat16 type values, but got 'tensor<4xf32, "encoding">'}}
  %y = gc.relu %x : (tensor<4xf32, "encoding">) -> tensor<4xf32, "encoding">
  return %y : tensor<4xf32, "encoding">
}

// -----

func.func @f(%x: tensor<2x0xf32>, %w: tensor<3x0xf32>) -> tensor<2x3xf32> {
  // expected-error @below {{operand #0 must be statically shaped}}
  %y = gc.linear %x, %w : (tensor<2x0xf32>, tensor<3x0xf32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// -----

func.func @f(%x: tensor<2x8x8x3xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<2x6x6x4xf32> {
  // expected-error @below {{strides and dilation must be two positive numbers each and padding two non-negative ones}}
  // expected-error @below {{failed to infer returned types}}
  %y = gc.conv2d %x, %w {strides = array<i64: 0, 1>, padding = array<i64: 0, 0>} : (tensor<2x8x8x3xf32>, tensor<4x3x3x3xf32>) -> tensor<2x6x6x4xf32>
  return %y : tensor<2x6x6x4xf32>
}

// -----

func.func @f(%x: tensor<2x8x8x3xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<2x6x6x4xf32> {
  // expected-error @below {{strides and dilation must be two positive numbers each and padding two non-negative ones}}
  // expected-error @below {{failed to infer returned types}}
  %y = gc.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 4611686018427387904, 0>} : (tensor<2x8x8x3xf32>, tensor<4x3x3x3xf32>) -> tensor<2x6x6x4xf32>
  return %y : tensor<2x6x6x4xf32>
}

// -----

func.func @f(%x: tensor<2x8x8x3xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<2x6x6x4xf32> {
  // expected-error @below {{strides and dilation must be two positive numbers each and padding two non-negative ones}}
  // expected-error @below {{failed to infer returned types}}
  %y = gc.conv2d %x, %w {strides = array<i64: 9223372036854775807, 1>, padding = array<i64: 0, 0>} : (tensor<2x8x8x3xf32>, tensor<4x3x3x3xf32>) -> tensor<2x6x6x4xf32>
  return %y : tensor<2x6x6x4xf32>
}

// -----

func.func @f(%x: tensor<2x8x8x3xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<2x6x6x4xf32> {
  // expected-error @below {{strides and dilation must be two positive numbers each and padding two non-negative ones}}
  // expected-error @below {{failed to infer returned types}}
  %y = gc.conv2d %x, %w {strides = array<i64: 1>, padding = array<i64: 0, 0>} : (tensor<2x8x8x3xf32>, tensor<4x3x3x3xf32>) -> tensor<2x6x6x4xf32>
  return %y : tensor<2x6x6x4xf32>
}

// -----

func.func @f(%x: tensor<2x8x8x3xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<2x6x6x4xf32> {
  // expected-error @below {{strides and dilation must be two positive numbers each and padding two non-negative ones}}
  // expected-error @below {{failed to infer returned types}}
  %y = gc.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: -1, 0>} : (tensor<2x8x8x3xf32>, tensor<4x3x3x3xf32>) -> tensor<2x6x6x4xf32>
  return %y : tensor<2x6x6x4xf32>
}

// -----

func.func @f(%x: tensor<2x8x8x3xf32>) -> tensor<2x4x4x3xf32> {
  // expected-error @below {{padding must be two numbers of at least 0 and at most 2147483647}}
  %y = gc.avg_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 4611686018427387904, 4611686018427387904>} : (tensor<2x8x8x3xf32>) -> tensor<2x4x4x3xf32>
  return %y : tensor<2x4x4x3xf32>
}

// -----

func.func @f(%x: tensor<4x4xf32>) -> tensor<4x1xf32> {
  // expected-error @below {{1 elements from 9223372036854775807 on are outside axis 1 of 'tensor<4x4xf32>'}}
  %y = gc.slice %x {axis = 1 : i64, offset = 9223372036854775807 : i64, size = 1 : i64} : (tensor<4x4xf32>) -> tensor<4x1xf32>
  return %y : tensor<4x1xf32>
}

// -----

func.func @f(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{low and high must be between 0 and 2147483647}}
  // expected-error @below {{failed to infer returned types}}
  %y = gc.pad %x {axis = 1 : i64, low = 9223372036854775807 : i64, high = -9223372036854775807 : i64} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}

// -----

func.func @f(%x: tensor<4x4xf32>, %c: tensor<4xf32>) {
  // expected-error @below {{attribute 'epsilon' failed to satisfy constraint: 32-bit float attribute that is finite and not negative}}
  %y, %m, %r = gc.batch_norm %x, %c, %c {epsilon = 0x7FC00000 : f32} : (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x4xf32>, %c: tensor<4xf32>) {
  // expected-error @below {{attribute 'epsilon' failed to satisfy constraint: 32-bit float attribute that is finite and not negative}}
  %y, %m, %r = gc.batch_norm %x, %c, %c {epsilon = 0x7F800000 : f32} : (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @f(%x: tensor<4x4xf32>, %c: tensor<4xf32>) {
  // expected-error @below {{attribute 'epsilon' failed to satisfy constraint: 32-bit float attribute that is finite and not negative}}
  %y, %m, %r = gc.batch_norm %x, %c, %c {epsilon = -1.0e-5 : f32} : (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

gc.state @m running_statistic : tensor<4xf32> = #gc.init<constant, [0.0]>
gc.state @v running_statistic : tensor<4xf32> = #gc.init<constant, [1.0]>
func.func @f(%c: tensor<4xf32>) {
  // expected-error @below {{attribute 'momentum' failed to satisfy constraint: 32-bit float attribute that is in [0, 1]}}
  gc.running_stats @m, @v, %c, %c {momentum = 1.5 : f32, epsilon = 0.1 : f32, count = 5 : i64} : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

gc.state @m running_statistic : tensor<4xf32> = #gc.init<constant, [0.0]>
gc.state @v running_statistic : tensor<4xf32> = #gc.init<constant, [1.0]>
func.func @f(%c: tensor<4xf32>) {
  // expected-error @below {{attribute 'count' failed to satisfy constraint: 64-bit signless integer attribute whose minimum value is 2}}
  gc.running_stats @m, @v, %c, %c {momentum = 0.5 : f32, epsilon = 0.1 : f32, count = 1 : i64} : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{attribute 'factor' failed to satisfy constraint: 32-bit float attribute that is finite}}
  %y = gc.scale %x {factor = 0x7F800000 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

gc.state @g generator : tensor<2xi64> = #gc.init<constant, [0.0]>
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  %g = gc.read @g : tensor<2xi64>
  // expected-error @below {{probability must be in [0, 1), got}}
  %y = gc.dropout %x, %g {probability = 0x7FC00000 : f32, id = 0 : i64} : (tensor<4xf32>, tensor<2xi64>) -> tensor<4xf32>
  return %y : tensor<4xf32>
}

// -----

// expected-error @below {{the values of an initializer must be finite}}
gc.parameter @w : tensor<4xf32> = #gc.init<constant, [0x7FF8000000000000]>

// -----

// expected-error @below {{initializer 'uniform' takes low and high, got}}
gc.parameter @w : tensor<4xf32> = #gc.init<uniform, [1.0, -1.0]>

// -----

// expected-error @below {{the deviation of an initializer must not be negative}}
gc.parameter @w : tensor<4xf32> = #gc.init<normal, [0.0, -1.0]>

// -----

// expected-error @below {{initializer 'truncated_normal' takes low below high}}
gc.parameter @w : tensor<4xf32> = #gc.init<truncated_normal, [0.0, 1.0, 2.0, -2.0]>

// -----

// expected-error @below {{the name is empty}}
gc.parameter @"" : tensor<4xf32> = #gc.init<constant, [0.0]>

// -----

// expected-error @below {{the name has a control character}}
gc.parameter @"a\0Ab" : tensor<4xf32> = #gc.init<constant, [0.0]>

// -----

// expected-error @below {{the name '__metadata__' is reserved in weight files}}
gc.parameter @__metadata__ : tensor<4xf32> = #gc.init<constant, [0.0]>

// -----

// expected-error @below {{attribute 'type' failed to satisfy constraint}}
gc.parameter @w : tensor<0x4xf32> = #gc.init<constant, [0.0]>

// -----

// expected-error @below {{holds (seed, step) of the generator: expected tensor<2xi64>, got 'tensor<3xi64>'}}
gc.state @g generator : tensor<3xi64> = #gc.init<constant, [0.0]>

// -----

// expected-error @below {{of a model or optimizer must have f32 elements, got 'tensor<4xi32>'}}
gc.state @g running_statistic : tensor<4xi32> = #gc.init<constant, [0.0]>

// -----

// expected-error @below {{of integers must begin with a constant}}
gc.state @g accumulator : tensor<1xi64> = #gc.init<uniform, [0.0, 1.0]>

// -----

// expected-error @below {{file_shape and file_split must have the 480 elements}}
gc.parameter @w : tensor<16x3x5x2xf32> = #gc.init<constant, [0.0]>
    {file_shape = array<i64: 16, 2, 3, -5>, file_split = array<i64: 16, 2, 3, -5>, file_permutation = array<i64: 0, 2, 3, 1>}

// -----

// expected-error @below {{file_shape and file_split must have the 480 elements}}
gc.parameter @w : tensor<16x3x5x2xf32> = #gc.init<constant, [0.0]>
    {file_shape = array<i64: 4294967296, 4294967296, 480>, file_split = array<i64: 16, 2, 3, 5>, file_permutation = array<i64: 0, 2, 3, 1>}

// -----

// expected-error @below {{file_split must split the axes of file_shape}}
gc.parameter @w : tensor<16x3x5x2xf32> = #gc.init<constant, [0.0]>
    {file_shape = array<i64: 16, 3, 10>, file_split = array<i64: 16, 2, 3, 5>, file_permutation = array<i64: 0, 2, 3, 1>}

// -----

// expected-error @below {{file_split in the order of file_permutation must have the axes of}}
gc.parameter @w : tensor<16x3x5x2xf32> = #gc.init<constant, [0.0]>
    {file_shape = array<i64: 16, 2, 3, 5>, file_split = array<i64: 16, 2, 3, 5>, file_permutation = array<i64: 0, 1, 2, 3>}

// -----

func.func @f(%x: tensor<65536x65536x1xf32>, %w: tensor<1x1xf32>) {
  // expected-error @below {{'tensor<65536x65536x1xf32>' has more than 2147483647 rows}}
  // expected-error @below {{failed to infer returned types}}
  %y = gc.linear %x, %w : (tensor<65536x65536x1xf32>, tensor<1x1xf32>) -> tensor<65536x65536x1xf32>
  return
}
