//===- Target.h - what runs a training step ---------------------*- C++ -*-===//
#ifndef GC_COMPILER_TARGET_TARGET_H
#define GC_COMPILER_TARGET_TARGET_H

#include "dialects/Gc.h"
#include "passes/analysis/Dependence.h"
#include "passes/analysis/OpCosts.h"
#include "runtime/plan/Plan_generated.h"
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace gc {

/// Adds a buffer to the plan that is a part of another one.
using PartOf = llvm::function_ref<unsigned(unsigned buffer, int64_t offset, int64_t bytes)>;

/// Where an op's operands, results and variables lie.
struct OpBuffers {
  llvm::SmallVector<unsigned> operands, results, variables;
  int workspace = -1;
  /// The result that shares its bytes with each operand, or -1.
  llvm::SmallVector<int> aliases() const;
};

/// Decides how each op runs, sizes its scratch before memory is planned, and turns it into commands
/// afterwards, one op at a time. One target serves one compilation. `lean` asks for what needs the
/// least scratch, even where something else may be faster; an op is lowered as it was sized.
class Target {
public:
  virtual ~Target() = default;

  /// Scratch that the op's commands need, or failure with a diagnostic where it cannot run.
  virtual mlir::FailureOr<int64_t> workspaceBytes(mlir::Operation *op, bool lean) = 0;

  /// Whether the op's results can be added to accumulators while they are computed, in no more
  /// memory (but for a few bytes) than the op and its results need.
  virtual bool prefersAccumulating(mlir::Operation *op, AccumulateProductOp accumulating,
                                   bool lean) = 0;

  /// Appends the op's commands; `isNothing` (passes/analysis/Dependence.h) has none.
  virtual mlir::LogicalResult lower(mlir::Operation *op, bool lean, const OpBuffers &buffers,
                                    PartOf partOf,
                                    std::vector<std::unique_ptr<plan::CommandT>> &commands) = 0;

  /// Whether it can do several updates that follow each other in one command.
  virtual bool joinsUpdates() const { return false; }

  /// Of the updates, which follow each other, how many from the first on are one command.
  virtual size_t updatesAtOnce(llvm::ArrayRef<UpdateOpInterface> updates,
                               llvm::ArrayRef<OpBuffers> buffers) {
    return updates.empty() || buffers.empty() ? 0 : 1;
  }

  /// Appends the one command of two or more updates that `updatesAtOnce` has counted. It has a part
  /// for each of them, in order.
  virtual mlir::LogicalResult lowerUpdates(llvm::ArrayRef<UpdateOpInterface> updates,
                                           llvm::ArrayRef<OpBuffers> buffers,
                                           std::vector<std::unique_ptr<plan::CommandT>> &commands);

  /// Writes the kernels of all commands, and what they need of the machine, into the plan.
  virtual mlir::LogicalResult finish(plan::PlanT &plan, const std::string &dumpDirectory,
                                     nlohmann::json &report) = 0;

  /// Whether `lean` makes a difference.
  virtual bool canBeLean() const { return false; }

  /// Bytes of the arena that belong to no op.
  virtual int64_t reserveBytes() const { return 0; }

  /// How fast input reaches it where nothing else happens meanwhile, if that is not the default.
  virtual std::optional<double> inputBytesPerSecond() const { return std::nullopt; }

  /// How fast it is, where that is not the default.
  virtual std::optional<Roofline> roofline() const { return std::nullopt; }

  /// What the op's commands use up, where the target knows more of them than the op says. Rates are
  /// fitted to this, so that they mean the same when `seconds` uses them.
  struct OpWork {
    Amounts amounts;
    bool byLibrary = false; // not by generated kernels
  };
  virtual std::optional<OpWork> work(mlir::Operation *, bool /*lean*/) { return std::nullopt; }

  /// What the op's commands take, where the target knows more of them than the op says, or than a
  /// measurement that it has (`gc.seconds`), which may be of other commands.
  virtual std::optional<double> seconds(mlir::Operation *, bool /*lean*/) { return std::nullopt; }
};

/// Whether an op should add to its accumulators itself: compares its scratch when it does with its
/// scratch and its results when it does not. A few more bytes are accepted, because adding inside
/// saves a pass over the accumulators.
bool isWorthAccumulating(mlir::Operation *op, int64_t apart, int64_t inside);

} // namespace gc

#endif // GC_COMPILER_TARGET_TARGET_H
