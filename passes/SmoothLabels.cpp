//===- SmoothLabels.cpp - the label smoothing of a model's losses ---------===//
//
// Before:
//   %loss, %lse = gc.cross_entropy %logits, %labels
// After (epsilon=0.1):
//   %loss, %lse = gc.cross_entropy %logits, %labels {label_smoothing = 0.1}
//
//===----------------------------------------------------------------------===//
#include "passes/SmoothLabels.h"
#include "dialects/Gc.h"
#include "passes/ModelFunction.h"
#include "passes/Passes.h"

namespace gc {
#define GEN_PASS_DEF_SMOOTHLABELSPASS
#include "passes/Passes.h.inc"
} // namespace gc

using namespace mlir;

namespace gc {
namespace {

struct SmoothLabelsPass : impl::SmoothLabelsPassBase<SmoothLabelsPass> {
  using SmoothLabelsPassBase::SmoothLabelsPassBase;
  void runOnOperation() override {
    if (failed(smoothLabels(getOperation(), epsilon.value.value_or(0))))
      signalPassFailure();
  }
};

} // namespace

LogicalResult smoothLabels(ModuleOp module, double epsilon) {
  if (!(epsilon >= 0 && epsilon < 1))
    return module.emitError("label smoothing must be from 0 on, below 1, got ") << epsilon;
  FailureOr<func::FuncOp> model = findModel(module);
  if (failed(model))
    return failure();
  auto losses = model->getOps<CrossEntropyOp>();
  if (losses.empty())
    return model->emitOpError("has no gc.cross_entropy: label smoothing would have no effect");
  for (CrossEntropyOp loss : losses)
    loss.setLabelSmoothing(APFloat(static_cast<float>(epsilon)));
  return success();
}

} // namespace gc
