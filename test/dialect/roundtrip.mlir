// RUN: gc-opt %s --verify-roundtrip | FileCheck %s
// RUN: gc-opt %s --mlir-print-op-generic | gc-opt | FileCheck %s
// RUN: gc-opt %s --mlir-print-op-generic | FileCheck %s --check-prefix=WORDS

// Enumerations are words in generic form, too.
// WORDS: role = #gc<role running_statistic>
// WORDS: activation = #gc<activation relu>
// WORDS: mode = #gc<coefficients adam>

// CHECK: gc.parameter @conv1.weight : tensor<64x7x7x3xf32> = <normal, [0.000000e+00, 2.500000e-02]>
// CHECK-SAME: file_permutation = array<i64: 0, 2, 3, 1>, file_shape = array<i64: 64, 3, 7, 7>, file_split = array<i64: 64, 3, 7, 7>
gc.parameter @"conv1.weight" : tensor<64x7x7x3xf32> = #gc.init<normal, [0.0, 0.025]>
    {file_shape = array<i64: 64, 3, 7, 7>, file_split = array<i64: 64, 3, 7, 7>, file_permutation = array<i64: 0, 2, 3, 1>}
// CHECK: gc.parameter @p : tensor<4xf32> = <uniform, [-1.000000e+00, 1.000000e+00]>
gc.parameter @p : tensor<4xf32> = #gc.init<uniform, [-1.0, 1.0]>
// CHECK: gc.parameter @q : tensor<4xf32> = <truncated_normal, [0.000000e+00, 1.000000e+00, -2.000000e+00, 2.000000e+00]>
gc.parameter @q : tensor<4xf32> = #gc.init<truncated_normal, [0.0, 1.0, -2.0, 2.0]>
// CHECK: gc.state @mean running_statistic : tensor<4xf32> = <constant, [0.000000e+00]>
gc.state @mean running_statistic : tensor<4xf32> = #gc.init<constant, [0.0]>
gc.state @var running_statistic : tensor<4xf32> = #gc.init<constant, [1.0]>
// CHECK: gc.state @p.m optimizer
gc.state @p.m optimizer : tensor<4xf32> = #gc.init<constant, [0.0]>
gc.state @p.v optimizer : tensor<4xf32> = #gc.init<constant, [0.0]>
// CHECK: gc.state @p.gradient accumulator
gc.state @p.gradient accumulator : tensor<4xf32> = #gc.init<constant, [0.0]>
// CHECK: gc.state @micro_batch accumulator : tensor<1xi64>
gc.state @micro_batch accumulator : tensor<1xi64> = #gc.init<constant, [0.0]>
// CHECK: gc.state @mask constant : tensor<2x2xf32> = <values, [0.000000e+00, 1.000000e+00, 0.000000e+00, 0.000000e+00]>
gc.state @mask constant : tensor<2x2xf32> = #gc.init<values, [0.0, 1.0, 0.0, 0.0]>
// CHECK: gc.state @places constant : tensor<3xi32> = <values, [2.000000e+00, 0.000000e+00, -1.000000e+00]>
gc.state @places constant : tensor<3xi32> = #gc.init<values, [2.0, 0.0, -1.0]>
// CHECK: gc.state @generator generator : tensor<2xi64>
gc.state @generator generator : tensor<2xi64> = #gc.init<constant, [0.0]>
// CHECK: gc.state @learning_rate schedule : tensor<256xf32>
gc.state @learning_rate schedule : tensor<256xf32> = #gc.init<constant, [0.5]>

