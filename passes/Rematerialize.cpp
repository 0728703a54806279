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
#include "passes/analysis/Dependence.h"

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

  // Operands of forward ops are never replaced, so the op still has the values that it read.
  Value originalOperand(int op, size_t i) { return function.ops[op]->getOperand(i); }

  // `root` is a new instance of the value that `operand` shows. Where `operand` is a view of that
  // value, its views are made again on the new instance.
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
  std::vector<Value> current; // for each instance of the schedule, its value in the IR
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

} // namespace gc
