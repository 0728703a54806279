//===- RandomStep.h - random training steps ---------------------*- C++ -*-===//
#ifndef GC_TEST_MEMORY_RANDOMSTEP_H
#define GC_TEST_MEMORY_RANDOMSTEP_H

#include "dialects/Gc.h"
#include "mlir/IR/OwningOpRef.h"
#include <random>

namespace gc::test {

/// A module with a micro_batch list of about `ops` ops on a random graph: elementwise ops, products
/// with variables, transposes, views and sums, some with workspaces; gradients, some kept, and
/// updates; and with some luck an evaluate list. Follows from `random` alone.
mlir::OwningOpRef<mlir::ModuleOp> randomStep(mlir::MLIRContext &context, std::mt19937 &random,
                                             int ops);

} // namespace gc::test

#endif
