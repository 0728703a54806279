//===- Loss.cpp - derivatives of losses -----------------------------------===//
#include "dialects/derivatives/Adjoint.h"

using namespace mlir;

namespace gc {

// loss = mean over the n samples with a label of (logsumexp(x) - (1 - e) x[label] - e mean(x)):
//   dx = dloss / n (exp(x - logsumexp) - (1 - e) onehot(label) - e / classes), 0 for samples
//   without a label
LogicalResult CrossEntropyOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                           const llvm::SmallBitVector &needed,
                                           adjoint::Gradients &gradients) {
  if (failed(adjoint::onlyFirstResult(*this, resultGradients)))
    return failure();
  if (needed[0])
    gradients[0] = CrossEntropyGradOp::create(builder, getLoc(), getLogits().getType(), getLogits(),
                                              getLabels(), getLogsumexp(), resultGradients[0],
                                              getLabelSmoothingAttr());
  return success();
}
SavedValues CrossEntropyOp::getSavedValues() { return {{0, 1}, {1}}; }

} // namespace gc
