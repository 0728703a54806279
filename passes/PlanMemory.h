//===- PlanMemory.h - every byte in one arena -------------------*- C++ -*-===//
#ifndef GC_PASSES_PLANMEMORY_H
#define GC_PASSES_PLANMEMORY_H

#include "dialects/Gc.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/algorithms/StepPacking.h"
#include "passes/analysis/Liveness.h"
#include "llvm/ADT/StringMap.h"
#include <memory>

namespace gc {

struct PlannedBuffer {
  std::string name;
  StorageKind kind;
  mlir::Type type;   // null for workspaces, which are plain bytes
  int64_t bytes = 0; // as asked for
  int64_t offset = 0;
  int first = 0, last = 0; // alive from op `first` to op `last` of its list; persistent: all ops
};

/// The command lists that a function can become; the function's `gc.list` attribute names one.
inline constexpr llvm::StringLiteral commandLists[] = {"micro_batch", "step", "evaluate"};

struct PlannedFunction {
  mlir::func::FuncOp function;
  std::string list;
  /// Of each value; of a view the buffer of what it shows (see offsetInStorage).
  llvm::DenseMap<mlir::Value, unsigned> buffers{};
  llvm::DenseMap<mlir::Operation *, unsigned> workspaces{};
};

struct MemoryPlan {
  std::vector<PlannedBuffer> buffers;
  llvm::StringMap<unsigned> variables;
  /// Input name to its slots.
  std::vector<std::pair<std::string, llvm::SmallVector<unsigned>>> inputs;
  std::vector<PlannedFunction> functions;
  int reserved = -1; // buffer of the bytes that a target reserved
  int64_t persistentBytes = 0;
  int64_t arenaBytes = 0;
  int64_t lowerBound = 0; // largest sum of live bytes: no placement can need less
  bool optimal = false;
};

struct PlanMemoryOptions {
  int64_t reserve = 0; // bytes that the target's libraries need throughout
  int inputSlots = 2;  // one is filled while the other is read
  /// How fast a slot is filled where nothing runs meanwhile; loaders decode and normalize too.
  double inputBytesPerSecond = 2e9;
  /// Remembers packings: with the packer that scored a plan, planMemory places what was scored.
  std::shared_ptr<StepPacker> packer = std::make_shared<StepPacker>();
};

/// Places every variable, input, value and workspace of the module. Functions run one after the
/// other, so their transient bytes share the same range; persistent ones come first.
mlir::FailureOr<MemoryPlan> planMemory(mlir::ModuleOp module, const PlanMemoryOptions &options);

/// Bytes that are there throughout, whatever the order of ops: variables, input slots, reserve.
int64_t persistentBytes(mlir::ModuleOp module, const PlanMemoryOptions &options);

/// Writes the plan into the IR as attributes, for people and for tests.
void annotate(mlir::ModuleOp module, const MemoryPlan &plan);

} // namespace gc

#endif
