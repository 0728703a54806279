// RUN: gc-opt %s --split-input-file --verify-diagnostics

func.func @read_unknown() {
  // expected-error @below {{refers to 'nothing', which is not declared; add a gc.parameter or gc.state}}
  %y = gc.read @nothing : tensor<4xf32>
  return
}

// -----

func.func @read_function() {
  // expected-error @below {{'read_function' is not a parameter or state}}
  %y = gc.read @read_function : tensor<4xf32>
  return
}

// -----

// expected-note @below {{declared here}}
gc.parameter @p : tensor<4xf32> = #gc.init<constant, [0.0]>
func.func @read_type() {
  // expected-error @below {{uses 'p' as 'tensor<5xf32>', but it is declared as 'tensor<4xf32>'}}
  %y = gc.read @p : tensor<5xf32>
  return
}

// -----

// expected-note @below {{declared here}}
gc.parameter @p : tensor<4xf32> = #gc.init<constant, [0.0]>
func.func @gradient_type(%x: tensor<5xf32>) {
  // expected-error @below {{uses 'p' as 'tensor<5xf32>', but it is declared as 'tensor<4xf32>'}}
  gc.gradient @p, %x : tensor<5xf32>
  return
}

// -----

func.func @accumulate_unknown(%x: tensor<4xf32>) {
  // expected-error @below {{refers to 'nothing', which is not declared}}
  gc.accumulate @nothing, %x : tensor<4xf32>
  return
}

// -----

// expected-note @below {{declared here}}
gc.parameter @p : tensor<4xf32> = #gc.init<constant, [0.0]>
func.func @clear_type() {
  // expected-error @below {{uses 'p' as 'tensor<5xf32>', but it is declared as 'tensor<4xf32>'}}
  gc.clear @p : tensor<5xf32>
  return
}

// -----

func.func @clear_unknown() {
  // expected-error @below {{refers to 'nothing', which is not declared}}
  gc.clear @nothing : tensor<5xf32>
  return
}

// -----

// expected-note @below {{declared here}}
gc.state @generator generator : tensor<2xi64> = #gc.init<constant, [0.0]>
func.func @advance_modulo_type() {
  // expected-error @below {{uses 'generator' as 'tensor<1xi64>', but it is declared as 'tensor<2xi64>'}}
  gc.advance @generator {modulo = 4 : i64}
  return
}

// -----

gc.state @m accumulator : tensor<1xi64> = #gc.init<constant, [0.0]>
func.func @advance_modulo_zero() {
  // expected-error @below {{attribute 'modulo' failed to satisfy constraint}}
  gc.advance @m {modulo = 0 : i64}
  return
}

// -----

// expected-note @below {{declared here}}
gc.parameter @p : tensor<4xf32> = #gc.init<constant, [0.0]>
func.func @advance_type() {
  // expected-error @below {{uses 'p' as 'tensor<2xi64>', but it is declared as 'tensor<4xf32>'}}
  gc.advance @p
  return
}

// -----

gc.parameter @p : tensor<4xf32> = #gc.init<constant, [0.0]>
func.func @running_stats_unknown(%x: tensor<4xf32>) {
  // expected-error @below {{refers to 'v', which is not declared}}
  gc.running_stats @p, @v, %x, %x {momentum = 0.1 : f32, epsilon = 0.1 : f32, count = 5 : i64} : tensor<4xf32>, tensor<4xf32>
  return
}

// -----

gc.parameter @p : tensor<4xf32> = #gc.init<constant, [0.0]>
func.func @sgd_velocity(%x: tensor<4xf32>, %c: tensor<4xf32>) {
  // expected-error @below {{velocity is there exactly when momentum is not zero}}
  gc.sgd @p, %x, %c {momentum = 0.5 : f32} : (tensor<4xf32>, tensor<4xf32>) -> ()
  return
}

// -----

gc.parameter @p : tensor<4xf32> = #gc.init<constant, [0.0]>
func.func @sgd_nesterov(%x: tensor<4xf32>, %c: tensor<4xf32>) {
  // expected-error @below {{nesterov needs momentum}}
  gc.sgd @p, %x, %c {nesterov = true} : (tensor<4xf32>, tensor<4xf32>) -> ()
  return
}

// -----

