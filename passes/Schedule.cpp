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
#include "passes/Split.h"
#include "passes/algorithms/ordering/Ordering.h"
#include "passes/analysis/Dependence.h"
#include "passes/analysis/Liveness.h"
#include "passes/analysis/OpCosts.h"
#include "passes/analysis/StepGraphOf.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include <map>

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
  // variable that goes into it may have changed by then, unless it had already. A gate for each
  // forward op opens when nobody needs its results any more, nor what was computed from them.
  void addRecomputation() {
    int ops = static_cast<int>(function.ops.size()), seed = firstBackwardOp(function.graph);
    before.resize(2 * ops);
    std::vector<int> lastReader(ops, -1);
    llvm::StringMap<SmallVector<int>> forwardReaders; // of each variable
    for (int i = ops - 1; i >= 0; --i) {
      for (Value operand : function.ops[i]->getOperands()) {
        Operation *producer = storageOf(operand).getDefiningOp();
        if (auto read = dyn_cast_or_null<ReadOp>(producer); read && isForward(i))
          forwardReaders[read.getVariable()].push_back(i);
        auto known = indexOf.find(producer);
        if (known == indexOf.end() || !isForward(known->second))
          continue;
        int forward = known->second;
        if (i >= seed)
          addReader(forward, i, i, lastReader);
        if (isForward(i))
          addReader(forward, gateOf(i), lastReader[i], lastReader);
      }
    }
    for (int i = seed; i < ops; ++i)
      for (FlatSymbolRefAttr variable : variablesWritten(function.ops[i]))
        for (int reader : forwardReaders.lookup(variable.getValue()))
          follow(i, reader, lastReader[reader]);
  }

  // Parts of the batch stay one behind the other: where they run at the same time, recomputation
  // needs room for the values of several.
  void addParts() {
    using Group =
        llvm::MapVector<int64_t, SmallVector<int>>; // the ops of each part, in their order
    std::map<std::pair<int64_t, bool>, Group> chains;
    for (auto [i, op] : llvm::enumerate(function.ops))
      if (std::optional<ChainPart> part = chainPartOf(op))
        chains[{part->chain, function.graph.ops[i].backward}][part->part].push_back(
            static_cast<int>(i));
    for (auto &[chain, parts] : chains) {
      ArrayRef<int> last;
      for (auto &[part, ops] : parts) {
        for (int op : endsOf(ops, /*first=*/true))
          for (int previous : endsOf(last, /*first=*/false))
            if (previous < op)
              before[op].push_back(previous);
        last = ops;
      }
    }
  }

  const ExtraEdges &edges() const { return before; }

private:
  bool isForward(int op) const { return !function.graph.ops[op].backward; }
  int gateOf(int op) const { return static_cast<int>(function.ops.size()) + op; }

  // The gate of a forward op waits for `reader`, an op or another gate.
  void addReader(int forward, int reader, int last, std::vector<int> &lastReader) {
    before[gateOf(forward)].push_back(reader);
    lastReader[forward] = std::max(lastReader[forward], last);
  }

  // Lets a writer follow all that need the forward op's results, but for those that come after it
  // already.
  void follow(int writer, int forward, int lastReader) {
    if (lastReader < writer) {
      before[writer].push_back(gateOf(forward));
      return;
    }
    SmallVector<int> pending{gateOf(forward)};
    llvm::SmallDenseSet<int> seen;
    while (!pending.empty())
      for (int reader : before[pending.pop_back_val()])
        if (reader >= gateOf(0)) {
          if (seen.insert(reader).second)
            pending.push_back(reader);
        } else if (reader < writer) {
          before[writer].push_back(reader);
        }
  }

  // Of some ops those that follow none of the others, or that none of the others follows.
  SmallVector<int> endsOf(ArrayRef<int> ops, bool first) const {
    llvm::SmallDenseSet<int> all(ops.begin(), ops.end()), inner;
    for (int op : ops)
      for (int previous : before[op])
        if (all.contains(previous))
          inner.insert(first ? op : previous);
    SmallVector<int> ends;
    llvm::copy_if(ops, std::back_inserter(ends), [&](int op) { return !inner.contains(op); });
    return ends;
  }

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
  edges.addParts();
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
