// The variables of a module, and new ones beside them.
#ifndef GC_PASSES_STATEVARIABLES_H
#define GC_PASSES_STATEVARIABLES_H

#include "dialects/Gc.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace gc {

/// Adds state to a module. An object looks at all symbols once, so a network with thousands of
/// parameters takes no longer for each of them.
class StateVariables {
public:
  explicit StateVariables(mlir::ModuleOp module);

  /// Null where there is none of this name.
  ParameterOp parameter(mlir::StringAttr name) const;
  /// Below the variables that are there; each element begins with `value`. Fails, with an error at
  /// the symbol, where the name is taken.
  llvm::FailureOr<StateOp> add(mlir::Location loc, const llvm::Twine &name, StateRole role,
                               mlir::RankedTensorType type, double value = 0);

private:
  mlir::ModuleOp module;
  mlir::SymbolTable symbols;
  mlir::Operation *last = nullptr; // variable
};

} // namespace gc

#endif
