// Attention, softmax and embeddings.
#include "tools/gc-import/Converters.h"
#include <cmath>

using namespace mlir;

namespace gc::importer {

Tensor softmaxOver(Emitter &emit, const Tensor &x, size_t dim) {
  Tensor here = emit.withLast(x, dim);
  int64_t columns = x.layout.size(dim);
  Shape shape = shapeOf(here.value);
  Value rows = here.value;
  if (shape.empty() || shape.back() != columns)
    rows = emit.reshape(rows, {x.elements() / columns, columns});
  return emit.like(here, emit.reshape(emit.create<SoftmaxOp>(rows), shape));
}

/// Where the last dimension of a value is columns `offset` on of all columns of another one.
struct Columns {
  Value whole;
  int64_t offset = 0, rows = 0, all = 0;
};
static Columns columnsOf(Value x, int64_t rows) {
  if (auto reshape = x.getDefiningOp<ReshapeOp>())
    x = reshape.getInput();
  auto slice = x.getDefiningOp<SliceOp>();
  if (!slice)
    return {};
  Shape shape = shapeOf(slice.getInput());
  int64_t before = 1, after = 1, axis = static_cast<int64_t>(slice.getAxis());
  for (int64_t i = 0; i < static_cast<int64_t>(shape.size()); ++i)
    (i < axis ? before : after) *= i == axis ? 1 : shape[i];
  if (before != rows)
    return {};
  return {slice.getInput(), static_cast<int64_t>(slice.getOffset()) * after, before,
          shape[axis] * after};
}

/// Queries, keys and values, [N, S, width] each, side by side: what they were cut from, where they
/// were.
static Value packed(Emitter &emit, const std::array<Value, 3> &parts) {
  Shape shape = shapeOf(parts[0]);
  int64_t width = shape[2];
  std::array<Columns, 3> columns;
  bool cut = true;
  for (int64_t i = 0; i < 3; ++i) {
    columns[i] = columnsOf(parts[i], shape[0] * shape[1]);
    cut = cut && columns[i].whole && columns[i].whole == columns[0].whole &&
          columns[i].all == 3 * width && columns[i].offset == i * width;
  }
  if (cut)
    return emit.reshape(columns[0].whole, {shape[0], shape[1], 3 * width});
  return emit.concat(parts, 2);
}

static std::vector<Tensor> attention(Call &call) {
  Emitter &emit = call.emit;
  const Tensor &q = call.tensor("query"), &k = call.tensor("key"), &v = call.tensor("value");
  const Tensor *mask = call.optional("attn_mask");
  if (q.rank() != 4 || k.rank() != 4 || v.rank() != 4)
    return call.refuse("gc's attention has batch, heads, positions and features");
  if (call.truth("enable_gqa", false))
    return call.refuse("its queries share keys and values");
  double probability = call.number("dropout_p", 0);
  bool causal = call.truth("is_causal", false);
  int64_t features = q.layout.size(3), heads = q.layout.size(1);
  double usual = 1 / std::sqrt(static_cast<double>(features)), scale = call.number("scale", usual);
  bool same = q.shape() == k.shape() && q.shape() == v.shape();
  if (same && !mask && !causal && probability == 0) {
    Tensor scaledQuery = std::abs(scale / usual - 1) < 1e-6 ? q : scaled(emit, q, scale / usual);
    int64_t batch = q.layout.size(0), positions = q.layout.size(2), width = heads * features;
    std::array<Value, 3> parts;
    std::array<const Tensor *, 3> tensors = {&scaledQuery, &k, &v};
    for (auto [part, tensor] : llvm::zip_equal(parts, tensors))
      part = emit.reshape(emit.ordered(*tensor, {0, 2, 1, 3}), {batch, positions, width});
    Value result = emit.create<AttentionOp>(packed(emit, parts), emit.i64(heads)).getOutput();
    return {emit.wrap(emit.reshape(result, {batch, positions, heads, features}), {0, 2, 1, 3})};
  }
  if ((mask && mask->constant) || causal) {
    if (!Emitter::hasConstants)
      return call.refuse("is_causal or a mask needs constants, which the dialect does not have");
  }
  // softmax(q k^T scale + mask) v, written out.
  Tensor scores = scaled(emit, matrixProduct(call, q, emit.permuted(k, {0, 1, 3, 2})), scale);
  if (mask)
    scores = addTensors(emit, scores, *mask);
  Tensor weights = dropOut(emit, softmaxOver(emit, scores, 3), probability);
  return {matrixProduct(call, weights, v)};
}

static std::vector<Tensor> softmax(Call &call) {
  const Tensor *x = call.optional("self");
  if (!x || x->rank() == 0)
    return call.refuse("its input has no dimensions");
  return {softmaxOver(call.emit, *x, call.dim("dim", -1, *x))};
}

static std::vector<Tensor> embedding(Call &call) {
  Emitter &emit = call.emit;
  const Tensor &table = call.tensor("weight"), &indices = call.tensor("indices");
  if (table.rank() != 2)
    return call.refuse("its table is no matrix");
  if (call.integer("padding_idx", -1) >= 0)
    return call.refuse("padding_idx: gc's embedding trains all rows of its table");
  if (indices.constant) {
    // Rows of the table in order are the table itself, or its first rows.
    const std::vector<double> &rows = indices.constant->values;
    bool ordered = static_cast<int64_t>(rows.size()) <= table.layout.size(0);
    for (size_t i = 0; i < rows.size(); ++i)
      ordered = ordered && rows[i] == static_cast<double>(i);
    if (ordered) {
      Shape shape = indices.shape();
      shape.push_back(table.layout.size(1));
      return {emit.reshaped(emit.sliced(table, 0, 0, static_cast<int64_t>(rows.size())), shape)};
    }
    if (!Emitter::hasConstants)
      return call.refuse("its indices need constants, which the dialect does not have");
  }
  return {emit.wrap(emit.create<EmbeddingOp>(emit.plain(indices), emit.plain(table)))};
}

void addAttention(ConverterTable &table) {
  table["aten.scaled_dot_product_attention.default"] = attention;
  table["aten.softmax.int"] = table["aten._softmax.default"] = softmax;
  table["aten.embedding.default"] = embedding;
}

} // namespace gc::importer
