//===- Pipeline.h - the order of the passes ---------------------*- C++ -*-===//
#ifndef GC_COMPILER_PIPELINE_H
#define GC_COMPILER_PIPELINE_H

#include "compiler/Compile.h"
#include "compiler/target/SelectKernels.h"
#include "mlir/Pass/PassManager.h"

namespace gc {

/// Adds every pass from model IR to IR whose memory can be planned, in order. The one place that
/// knows it. `lean`: see Target. `selectName` is what a printed pipeline calls the pass that
/// selects kernels.
void buildTrainPipeline(mlir::OpPassManager &passes, const CompileOptions &options,
                        TargetOf targetOf, bool lean, llvm::StringRef selectName = kSelectKernels);

/// Makes the pipeline available as --gc-train="..." (with memory planned), and the compiler's own
/// passes by name.
void registerTrainPipeline();

} // namespace gc

#endif
