//===- GatherUpdates.cpp - updates that follow each other -----------------===//
//
//   %dw2 = gc.linear_grad_weight %h, %dy          %dw2 = gc.linear_grad_weight %h, %dy
//   gc.sgd @w2, %dw2                              %dh = gc.linear_grad_input %dy, %w2
//   %dh = gc.linear_grad_input %dy, %w2     =>    %dw1 = gc.linear_grad_weight %x, %dh
//   %dw1 = gc.linear_grad_weight %x, %dh          gc.sgd @w2, %dw2
//   gc.sgd @w1, %dw1                              gc.sgd @w1, %dw1
//
// An update waits, and its gradient with it, for as long as nothing depends on it and all that is
// alive stays within the peak that the step has anyway: backward frees activations, so that there
// is room. The schedule is not asked again: what it and rematerialization have weighed stays true.
//
//===----------------------------------------------------------------------===//
#include "passes/GatherUpdates.h"
#include "passes/analysis/Dependence.h"

using namespace mlir;

namespace gc {
namespace {

class Gatherer {
public:
  Gatherer(func::FuncOp function, double share)
      : liveness(function), dependence(function.getBody().front()), live(liveness.liveBytes()),
        dying(live.size()) {
    for (int64_t bytes : live)
      limit = std::max(limit, bytes);
    limit = static_cast<int64_t>(share * static_cast<double>(limit));
    for (const Storage &storage : liveness.transient())
      dying[storage.last] += alignedBytes(storage.bytes);
  }

  void run() {
    for (auto [i, op] : llvm::enumerate(liveness.ops())) {
      // A read of what a waiting update changes is something: the update must come before it.
      int level = levelOf(op);
      if (isNothing(op) && level == 0)
        continue;
      if (isa<UpdateOpInterface>(op)) {
        waiting.push_back({op, level});
        waitingBytes += dying[i];
      } else if (level > 0 || live[i] + waitingBytes > limit) {
        moveBefore(op);
      }
    }
    if (!liveness.ops().empty())
      moveBefore(liveness.ops().back()->getBlock()->getTerminator());
  }

private:
  struct Waiting {
    Operation *op;
    int level; // updates that it depends on and that wait have lower ones
  };

  // 0: the op depends on no update that waits.
  int levelOf(Operation *op) const {
    int level = 0;
    for (const Waiting &update : waiting)
      if (llvm::is_contained(dependence.successors(update.op), op))
        level = std::max(level, update.level + 1);
    return level;
  }

  // Updates of a kind stay together.
  void moveBefore(Operation *op) {
    llvm::stable_sort(waiting, [](const Waiting &a, const Waiting &b) {
      return std::make_pair(a.level, a.op->getName().getStringRef()) <
             std::make_pair(b.level, b.op->getName().getStringRef());
    });
    for (const Waiting &update : waiting)
      update.op->moveBefore(op);
    waiting.clear();
    waitingBytes = 0;
  }

  Liveness liveness;
  Dependence dependence;
  std::vector<int64_t> live;  // at each op
  std::vector<int64_t> dying; // at each op: what it is the last to use
  int64_t limit = 0;
  SmallVector<Waiting> waiting;
  int64_t waitingBytes = 0;
};

// The order of ops in the functions whose updates may move, so that it can be had back.
class Orders {
public:
  explicit Orders(ModuleOp module) {
    for (auto function : module.getOps<func::FuncOp>()) {
      auto list = function->getAttrOfType<StringAttr>("gc.list");
      if (!list || list.getValue() == "evaluate")
        continue;
      functions.push_back({function, {}});
      for (Operation &op : function.getBody().front().without_terminator())
        functions.back().second.push_back(&op);
    }
  }
  void gather(double share) {
    for (auto &[function, ops] : functions)
      Gatherer(function, share).run();
  }
  void restore() {
    for (auto &[function, ops] : functions)
      for (Operation *op : ops)
        op->moveBefore(op->getBlock()->getTerminator());
  }

private:
  SmallVector<std::pair<func::FuncOp, SmallVector<Operation *>>> functions;
};

} // namespace

FailureOr<MemoryPlan> gatherUpdates(ModuleOp module, MemoryPlan memory,
                                    const PlanMemoryOptions &options) {
  Orders orders(module);
  // Packing may lose more on the new lives; with some of the room left empty it loses less.
  for (double share : {1.0, 0.9, 0.75}) {
    orders.gather(share);
    FailureOr<MemoryPlan> gathered = planMemory(module, options);
    if (failed(gathered))
      return failure();
    if (gathered->arenaBytes <= memory.arenaBytes)
      return gathered;
    orders.restore();
  }
  return memory;
}

} // namespace gc
