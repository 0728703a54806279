//===- Attention.cpp - derivatives of attention, softmax, tokens ----------===//
#include "dialects/derivatives/Adjoint.h"

using namespace mlir;

namespace gc {

// y = softmax(x):  dx = y (dy - sum(y dy))
LogicalResult SoftmaxOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                      const llvm::SmallBitVector &needed,
                                      adjoint::Gradients &gradients) {
  if (needed[0])
    gradients[0] =
        SoftmaxGradOp::create(builder, getLoc(), getType(), getOutput(), resultGradients[0]);
  return success();
}
SavedValues SoftmaxOp::getSavedValues() { return {{}, {0}}; }

// O = P V, P = softmax(S), S = Q K^T / sqrt d + bias; with P = exp(S - logsumexp) computed again:
//   dV = P^T dO, dS = P (dO V^T - rowsum(dO O)), dQ = dS K / sqrt d, dK = dS^T Q / sqrt d, dbias =
//   dS
LogicalResult AttentionOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                        const llvm::SmallBitVector &needed,
                                        adjoint::Gradients &gradients) {
  if (failed(adjoint::onlyFirstResult(*this, resultGradients)))
    return failure();
  if (needed[0])
    gradients[0] = AttentionGradOp::create(builder, getLoc(), getQkv().getType(), getQkv(),
                                           getOutput(), getLogsumexp(), resultGradients[0],
                                           getBias(), getHeadsAttr(), getCausalAttr());
  if (getBias() && needed[1]) {
    // It has a row for each query: where the bias is the same for all, they are added up.
    auto type = cast<RankedTensorType>(getBias().getType());
    Value rows =
        AttentionBiasGradOp::create(builder, getLoc(), getQkv(), getOutput(), getLogsumexp(),
                                    resultGradients[0], getBias(), getHeadsAttr(), getCausalAttr());
    if (rows.getType() != type)
      rows = adjoint::reshapeTo(builder, getLoc(), adjoint::sumOver(builder, getLoc(), rows, {2}),
                                type);
    gradients[1] = rows;
  }
  return success();
}
SavedValues AttentionOp::getSavedValues() {
  return getBias() ? SavedValues{{0, 1}, {0, 1}} : SavedValues{{0}, {0, 1}};
}

// As conv2d whose stride is its kernel, on dy seen as [B, h, w, D].
LogicalResult PatchEmbedOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                         const llvm::SmallBitVector &needed,
                                         adjoint::Gradients &gradients) {
  auto input = cast<RankedTensorType>(getInput().getType());
  auto filter = cast<RankedTensorType>(getFilter().getType());
  int64_t kernel[] = {filter.getDimSize(1), filter.getDimSize(2)};
  Type image = input.clone({input.getDimSize(0), input.getDimSize(1) / kernel[0],
                            input.getDimSize(2) / kernel[1], filter.getDimSize(0)});
  auto strides = builder.getDenseI64ArrayAttr(kernel);
  auto padding = builder.getDenseI64ArrayAttr({0, 0});
  Value dy = adjoint::reshapeTo(builder, getLoc(), resultGradients[0], image);
  if (needed[0])
    gradients[0] =
        Conv2dGradInputOp::create(builder, getLoc(), input, dy, getFilter(), strides, padding);
  if (needed[1]) {
    auto grad = Conv2dGradFilterOp::create(builder, getLoc(), filter,
                                           needed[2] ? getBias().getType() : Type(), getInput(), dy,
                                           strides, padding);
    gradients[1] = grad.getFilterGradient();
    if (needed[2])
      gradients[2] = grad.getBiasGradient();
  } else if (needed[2]) {
    gradients[2] = adjoint::sumRows(builder, getLoc(), dy);
  }
  return success();
}
SavedValues PatchEmbedOp::getSavedValues() { return {{0, 1}, {}}; }

// y[b] = concat(token, x[b]) + position:
//   dx = dy without the first position, dposition = sum_b dy[b], dtoken = dposition's first
//   position
LogicalResult ClassTokenOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                         const llvm::SmallBitVector &needed,
                                         adjoint::Gradients &gradients) {
  Value dy = resultGradients[0];
  if (needed[0]) {
    int64_t length = cast<RankedTensorType>(getInput().getType()).getDimSize(1);
    gradients[0] = adjoint::slice(builder, getLoc(), dy, /*axis=*/1, /*offset=*/1, length);
  }
  if (!needed[1] && !needed[2])
    return success();
  Value sum = adjoint::sumOver(builder, getLoc(), dy, {0});
  Value position = adjoint::reshapeTo(builder, getLoc(), sum, getPosition().getType());
  if (needed[1])
    gradients[1] = adjoint::slice(builder, getLoc(), position, /*axis=*/1, /*offset=*/0, 1);
  if (needed[2])
    gradients[2] = position;
  return success();
}
SavedValues ClassTokenOp::getSavedValues() { return {}; }

// y[r] = table[index[r]]:  dtable[i] = sum of dy[r] over the rows r with index[r] = i
LogicalResult EmbeddingOp::buildAdjoint(OpBuilder &builder, ValueRange resultGradients,
                                        const llvm::SmallBitVector &needed,
                                        adjoint::Gradients &gradients) {
  if (needed[1])
    gradients[1] = EmbeddingGradOp::create(builder, getLoc(), getTable().getType(), getIndices(),
                                           resultGradients[0]);
  return success();
}
SavedValues EmbeddingOp::getSavedValues() { return {{0}, {}}; }

} // namespace gc
