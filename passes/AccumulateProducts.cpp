//===- AccumulateProducts.cpp - kernels that add to accumulators ----------===//
//
//   %dw = gc.linear_grad_weight %x, %dy        gc.accumulate_product (%a = %x, %b = %dy)
//   gc.accumulate @w.gradient, %dw         =>      into [@w.gradient] {
//                                                %dw = gc.linear_grad_weight %a, %b
//                                                gc.yield %dw
//                                              }
//
// Whether a kernel can add, and whether its scratch is not larger than what is saved, is for a
// target to say: see compiler/target/SelectKernels.cpp.
//
//===----------------------------------------------------------------------===//
#include "passes/AccumulateProducts.h"
#include "passes/analysis/Dependence.h"

using namespace mlir;

namespace gc {

// Whether an op between `from` and `to` reads or changes the variable.
static bool isTouchedBetween(Operation *from, Operation *to, FlatSymbolRefAttr variable) {
  for (Operation *op = from->getNextNode(); op != to; op = op->getNextNode()) {
    auto read = dyn_cast<ReadOp>(op);
    if ((read && read.getVariableAttr() == variable) ||
        llvm::is_contained(variablesWritten(op), variable))
      return true;
  }
  return false;
}

// The accumulations that take all results of `op`, one each; none where there is another use.
static SmallVector<AccumulateOp> accumulationsOf(Operation *op) {
  SmallVector<AccumulateOp> all;
  llvm::SmallDenseSet<Attribute> variables;
  for (Value result : op->getResults()) {
    auto use = result.hasOneUse() ? dyn_cast<AccumulateOp>(*result.user_begin()) : AccumulateOp();
    if (!use || !variables.insert(use.getAccumulatorAttr()).second ||
        isTouchedBetween(op, use, use.getAccumulatorAttr()))
      return {};
    all.push_back(use);
  }
  return all;
}

int accumulateInProducts(func::FuncOp function, PreferAccumulating prefer) {
  SmallVector<Operation *> candidates;
  for (Operation &op : function.getBody().front().without_terminator())
    if (isMemoryEffectFree(&op))
      candidates.push_back(&op);
  int made = 0;
  for (Operation *op : candidates) {
    SmallVector<AccumulateOp> accumulations = accumulationsOf(op);
    if (accumulations.empty())
      continue;
    SmallVector<Attribute> accumulators;
    for (AccumulateOp accumulation : accumulations)
      accumulators.push_back(accumulation.getAccumulatorAttr());
    OpBuilder builder(op);
    auto product = AccumulateProductOp::create(builder, op->getLoc(), op, accumulators);
    if (!prefer(op, product)) {
      product.erase();
      continue;
    }
    for (AccumulateOp accumulation : accumulations)
      accumulation.erase();
    op->erase();
    ++made;
  }
  return made;
}

} // namespace gc
