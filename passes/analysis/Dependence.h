//===- Dependence.h - which op must come before which -----------*- C++ -*-===//
#ifndef GC_PASSES_ANALYSIS_DEPENDENCE_H
#define GC_PASSES_ANALYSIS_DEPENDENCE_H

#include "dialects/Gc.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace gc {

/// The variables that an op changes; empty for most.
llvm::SmallVector<mlir::FlatSymbolRefAttr> variablesWritten(mlir::Operation *op);

/// Whether the op's result is its operand, or a part of it, seen differently: the operand's bytes.
bool isView(mlir::Operation *op);

/// Whether the op only names bytes (a read, a view, the mark of a gradient), so that nothing runs
/// for it: it has no command, no cost and no place in a schedule. The one list of them.
bool isNothing(mlir::Operation *op);

/// The value whose bytes `value` is, or is a part of: views are looked through. A `gc.read` result
/// stands for its variable.
mlir::Value storageOf(mlir::Value value);

/// Where `value` begins in the bytes of storageOf(value).
int64_t offsetInStorage(mlir::Value value);

/// The ops that depend on the gradient of the loss.
llvm::DenseSet<mlir::Operation *> backwardOps(mlir::Block &block);

/// All orders that a block's ops may take: SSA edges, and for each variable the edge from every use
/// of its value to the op that changes it, and from there to later reads and changes.
class Dependence {
public:
  explicit Dependence(mlir::Block &block);

  llvm::ArrayRef<mlir::Operation *> predecessors(mlir::Operation *op) const {
    return lookup(before, op);
  }
  llvm::ArrayRef<mlir::Operation *> successors(mlir::Operation *op) const {
    return lookup(after, op);
  }

private:
  using Edges = llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Operation *>>;
  static llvm::ArrayRef<mlir::Operation *> lookup(const Edges &edges, mlir::Operation *op) {
    auto it = edges.find(op);
    return it == edges.end() ? llvm::ArrayRef<mlir::Operation *>() : it->second;
  }
  void addEdge(mlir::Operation *from, mlir::Operation *to);
  Edges before, after;
};

} // namespace gc

#endif
