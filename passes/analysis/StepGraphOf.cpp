//===- StepGraphOf.cpp - a function as a step graph -----------------------===//
#include "passes/analysis/StepGraphOf.h"
#include "dialects/Gc.h"
#include "passes/analysis/Dependence.h"

using namespace mlir;

namespace gc {

FunctionGraph stepGraphOf(func::FuncOp function, OpSeconds seconds) {
  FunctionGraph result;
  Block &block = function.getBody().front();
  auto addValue = [&](Value value, int producer) {
    result.valueOf[value] = static_cast<int>(result.values.size());
    result.values.push_back(value);
    result.graph.values.push_back({producer < 0 ? 0 : byteSize(value.getType()), producer, false});
    return static_cast<int>(result.values.size()) - 1;
  };
  for (BlockArgument argument : block.getArguments())
    addValue(argument, -1);

  llvm::DenseSet<Operation *> backward = backwardOps(block);
  llvm::DenseMap<StringRef, SmallVector<int>> reads; // of each variable
  for (Operation &op : block.without_terminator()) {
    if (isNothing(&op)) {
      if (auto read = dyn_cast<ReadOp>(op))
        reads[read.getVariable()].push_back(addValue(read.getResult(), -1));
      // A gradient that is to be dumped lives to the end.
      if (isa<GradientOp>(op))
        result.graph.values[result.valueOf.lookup(storageOf(op.getOperand(0)))].untilEnd = true;
      continue;
    }
    StepOp step;
    int index = static_cast<int>(result.ops.size());
    for (Value operand : op.getOperands())
      step.operands.push_back(result.valueOf.lookup(storageOf(operand)));
    for (Value value : op.getResults())
      step.results.push_back(addValue(value, index));
    step.seconds = seconds(&op);
    step.workspace = cast<CostOpInterface>(op).getWorkspaceBytes();
    step.backward = backward.contains(&op);
    step.repeatable = cast<RecomputableOpInterface>(op).getRepetition() == Repetition::Exact;
    if (auto inPlace = dyn_cast<InPlaceOpInterface>(op))
      for (unsigned o = 0; o < op.getNumOperands(); ++o)
        for (unsigned r = 0; r < op.getNumResults(); ++r)
          if (inPlace.canWriteOver(o, r))
            step.inPlace.push_back({static_cast<int>(o), static_cast<int>(r)});
    for (FlatSymbolRefAttr variable : variablesWritten(&op))
      llvm::append_range(step.changes, reads.lookup(variable.getValue()));
    result.graph.ops.push_back(std::move(step));
    result.ops.push_back(&op);
  }
  for (Value value : block.getTerminator()->getOperands())
    result.graph.values[result.valueOf.lookup(storageOf(value))].untilEnd = true;
  return result;
}

} // namespace gc
