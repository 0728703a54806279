//===- Passes.h - declaration and registration of the passes ----*- C++ -*-===//
#ifndef GC_PASSES_PASSES_H
#define GC_PASSES_PASSES_H

#include "dialects/Gc.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "passes/PassSetting.h"

namespace gc {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"
} // namespace gc

#endif
