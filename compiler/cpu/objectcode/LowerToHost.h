//===- LowerToHost.h - Kernel functions to the LLVM dialect --------------===//
#ifndef GC_COMPILER_CPU_OBJECTCODE_LOWERTOHOST_H
#define GC_COMPILER_CPU_OBJECTCODE_LOWERTOHOST_H

#include "mlir/IR/BuiltinOps.h"

namespace gc::cpu {

/// Registers the dialects that kernels are written in and what lowers them to LLVM IR. Call it
/// before lowerKernels with the context of the kernels.
void registerKernelDialects(mlir::MLIRContext &context);

/// Lowers func.func kernels written in linalg on memrefs, scf, arith, math, memref and vector to
/// llvm.func with one bare pointer for each memref. With `useFMA` off, math.fma is a multiplication
/// and an addition. Reports what cannot be lowered as a diagnostic.
mlir::LogicalResult lowerKernels(mlir::ModuleOp module, bool useFMA);

} // namespace gc::cpu

#endif // GC_COMPILER_CPU_OBJECTCODE_LOWERTOHOST_H