gc.parameter @p : tensor<4xf32> = #gc.init<constant, [0.0]>
func.func @sgd_coefficients(%x: tensor<4xf32>, %c: tensor<2xf32>) {
  // expected-error @below {{takes 4 coefficients, got 2}}
  gc.sgd @p, %x, %c : (tensor<4xf32>, tensor<2xf32>) -> ()
  return
}

// -----

gc.parameter @p : tensor<4xf32> = #gc.init<constant, [0.0]>
gc.state @q optimizer : tensor<4xf32> = #gc.init<constant, [0.0]>
func.func @rmsprop_velocity(%x: tensor<4xf32>, %c: tensor<4xf32>) {
  // expected-error @below {{velocity is there exactly when momentum is not zero}}
  gc.rmsprop @p squares @q, %x, %c {alpha = 0.5 : f32, epsilon = 0.5 : f32, momentum = 0.5 : f32} : (tensor<4xf32>, tensor<4xf32>) -> ()
  return
}

// -----

func.func @lamb_ratio(%x: tensor<4xf32>, %c: tensor<4xf32>, %m: tensor<5xf32>) {
  // expected-error @below {{all tensors must be 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %r = gc.lamb_ratio %x, %c, %x, %m, %x {beta1 = 0.5 : f32, beta2 = 0.5 : f32, epsilon = 0.5 : f32} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<5xf32>, tensor<4xf32>) -> tensor<1xf32>
  return
}

// -----

gc.parameter @p : tensor<4xf32> = #gc.init<constant, [0.0]>
gc.state @m optimizer : tensor<4xf32> = #gc.init<constant, [0.0]>
func.func @lamb(%x: tensor<4xf32>, %c: tensor<4xf32>) {
  // expected-error @below {{takes the one number of a gc.lamb_ratio, got 4}}
  gc.lamb @p moments @m, @m, %x, %c, %c {beta1 = 0.5 : f32, beta2 = 0.5 : f32, epsilon = 0.5 : f32} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> ()
  return
}

// -----

