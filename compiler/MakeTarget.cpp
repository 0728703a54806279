//===- MakeTarget.cpp - the target of a compilation -----------------------===//
#include "compiler/MakeTarget.h"
#include "compiler/cpu/CpuTarget.h"

namespace gc {

MadeTarget makeTarget(mlir::MLIRContext *context, const CompileOptions &options) {
  if (options.device == "cpu")
    return {std::make_shared<cpu::CpuTarget>(context, options.threads), 0, ""};
  return {nullptr, 4,
          "device '" + options.device + "' is not available in this build; use --device=cpu"};
}

} // namespace gc
