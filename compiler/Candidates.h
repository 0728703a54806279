//===- Candidates.h - the ways to run a step --------------------*- C++ -*-===//
#ifndef GC_COMPILER_CANDIDATES_H
#define GC_COMPILER_CANDIDATES_H

#include "compiler/Compile.h"
#include "compiler/MeasuredOps.h"
#include "compiler/target/Target.h"
#include "passes/ChooseStep.h"

namespace gc {

/// The step for one number of micro-batches, or for several to choose from; each with fast kernels
/// and, where memory is scarce and the target has them, with lean ones. Where one op needs much of
/// the memory, also with chains of ops in parts of the batch.
class Candidates {
public:
  Candidates(mlir::ModuleOp model, const CompileOptions &options, const PlanMemoryOptions &memory,
             std::shared_ptr<Target> target)
      : model(model), options(options), memory(memory), target(std::move(target)),
        measured(options.machine.opSeconds) {}

  /// False: the passes failed, and `error` or their diagnostics say why.
  bool build();

  /// Whose rates predict times, for reports: `otherwise` where none were measured in earlier runs.
  std::string ratesFrom(const std::string &otherwise) const;

  std::vector<StepCandidate> all;
  std::string rejected; // why there are not more
  std::string error;    // why there is none, where the diagnostics do not tell

private:
  bool isScarce() const { return options.budgetBytes || options.pareto; }
  bool enough() const;
  void notFasterThan(size_t plain);
  bool addUnsplit();
  bool add(int64_t microBatches, const StepSplit &split = {});
  bool addModule(int64_t microBatches, const StepSplit &split, bool lean);
  bool tryMicroBatches(int64_t microBatches);
  mlir::OwningOpRef<mlir::ModuleOp> simplified();
  bool addAskedSplit();
  void trySplits();

  mlir::ModuleOp model;
  const CompileOptions &options;
  const PlanMemoryOptions &memory;
  std::shared_ptr<Target> target;
  MeasuredOps measured;
  size_t newest = 0; // the first of the candidates that were added last
  std::vector<mlir::OwningOpRef<mlir::ModuleOp>> modules; // of the candidates
};

} // namespace gc

#endif
