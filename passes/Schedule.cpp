//===- Schedule.cpp - an order of ops that needs less memory --------------===//
//
//   %dx = gc.linear_grad_input %dy, %w             %dw = gc.linear_grad_weight %x, %dy
//   ...                                            %dx = gc.linear_grad_input %dy, %w
//   %dw = gc.linear_grad_weight %x, %dy      =>    gc.sgd @w, %dw
//   ...                                            ...
//   gc.sgd @w, %dw                                 ...
//
// %x dies before %dx is made, and %dw right after. The order is found in algorithms/ordering; here
// it is applied.
//
//===----------------------------------------------------------------------===//
#include "passes/Schedule.h"
#include "passes/Passes.h"
#include "passes/algorithms/ordering/Ordering.h"
#include "passes/analysis/Dependence.h"
#include "passes/analysis/Liveness.h"
#include "passes/analysis/OpCosts.h"
#include "passes/analysis/StepGraphOf.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;

namespace gc {
namespace {

// The ops that each op must follow, as numbers of the graph, which leaves out reads and views.
class Edges {
public:
  explicit Edges(const FunctionGraph &function) : function(function), before(function.ops.size()) {
    for (auto [i, op] : llvm::enumerate(function.ops))
      indexOf[op] = static_cast<int>(i);
  }

  // A path that leads through ops that the graph leaves out counts as an edge.
  void addDependence(const Dependence &dependence) {
    for (auto [i, op] : llvm::enumerate(function.ops)) {
      SmallVector<Operation *> pending(dependence.predecessors(op));
      llvm::SmallPtrSet<Operation *, 8> seen;
      while (!pending.empty()) {
        Operation *previous = pending.pop_back_val();
        if (auto known = indexOf.find(previous); known != indexOf.end())
          before[i].push_back(known->second);
        else if (seen.insert(previous).second)
          llvm::append_range(pending, dependence.predecessors(previous));
      }
    }
  }

  // Rematerialization may make a forward value again right before any backward op that reads it. No
  // variable that goes into it may have changed by then, unless it had already.
  void addRecomputation() {
    llvm::MapVector<StringRef, SmallVector<int>> writers;
    for (auto [i, op] : llvm::enumerate(function.ops))
      for (FlatSymbolRefAttr variable : variablesWritten(op))
        writers[variable.getValue()].push_back(static_cast<int>(i));
    // For each forward op, the variables (numbers in `writers`) that its results are computed from.
    std::vector<llvm::BitVector> sources(function.ops.size(), llvm::BitVector(writers.size()));
    bool anyBackward = false;
    for (auto [i, op] : llvm::enumerate(function.ops)) {
      anyBackward |= function.graph.ops[i].backward;
      llvm::BitVector forward(writers.size());
      for (Value operand : op->getOperands()) {
        Operation *producer = storageOf(operand).getDefiningOp();
        if (auto read = dyn_cast_or_null<ReadOp>(producer)) {
          if (auto known = writers.find(read.getVariable()); known != writers.end())
            sources[i].set(known - writers.begin());
        } else if (auto known = indexOf.find(producer);
                   known != indexOf.end() && !function.graph.ops[known->second].backward) {
          forward |= sources[known->second];
        }
      }
      sources[i] |= forward;
      if (anyBackward)
        for (unsigned variable : forward.set_bits())
          for (int writer : (writers.begin() + variable)->second)
            if (writer > static_cast<int>(i))
              before[writer].push_back(static_cast<int>(i));
    }
  }

  const ExtraEdges &edges() const { return before; }

private:
  const FunctionGraph &function;
  llvm::DenseMap<Operation *, int> indexOf;
  ExtraEdges before;
};

// Moves `op` to the end of the new order; ops that it needs and that are not placed yet come first.
void place(Operation *op, const Dependence &dependence, llvm::DenseSet<Operation *> &placed) {
  if (!placed.insert(op).second)
    return;
  for (Operation *previous : dependence.predecessors(op))
    place(previous, dependence, placed);
  op->moveBefore(op->getBlock(), op->getBlock()->end());
}

int64_t peakOf(func::FuncOp function) { return *llvm::max_element(Liveness(function).liveBytes()); }

} // namespace

void scheduleForMemory(func::FuncOp function) {
  Block &block = function.getBody().front();
  FunctionGraph graph = stepGraphOf(function, [](Operation *) { return 0.0; });
  Dependence dependence(block);
  Edges edges(graph);
  edges.addDependence(dependence);
  edges.addRecomputation();
  std::vector<int> order = orderForMemory(graph.graph, edges.edges());
  if (llvm::is_sorted(order))
    return;
  int64_t before = peakOf(function);
  SmallVector<Operation *> old;
  for (Operation &op : block)
    old.push_back(&op);
  llvm::DenseSet<Operation *> placed;
  for (int index : order)
    place(graph.ops[index], dependence, placed);
  place(old.back(), dependence, placed); // the terminator
  // The new order stays only if Liveness, by which memory is placed, finds its peak no higher.
  if (peakOf(function) > before)
    for (Operation *op : old)
      op->moveBefore(&block, block.end());
}

#define GEN_PASS_DEF_SCHEDULEPASS
#include "passes/Passes.h.inc"

namespace {
struct SchedulePass : impl::SchedulePassBase<SchedulePass> {
  using SchedulePassBase::SchedulePassBase;
  void runOnOperation() override {
    if (!getOperation()->hasAttr("gc.list"))
      return;
    if (failed(requireCosts(getOperation())))
      return signalPassFailure();
    scheduleForMemory(getOperation());
  }
};
} // namespace
} // namespace gc
