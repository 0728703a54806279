// RUN: not gc-opt %s --gc-mixed-precision="type=bf16 of=feature.*=f32" 2>&1 | FileCheck %s --check-prefix=NEAREST
// RUN: not gc-opt %s --gc-mixed-precision="type=bf16 of=fc" 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not gc-opt %s --gc-mixed-precision="type=bf16 of=fc=f16" 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not gc-opt %s --gc-mixed-precision="type=bf16 of==f32" 2>&1 | FileCheck %s --check-prefix=EMPTY
// RUN: not gc-opt %s --gc-mixed-precision="of=fc=f32" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not gc-opt %s --gc-mixed-precision="type=f16" 2>&1 | FileCheck %s --check-prefix=F16
// RUN: not gc-opt %s --gc-mixed-precision="type=i8" 2>&1 | FileCheck %s --check-prefix=I8

// NEAREST: mixed precision: 'feature.*' matches no layer of the model; the nearest name is 'features'
// FORM: mixed precision: of: 'fc': expected PATTERN=TYPE, with f32 or bf16
// TYPE: mixed precision: of: 'fc=f16': expected PATTERN=TYPE, with f32 or bf16
// EMPTY: mixed precision: of: '=f32': expected PATTERN=TYPE, with f32 or bf16
// NONE: mixed precision: of has no effect with type=f32: every layer computes in f32
// F16: mixed precision: type=f16 needs losses to be scaled, which is not there yet
// I8: mixed precision: type=i8: expected f32 or bf16

func.func @train(%x: tensor<2x4xf32>, %v: tensor<4x4xf32>) -> tensor<2x4xf32> attributes {gc.list = "micro_batch"} {
  %a = gc.linear %x, %v : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32> loc("features")
  %y = gc.linear %a, %v : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32> loc("fc")
  return %y : tensor<2x4xf32>
}
