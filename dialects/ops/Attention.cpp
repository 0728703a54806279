//===- Attention.cpp - attention, softmax, tokens -------------------------===//
#include "dialects/ops/Inference.h"

using namespace mlir;

namespace gc {

LogicalResult SoftmaxOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor a,
                                          SmallVectorImpl<Type> &types) {
  if (tensorType(a.getInput()).getRank() < 1)
    return emitOptionalError(loc, "the input needs a last dimension");
  types.push_back(a.getInput().getType());
  return success();
}
LogicalResult SoftmaxGradOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor a,
                                              SmallVectorImpl<Type> &types) {
  types.push_back(a.getOutput().getType());
  return success();
}
LogicalResult SoftmaxGradOp::verify() {
  if (tensorType(getOutput()).getRank() < 1)
    return emitOpError("operands need a last dimension");
  return verifySame(*this, getOutput().getType(), getGradient().getType(), "gradient");
}

LogicalResult AttentionOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor a,
                                            SmallVectorImpl<Type> &types) {
  auto shape = tensorType(a.getQkv()).getShape();
  int64_t heads = a.getHeads();
  if (heads < 1 || heads > shape[2] || shape[2] % (3 * heads))
    return emitOptionalError(loc, "the last dimension ", shape[2],
                             " must be 3 * heads * head size with ", heads, " heads");
  types.push_back(withShape(a.getQkv(), {shape[0], shape[1], shape[2] / 3}));
  types.push_back(sumsOf(a.getQkv(), {shape[0], heads, shape[1]}));
  return success();
}

// q k^T and p v: each 2 * sequence^2 * width a sample.
static double attentionProduct(Value qkv) {
  auto shape = tensorType(qkv).getShape();
  return 2.0 * shape[0] * shape[1] * shape[1] * (shape[2] / 3);
}
double AttentionOp::getFlops() { return 2 * attentionProduct(getQkv()); }
double AttentionGradOp::getFlops() { return 5 * attentionProduct(getQkv()); }

WorkKind AttentionOp::getWorkKind() { return WorkKind::Attention; }
WorkKind AttentionGradOp::getWorkKind() { return WorkKind::Attention; }

LogicalResult AttentionGradOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor a,
                                                SmallVectorImpl<Type> &types) {
  types.push_back(a.getQkv().getType());
  return success();
}
LogicalResult AttentionGradOp::verify() {
  auto shape = tensorType(getQkv()).getShape();
  int64_t heads = getHeads();
  if (heads < 1 || heads > shape[2] || shape[2] % (3 * heads))
    return emitOpError() << "the last dimension " << shape[2]
                         << " must be 3 * heads * head size with " << heads << " heads";
  auto output = withShape(getQkv(), {shape[0], shape[1], shape[2] / 3});
  if (failed(verifySame(*this, output, getOutput().getType(), "output")) ||
      failed(verifySame(*this, output, getGradient().getType(), "gradient")))
    return failure();
  return verifyShape(*this, {shape[0], heads, shape[1]}, getLogsumexp(), "logsumexp");
}

LogicalResult PatchEmbedOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor a,
                                             SmallVectorImpl<Type> &types) {
  auto input = tensorType(a.getInput()).getShape(), filter = tensorType(a.getFilter()).getShape();
  if (filter[1] < 1 || filter[2] < 1 || input[3] != filter[3] || input[1] % filter[1] ||
      input[2] % filter[2])
    return emitOptionalError(loc, "a ", input[1], "x", input[2], " image with ", input[3],
                             " channels does not split into ", filter[1], "x", filter[2],
                             " patches with ", filter[3], " channels");
  types.push_back(withShape(
      a.getInput(), {input[0], (input[1] / filter[1]) * (input[2] / filter[2]), filter[0]}));
  return success();
}
LogicalResult PatchEmbedOp::verify() {
  if (failed(verifyFactors(*this, getInput(), getFilter())))
    return failure();
  return verifyChannel(*this, getOutput(), getBias(), "bias");
}
double PatchEmbedOp::getFlops() {
  return 2.0 * elementCount(getInput().getType()) * tensorType(getFilter()).getDimSize(0);
}

WorkKind PatchEmbedOp::getWorkKind() { return WorkKind::MatMul; }

LogicalResult ClassTokenOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor a,
                                             SmallVectorImpl<Type> &types) {
  auto shape = tensorType(a.getInput()).getShape();
  types.push_back(withShape(a.getInput(), {shape[0], shape[1] + 1, shape[2]}));
  return success();
}
LogicalResult ClassTokenOp::verify() {
  auto shape = tensorType(getOutput()).getShape();
  if (failed(verifyShape(*this, {1, 1, shape[2]}, getToken(), "token")))
    return failure();
  return verifyShape(*this, {1, shape[1], shape[2]}, getPosition(), "position");
}

LogicalResult EmbeddingOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor a,
                                            SmallVectorImpl<Type> &types) {
  SmallVector<int64_t> shape(tensorType(a.getIndices()).getShape());
  shape.push_back(tensorType(a.getTable()).getDimSize(1));
  types.push_back(withShape(a.getTable(), shape));
  return success();
}
// A table whose rows are samples gives any of them to any index.
Mixing EmbeddingOp::getMixing(BatchDimensions isBatch) {
  return isBatch(1, 0) ? Mixing::Mixed : Mixing::None;
}
LogicalResult EmbeddingGradOp::verify() {
  SmallVector<int64_t> shape(tensorType(getIndices()).getShape());
  shape.push_back(tensorType(getTableGradient()).getDimSize(1));
  return verifySame(*this, withShape(getGradient(), shape), getGradient().getType(), "gradient");
}

} // namespace gc
