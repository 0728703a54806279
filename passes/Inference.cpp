//===- Inference.cpp - the model in inference mode ------------------------===//
//
// Before:
//   func.func @model(%x) -> (tensor<f32> {gc.output = "loss"}) {
//     %y, %mean, %rstd = gc.batch_norm %x, %w, %b {epsilon = 1.0e-5}
//     gc.running_stats @m, @v, %mean, %rstd {...}
//     %z = gc.dropout %y, %g {...}
//     ...
// After: @model as it was, and
//   func.func @evaluate(%x) -> (tensor<f32> {gc.output = "loss"})
//       attributes {gc.list = "evaluate"} {
//     %mean = gc.read @m
//     %var = gc.read @v
//     %rstd = gc.inverse_deviation %var {epsilon = 1.0e-5}
//     %y = gc.normalize %x, %mean, %rstd, %w, %b   // in the place of both %y and %z
//     ...
//
//===----------------------------------------------------------------------===//
#include "passes/Inference.h"
#include "passes/ModelFunction.h"
#include "passes/Passes.h"

namespace gc {
#define GEN_PASS_DEF_INFERENCEPASS
#include "passes/Passes.h.inc"
} // namespace gc

using namespace mlir;

namespace gc {
namespace {

struct InferencePass : impl::InferencePassBase<InferencePass> {
  void runOnOperation() override {
    if (failed(addInference(getOperation())))
      signalPassFailure();
  }
};

} // namespace

LogicalResult addInference(ModuleOp module) {
  FailureOr<func::FuncOp> model = findModel(module);
  if (failed(model) || failed(requireFreeName(SymbolTable(module), "evaluate")))
    return failure();
  func::FuncOp evaluate = model->clone();
  evaluate.setSymName("evaluate");
  evaluate->setAttr(kListAttr, StringAttr::get(module.getContext(), kEvaluateList));
  OpBuilder builder(module.getContext());
  builder.setInsertionPointAfter(*model);
  builder.insert(evaluate);

  for (Operation &op :
       llvm::make_early_inc_range(evaluate.getBody().front().without_terminator())) {
    auto known = dyn_cast<InferenceOpInterface>(op);
    if (!known)
      return op.emitError("'") << op.getName()
                               << "' does not say what it becomes in inference mode "
                               << "(InferenceOpInterface)";
    if (failed(known.toInference()))
      return failure();
  }
  // The generator is read for dropout alone.
  for (auto read : llvm::make_early_inc_range(evaluate.getOps<ReadOp>()))
    if (read->use_empty())
      read.erase();
  return success();
}

} // namespace gc
