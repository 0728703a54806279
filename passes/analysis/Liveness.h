//===- Liveness.h - which bytes are alive when ------------------*- C++ -*-===//
//
// algorithms/StepGraph's Lives, seen from IR: what plan-memory places is what rematerialize
// weighed. A storage is a range of bytes that one or several values occupy one after the other
// (views of it, and results written in place over operands that die).
//
//===----------------------------------------------------------------------===//
#ifndef GC_PASSES_ANALYSIS_LIVENESS_H
#define GC_PASSES_ANALYSIS_LIVENESS_H

#include "dialects/Gc.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/algorithms/StepGraph.h"
#include "llvm/ADT/DenseMap.h"

namespace gc {

enum class StorageKind { Variable, Input, Activation, Gradient, Workspace, Metric };

struct Storage {
  StorageKind kind;
  mlir::Value value;                // the first value in it; null for a workspace
  mlir::Operation *op = nullptr;    // who makes it; null for inputs
  mlir::FlatSymbolRefAttr variable; // for StorageKind::Variable
  int64_t bytes = 0;
  int first = 0, last = 0; // alive from op `first` to op `last`, both included
};

class Liveness {
public:
  /// Analyses the body of `function` in its present order. `inPlace` lets results be written over
  /// operands that die, as the InPlace interface allows.
  explicit Liveness(mlir::func::FuncOp function, bool inPlace = true);

  llvm::ArrayRef<mlir::Operation *> ops() const { return order; }
  /// Persistent ones (inputs, variables) first, then those of `lives`, in their order.
  llvm::ArrayRef<Storage> storages() const { return all; }
  llvm::ArrayRef<Storage> persistent() const { return storages().drop_back(life.size()); }
  llvm::ArrayRef<Storage> transient() const { return storages().take_back(life.size()); }
  /// The transient ones as rematerialization counts them: in places of the step graph, where views
  /// and reads take no time.
  const std::vector<StorageLife> &lives() const { return life; }
  /// The storage of a value; every value has one.
  unsigned storageOf(mlir::Value value) const { return storage.lookup(value); }
  /// The workspace of an op, or -1.
  int workspaceOf(mlir::Operation *op) const {
    auto it = workspace.find(op);
    return it == workspace.end() ? -1 : static_cast<int>(it->second);
  }
  /// Sum of what is alive at each op, persistent storages (variables, inputs) left out.
  std::vector<int64_t> liveBytes() const;

private:
  llvm::SmallVector<mlir::Operation *> order;
  std::vector<Storage> all;
  std::vector<StorageLife> life;
  llvm::DenseMap<mlir::Value, unsigned> storage;
  llvm::DenseMap<mlir::Operation *, unsigned> workspace;
};

} // namespace gc

#endif
