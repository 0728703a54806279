// RUN: gc-opt %s --gc-autodiff --gc-optimizer="lr=0.5 weight-decay=0.25" --split-input-file | FileCheck %s --check-prefix=SGD
// RUN: gc-opt %s --gc-autodiff --gc-optimizer="kind=sgd momentum=0.5 dampening=0.25 keep-gradients=true" --split-input-file | FileCheck %s --check-prefix=MOMENTUM
// RUN: gc-opt %s --gc-autodiff --gc-optimizer="kind=sgd momentum=0.5 nesterov=true" --split-input-file | FileCheck %s --check-prefix=NESTEROV
// RUN: gc-opt %s --gc-autodiff --gc-optimizer=kind=adam --split-input-file | FileCheck %s --check-prefix=ADAM
// RUN: gc-opt %s --gc-autodiff --gc-optimizer="kind=adamw beta1=0.5 beta2=0.25 epsilon=0.125" --split-input-file | FileCheck %s --check-prefix=ADAMW
// RUN: gc-opt %s --gc-autodiff --gc-optimizer="kind=rmsprop" --split-input-file | FileCheck %s --check-prefix=RMSPROP
// RUN: gc-opt %s --gc-autodiff --gc-optimizer="kind=rmsprop alpha=0.5 centered=true momentum=0.25" --split-input-file | FileCheck %s --check-prefix=CENTERED
// RUN: gc-opt %s --gc-autodiff --gc-optimizer="kind=lion" --split-input-file | FileCheck %s --check-prefix=LION
// RUN: gc-opt %s --gc-autodiff --gc-optimizer="kind=lamb clip-norm=1" --split-input-file | FileCheck %s --check-prefix=LAMB
// RUN: gc-opt %s --gc-autodiff --gc-optimizer="kind=adafactor" --split-input-file | FileCheck %s --check-prefix=ADAFACTOR
// RUN: gc-opt %s --gc-autodiff --gc-optimizer="kind=adafactor clip-value=0.5" --split-input-file | FileCheck %s --check-prefix=CUT

// Updates take the places of the gradients, which are complete after all uses of the parameters (also
// through the view of @w).
gc.parameter @w : tensor<9xf32> = #gc.init<constant, [0.0]>
gc.parameter @x : tensor<5x3xf32> = #gc.init<constant, [0.0]>

// SGD-NOT:       gc.state @w
// SGD-DAG:       gc.state @generator generator : tensor<2xi64>
// SGD-DAG:       gc.state @learning_rate schedule : tensor<256xf32> = <constant, [5.000000e-01]>
// SGD-LABEL:     func.func @train(
// SGD-NOT:         gc.gradient @
// SGD:             %[[DW:.*]] = gc.linear_grad_weight
// SGD-NEXT:        %[[DX:.*]] = gc.linear_grad_input
// SGD-NEXT:        %[[G:.*]] = gc.read @generator
// SGD-NEXT:        %[[LR:.*]] = gc.read @learning_rate : tensor<256xf32>
// SGD-NEXT:        %[[C:.*]] = gc.optimizer_coefficients %[[G]], %[[LR]] mode = plain : (tensor<2xi64>, tensor<256xf32>) -> tensor<4xf32>
// SGD-NEXT:        gc.sgd @x, %[[DX]], %[[C]] {weight_decay = 2.500000e-01 : f32} : (tensor<5x3xf32>, tensor<4xf32>) -> ()
// SGD-NEXT:        %[[GW:.*]] = gc.reshape %[[DW]]
// SGD-NEXT:        gc.sgd @w, %[[GW]], %[[C]] {weight_decay = 2.500000e-01 : f32} : (tensor<9xf32>, tensor<4xf32>) -> ()
// SGD-NEXT:        gc.advance @generator
// SGD-NEXT:        return

// MOMENTUM-DAG:  gc.state @w.velocity optimizer : tensor<9xf32> = <constant, [0.000000e+00]>
// MOMENTUM-DAG:  gc.state @x.velocity optimizer : tensor<5x3xf32>
// MOMENTUM-DAG:  gc.state @generator generator : tensor<2xi64>
// MOMENTUM-LABEL: func.func @train(
// MOMENTUM:        gc.gradient @x, %[[GX:.*]] : tensor<5x3xf32>
// MOMENTUM-NEXT:   %[[G:.*]] = gc.read @generator
// MOMENTUM-NEXT:   %[[LR:.*]] = gc.read @learning_rate
// MOMENTUM-NEXT:   %[[C:.*]] = gc.optimizer_coefficients %[[G]], %[[LR]] mode = momentum {beta1 = 5.000000e-01 : f32, beta2 = 2.500000e-01 : f32}
// MOMENTUM-NEXT:   gc.sgd @x velocity @x.velocity, %[[GX]], %[[C]] {dampening = 2.500000e-01 : f32, momentum = 5.000000e-01 : f32}
// MOMENTUM:        gc.gradient @w, %[[GW:.*]] : tensor<9xf32>
// MOMENTUM-NEXT:   gc.sgd @w velocity @w.velocity, %[[GW]], %[[C]]
// MOMENTUM-NEXT:   gc.advance @generator
// MOMENTUM-NEXT:   return

