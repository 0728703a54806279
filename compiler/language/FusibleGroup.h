//===- FusibleGroup.h - Elementwise groups, independent of the machine ----===//
//
// A group of fusible ops, or one of them alone, is a formula at every point of a space
// [rows, channels]: operands are indexed by the point, its row, its channel or nothing; results are
// stored at the point or summed over the rows.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_LANGUAGE_FUSIBLEGROUP_H
#define GC_COMPILER_LANGUAGE_FUSIBLEGROUP_H

#include "compiler/language/KernelBuilder.h"
#include "compiler/language/OpUses.h"
#include "dialects/Gc.h"

namespace gc::kernels {

/// What a group computes, independent of how.
struct FusibleGroup {
  /// Fails with a diagnostic where the op, alone or in its `gc.fused`, is no such formula.
  static mlir::FailureOr<FusibleGroup> of(mlir::Operation *op);

  llvm::SmallVector<FusibleOpInterface> ops;
  llvm::SmallMapVector<mlir::Value, unsigned, 8> inputs; // for each, the number of its operand
  llvm::SmallVector<mlir::Value> outputs; // in order; a sum over rows is the op that sums
  int64_t elements = 0, rows = 0, channels = 0;
  bool isFlat = true; // nothing is indexed by row or channel: one index for all elements
};

/// A group over the buffers of one kernel.
class GroupBody {
public:
  GroupBody(const FusibleGroup &group, const OpUses &buffers);

  /// Gives the value of a use at the point that is being computed.
  using Load = llvm::function_ref<mlir::Value(unsigned use, Access access)>;
  /// Stores a full result at it.
  using Store = llvm::function_ref<void(unsigned result, Expr value)>;
  /// Loads (each use once), computes and stores at a point; returns the summands. All loads come
  /// before all stores: a result may lie over an operand.
  llvm::SmallVector<Expr> compute(KernelBuilder &k, Load load, Store store) const;

  llvm::SmallVector<BufferUse> uses;       // operands, then full results
  llvm::SmallVector<unsigned> results;     // uses that are full results
  llvm::SmallVector<mlir::Value> sums;     // summed over rows
  llvm::SmallVector<BufferUse> sumResults; // [channels] each
  llvm::SmallVector<Access> accesses;      // for each use, by what it is indexed

private:
  void use(mlir::Value value, Access access, const OpUses &buffers);
  llvm::SmallVector<int64_t> shapeOf(Access access) const;

  const FusibleGroup &group;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, unsigned> reads; // index in `uses`
  llvm::SmallVector<mlir::Value> stored;                            // values of `results`
};

} // namespace gc::kernels

#endif // GC_COMPILER_LANGUAGE_FUSIBLEGROUP_H
