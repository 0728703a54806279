//===- Rematerialize.cpp - compute again instead of keeping ---------------===//
//
//   %a = gc.fused (%c) {normalize, relu}       %a = gc.fused (%c) {normalize, relu}
//   %d = gc.conv2d %a, %w                      %d = gc.conv2d %a, %w
//   ...                                  =>    ...
//   %dw = gc.conv2d_grad_filter %a, %dd        %a2 = gc.fused (%c) {...} {gc.recomputed}
//                                              %dw = gc.conv2d_grad_filter %a2, %dd
//
// Deciding is in algorithms/rematerialization; here the decision becomes clones. A clone is the
// same op on the same values, so it gives the same bits.
//
//===----------------------------------------------------------------------===//
#include "passes/Rematerialize.h"
#include "dialects/Gc.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/Pass.h"
#include "passes/Passes.h"
#include "passes/StepPlans.h"
#include "passes/analysis/Dependence.h"
#include "passes/analysis/OpCosts.h"

using namespace mlir;

namespace gc {
namespace {

class Rewriter {
public:
  explicit Rewriter(FunctionGraph &function) : function(function) {}

  int run(const Schedule &schedule) {
    current.assign(schedule.instances(), Value());
    int clones = 0;
    // Clones go before the next original op.
    SmallVector<int> pending;
    for (int place = 0; place < schedule.size(); ++place) {
      if (schedule.recomputed(place)) {
        pending.push_back(place);
        continue;
      }
      Operation *op = function.ops[schedule.op(place)];
      OpBuilder builder(op);
      for (int clone : pending)
        cloneOp(builder, schedule, clone);
      clones += pending.size();
      pending.clear();
      for (auto [i, instance] : llvm::enumerate(schedule.operands(place)))
        if (instance >= 0)
          op->setOperand(i, viewOf(builder, op->getOperand(i), current[instance]));
      for (auto [i, result] : llvm::enumerate(op->getResults()))
        current[schedule.firstResult(place) + i] = result;
    }
    return clones;
  }

private:
  void cloneOp(OpBuilder &builder, const Schedule &schedule, int place) {
    Operation *original = function.ops[schedule.op(place)];
    SmallVector<Value> operands;
    for (auto [i, instance] : llvm::enumerate(schedule.operands(place))) {
      Value operand = originalOperand(schedule.op(place), i);
      operands.push_back(instance < 0 ? operand : viewOf(builder, operand, current[instance]));
    }
    Operation *clone = builder.clone(*original);
    clone->setOperands(operands);
    clone->setAttr("gc.recomputed", builder.getUnitAttr());
    for (auto [i, result] : llvm::enumerate(clone->getResults()))
      current[schedule.firstResult(place) + i] = result;
  }

  // Forward ops keep their operands, so the op itself still says what it read.
  Value originalOperand(int op, size_t i) { return function.ops[op]->getOperand(i); }

  // `operand` may be a view of the value that `root` now stands for: then the views are made again.
  Value viewOf(OpBuilder &builder, Value operand, Value root) {
    Value oldRoot = storageOf(operand);
    if (oldRoot == root)
      return operand;
    if (operand == oldRoot)
      return root;
    auto key = std::make_pair(operand, root);
    if (Value known = views.lookup(key))
      return known;
    Operation *view = operand.getDefiningOp();
    Value inner = viewOf(builder, view->getOperand(0), root);
    Operation *clone = builder.clone(*view);
    clone->setOperand(0, inner);
    return views[key] = clone->getResult(0);
  }

