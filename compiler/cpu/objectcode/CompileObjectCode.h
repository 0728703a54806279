//===- CompileObjectCode.h - A module of kernels to machine code -------------===//
#ifndef GC_COMPILER_CPU_OBJECTCODE_COMPILEOBJECTCODE_H
#define GC_COMPILER_CPU_OBJECTCODE_COMPILEOBJECTCODE_H

#include "compiler/cpu/objectcode/KernelLibrary.h"
#include "mlir/IR/BuiltinOps.h"

namespace gc::cpu {

/// Compiles every func.func of `module` for the CPU of this machine. Kernels take memrefs of static
/// shape and identity layout, then two index arguments (the range of items), and return nothing.
/// They are written in linalg, scf, arith, math, memref and vector; `module` is consumed (lowered
/// in place). Failure is reported as a diagnostic at the module or at the kernel to blame.
///
/// Floating point is IEEE: nothing is reassociated, contracted or flushed unless the operation
/// carries the flag itself.
mlir::FailureOr<KernelLibrary> compileKernels(mlir::ModuleOp module, const CodegenOptions &options);

} // namespace gc::cpu

#endif // GC_COMPILER_CPU_OBJECTCODE_COMPILEOBJECTCODE_H
