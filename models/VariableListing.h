//===- VariableListing.h - the variables of a model, as files see them -----===//
#ifndef GC_MODELS_VARIABLELISTING_H
#define GC_MODELS_VARIABLELISTING_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallVector.h"
#include <string>
#include <vector>

namespace gc::models {

/// A parameter, or a running statistic: what a weight file holds.
struct Variable {
  std::string name;
  bool isParameter;
  llvm::SmallVector<int64_t, 4> fileShape; // as PyTorch has it

  int64_t elements() const;
};

/// In the order of the module; other state (generators, optimizer moments) is left out.
std::vector<Variable> listVariables(mlir::ModuleOp module);

/// Elements of all parameters.
int64_t countParameters(mlir::ModuleOp module);

} // namespace gc::models

#endif