// NESTEROV:      gc.sgd @w velocity @w.velocity, {{.*}}nesterov = true

// ADAM-DAG:      gc.state @w.exp_avg optimizer : tensor<9xf32>
// ADAM-DAG:      gc.state @w.exp_avg_sq optimizer : tensor<9xf32>
// ADAM-DAG:      gc.state @x.exp_avg optimizer : tensor<5x3xf32>
// ADAM-DAG:      gc.state @x.exp_avg_sq optimizer : tensor<5x3xf32>
// ADAM-LABEL:    func.func @train(
// ADAM-NOT:        gc.gradient @
// ADAM:            %[[C:.*]] = gc.optimizer_coefficients %{{.*}} mode = adam {beta1 = 0.89{{[0-9]*}} : f32, beta2 = 9.990000e-01 : f32}
// ADAM:            gc.adam @x moments @x.exp_avg, @x.exp_avg_sq, %{{.*}}, %[[C]] {
// ADAM-NOT:          weight_decay
// ADAM:            gc.adam @w moments @w.exp_avg, @w.exp_avg_sq, %{{.*}}, %[[C]] {
// ADAM:            gc.advance @generator

// ADAMW:         gc.adamw @w moments @w.exp_avg, @w.exp_avg_sq, %{{.*}} {beta1 = 5.000000e-01 : f32, beta2 = 2.500000e-01 : f32, epsilon = 1.250000e-01 : f32, weight_decay = 0.00999{{[0-9]*}} : f32}

// RMSPROP-DAG:   gc.state @learning_rate schedule : tensor<256xf32> = <constant, [1.000000e-02]>
// RMSPROP-NOT:   gc.state @w.grad_avg
// RMSPROP-NOT:   gc.state @w.momentum_buffer
// RMSPROP:       gc.optimizer_coefficients %{{.*}} mode = plain
// RMSPROP:       gc.rmsprop @w squares @w.square_avg, %{{.*}} {alpha = 9.900000e-01 : f32, epsilon = 9.99{{.*}}E-9 : f32}
// CENTERED:      gc.rmsprop @w squares @w.square_avg mean @w.grad_avg velocity @w.momentum_buffer, %{{.*}} {alpha = 5.000000e-01 : f32, {{.*}}momentum = 2.500000e-01 : f32}
// LION-DAG:      gc.state @learning_rate schedule : tensor<256xf32> = <constant, [1.000000e-04]>
// LION:          gc.lion @w moment @w.exp_avg, %{{.*}} {beta1 = 0.89{{[0-9]*}} : f32, beta2 = 9.900000e-01 : f32}

// The ratio is that of the values before the update; both wait for the norm of all gradients.
// LAMB:          %[[S:.*]] = gc.square_sum %[[GW:.*]], %{{.*}} :
// LAMB:          %[[C:.*]] = gc.optimizer_coefficients %{{.*}}, %{{.*}}, %[[S]] mode = corrected {{.*}}clip_norm
// LAMB:          gc.lamb_ratio
// LAMB:          gc.lamb @x
// LAMB:          %[[P:.*]] = gc.read @w :
// LAMB-NEXT:     %[[M:.*]] = gc.read @w.exp_avg :
// LAMB-NEXT:     %[[V:.*]] = gc.read @w.exp_avg_sq :
// LAMB-NEXT:     %[[R:.*]] = gc.lamb_ratio %[[GW]], %[[C]], %[[P]], %[[M]], %[[V]] {{.*}}weight_decay = 0.00999{{[0-9]*}} : f32
// LAMB-NEXT:     gc.lamb @w moments @w.exp_avg, @w.exp_avg_sq, %[[GW]], %[[C]], %[[R]] {

