//===- OptimizeModule.cpp - LLVM's optimizer on translated kernels --------===//
#include "compiler/lowering/OptimizeModule.h"
#include "llvm/ADT/STLExtras.h"

namespace gc::codegen {

void describeBuffers(llvm::Function &kernel, llvm::ArrayRef<int64_t> bytes) {
  for (auto [index, size] : llvm::enumerate(bytes)) {
    llvm::AttrBuilder attributes(kernel.getContext());
    attributes.addAttribute(llvm::Attribute::NoAlias);
    attributes.addAttribute(llvm::Attribute::NonNull);
    attributes.addAlignmentAttr(bufferAlignment);
    if (size != 0)
      attributes.addDereferenceableAttr(size);
    kernel.addParamAttrs(index, attributes);
  }
}

void optimizeModule(llvm::Module &module, llvm::TargetMachine &machine,
                    const llvm::PipelineTuningOptions &tuning) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, modules);
}

} // namespace gc::codegen
