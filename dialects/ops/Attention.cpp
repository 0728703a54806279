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

// Each dimension is that of the scores, or 1; the last one is the keys'.
static LogicalResult verifyBias(Operation *op, Value qkv, int64_t heads, Value bias) {
  auto shape = tensorType(qkv).getShape();
  int64_t scores[] = {shape[0], heads, shape[1], shape[1]};
  if (!bias)
    return success();
  for (auto [i, size] : llvm::enumerate(tensorType(bias).getShape()))
    if (size != scores[i] && (size != 1 || i == 3))
      return op->emitOpError() << "the bias " << bias.getType() << " is added to scores of "
                               << scores[0] << "x" << scores[1] << "x" << scores[2] << "x"
                               << scores[3] << ": dimension " << i << " must be " << scores[i]
                               << (i == 3 ? "" : " or 1");
  return success();
}
LogicalResult AttentionOp::verify() {
  return verifyBias(*this, getQkv(), static_cast<int64_t>(getHeads()), getBias());
}

// q k^T and p v: each 2 * sequence^2 * width a sample.
static double attentionProduct(Value qkv) {
  auto shape = tensorType(qkv).getShape();
  return 2.0 * shape[0] * shape[1] * shape[1] * (shape[2] / 3);
}
double AttentionOp::getFlops() { return 2 * attentionProduct(getQkv()); }
double AttentionGradOp::getFlops() { return 5 * attentionProduct(getQkv()); }
double AttentionBiasGradOp::getFlops() { return 2 * attentionProduct(getQkv()); }

WorkKind AttentionOp::getWorkKind() { return WorkKind::Attention; }
WorkKind AttentionGradOp::getWorkKind() { return WorkKind::Attention; }
WorkKind AttentionBiasGradOp::getWorkKind() { return WorkKind::Attention; }

LogicalResult AttentionGradOp::inferReturnTypes(MLIRContext *, std::optional<Location>, Adaptor a,
                                                SmallVectorImpl<Type> &types) {
  types.push_back(a.getQkv().getType());
  return success();
}
static LogicalResult verifyAttentionGrad(auto op) {
  auto shape = tensorType(op.getQkv()).getShape();
  int64_t heads = op.getHeads();
  if (heads < 1 || heads > shape[2] || shape[2] % (3 * heads))
    return op.emitOpError() << "the last dimension " << shape[2]
                            << " must be 3 * heads * head size with " << heads << " heads";
  auto output = withShape(op.getQkv(), {shape[0], shape[1], shape[2] / 3});
  if (failed(verifySame(op, output, op.getOutput().getType(), "output")) ||
      failed(verifySame(op, output, op.getGradient().getType(), "gradient")) ||
      failed(verifyBias(op, op.getQkv(), heads, op.getBias())))
    return failure();
  return verifyShape(op, {shape[0], heads, shape[1]}, op.getLogsumexp(), "logsumexp");
}
LogicalResult AttentionGradOp::verify() { return verifyAttentionGrad(*this); }

LogicalResult AttentionBiasGradOp::inferReturnTypes(MLIRContext *, std::optional<Location>,
                                                    Adaptor a, SmallVectorImpl<Type> &types) {
  auto bias = tensorType(a.getBias()).getShape();
  types.push_back(withShape(a.getBias(), {bias[0], bias[1], bias[3], bias[3]}));
  return success();
}
LogicalResult AttentionBiasGradOp::verify() { return verifyAttentionGrad(*this); }

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
