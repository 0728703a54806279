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

// Gives the norm that feeds `stats` the running statistics instead of the batch's.
LogicalResult useRunningStats(RunningStatsOp stats) {
  Operation *norm = stats.getMean().getDefiningOp();
  if (!isa_and_nonnull<BatchNormOp, BatchStatsOp>(norm) ||
      stats.getRstd().getDefiningOp() != norm) {
    return stats.emitOpError("takes no mean and inverse deviation of one batch norm, so inference "
                             "does not know what they stand for");
  }
  OpBuilder builder(norm);
  Location loc = norm->getLoc();
  Value mean = ReadOp::create(builder, loc, stats.getMean().getType(), stats.getRunningMeanAttr());
  Value variance =
      ReadOp::create(builder, loc, stats.getRstd().getType(), stats.getRunningVarianceAttr());
  Value rstd = InverseDeviationOp::create(builder, loc, stats.getRstd().getType(), variance,
                                          norm->getAttrOfType<FloatAttr>("epsilon"));
  stats.getMean().replaceAllUsesWith(mean);
  stats.getRstd().replaceAllUsesWith(rstd);
  if (auto batchNorm = dyn_cast<BatchNormOp>(norm))
    batchNorm.getOutput().replaceAllUsesWith(
        NormalizeOp::create(builder, loc, batchNorm.getOutput().getType(), batchNorm.getInput(),
                            mean, rstd, batchNorm.getWeight(), batchNorm.getBias()));
  stats.erase();
  norm->erase();
  return success();
}

struct InferencePass : impl::InferencePassBase<InferencePass> {
  void runOnOperation() override {
    if (failed(addInference(getOperation())))
      signalPassFailure();
  }
};

} // namespace

LogicalResult addInference(ModuleOp module) {
  FailureOr<func::FuncOp> model = findModel(module);
  if (failed(model) || failed(requireFreeName(module, "evaluate")))
    return failure();
  func::FuncOp evaluate = model->clone();
  evaluate.setSymName("evaluate");
  evaluate->setAttr(kListAttr, StringAttr::get(module.getContext(), kEvaluateList));
  OpBuilder builder(module.getContext());
  builder.setInsertionPointAfter(*model);
  builder.insert(evaluate);

  for (auto stats : llvm::make_early_inc_range(evaluate.getOps<RunningStatsOp>()))
    if (failed(useRunningStats(stats)))
      return failure();
  for (auto dropout : llvm::make_early_inc_range(evaluate.getOps<DropoutOp>())) {
    dropout.getOutput().replaceAllUsesWith(dropout.getInput());
    dropout.erase();
  }
  // The generator is read for dropout alone.
  for (auto read : llvm::make_early_inc_range(evaluate.getOps<ReadOp>()))
    if (read->use_empty())
      read.erase();
  for (Operation &op : evaluate.getBody().front())
    if (hasEffect<MemoryEffects::Write>(&op))
      return op.emitOpError("changes a variable and has no form for inference");
  return success();
}

} // namespace gc
