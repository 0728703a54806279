//===- LibraryOps.h - gc ops as graphs of the library -----------*- C++ -*-===//
#ifndef GC_COMPILER_CUDA_LIBRARYOPS_H
#define GC_COMPILER_CUDA_LIBRARYOPS_H

#include "compiler/cuda/library/LibraryPlanner.h"
#include "compiler/language/ArgumentAccess.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringMap.h"

namespace gc::cuda {

/// An op, or most of it, as one execution of a library's graph.
struct LibraryOp {
  std::string name; // what is computed, for messages and tables
  LibraryPlan plan;
  /// What each tensor of the plan is bound to.
  struct Binding {
    int buffer = 0;     // as in BufferUse: operands, then results, then variables
    int64_t offset = 0; // elements
    kernels::ArgumentAccess access;
  };
  std::vector<Binding> bindings;  // one for each of plan.tensors
  bool needsBiasGradient = false; // the library leaves out the sums over rows of the gradient
};

/// Asks the library for plans, each once.
class LibraryOps {
public:
  /// `exactPlanner` may be null: it plans without tensor cores what `planner` plans with them, for
  /// GPUs where that may be faster.
  LibraryOps(std::unique_ptr<LibraryPlanner> planner, std::unique_ptr<LibraryPlanner> exactPlanner,
             std::string whyNone)
      : planner(std::move(planner)), exactPlanner(std::move(exactPlanner)),
        whyNone(std::move(whyNone)) {}

  /// How the library runs the op, by its first choice or, `lean`, with the least workspace; null
  /// where it does not. Valid for this object's life.
  const LibraryOp *find(mlir::Operation *op, bool lean);
  /// Where that plan has tensor cores: one without, if there is a planner for it and it has one.
  const LibraryOp *findExact(mlir::Operation *op, bool lean);
  bool isThere() const { return planner != nullptr; }

  /// What ran through the library, and why the rest of what it might have run did not.
  struct Refusal {
    std::string name, reason;
    int64_t ops = 0;
  };
  std::vector<Refusal> refusals() const;
  /// "cuDNN 9.19.0 with the compile-only driver of gc", or "" where there is none.
  std::string description() const;
  const std::string &whyNoLibrary() const { return whyNone; }
  std::string version() const { return planner ? planner->libraryVersion() : ""; }

private:
  struct Answer {
    std::optional<LibraryOp> op, leanest;
    std::string name, reason;
  };
  /// By a text of what the op computes, so that equal ops share.
  using Answers = llvm::StringMap<Answer>;
  static const LibraryOp *findIn(Answers &answers, LibraryPlanner &planner, mlir::Operation *op,
                                 bool lean);
  static Answer ask(LibraryPlanner &planner, mlir::Operation *op);

  std::unique_ptr<LibraryPlanner> planner, exactPlanner;
  std::string whyNone;
  Answers answers, exactAnswers;
};

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_LIBRARYOPS_H
