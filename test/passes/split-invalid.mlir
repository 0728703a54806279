// RUN: not gc-opt %s --gc-split="parts=3" 2>&1 | FileCheck %s --check-prefix=PARTS
// RUN: not gc-opt %s --gc-split="parts=0" 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: not gc-opt %s --gc-split="parts=2 from=a" 2>&1 | FileCheck %s --check-prefix=END
// RUN: not gc-opt %s --gc-split="parts=2 from=a to=z" 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not gc-opt %s --gc-split="parts=2 from=o to=a" 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: not gc-opt %s --gc-split="parts=2 from=a to=n" 2>&1 | FileCheck %s --check-prefix=MIXES
// RUN: not gc-opt %s --gc-split="parts=2 from=o to=o" 2>&1 | FileCheck %s --check-prefix=RANDOM
// RUN: not gc-opt %s --gc-split="parts=2 from=a to=a chains=2-2" 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not gc-opt %s --gc-split="parts=2 chains=4-2" 2>&1 | FileCheck %s --check-prefix=CHAINS
// RUN: not gc-opt %s --gc-split="parts=2 chains=2-99" 2>&1 | FileCheck %s --check-prefix=PLACE
// RUN: not gc-opt %s --gc-split="parts=2 chains=0-0" 2>&1 | FileCheck %s --check-prefix=READ
// RUN: not gc-opt %s --gc-split="parts=2 chains=2-2" --gc-autodiff --gc-optimizer --gc-accumulate="micro-batches=2" 2>&1 | FileCheck %s --check-prefix=TWICE
// PARTS: error: a batch of 4 cannot be split into 3 equal parts
// ZERO: error: a batch of 4 cannot be split into 0 equal parts
// END: error: from and to are the two ends of a chain: give both or none
// NAME: error: has no layer 'z' to split a chain at
// ORDER: error: layer 'a' comes before 'o'
// MIXES: error: {{.*}}'gc.batch_norm' op mixes the samples of a batch, and so cannot be split into parts of the batch; end the chain before it or begin behind it
// RANDOM: error: {{.*}}'gc.dropout' op draws random numbers for the whole batch, and so cannot be split
// BOTH: error: from and to, or chains: both say what is split
// CHAINS: error: chains=4-2: expected places in order, such as 3-12,20-31
// PLACE: error: has 7 ops, and so no chain 2-99
// READ: error: chain 0-0 has no op
// TWICE: works on single samples of the batch and cannot run on a part of the batch

gc.parameter @s : tensor<3xf32> = #gc.init<constant, [1.0]>
gc.state @generator generator : tensor<2xi64> = #gc.init<constant, [0.0]>
func.func @model(%x: tensor<4x3xf32> {gc.input = "x"}, %l: tensor<4xi32> {gc.input = "l"}) -> (tensor<f32> {gc.output = "loss"}) {
  %s = gc.read @s : tensor<3xf32>
  %g = gc.read @generator : tensor<2xi64>
  %a = gc.bias %x, %s : (tensor<4x3xf32>, tensor<3xf32>) -> tensor<4x3xf32> loc("a")
  %n, %m, %d = gc.batch_norm %a, %s, %s {epsilon = 0.25 : f32} : (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>, tensor<3xf32>) loc("n")
  %o = gc.dropout %n, %g {probability = 0.5 : f32, id = 1 : i64} : (tensor<4x3xf32>, tensor<2xi64>) -> tensor<4x3xf32> loc("o")
  %t = gc.tanh %o : (tensor<4x3xf32>) -> tensor<4x3xf32> loc("t")
  %loss, %lse = gc.cross_entropy %t, %l : (tensor<4x3xf32>, tensor<4xi32>) -> (tensor<f32>, tensor<4xf32>)
  return %loss : tensor<f32>
}
