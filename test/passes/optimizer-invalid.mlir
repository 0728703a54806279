// RUN: not gc-opt %s --gc-optimizer=kind=adagrad 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not gc-opt %s --gc-optimizer=lr=-1 2>&1 | FileCheck %s --check-prefix=LR
// RUN: not gc-opt %s --gc-optimizer=weight-decay=-1 2>&1 | FileCheck %s --check-prefix=DECAY
// RUN: not gc-opt %s --gc-optimizer="kind=adam momentum=0.9" 2>&1 | FileCheck %s --check-prefix=NO-MOMENTUM
// RUN: not gc-opt %s --gc-optimizer="kind=sgd beta1=0.9" 2>&1 | FileCheck %s --check-prefix=NO-BETA
// RUN: not gc-opt %s --gc-optimizer="kind=lion epsilon=1" 2>&1 | FileCheck %s --check-prefix=LION
// RUN: not gc-opt %s --gc-optimizer="kind=lamb alpha=0.5" 2>&1 | FileCheck %s --check-prefix=ALPHA
// RUN: not gc-opt %s --gc-optimizer="kind=rmsprop alpha=1" 2>&1 | FileCheck %s --check-prefix=RANGE
// RUN: not gc-opt %s --gc-optimizer="kind=rmsprop nesterov=true momentum=0.5" 2>&1 | FileCheck %s --check-prefix=RMSPROP
// RUN: not gc-opt %s --gc-optimizer="kind=adam centered=true" 2>&1 | FileCheck %s --check-prefix=CENTERED
// RUN: not gc-opt %s --gc-optimizer=momentum=-1 2>&1 | FileCheck %s --check-prefix=MOMENTUM
// RUN: not gc-opt %s --gc-optimizer=nesterov=true 2>&1 | FileCheck %s --check-prefix=NESTEROV
// RUN: not gc-opt %s --gc-optimizer="momentum=0.9 dampening=0.1 nesterov=true" 2>&1 | FileCheck %s --check-prefix=NESTEROV
// RUN: not gc-opt %s --gc-optimizer="kind=adam beta2=1" 2>&1 | FileCheck %s --check-prefix=BETA
// RUN: not gc-opt %s --gc-optimizer="kind=adam epsilon=-1" 2>&1 | FileCheck %s --check-prefix=EPSILON
// RUN: not gc-opt %s --gc-optimizer=clip-norm=0 2>&1 | FileCheck %s --check-prefix=NORM
// RUN: not gc-opt %s --gc-optimizer=clip-value=-1 2>&1 | FileCheck %s --check-prefix=VALUE
// RUN: not gc-opt %s --gc-optimizer="clip-value=1 clip-norm=1" 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not gc-opt %s --gc-optimizer=ema=1 2>&1 | FileCheck %s --check-prefix=EMA
// RUN: not gc-opt %s --gc-optimizer=no-decay=w 2>&1 | FileCheck %s --check-prefix=NO-DECAY
// RUN: not gc-opt %s --gc-optimizer="weight-decay=1 no-decay=w,,b" 2>&1 | FileCheck %s --check-prefix=PATTERN
// RUN: not gc-opt %s --gc-optimizer=lr-scale=w 2>&1 | FileCheck %s --check-prefix=NO-FACTOR
// RUN: not gc-opt %s --gc-optimizer=lr-scale=w=-1 2>&1 | FileCheck %s --check-prefix=FACTOR
// RUN: not gc-opt %s --gc-optimizer=lr-scale==1 2>&1 | FileCheck %s --check-prefix=NO-PATTERN
// RUN: not gc-opt %s --gc-optimizer 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: gc-opt %S/Inputs/optimizer-invalid.mlir --gc-optimizer=kind=adam --split-input-file --verify-diagnostics

// KIND: error: optimizer: kind=adagrad: expected sgd, adam, adamw, rmsprop, lion, lamb or adafactor
// LR: error: optimizer: lr=-1: expected a number from 0 on
// DECAY: error: optimizer: weight-decay=-1: expected a number from 0 on
// NO-MOMENTUM: error: optimizer: momentum has no effect with kind=adam: it is a setting of SGD
// NO-BETA: error: optimizer: beta1 has no effect with kind=sgd: it is a setting of Adam
// LION: error: optimizer: epsilon has no effect with kind=lion: it is a setting of Adam, AdamW, RMSprop, LAMB and Adafactor
// ALPHA: error: optimizer: alpha has no effect with kind=lamb: it is a setting of RMSprop
// RANGE: error: optimizer: alpha=1: expected a number from 0 on, below 1
// RMSPROP: error: optimizer: nesterov has no effect with kind=rmsprop: it is a setting of SGD
// CENTERED: error: optimizer: centered has no effect with kind=adam: it is a setting of RMSprop
// MOMENTUM: error: optimizer: momentum=-1: expected a number from 0 on
// NESTEROV: error: optimizer: nesterov needs a momentum above 0 and no dampening
// BETA: error: optimizer: beta2=1: expected a number from 0 on, below 1
// EPSILON: error: optimizer: epsilon=-1: expected a number from 0 on
// NORM: error: optimizer: clip-norm=0: expected a number above 0
// VALUE: error: optimizer: clip-value=-1: expected a number above 0
// BOTH: error: optimizer: clip-norm and clip-value exclude each other
// EMA: error: optimizer: ema=1: expected a number from 0 on, below 1
// NO-DECAY: error: optimizer: no-decay has no effect without a weight-decay above 0
// PATTERN: error: optimizer: no-decay: 'w,,b' has an empty pattern
// NO-FACTOR: error: optimizer: lr-scale: 'w' is not PATTERN=FACTOR with a FACTOR from 0 on
// FACTOR: error: optimizer: lr-scale: 'w=-1' is not PATTERN=FACTOR with a FACTOR from 0 on
// NO-PATTERN: error: optimizer: lr-scale: '=1' has no pattern
// ORDER: error: 'builtin.module' op has no function with gc.list = "micro_batch": run --gc-autodiff first
module {
}
