//===- Attention.cpp - attention for cuDNN --------------------------------===//
//
// The library knows attention by its operations: it wants this very order, softmax spelled out.
//
//===----------------------------------------------------------------------===//
#include "compiler/cuda/library/cudnn/GraphBuilder.h"
#include <cmath>

namespace gc::cuda {

namespace {
/// Tensors of [batch, heads, rows, columns].
struct AttentionTensors {
  const AttentionGraph &g;
  GraphBuilder &builder;
  int64_t width = g.heads * g.headSize;
  Shape matrix{g.batch, g.heads, g.sequence, g.headSize};
  Shape scores{g.batch, g.heads, g.sequence, g.sequence};
  Shape rows{g.batch, g.heads, g.sequence, 1};

  // A view starts at a multiple of the width, so that is what its address is a multiple of.
  int64_t alignment() const {
    int64_t bytes = width * builder.elementBytes(), alignment = 16;
    while (bytes % alignment)
      alignment /= 2;
    return alignment;
  }
  const GraphTensor &packed(const char *role, bool transposed = false) {
    Shape dims = matrix, strides{3 * g.sequence * width, g.headSize, 3 * width, 1};
    if (transposed)
      std::swap(dims[2], dims[3]), std::swap(strides[2], strides[3]);
    return builder.tensor(role, dims, strides, builder.dataType(), alignment());
  }
  const GraphTensor &output(const char *role) {
    return builder.tensor(role, matrix, {g.sequence * width, g.headSize, width, 1});
  }
  const GraphTensor &logsumexp() {
    return builder.tensor("logsumexp", rows, denseStrides(rows), CUDNN_DATA_FLOAT);
  }
  const GraphTensor &rowValue() { return builder.value(rows, denseStrides(rows)); }
  const GraphTensor &scale() {
    return builder.scalar("scale", float(1 / std::sqrt(double(g.headSize))), 4);
  }
  /// As an operand of the next product.
  const GraphTensor &rounded(cudnnPointwiseMode_t mode, const GraphTensor &x,
                             const GraphTensor *b) {
    auto &y = builder.value(x.dims, x.strides, builder.dataType());
    builder.pointwise(mode, x, b, y);
    return y;
  }
  const GraphTensor &transposed(const GraphTensor &x) {
    Shape dims = x.dims, strides = x.strides;
    std::swap(dims[2], dims[3]), std::swap(strides[2], strides[3]);
    auto &y = builder.value(dims, strides, builder.dataType());
    builder.reshape(x, y);
    return y;
  }
};
} // namespace

// P = softmax(scale * Q K^T), O = P V; the rows' log-sum-exp is kept.
static void buildForward(AttentionTensors t, GraphBuilder &builder) {
  auto &q = t.packed("query"), &keysT = t.packed("key", true), &v = t.packed("value");
  auto &o = t.output("output"), &lse = t.logsumexp();
  auto &s = builder.value(t.scores, denseStrides(t.scores));
  builder.product(q, keysT, s);
  auto &scaled = builder.pointwise(CUDNN_POINTWISE_MUL, s, &t.scale());
  auto &largest = t.rowValue();
  builder.reduction(CUDNN_REDUCE_TENSOR_MAX, scaled, largest);
  auto &shifted = builder.pointwise(CUDNN_POINTWISE_SUB, scaled, &largest);
  auto &powers = builder.pointwise(CUDNN_POINTWISE_EXP, shifted);
  auto &sum = t.rowValue();
  builder.reduction(CUDNN_REDUCE_TENSOR_ADD, powers, sum);
  auto &logarithm = builder.pointwise(CUDNN_POINTWISE_LOG, sum);
  builder.pointwise(CUDNN_POINTWISE_ADD, largest, &logarithm, lse);
  auto &p = t.rounded(CUDNN_POINTWISE_DIV, powers, &sum);
  builder.product(p, v, o);
}

// D = rowsum(dO * O); P = exp(scale * Q K^T - lse), dV = P^T dO; dS = scale * P * (dO V^T - D),
// dK = dS^T Q, dQ = dS K.
static void buildBackward(AttentionTensors t, GraphBuilder &builder) {
  auto &q = t.packed("query"), &keysT = t.packed("key", true), &valuesT = t.packed("value", true);
  auto &o = t.output("output"), &lse = t.logsumexp(), &dO = t.output("gradient");
  auto &dQ = t.packed("query_gradient"), &dK = t.packed("key_gradient");
  auto &dV = t.packed("value_gradient"), &scale = t.scale();

  auto &weighted = builder.pointwise(CUDNN_POINTWISE_MUL, dO, &o);
  auto &sum = t.rowValue();
  builder.reduction(CUDNN_REDUCE_TENSOR_ADD, weighted, sum);
  // This value goes through memory because two chains of the pattern meet here. cuDNN recognizes
  // attention only with the multiplication by one.
  auto &d = builder.scratch(t.rows);
  builder.pointwise(CUDNN_POINTWISE_MUL, sum, &builder.scalar("one", 1, 4), d);

  auto &s = builder.value(t.scores, denseStrides(t.scores));
  builder.product(q, keysT, s);
  auto &scaled = builder.pointwise(CUDNN_POINTWISE_MUL, s, &scale);
  auto &shifted = builder.pointwise(CUDNN_POINTWISE_SUB, scaled, &lse);
  auto &p = builder.pointwise(CUDNN_POINTWISE_EXP, shifted);
  builder.product(t.transposed(p), dO, dV);

  auto &dP = builder.value(t.scores, denseStrides(t.scores));
  builder.product(dO, valuesT, dP);
  auto &centred = builder.pointwise(CUDNN_POINTWISE_SUB, dP, &d);
  auto &product = builder.pointwise(CUDNN_POINTWISE_MUL, centred, &p);
  auto &dS = t.rounded(CUDNN_POINTWISE_MUL, product, &scale);
  builder.product(t.transposed(dS), q, dK);
  builder.product(dS, t.transposed(keysT), dQ);
}

void build(const AttentionGraph &g, GraphBuilder &builder) {
  require(g.batch > 0 && g.sequence > 0 && g.heads > 0 && g.headSize > 0,
          "attention's sizes must be positive");
  AttentionTensors tensors{g, builder};
  g.backward ? buildBackward(tensors, builder) : buildForward(tensors, builder);
}

} // namespace gc::cuda