// CHECK-LABEL: func.func @elementwise(
func.func @elementwise(%x: tensor<8x4xf32>, %b: tensor<4xf32>) -> tensor<8x4xf32> {
  // CHECK: gc.add
  %0 = gc.add %x, %x : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.sub
  %1 = gc.sub %0, %x : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.mul
  %2 = gc.mul %1, %x : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.div
  %3 = gc.div %2, %x : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.cast {{.*}} -> tensor<8x4xbf16>
  %half = gc.cast %3 : (tensor<8x4xf32>) -> tensor<8x4xbf16>
  // CHECK: gc.neg
  %4 = gc.neg %3 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.exp
  %5 = gc.exp %4 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.log
  %6 = gc.log %5 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.sqrt
  %7 = gc.sqrt %6 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.tanh
  %8 = gc.tanh %7 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.sigmoid
  %9 = gc.sigmoid %8 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.relu
  %10 = gc.relu %9 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.gelu
  %11 = gc.gelu %10 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.scale %{{.*}} {factor = 5.000000e-01 : f32}
  %12 = gc.scale %11 {factor = 0.5 : f32} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.relu_grad
  %13 = gc.relu_grad %12, %x : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.gelu_grad
  %14 = gc.gelu_grad %13, %x : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.silu
  %silu = gc.silu %14 : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.silu_grad
  %silu_grad = gc.silu_grad %silu, %x : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.gelu %{{.*}} approximate = tanh :
  %gelu = gc.gelu %x approximate = tanh : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.gelu_grad %{{.*}}, %{{.*}} approximate = tanh :
  %gelu_grad = gc.gelu_grad %x, %x approximate = tanh : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.abs
  %abs = gc.abs %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.abs_grad
  %abs_grad = gc.abs_grad %x, %x : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.rsqrt
  %rsqrt = gc.rsqrt %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.softplus
  %softplus = gc.softplus %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.hardswish
  %hardswish = gc.hardswish %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.hardswish_grad
  %hardswish_grad = gc.hardswish_grad %x, %x : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.hardsigmoid
  %hardsigmoid = gc.hardsigmoid %x : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.hardsigmoid_grad
  %hardsigmoid_grad = gc.hardsigmoid_grad %x, %x : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.add_scalar %{{.*}} {addend = 3.000000e+00 : f32}
  %add_scalar = gc.add_scalar %x {addend = 3.0 : f32} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.pow %{{.*}} {exponent = -1.500000e+00 : f32}
  %pow = gc.pow %x {exponent = -1.5 : f32} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.clamp %{{.*}} {low = 0.000000e+00 : f32}
  %clamp = gc.clamp %x {low = 0.0 : f32, open = false} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.clamp_grad %{{.*}}, %{{.*}} {high = 6.000000e+00 : f32, open = true}
  %clamp_grad = gc.clamp_grad %x, %x {high = 6.0 : f32, open = true} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.leaky_relu
  %leaky_relu = gc.leaky_relu %x {slope = 0.1 : f32} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.leaky_relu_grad
  %leaky_relu_grad = gc.leaky_relu_grad %x, %x {slope = 0.1 : f32} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.elu
  %elu = gc.elu %x {alpha = 1.0 : f32} : (tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.elu_grad
  %elu_grad = gc.elu_grad %x, %x {alpha = 1.0 : f32} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.compare le %{{.*}}, %{{.*}} :
  %compare = gc.compare le %x, %elu : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.select
  %select = gc.select %compare, %x, %elu : (tensor<8x4xf32>, tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.masked_fill %{{.*}}, %{{.*}} {inverted = true, value = 0xFF800000 : f32}
  %masked_fill = gc.masked_fill %x, %compare {value = 0xFF800000 : f32, inverted = true} : (tensor<8x4xf32>, tensor<8x4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.bias
  %15 = gc.bias %14, %b : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
  // CHECK: gc.broadcast %{{.*}} {dimensions = array<i64: 1>}
  %16 = gc.broadcast %b {dimensions = array<i64: 1>} : (tensor<4xf32>) -> tensor<8x4xf32>
  %g = gc.read @generator : tensor<2xi64>
  // CHECK: gc.dropout %{{.*}}, %{{.*}} {id = 3 : i64, probability = 5.000000e-01 : f32}
  %17 = gc.dropout %16, %g {probability = 0.5 : f32, id = 3 : i64} : (tensor<8x4xf32>, tensor<2xi64>) -> tensor<8x4xf32>
  %micro = gc.read @micro_batch : tensor<1xi64>
  // CHECK: gc.dropout %{{.*}}, %{{.*}}, %{{.*}} {id = 3 : i64, probability = 5.000000e-01 : f32}
  %dropped = gc.dropout %16, %g, %micro {probability = 0.5 : f32, id = 3 : i64} : (tensor<8x4xf32>, tensor<2xi64>, tensor<1xi64>) -> tensor<8x4xf32>
  return %17 : tensor<8x4xf32>
}

// CHECK-LABEL: func.func @products(
func.func @products(%x: tensor<2x8x8x3xf32>, %w: tensor<4x3x3x3xf32>, %gw: tensor<6x3x3x2xf32>, %b: tensor<4xf32>, %r: tensor<2x8x8x4xf32>,
                    %l: tensor<5x4xf32>, %lw: tensor<6x4xf32>, %lb: tensor<6xf32>, %lr: tensor<5x6xf32>) {
  // CHECK: gc.conv2d %{{.*}}, %{{.*}} bias %{{.*}} residual %{{.*}} activation = relu {padding = array<i64: 1, 1>, strides = array<i64: 1, 1>}
  %0 = gc.conv2d %x, %w bias %b residual %r activation = relu {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<2x8x8x3xf32>, tensor<4x3x3x3xf32>, tensor<4xf32>, tensor<2x8x8x4xf32>) -> tensor<2x8x8x4xf32>
  // CHECK: gc.conv2d %{{[^ ]*}}, %{{[^ ]*}} {
  %1 = gc.conv2d %x, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<2x8x8x3xf32>, tensor<4x3x3x3xf32>) -> tensor<2x8x8x4xf32>
  // CHECK: gc.conv2d %{{[^ ]*}}, %{{[^ ]*}} {dilation = array<i64: 2, 2>, groups = 2 : i64, padding = array<i64: 2, 2>, strides = array<i64: 1, 1>}
  %grouped = gc.conv2d %1, %gw {strides = array<i64: 1, 1>, padding = array<i64: 2, 2>, dilation = array<i64: 2, 2>, groups = 2 : i64} : (tensor<2x8x8x4xf32>, tensor<6x3x3x2xf32>) -> tensor<2x8x8x6xf32>
  // CHECK: gc.conv2d_grad_input %{{.*}} {dilation = array<i64: 2, 2>, groups = 2 : i64
  %grouped_input = gc.conv2d_grad_input %grouped, %gw {strides = array<i64: 1, 1>, padding = array<i64: 2, 2>, dilation = array<i64: 2, 2>, groups = 2 : i64} : (tensor<2x8x8x6xf32>, tensor<6x3x3x2xf32>) -> tensor<2x8x8x4xf32>
  // CHECK: gc.conv2d_grad_filter %{{.*}} {dilation = array<i64: 2, 2>, groups = 2 : i64
  %grouped_filter = gc.conv2d_grad_filter %1, %grouped {strides = array<i64: 1, 1>, padding = array<i64: 2, 2>, dilation = array<i64: 2, 2>, groups = 2 : i64} : (tensor<2x8x8x4xf32>, tensor<2x8x8x6xf32>) -> tensor<6x3x3x2xf32>
  // CHECK: gc.conv2d_grad_input
  %2 = gc.conv2d_grad_input %1, %w {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<2x8x8x4xf32>, tensor<4x3x3x3xf32>) -> tensor<2x8x8x3xf32>
  // CHECK: gc.conv2d_grad_filter
  %3 = gc.conv2d_grad_filter %x, %1 {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<2x8x8x3xf32>, tensor<2x8x8x4xf32>) -> tensor<4x3x3x3xf32>
  // CHECK: %{{.*}}, %{{.*}} = gc.conv2d_grad_filter
  %4:2 = gc.conv2d_grad_filter %x, %1 {strides = array<i64: 1, 1>, padding = array<i64: 1, 1>} : (tensor<2x8x8x3xf32>, tensor<2x8x8x4xf32>) -> (tensor<4x3x3x3xf32>, tensor<4xf32>)
  // CHECK: gc.linear %{{.*}}, %{{.*}} bias %{{.*}} residual %{{.*}} activation = gelu :
  %5 = gc.linear %l, %lw bias %lb residual %lr activation = gelu : (tensor<5x4xf32>, tensor<6x4xf32>, tensor<6xf32>, tensor<5x6xf32>) -> tensor<5x6xf32>
  // CHECK: gc.linear %{{[^ ]*}}, %{{[^ ]*}} :
  %6 = gc.linear %l, %lw : (tensor<5x4xf32>, tensor<6x4xf32>) -> tensor<5x6xf32>
  // CHECK: gc.linear_grad_input
  %7 = gc.linear_grad_input %6, %lw : (tensor<5x6xf32>, tensor<6x4xf32>) -> tensor<5x4xf32>
  // CHECK: gc.linear_grad_weight
  %8 = gc.linear_grad_weight %l, %6 : (tensor<5x4xf32>, tensor<5x6xf32>) -> tensor<6x4xf32>
  // CHECK: gc.matmul %{{.*}}, %{{.*}} {transpose_rhs = true}
  %9 = gc.matmul %l, %lw {transpose_rhs = true} : (tensor<5x4xf32>, tensor<6x4xf32>) -> tensor<5x6xf32>
  return
}

// CHECK-LABEL: func.func @norms(
func.func @norms(%x: tensor<2x3x3x4xf32>, %w: tensor<4xf32>) {
  // CHECK: gc.batch_norm
  %0:3 = gc.batch_norm %x, %w, %w {epsilon = 0.25 : f32} : (tensor<2x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>)
  // CHECK: gc.batch_stats
  %1:2 = gc.batch_stats %x {epsilon = 0.25 : f32} : (tensor<2x3x3x4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  // CHECK: gc.inverse_deviation
  %2 = gc.inverse_deviation %w {epsilon = 0.25 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  // CHECK: gc.normalize
  %3 = gc.normalize %x, %1#0, %2, %w, %w : (tensor<2x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x3x3x4xf32>
  // CHECK: gc.normalize_grad
  %grad = gc.normalize_grad %x, %2, %w : (tensor<2x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x3x3x4xf32>
  // CHECK: gc.batch_norm_grad_params
  %4:2 = gc.batch_norm_grad_params %3, %x, %1#0, %1#1 : (tensor<2x3x3x4xf32>, tensor<2x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  // CHECK: gc.batch_norm_grad_input
  %5 = gc.batch_norm_grad_input %3, %x, %1#0, %1#1, %w, %4#0, %4#1 : (tensor<2x3x3x4xf32>, tensor<2x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<2x3x3x4xf32>
  // CHECK: gc.running_stats @mean, @var, %{{.*}}, %{{.*}} {count = 18 : i64, epsilon = 2.500000e-01 : f32, momentum = 1.000000e+00 : f32} : tensor<4xf32>, tensor<4xf32>
  gc.running_stats @mean, @var, %1#0, %1#1 {momentum = 1.0 : f32, epsilon = 0.25 : f32, count = 18 : i64} : tensor<4xf32>, tensor<4xf32>
  // CHECK: gc.layer_norm
  %6:3 = gc.layer_norm %x, %w, %w {epsilon = 0.25 : f32} : (tensor<2x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x3x3x4xf32>, tensor<2x3x3xf32>, tensor<2x3x3xf32>)
  // CHECK: gc.layer_norm_grad
  %7:3 = gc.layer_norm_grad %6#0, %x, %6#1, %6#2, %w : (tensor<2x3x3x4xf32>, tensor<2x3x3x4xf32>, tensor<2x3x3xf32>, tensor<2x3x3xf32>, tensor<4xf32>) -> (tensor<2x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>)
  // CHECK: gc.group_norm
  %8:3 = gc.group_norm %x, %w, %w {epsilon = 0.25 : f32, groups = 2 : i64} : (tensor<2x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x3x3x4xf32>, tensor<2x2xf32>, tensor<2x2xf32>)
  // CHECK: gc.group_norm_grad
  %9:3 = gc.group_norm_grad %8#0, %x, %8#1, %8#2, %w {groups = 2 : i64} : (tensor<2x3x3x4xf32>, tensor<2x3x3x4xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<4xf32>) -> (tensor<2x3x3x4xf32>, tensor<4xf32>, tensor<4xf32>)
  return
}

// CHECK-LABEL: func.func @pools(
func.func @pools(%x: tensor<2x4x4x3xf32>) {
  // CHECK: gc.max_pool
  %0:2 = gc.max_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<2x4x4x3xf32>) -> (tensor<2x2x2x3xf32>, tensor<2x2x2x3xi8>)
  // CHECK: gc.max_pool_grad
  %1 = gc.max_pool_grad %0#1, %0#0 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<2x2x2x3xi8>, tensor<2x2x2x3xf32>) -> tensor<2x4x4x3xf32>
  // CHECK: gc.avg_pool
  %2 = gc.avg_pool %x {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<2x4x4x3xf32>) -> tensor<2x2x2x3xf32>
  // CHECK: gc.avg_pool_grad
  %3 = gc.avg_pool_grad %2 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0>} : (tensor<2x2x2x3xf32>) -> tensor<2x4x4x3xf32>
  // CHECK: gc.max_pool %{{.*}} {ceil_mode = true, kernel
  %ceil:2 = gc.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0>, ceil_mode = true} : (tensor<2x4x4x3xf32>) -> (tensor<2x2x2x3xf32>, tensor<2x2x2x3xi8>)
  // CHECK: gc.max_pool_grad %{{.*}} {ceil_mode = true, kernel
  %ceil_grad = gc.max_pool_grad %ceil#1, %ceil#0 {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 0, 0>, ceil_mode = true} : (tensor<2x2x2x3xi8>, tensor<2x2x2x3xf32>) -> tensor<2x4x4x3xf32>
  // CHECK: gc.avg_pool %{{.*}} {ceil_mode = true, count_padding = false, kernel
  %shares = gc.avg_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 1, 1>, ceil_mode = true, count_padding = false} : (tensor<2x4x4x3xf32>) -> tensor<2x3x3x3xf32>
  // CHECK: gc.avg_pool_grad %{{.*}} {ceil_mode = true, count_padding = false, kernel
  %shares_grad = gc.avg_pool_grad %shares {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, padding = array<i64: 1, 1>, ceil_mode = true, count_padding = false} : (tensor<2x3x3x3xf32>) -> tensor<2x4x4x3xf32>
  // CHECK: gc.global_avg_pool
  %4 = gc.global_avg_pool %x : (tensor<2x4x4x3xf32>) -> tensor<2x3xf32>
  // CHECK: gc.global_avg_pool_grad
  %5 = gc.global_avg_pool_grad %4 : (tensor<2x3xf32>) -> tensor<2x4x4x3xf32>
  return
}

// CHECK-LABEL: func.func @attention(
func.func @attention(%x: tensor<2x5x12xf32>, %bias: tensor<1x2x5x5xf32>, %image: tensor<2x4x4x3xf32>, %w: tensor<6x2x2x3xf32>, %b: tensor<6xf32>,
                     %cls: tensor<1x1x6xf32>, %pos: tensor<1x5x6xf32>, %i: tensor<2x5xi32>, %t: tensor<9x6xf32>) {
  // CHECK: gc.softmax
  %0 = gc.softmax %x : (tensor<2x5x12xf32>) -> tensor<2x5x12xf32>
  // CHECK: gc.softmax_grad
  %1 = gc.softmax_grad %0, %x : (tensor<2x5x12xf32>, tensor<2x5x12xf32>) -> tensor<2x5x12xf32>
  // CHECK: gc.attention %{{.*}} {heads = 2 : i64}
  %2:2 = gc.attention %x {heads = 2 : i64} : (tensor<2x5x12xf32>) -> (tensor<2x5x4xf32>, tensor<2x2x5xf32>)
  // CHECK: gc.attention %{{.*}}, %{{.*}} {causal, heads = 2 : i64}
  %seen:2 = gc.attention %x, %bias {causal, heads = 2 : i64} : (tensor<2x5x12xf32>, tensor<1x2x5x5xf32>) -> (tensor<2x5x4xf32>, tensor<2x2x5xf32>)
  // CHECK: gc.attention_bias_grad
  %rows = gc.attention_bias_grad %x, %seen#0, %seen#1, %seen#0, %bias {causal, heads = 2 : i64} : (tensor<2x5x12xf32>, tensor<2x5x4xf32>, tensor<2x2x5xf32>, tensor<2x5x4xf32>, tensor<1x2x5x5xf32>) -> tensor<1x2x5x5xf32>
  // CHECK: gc.attention_grad
  %3 = gc.attention_grad %x, %2#0, %2#1, %2#0 {heads = 2 : i64} : (tensor<2x5x12xf32>, tensor<2x5x4xf32>, tensor<2x2x5xf32>, tensor<2x5x4xf32>) -> tensor<2x5x12xf32>
  // CHECK: gc.patch_embed
  %4 = gc.patch_embed %image, %w, %b : (tensor<2x4x4x3xf32>, tensor<6x2x2x3xf32>, tensor<6xf32>) -> tensor<2x4x6xf32>
  // CHECK: gc.class_token
  %5 = gc.class_token %4, %cls, %pos : (tensor<2x4x6xf32>, tensor<1x1x6xf32>, tensor<1x5x6xf32>) -> tensor<2x5x6xf32>
  // CHECK: gc.embedding
  %6 = gc.embedding %i, %t : (tensor<2x5xi32>, tensor<9x6xf32>) -> tensor<2x5x6xf32>
  // CHECK: gc.embedding_grad
  %7 = gc.embedding_grad %i, %6 : (tensor<2x5xi32>, tensor<2x5x6xf32>) -> tensor<9x6xf32>
  return
}

// CHECK-LABEL: func.func @shapes(
func.func @shapes(%x: tensor<2x3x4xf32>) {
  // CHECK: gc.reshape
  %0 = gc.reshape %x : (tensor<2x3x4xf32>) -> tensor<6x4xf32>
  // CHECK: gc.transpose
  %1 = gc.transpose %x {permutation = array<i64: 0, 2, 1>} : (tensor<2x3x4xf32>) -> tensor<2x4x3xf32>
  // CHECK: gc.concat %{{.*}}, %{{.*}} {axis = 1 : i64}
  %2 = gc.concat %x, %x {axis = 1 : i64} : (tensor<2x3x4xf32>, tensor<2x3x4xf32>) -> tensor<2x6x4xf32>
  // CHECK: gc.put_rows %{{.*}}, %{{.*}} {from = 1 : i64}
  %part = gc.slice %x {axis = 0 : i64, offset = 0 : i64, size = 1 : i64} : (tensor<2x3x4xf32>) -> tensor<1x3x4xf32>
  %put = gc.put_rows %x, %part {from = 1 : i64} : (tensor<2x3x4xf32>, tensor<1x3x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: gc.slice
  %3 = gc.slice %x {axis = 1 : i64, offset = 1 : i64, size = 2 : i64} : (tensor<2x3x4xf32>) -> tensor<2x2x4xf32>
  // CHECK: gc.roll %{{.*}} {axis = 1 : i64, shift = 1 : i64}
  %roll = gc.roll %3 {axis = 1 : i64, shift = 1 : i64} : (tensor<2x2x4xf32>) -> tensor<2x2x4xf32>
  // CHECK: gc.flip %{{.*}} {axis = 2 : i64}
  %flip = gc.flip %roll {axis = 2 : i64} : (tensor<2x2x4xf32>) -> tensor<2x2x4xf32>
  // CHECK: gc.pad
  %4 = gc.pad %3 {axis = 1 : i64, low = 1 : i64, high = 0 : i64} : (tensor<2x2x4xf32>) -> tensor<2x3x4xf32>
  // CHECK: gc.reduce_sum
  %5 = gc.reduce_sum %x {dimensions = array<i64: 0, 1>} : (tensor<2x3x4xf32>) -> tensor<4xf32>
  // CHECK: gc.reduce_mean
  %6 = gc.reduce_mean %x {dimensions = array<i64: 2>} : (tensor<2x3x4xf32>) -> tensor<2x3xf32>
  // CHECK: gc.reduce_max
  %7 = gc.reduce_max %x {dimensions = array<i64: 2>} : (tensor<2x3x4xf32>) -> tensor<2x3xf32>
  // CHECK: gc.reduce_max_grad
  %8 = gc.reduce_max_grad %x, %7, %6 {dimensions = array<i64: 2>} : (tensor<2x3x4xf32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3x4xf32>
  return
}

// CHECK-LABEL: func.func @loss(
func.func @loss(%x: tensor<8x10xf32>, %labels: tensor<8xi32>, %rows: tensor<2x5xi32>) {
  // CHECK: gc.cross_entropy
  %0:2 = gc.cross_entropy %x, %labels : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  // CHECK: gc.gradient_seed {scale = 1.000000e+00 : f32} : () -> tensor<f32>
  %1 = gc.gradient_seed {scale = 1.0 : f32} : () -> tensor<f32>
  // CHECK: gc.cross_entropy_grad
  %2 = gc.cross_entropy_grad %x, %labels, %0#1, %1 : (tensor<8x10xf32>, tensor<8xi32>, tensor<8xf32>, tensor<f32>) -> tensor<8x10xf32>
  // CHECK: gc.cross_entropy %{{.*}}, %{{.*}} {label_smoothing = 2.500000e-01 : f32}
  %smooth:2 = gc.cross_entropy %x, %labels {label_smoothing = 0.25 : f32} : (tensor<8x10xf32>, tensor<8xi32>) -> (tensor<f32>, tensor<8xf32>)
  // CHECK: gc.cross_entropy_grad {{.*}} {label_smoothing = 2.500000e-01 : f32}
  %smoothed = gc.cross_entropy_grad %x, %labels, %smooth#1, %1 {label_smoothing = 0.25 : f32} : (tensor<8x10xf32>, tensor<8xi32>, tensor<8xf32>, tensor<f32>) -> tensor<8x10xf32>
  // CHECK: gc.accuracy
  %3 = gc.accuracy %x, %labels : (tensor<8x10xf32>, tensor<8xi32>) -> tensor<f32>
  // CHECK: gc.slice %{{.*}} {{.*}} : (tensor<2x5xi32>) -> tensor<2x4xi32>
  %tokens = gc.slice %rows {axis = 1 : i64, offset = 1 : i64, size = 4 : i64} : (tensor<2x5xi32>) -> tensor<2x4xi32>
  // CHECK: gc.cross_entropy %{{.*}}, %{{.*}} : (tensor<8x10xf32>, tensor<2x4xi32>) -> (tensor<f32>, tensor<8xf32>)
  %4:2 = gc.cross_entropy %x, %tokens : (tensor<8x10xf32>, tensor<2x4xi32>) -> (tensor<f32>, tensor<8xf32>)
  // CHECK: gc.label_count %{{.*}} {classes = 10 : i64} : (tensor<2x4xi32>) -> tensor<f32>
  %5 = gc.label_count %tokens {classes = 10 : i64} : (tensor<2x4xi32>) -> tensor<f32>
  return
}

// CHECK-LABEL: func.func @training(
func.func @training(%d: tensor<4xf32>, %matrix: tensor<4x3xf32>, %rows: tensor<1x4x1xf32>) {
  // CHECK: gc.read @p : tensor<4xf32>
  %p = gc.read @p : tensor<4xf32>
  %g = gc.read @generator : tensor<2xi64>
  %lr = gc.read @learning_rate : tensor<256xf32>
  // CHECK: gc.optimizer_coefficients %{{.*}}, %{{.*}} mode = adam {beta1 = 5.000000e-01 : f32, beta2 = 5.000000e-01 : f32} : (tensor<2xi64>, tensor<256xf32>) -> tensor<4xf32>
  %c = gc.optimizer_coefficients %g, %lr mode = adam {beta1 = 0.5 : f32, beta2 = 0.5 : f32} : (tensor<2xi64>, tensor<256xf32>) -> tensor<4xf32>
  // CHECK: %[[S:.*]] = gc.square_sum %{{[^ ]*}} : (tensor<4xf32>) -> tensor<2xf32>
  %s = gc.square_sum %d : (tensor<4xf32>) -> tensor<2xf32>
  // CHECK: %[[T:.*]] = gc.square_sum %{{[^ ]*}}, %[[S]] : (tensor<4xf32>, tensor<2xf32>) -> tensor<2xf32>
  %t = gc.square_sum %p, %s : (tensor<4xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK: gc.optimizer_coefficients %{{.*}}, %{{.*}}, %[[T]] mode = plain {clip_norm = 1.000000e+00 : f32}
  %e = gc.optimizer_coefficients %g, %lr, %t mode = plain {clip_norm = 1.0 : f32} : (tensor<2xi64>, tensor<256xf32>, tensor<2xf32>) -> tensor<4xf32>
  // CHECK: gc.gradient @p, %{{.*}} : tensor<4xf32>
  gc.gradient @p, %d : tensor<4xf32>
  // CHECK: gc.accumulate @p.gradient, %{{.*}} : tensor<4xf32>
  gc.accumulate @p.gradient, %d : tensor<4xf32>
  // CHECK: gc.clear @p.gradient : tensor<4xf32>
  gc.clear @p.gradient : tensor<4xf32>
  // CHECK: gc.sgd @p, %{{[^ ]*}}, %{{[^ ]*}} : (tensor<4xf32>, tensor<4xf32>) -> ()
  gc.sgd @p, %d, %e : (tensor<4xf32>, tensor<4xf32>) -> ()
  // CHECK: gc.sgd @p average @p.v, %{{[^ ]*}}, %{{[^ ]*}} {average_decay = 5.000000e-01 : f32, clip_value = 5.000000e-01 : f32, lr_scale = 5.000000e-01 : f32}
  gc.sgd @p average @p.v, %d, %e {average_decay = 0.5 : f32, clip_value = 0.5 : f32, lr_scale = 0.5 : f32} : (tensor<4xf32>, tensor<4xf32>) -> ()
  // CHECK: gc.sgd @p velocity @p.m, %{{[^ ]*}}, %{{[^ ]*}} {momentum = 5.000000e-01 : f32, nesterov = true}
  gc.sgd @p velocity @p.m, %d, %c {momentum = 0.5 : f32, nesterov = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
  // CHECK: gc.adam @p moments @p.m, @p.v, %{{[^ ]*}}, %{{[^ ]*}} {
  gc.adam @p moments @p.m, @p.v, %d, %c {beta1 = 0.5 : f32, beta2 = 0.5 : f32, epsilon = 0.5 : f32, weight_decay = 0.5 : f32} : (tensor<4xf32>, tensor<4xf32>) -> ()
  // CHECK: gc.adamw @p moments @p.m, @p.v, %{{[^ ]*}}, %{{[^ ]*}} {
  gc.adamw @p moments @p.m, @p.v, %d, %c {beta1 = 0.5 : f32, beta2 = 0.5 : f32, epsilon = 0.5 : f32, weight_decay = 0.5 : f32} : (tensor<4xf32>, tensor<4xf32>) -> ()
  // CHECK: gc.rmsprop @p squares @p.v, %{{[^ ]*}}, %{{[^ ]*}} {alpha
  gc.rmsprop @p squares @p.v, %d, %e {alpha = 0.5 : f32, epsilon = 0.5 : f32} : (tensor<4xf32>, tensor<4xf32>) -> ()
  // CHECK: gc.rmsprop @p squares @p.v mean @p.m velocity @p.gradient, %{{[^ ]*}}, %{{[^ ]*}} {alpha
  gc.rmsprop @p squares @p.v mean @p.m velocity @p.gradient, %d, %e {alpha = 0.5 : f32, epsilon = 0.5 : f32, momentum = 0.5 : f32} : (tensor<4xf32>, tensor<4xf32>) -> ()
  // CHECK: gc.lion @p moment @p.m, %{{[^ ]*}}, %{{[^ ]*}} {beta1
  gc.lion @p moment @p.m, %d, %e {beta1 = 0.5 : f32, beta2 = 0.5 : f32} : (tensor<4xf32>, tensor<4xf32>) -> ()
  // CHECK: gc.optimizer_coefficients %{{.*}}, %{{.*}} mode = corrected
  %f = gc.optimizer_coefficients %g, %lr mode = corrected {beta1 = 0.5 : f32, beta2 = 0.5 : f32} : (tensor<2xi64>, tensor<256xf32>) -> tensor<4xf32>
  // CHECK: gc.lamb_ratio %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} {beta1
  %ratio = gc.lamb_ratio %d, %f, %d, %d, %d {beta1 = 0.5 : f32, beta2 = 0.5 : f32, epsilon = 0.5 : f32} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<1xf32>
  // CHECK: gc.lamb @p moments @p.m, @p.v, %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} {beta1
  gc.lamb @p moments @p.m, @p.v, %d, %f, %ratio {beta1 = 0.5 : f32, beta2 = 0.5 : f32, epsilon = 0.5 : f32} : (tensor<4xf32>, tensor<4xf32>, tensor<1xf32>) -> ()
  // CHECK: gc.mean_square %{{.*}} {dimensions = array<i64: 1>} : (tensor<4x3xf32>) -> tensor<4xf32>
  %squares = gc.mean_square %matrix {dimensions = array<i64: 1>} : (tensor<4x3xf32>) -> tensor<4xf32>
  // CHECK: gc.optimizer_coefficients %{{.*}}, %{{.*}} mode = adafactor
  %h = gc.optimizer_coefficients %g, %lr mode = adafactor {beta2 = -0.5 : f32} : (tensor<2xi64>, tensor<256xf32>) -> tensor<4xf32>
  // CHECK: gc.adafactor_average @p.v, %{{[^ ]*}}, %{{[^ ]*}} : (tensor<4xf32>, tensor<4xf32>) -> ()
  gc.adafactor_average @p.v, %squares, %h : (tensor<4xf32>, tensor<4xf32>) -> ()
  // CHECK: gc.adafactor_ratio %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} {clip_update
  %size = gc.adafactor_ratio %d, %h, %d, %rows {epsilon = 0.5 : f32, epsilon2 = 0.5 : f32, clip_update = 1.0 : f32} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<1x4x1xf32>) -> tensor<1xf32>
  // CHECK: gc.adafactor @p average @p.m, %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}}, %{{[^ ]*}} {average_decay
  gc.adafactor @p average @p.m, %d, %h, %size, %rows {epsilon = 0.5 : f32, epsilon2 = 0.5 : f32, clip_update = 1.0 : f32, average_decay = 0.5 : f32} : (tensor<4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1x4x1xf32>) -> ()
  // CHECK: gc.advance @generator
  gc.advance @generator
  // CHECK: gc.advance @micro_batch {modulo = 4 : i64}
  gc.advance @micro_batch {modulo = 4 : i64}
  return
}

// CHECK-LABEL: func.func @collectives(
func.func @collectives(%x: tensor<8xf32>) {
  // CHECK: gc.all_reduce %{{.*}} {ranks = 4 : i64}
  %0 = gc.all_reduce %x {ranks = 4 : i64} : (tensor<8xf32>) -> tensor<8xf32>
  // CHECK: gc.all_gather
  %1 = gc.all_gather %x {ranks = 4 : i64} : (tensor<8xf32>) -> tensor<32xf32>
  // CHECK: gc.reduce_scatter
  %2 = gc.reduce_scatter %x {ranks = 4 : i64} : (tensor<8xf32>) -> tensor<2xf32>
  return
}

// CHECK-LABEL: func.func @fused(
func.func @fused(%x: tensor<8x4xf32>, %b: tensor<4xf32>) -> tensor<8x4xf32> {
  // CHECK: gc.fused (%[[A:.*]] = %{{.*}} : tensor<8x4xf32>, %[[B:.*]] = %{{.*}} : tensor<4xf32>) -> tensor<8x4xf32>
  // CHECK-NEXT: gc.bias %[[A]], %[[B]]
  // CHECK-NEXT: %[[R:.*]] = gc.relu
  // CHECK-NEXT: gc.yield %[[R]] : tensor<8x4xf32>
  %y = gc.fused (%a = %x : tensor<8x4xf32>, %c = %b : tensor<4xf32>) -> tensor<8x4xf32> {
    %0 = gc.bias %a, %c : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    %1 = gc.relu %0 : (tensor<8x4xf32>) -> tensor<8x4xf32>
    gc.yield %1 : tensor<8x4xf32>
  }
  return %y : tensor<8x4xf32>
}

gc.state @w.gradient accumulator : tensor<6x4xf32> = #gc.init<constant, [0.0]>

// CHECK-LABEL: func.func @accumulate_product(
func.func @accumulate_product(%x: tensor<5x4xf32>, %d: tensor<5x6xf32>) {
  // CHECK: gc.accumulate_product (%[[A:.*]] = %{{.*}} : tensor<5x4xf32>, %[[B:.*]] = %{{.*}} : tensor<5x6xf32>) into [@w.gradient] attributes {gc.workspace = 64 : i64} {
  // CHECK-NEXT: %[[W:.*]] = gc.linear_grad_weight %[[A]], %[[B]]
  // CHECK-NEXT: gc.yield %[[W]] : tensor<6x4xf32>
  gc.accumulate_product (%a = %x : tensor<5x4xf32>, %b = %d : tensor<5x6xf32>) into [@w.gradient] attributes {gc.workspace = 64 : i64} {
    %w = gc.linear_grad_weight %a, %b : (tensor<5x4xf32>, tensor<5x6xf32>) -> tensor<6x4xf32>
    gc.yield %w : tensor<6x4xf32>
  }
  return
}
