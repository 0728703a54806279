// RUN: not gc-opt %s --gc-optimizer=kind=lion 2>&1 | FileCheck %s --check-prefix=KIND
// RUN: not gc-opt %s --gc-optimizer=lr=-1 2>&1 | FileCheck %s --check-prefix=LR
// RUN: not gc-opt %s --gc-optimizer=weight-decay=-1 2>&1 | FileCheck %s --check-prefix=DECAY
// RUN: not gc-opt %s --gc-optimizer="kind=adam momentum=0.9" 2>&1 | FileCheck %s --check-prefix=NO-MOMENTUM
// RUN: not gc-opt %s --gc-optimizer="kind=sgd beta1=0.9" 2>&1 | FileCheck %s --check-prefix=NO-BETA
// RUN: not gc-opt %s --gc-optimizer=momentum=-1 2>&1 | FileCheck %s --check-prefix=MOMENTUM
// RUN: not gc-opt %s --gc-optimizer=nesterov=true 2>&1 | FileCheck %s --check-prefix=NESTEROV
// RUN: not gc-opt %s --gc-optimizer="momentum=0.9 dampening=0.1 nesterov=true" 2>&1 | FileCheck %s --check-prefix=NESTEROV
// RUN: not gc-opt %s --gc-optimizer="kind=adam beta2=1" 2>&1 | FileCheck %s --check-prefix=BETA
// RUN: not gc-opt %s --gc-optimizer="kind=adam epsilon=-1" 2>&1 | FileCheck %s --check-prefix=EPSILON
// RUN: not gc-opt %s --gc-optimizer 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: gc-opt %S/Inputs/optimizer-invalid.mlir --gc-optimizer=kind=adam --split-input-file --verify-diagnostics

// KIND: error: optimizer: kind=lion: expected sgd, adam or adamw
// LR: error: optimizer: lr=-1: expected a number from 0 on
// DECAY: error: optimizer: weight-decay=-1: expected a number from 0 on
// NO-MOMENTUM: error: optimizer: momentum has no effect with kind=adam: it is a setting of SGD
// NO-BETA: error: optimizer: beta1 has no effect with kind=sgd: it is a setting of Adam
// MOMENTUM: error: optimizer: momentum=-1: expected a number from 0 on
// NESTEROV: error: optimizer: nesterov needs a momentum above 0 and no dampening
// BETA: error: optimizer: beta2=1: expected a number from 0 on, below 1
// EPSILON: error: optimizer: epsilon=-1: expected a number from 0 on
// ORDER: error: 'builtin.module' op has no function with gc.list = "micro_batch": run --gc-autodiff first
module {
}