func.func @adafactor_pairs(%x: tensor<2x2xf32>, %c: tensor<4xf32>, %v: tensor<1x2x1xf32>) {
  // expected-error @below {{columns and means come together}}
  %r = gc.adafactor_ratio %x, %c, %x, %v, %v {epsilon = 0.5 : f32, epsilon2 = 0.5 : f32, clip_update = 1.0 : f32} : (tensor<2x2xf32>, tensor<4xf32>, tensor<2x2xf32>, tensor<1x2x1xf32>, tensor<1x2x1xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @adafactor_elements(%x: tensor<2x2xf32>, %c: tensor<4xf32>, %v: tensor<1x2x1xf32>) {
  // expected-error @below {{has the variance of 2 elements, the gradient has 4}}
  %r = gc.adafactor_ratio %x, %c, %x, %v {epsilon = 0.5 : f32, epsilon2 = 0.5 : f32, clip_update = 1.0 : f32} : (tensor<2x2xf32>, tensor<4xf32>, tensor<2x2xf32>, tensor<1x2x1xf32>) -> tensor<1xf32>
  return
}

// -----

func.func @adafactor_means(%x: tensor<2x3xf32>, %c: tensor<4xf32>, %v: tensor<1x2x1xf32>, %w: tensor<1x3x1xf32>, %m: tensor<1x2xf32>) {
  // expected-error @below {{means must be 'tensor<1x1xf32>', got 'tensor<1x2xf32>'}}
  %r = gc.adafactor_ratio %x, %c, %x, %v, %w, %m {epsilon = 0.5 : f32, epsilon2 = 0.5 : f32, clip_update = 1.0 : f32} : (tensor<2x3xf32>, tensor<4xf32>, tensor<2x3xf32>, tensor<1x2x1xf32>, tensor<1x3x1xf32>, tensor<1x2xf32>) -> tensor<1xf32>
  return
}

// -----

gc.parameter @p : tensor<4xf32> = #gc.init<constant, [0.0]>
func.func @adafactor_ratio(%x: tensor<4xf32>, %c: tensor<4xf32>, %v: tensor<1x4x1xf32>) {
  // expected-error @below {{takes the one number of a gc.adafactor_ratio, got 4}}
  gc.adafactor @p, %x, %c, %c, %v {epsilon = 0.5 : f32, epsilon2 = 0.5 : f32, clip_update = 1.0 : f32} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<1x4x1xf32>) -> ()
  return
}

// -----

gc.parameter @p : tensor<4xf32> = #gc.init<constant, [0.0]>
func.func @sgd_average(%x: tensor<4xf32>, %c: tensor<4xf32>) {
  // expected-error @below {{has an average_decay, but no average}}
  gc.sgd @p, %x, %c {average_decay = 0.5 : f32} : (tensor<4xf32>, tensor<4xf32>) -> ()
  return
}

// -----

gc.parameter @p : tensor<4xf32> = #gc.init<constant, [0.0]>
// expected-note @below {{declared here}}
gc.state @e optimizer : tensor<5xf32> = #gc.init<constant, [0.0]>
func.func @sgd_average_type(%x: tensor<4xf32>, %c: tensor<4xf32>) {
  // expected-error @below {{uses 'e' as 'tensor<4xf32>', but it is declared as 'tensor<5xf32>'}}
  gc.sgd @p average @e, %x, %c : (tensor<4xf32>, tensor<4xf32>) -> ()
  return
}

// -----

gc.parameter @p : tensor<4xf32> = #gc.init<constant, [0.0]>
func.func @adam_betas(%x: tensor<4xf32>, %c: tensor<4xf32>) {
  // expected-error @below {{attribute 'beta2' failed to satisfy constraint: 32-bit float attribute that is in [0, 1)}}
  gc.adam @p moments @p, @p, %x, %c {beta1 = 0.5 : f32, beta2 = 1.0 : f32, epsilon = 0.1 : f32} : (tensor<4xf32>, tensor<4xf32>) -> ()
  return
}

// -----

func.func @coefficients_mode(%g: tensor<2xi64>, %lr: tensor<256xf32>) {
  // expected-error @below {{expected ::gc::CoefficientsMode to be one of: adam, momentum, plain}}
  // expected-error @below {{failed to parse Gc_CoefficientsMode}}
  %c = gc.optimizer_coefficients %g, %lr mode = unknown : (tensor<2xi64>, tensor<256xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @coefficients_generator(%g: tensor<3xi64>, %lr: tensor<256xf32>) {
  // expected-error @below {{generator must hold (seed, step)}}
  %c = gc.optimizer_coefficients %g, %lr mode = plain : (tensor<3xi64>, tensor<256xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @coefficients_squares(%g: tensor<2xi64>, %lr: tensor<256xf32>, %s: tensor<2xf32>) {
  // expected-error @below {{squares are there exactly when clip_norm is}}
  %c = gc.optimizer_coefficients %g, %lr, %s mode = plain : (tensor<2xi64>, tensor<256xf32>, tensor<2xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @coefficients_no_squares(%g: tensor<2xi64>, %lr: tensor<256xf32>) {
  // expected-error @below {{squares are there exactly when clip_norm is}}
  %c = gc.optimizer_coefficients %g, %lr mode = plain {clip_norm = 1.0 : f32} : (tensor<2xi64>, tensor<256xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @coefficients_one_square(%g: tensor<2xi64>, %lr: tensor<256xf32>, %s: tensor<1xf32>) {
  // expected-error @below {{squares are the 2 numbers of a gc.square_sum}}
  %c = gc.optimizer_coefficients %g, %lr, %s mode = plain {clip_norm = 1.0 : f32} : (tensor<2xi64>, tensor<256xf32>, tensor<1xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @square_sum_before(%x: tensor<8xf32>, %s: tensor<3xf32>) {
  // expected-error @below {{adds to the result of another gc.square_sum, which are 2 numbers}}
  %y = gc.square_sum %x, %s : (tensor<8xf32>, tensor<3xf32>) -> tensor<2xf32>
  return
}

// -----

// expected-error @below {{holds learning rates: expected tensor<Nxf32> with N from 2 on, got 'tensor<f32>'}}
gc.state @lr schedule : tensor<f32> = #gc.init<constant, [0.0]>

// -----

func.func @all_gather_size(%x: tensor<8xf32>) {
  // expected-error @below {{the result of 4 ranks does not fit: 'tensor<8xf32>' to 'tensor<16xf32>'}}
  %y = gc.all_gather %x {ranks = 4 : i64} : (tensor<8xf32>) -> tensor<16xf32>
  return
}

// -----

func.func @reduce_scatter_size(%x: tensor<8xf32>) {
  // expected-error @below {{the result of 4 ranks does not fit: 'tensor<8xf32>' to 'tensor<4xf32>'}}
  %y = gc.reduce_scatter %x {ranks = 4 : i64} : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @all_reduce_size(%x: tensor<8xf32>) {
  // expected-error @below {{the result of 4 ranks does not fit: 'tensor<8xf32>' to 'tensor<4xf32>'}}
  %y = gc.all_reduce %x {ranks = 4 : i64} : (tensor<8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @fused_not_fusible(%x: tensor<8x4xf32>) {
  %y = gc.fused (%a = %x : tensor<8x4xf32>) -> tensor<8x4xf32> {
    // expected-error @below {{'gc.softmax' op cannot be fused: it does not implement the fusible interface}}
    %0 = gc.softmax %a : (tensor<8x4xf32>) -> tensor<8x4xf32>
    gc.yield %0 : tensor<8x4xf32>
  }
  return
}

// -----

func.func @fused_sum_feeds_group(%x: tensor<8x4xf32>) {
  %y = gc.fused (%a = %x : tensor<8x4xf32>) -> tensor<8x4xf32> {
    // expected-error @below {{'gc.reduce_sum' op is a sum over rows and cannot feed its own group}}
    %0 = gc.reduce_sum %a {dimensions = array<i64: 0>} : (tensor<8x4xf32>) -> tensor<4xf32>
    %1 = gc.bias %a, %0 : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8x4xf32>
    gc.yield %1 : tensor<8x4xf32>
  }
  return
}

// -----

func.func @fused_results(%x: tensor<8x4xf32>) {
  %y = gc.fused (%a = %x : tensor<8x4xf32>) -> tensor<4x8xf32> {
    %0 = gc.relu %a : (tensor<8x4xf32>) -> tensor<8x4xf32>
    // expected-error @below {{must give the group's result types}}
    gc.yield %0 : tensor<8x4xf32>
  }
  return
}

// -----

// expected-note @below {{declared here}}
gc.state @g accumulator : tensor<4x4xf32> = #gc.init<constant, [0.0]>
func.func @accumulate_product_type(%x: tensor<5x4xf32>, %d: tensor<5x6xf32>) {
  // expected-error @below {{uses 'g' as 'tensor<6x4xf32>', but it is declared as 'tensor<4x4xf32>'}}
  gc.accumulate_product (%a = %x : tensor<5x4xf32>, %b = %d : tensor<5x6xf32>) into [@g] {
    %w = gc.linear_grad_weight %a, %b : (tensor<5x4xf32>, tensor<5x6xf32>) -> tensor<6x4xf32>
    gc.yield %w : tensor<6x4xf32>
  }
  return
}

// -----

func.func @accumulate_product_two_ops(%x: tensor<4x4xf32>) {
  // expected-error @below {{must hold one op without effects and a gc.yield}}
  gc.accumulate_product (%a = %x : tensor<4x4xf32>) into [@g] {
    %0 = gc.neg %a : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = gc.neg %0 : (tensor<4x4xf32>) -> tensor<4x4xf32>
    gc.yield %1 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @accumulate_product_order(%x: tensor<4x4xf32>) {
  gc.accumulate_product (%a = %x : tensor<4x4xf32>, %b = %x : tensor<4x4xf32>) into [@g] {
    // expected-error @below {{must take the body's arguments in their order}}
    %0 = gc.sub %b, %a : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    gc.yield %0 : tensor<4x4xf32>
  }
  return
}

// -----

func.func @accumulate_product_results(%x: tensor<4x4xf32>) {
  gc.accumulate_product (%a = %x : tensor<4x4xf32>) into [@g] {
    %0 = gc.neg %a : (tensor<4x4xf32>) -> tensor<4x4xf32>
    // expected-error @below {{must give all results in their order}}
    gc.yield %a : tensor<4x4xf32>
  }
  return
}

// -----

func.func @accumulate_product_count(%x: tensor<4x4xf32>) {
  // expected-error @below {{has 2 accumulators for 1 results}}
  gc.accumulate_product (%a = %x : tensor<4x4xf32>) into [@g, @h] {
    %0 = gc.neg %a : (tensor<4x4xf32>) -> tensor<4x4xf32>
    gc.yield %0 : tensor<4x4xf32>
  }
  return
}
