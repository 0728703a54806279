//===- OptimizeModule.h - LLVM's optimizer on translated kernels ----------===//
#ifndef GC_COMPILER_LOWERING_OPTIMIZEMODULE_H
#define GC_COMPILER_LOWERING_OPTIMIZEMODULE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/Function.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Target/TargetMachine.h"

namespace gc::codegen {

/// Where buffers start; plans place them so.
constexpr uint64_t bufferAlignment = 64;

/// Tells LLVM what it may rely on: the first parameters are buffers of so many bytes that overlap
/// nothing.
void describeBuffers(llvm::Function &kernel, llvm::ArrayRef<int64_t> bytes);

/// LLVM's O3, tuned.
void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine,
                    const llvm::PipelineTuningOptions &tuning = {});

} // namespace gc::codegen

#endif // GC_COMPILER_LOWERING_OPTIMIZEMODULE_H
