//===- Loss.cpp - loss and metrics ----------------------------------------===//
#include "dialects/ops/Inference.h"

using namespace mlir;

namespace gc {

static LogicalResult verifyLabels(Operation *op, Value logits, Value labels) {
  auto shape = tensorType(labels).getShape();
  if (shape.empty() || tensorType(logits).getDimSize(0) != elementCount(labels.getType()))
    return op->emitOpError() << "logits " << logits.getType() << " and labels " << labels.getType()
                             << " must have the same number of samples";
  return success();
}

// The mean over the batch; a count is added up over parts of the batch and divided by its size.
static Mixing mixingOfLoss(BatchDimensions isBatch) {
  if (isBatch(0, 1))
    return Mixing::Mixed;
  return isBatch(0, 0) ? Mixing::Mean : Mixing::None;
}
Mixing CrossEntropyOp::getMixing(BatchDimensions isBatch) { return mixingOfLoss(isBatch); }
Mixing AccuracyOp::getMixing(BatchDimensions isBatch) { return mixingOfLoss(isBatch); }

LogicalResult CrossEntropyOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor a,
                                               SmallVectorImpl<Type> &types) {
  types.push_back(sumsOf(a.getLogits(), {}));
  types.push_back(sumsOf(a.getLogits(), {tensorType(a.getLogits()).getDimSize(0)}));
  return success();
}
LogicalResult CrossEntropyOp::verify() { return verifyLabels(*this, getLogits(), getLabels()); }

// Smoothing is for training; losses of a test split compare whatever the training was.
LogicalResult CrossEntropyOp::toInference() {
  setLabelSmoothing(APFloat(0.0f));
  return success();
}

LogicalResult CrossEntropyGradOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                                   Adaptor a, SmallVectorImpl<Type> &types) {
  types.push_back(a.getLogits().getType());
  return success();
}
LogicalResult CrossEntropyGradOp::verify() {
  if (failed(
          verifyShape(*this, {tensorType(getLogits()).getDimSize(0)}, getLogsumexp(), "logsumexp")))
    return failure();
  return verifyLabels(*this, getLogits(), getLabels());
}

LogicalResult AccuracyOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor a,
                                           SmallVectorImpl<Type> &types) {
  types.push_back(sumsOf(a.getLogits(), {}));
  return success();
}
LogicalResult AccuracyOp::verify() { return verifyLabels(*this, getLogits(), getLabels()); }

// A count is added up over parts of the batch, as that of accuracy.
Mixing LabelCountOp::getMixing(BatchDimensions isBatch) {
  return isBatch(0, 0) ? Mixing::Mean : Mixing::None;
}
LogicalResult LabelCountOp::inferReturnTypes(MLIRContext *context, std::optional<Location>, Adaptor,
                                             SmallVectorImpl<Type> &types) {
  types.push_back(RankedTensorType::get({}, Float32Type::get(context)));
  return success();
}

} // namespace gc
