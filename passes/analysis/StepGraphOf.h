//===- StepGraphOf.h - a function as a step graph ---------------*- C++ -*-===//
#ifndef GC_PASSES_ANALYSIS_STEPGRAPHOF_H
#define GC_PASSES_ANALYSIS_STEPGRAPHOF_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/algorithms/StepGraph.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace gc {

/// Seconds that an op takes.
using OpSeconds = llvm::function_ref<double(mlir::Operation *)>;

/// A function's ops and values as plain data, and the way back.
struct FunctionGraph {
  StepGraph graph;
  std::vector<mlir::Operation *> ops;       // for each StepOp, its op; views and reads have none
  llvm::DenseMap<mlir::Value, int> valueOf; // for each value that is no view, its StepValue
  std::vector<mlir::Value> values;          // for each StepValue, its value
};

FunctionGraph stepGraphOf(mlir::func::FuncOp function, OpSeconds seconds);

} // namespace gc

#endif