  FunctionGraph &function;
  std::vector<Value> current; // of each instance
  llvm::DenseMap<std::pair<Value, Value>, Value> views;
};

} // namespace

int applyRematerialization(FunctionGraph &function, const RematPlan &plan) {
  int clones = Rewriter(function).run(scheduleOf(function.graph, plan));
  if (clones > 0) {
    auto parent = function.ops.front()->getParentOfType<func::FuncOp>();
    parent->setAttr("gc.recomputed_ops", Builder(parent.getContext()).getI64IntegerAttr(clones));
  }
  return clones;
}

LogicalResult verifyRematerialization(func::FuncOp function) {
  auto expected = function->getAttrOfType<IntegerAttr>("gc.recomputed_ops");
  if (!expected)
    return success();
  int64_t found = 0;
  for (Operation &op : function.getBody().front())
    found += op.hasAttr("gc.recomputed");
  if (found != expected.getInt())
    return function.emitError() << "has " << found << " recomputed ops, expected "
                                << expected.getInt()
                                << ": something after gc-rematerialize merged or removed clones";
  return success();
}

#define GEN_PASS_DEF_REMATERIALIZEPASS
#include "passes/Passes.h.inc"

namespace {

// "1.5GB" is 10^9, "1.5GiB" 2^30, a bare number bytes.
std::optional<int64_t> parseBytes(StringRef text) {
  static constexpr std::pair<StringLiteral, double> units[] = {
      {"KiB", 0x1p10}, {"MiB", 0x1p20}, {"GiB", 0x1p30}, {"KB", 1e3},
      {"MB", 1e6},     {"GB", 1e9},     {"B", 1}};
  double factor = 1, number = 0;
  for (auto [unit, size] : units)
    if (text.consume_back(unit)) {
      factor = size;
      break;
    }
  if (text.getAsDouble(number) || !(number > 0) || number * factor > 0x1p62)
    return std::nullopt;
  return static_cast<int64_t>(number * factor);
}

struct RematerializePass : impl::RematerializePassBase<RematerializePass> {
  using RematerializePassBase::RematerializePassBase;

  LogicalResult initializeOptions(StringRef options,
                                  function_ref<LogicalResult(const Twine &)> error) override {
    if (failed(Pass::initializeOptions(options, error)))
      return failure();
    std::string ignored = ignoredByPolicy(policy, budget.hasValue(), checkpoints.hasValue());
    return ignored.empty() ? success() : error(ignored);
  }

  void runOnOperation() override {
    if (policy == "none")
      return;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (auto list = function->getAttrOfType<StringAttr>("gc.list");
          list && list.getValue() == "micro_batch" && failed(rematerialize(function)))
        return signalPassFailure();
  }

  LogicalResult rematerialize(func::FuncOp function) {
    OpCosts costs;
    FunctionGraph graph = stepGraphOf(function, [&](Operation *op) { return costs.seconds(op); });
    if (checkpoints < 0)
      return function.emitError() << "checkpoints must be at least 0, got " << checkpoints;
    std::optional<RematPlan> plan = planByPolicy(graph.graph, policy.getValue(), checkpoints);
    if (policy == "budget") {
      std::optional<int64_t> bytes = parseBytes(budget.getValue());
      if (!bytes)
        return function.emitError() << "budget '" << budget.getValue()
                                    << "' is not a size above 0, such as 600MB, 1.5GiB or bytes";
      PlanMemoryOptions memory;
      memory.reserve = reserve;
      StepPlans plans(getOperation(), function, /*microBatches=*/1, costs, memory);
      const RematPlan *fits = plans.fastest(*bytes);
      missed = !fits;
      if (missed)
        return function.emitError()
               << "the budget of " << *bytes << " bytes cannot be met: the smallest found is "
               << plans.arenaBytes(plans.smallest());
      plan = *fits;
    }
    if (!plan)
      return function.emitError() << "unknown policy '" << policy.getValue()
                                  << "': use none, all, sqrt, checkpoints or budget";
    if (!scheduleOf(graph.graph, *plan).valid())
      return function.emitError() << "policy '" << policy.getValue()
                                  << "' would run an op again after its weights have changed; use "
                                     "policy=budget, which avoids that";
    applyRematerialization(graph, *plan);
    return success();
  }

  bool missed = false; // the budget
};
} // namespace

std::string ignoredByPolicy(StringRef policy, bool budget, bool checkpoints) {
  if (budget && policy != "budget")
    return "budget= has no effect with policy=" + policy.str() + ": say policy=budget";
  if (checkpoints && policy != "checkpoints")
    return "checkpoints= has no effect with policy=" + policy.str() + ": say policy=checkpoints";
  return "";
}

bool missedBudget(Pass *pass) {
  return pass->getTypeID() == TypeID::get<RematerializePass>() &&
         static_cast<RematerializePass *>(pass)->missed;
}

} // namespace gc