// A vector keeps the average of each element, a matrix those of rows and columns. They are moved first.
// ADAFACTOR-DAG: gc.state @w.variance optimizer : tensor<1x9x1xf32>
// ADAFACTOR-DAG: gc.state @x.row_var optimizer : tensor<1x5x1xf32>
// ADAFACTOR-DAG: gc.state @x.col_var optimizer : tensor<1x3x1xf32>
// ADAFACTOR:     %[[GX:.*]] = gc.linear_grad_input
// ADAFACTOR:     %[[C:.*]] = gc.optimizer_coefficients %{{.*}} mode = adafactor {beta2 = -8.0{{.*}}e-01 : f32}
// ADAFACTOR:     %[[V:.*]] = gc.reshape %[[GX]] : (tensor<5x3xf32>) -> tensor<1x5x3x1xf32>
// ADAFACTOR-NEXT: %[[R:.*]] = gc.mean_square %[[V]] {dimensions = array<i64: 2>}
// ADAFACTOR-NEXT: gc.adafactor_average @x.row_var, %[[R]], %[[C]]
// ADAFACTOR-NEXT: %[[ROWS:.*]] = gc.read @x.row_var
// ADAFACTOR-NEXT: %[[S:.*]] = gc.mean_square %[[V]] {dimensions = array<i64: 1>}
// ADAFACTOR-NEXT: gc.adafactor_average @x.col_var, %[[S]], %[[C]]
// ADAFACTOR-NEXT: %[[COLUMNS:.*]] = gc.read @x.col_var
// ADAFACTOR-NEXT: %[[MEANS:.*]] = gc.reduce_mean %[[ROWS]] {dimensions = array<i64: 1>}
// ADAFACTOR-NEXT: %[[P:.*]] = gc.read @x
// ADAFACTOR-NEXT: %[[RATIO:.*]] = gc.adafactor_ratio %[[GX]], %[[C]], %[[P]], %[[ROWS]], %[[COLUMNS]], %[[MEANS]] {
// ADAFACTOR-NEXT: gc.adafactor @x, %[[GX]], %[[C]], %[[RATIO]], %[[ROWS]], %[[COLUMNS]], %[[MEANS]] {
// ADAFACTOR:     %[[W:.*]] = gc.read @w.variance
// ADAFACTOR:     gc.adafactor @w, %{{.*}}, %[[C]], %{{.*}}, %[[W]] {
// Averages are of the gradient as it is cut; the accumulator's is the whole one, which the update cuts itself.
// CUT:           %[[GX:.*]] = gc.linear_grad_input
// CUT:           %[[LESS:.*]] = gc.clamp %[[GX]]
// CUT-NEXT:      gc.reshape %[[LESS]]
// CUT:           gc.adafactor @x, %[[GX]], {{.*}}clip_value = 5.000000e-01
func.func @model(%l: tensor<5xi32>) -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<9xf32>
  %x = gc.read @x : tensor<5x3xf32>
  %m = gc.reshape %w : (tensor<9xf32>) -> tensor<3x3xf32>
  %y = gc.linear %x, %m : (tensor<5x3xf32>, tensor<3x3xf32>) -> tensor<5x3xf32>
  %loss, %lse = gc.cross_entropy %y, %l : (tensor<5x3xf32>, tensor<5xi32>) -> (tensor<f32>, tensor<5xf32>)
  return %loss : tensor<f32>
}

// -----

// Dropout counts steps already: its generator is used, and advances with plain SGD too.
gc.parameter @w : tensor<3xf32> = #gc.init<constant, [0.0]>
gc.state @counter generator : tensor<2xi64> = #gc.init<constant, [0.0]>

// SGD:           gc.sgd @w
// SGD:           gc.advance @counter
// SGD-NEXT:      return
// ADAM-NOT:      gc.state @generator
// ADAM:          gc.dropout
// ADAM:          gc.dropout
// ADAM-NEXT:     %[[G:.*]] = gc.read @counter
// ADAM-NEXT:     %[[LR:.*]] = gc.read @learning_rate
// ADAM-NEXT:     gc.optimizer_coefficients %[[G]], %[[LR]]
// ADAM-NEXT:     gc.adam @w
// ADAM-NEXT:     gc.advance @counter
func.func @model() -> (tensor<f32> {gc.output = "loss"}) {
  %w = gc.read @w : tensor<3xf32>
  %g = gc.read @counter : tensor<2xi64>
  %d = gc.dropout %w, %g {probability = 0.5 : f32, id = 0 : i64} : (tensor<3xf32>, tensor<2xi64>) -> tensor<3xf32>
  %loss = gc.reduce_sum %d {dimensions = array<i64: 0>} : (tensor<3xf32>) -> tensor<f32>
  return %loss : tensor<f32>
}
