//===- MeasuredOps.cpp - times of equal ops in earlier runs ---------------===//
#include "compiler/MeasuredOps.h"
#include "compiler/target/WorkText.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "passes/analysis/OpCosts.h"

using namespace mlir;

namespace gc {

/// Of a step's predicted time; less would mix two clocks.
static constexpr double kEnough = 0.9;

// Every op of a step that runs, which is one that has a number.
static void forEachOp(ModuleOp module, llvm::function_ref<void(Operation *)> each) {
  for (auto function : module.getOps<func::FuncOp>()) {
    auto list = function->getAttrOfType<StringAttr>("gc.list");
    if (!list || (list != "micro_batch" && list != "step"))
      continue;
    for (Operation &op : function.getBody().front().without_terminator())
      if (op.hasAttr("gc.op") && !op.hasAttr("gc.seconds"))
        each(&op);
  }
}

static std::string kindOf(Operation *op) { return op->getName().stripDialect().str(); }

void MeasuredOps::learn(ModuleOp module) {
  double total = 0;
  forEachOp(module, [&](Operation *op) {
    double predicted = OpCosts().seconds(op);
    total += predicted;
    auto found = seconds.find(workText(op));
    if (found == seconds.end())
      return;
    for (Sums *sums : {&kinds[kindOf(op)], &all}) {
      sums->measured += found->second;
      sums->predicted += predicted;
    }
  });
  known = total > 0 ? all.predicted / total : 0;
  isUsed = known >= kEnough;
}

double MeasuredOps::correction(const std::string &kind) const {
  auto found = kinds.find(kind);
  return found == kinds.end() ? all.ratio() : found->second.ratio();
}

void MeasuredOps::apply(ModuleOp module) {
  if (seconds.empty())
    return;
  if (!isUsed)
    learn(module);
  if (!*isUsed)
    return;
  Builder builder(module.getContext());
  forEachOp(module, [&](Operation *op) {
    auto found = seconds.find(workText(op));
    double value =
        found != seconds.end() ? found->second : OpCosts().seconds(op) * correction(kindOf(op));
    op->setAttr("gc.seconds", builder.getF64FloatAttr(value));
  });
}

} // namespace gc
