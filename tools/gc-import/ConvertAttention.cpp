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

/// What is added to scores: nothing where the mask holds, else what no softmax sees.
static Tensor additive(const Constant &mask) {
  auto result = std::make_shared<Constant>(mask);
  result->dtype = DType::F32;
  for (double &value : result->values)
    value = value != 0 ? 0 : -INFINITY;
  return constantTensor(result);
}

/// Position i sees those up to i.
static Tensor causalMask(int64_t queries, int64_t keys) {
  Constant mask{DType::Bool, {queries, keys}, {}};
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t j = 0; j < keys; ++j)
      mask.values.push_back(j <= i);
  return additive(mask);
}

/// A mask that hides nothing is none.
static bool hidesNothing(const Tensor *mask) {
  return mask && mask->constant && llvm::all_of(mask->constant->values, [&](double value) {
           return mask->dtype == DType::Bool ? value != 0 : value == 0;
         });
}

/// A mask that is known, as what is added: without dimensions along which it is the same.
static Constant smallestMask(const Constant &mask) {
  Constant result = mask.dtype == DType::Bool ? *additive(mask).constant : mask;
  for (size_t dim = 0; dim + 1 < result.shape.size(); ++dim) {
    int64_t size = result.shape[dim], inner = 1;
    for (size_t d = dim + 1; d < result.shape.size(); ++d)
      inner *= result.shape[d];
    auto isSame = [&](size_t i) {
      size_t place = i / inner % size;
      return result.values[i] == result.values[i - place * inner];
    };
    if (size > 1 && llvm::all_of(llvm::seq(result.values.size()), isSame))
      result = *sliceConstant(result, dim, 0, 1);
  }
  return result;
}

/// Whether it hides from each position those behind it, and nothing else.
static bool isCausal(const Constant &mask, int64_t positions) {
  if (mask.values.size() != static_cast<size_t>(positions * positions) || mask.shape.size() < 2 ||
      mask.shape.back() != positions)
    return false;
  constexpr double hidden = -1e20; // as the smallest float16 is not, but the smallest float32
  return llvm::all_of(llvm::seq(mask.values.size()), [&](size_t i) {
    int64_t place = static_cast<int64_t>(i);
    bool sees = place % positions <= place / positions;
    return sees ? mask.values[i] == 0 : mask.values[i] <= hidden;
  });
}

/// What is added to scores [N, heads, S, S], as a tensor of four dimensions.
static Value biasValue(Emitter &emit, const Tensor &mask, int64_t positions) {
  Tensor bias = mask;
  if (mask.constant)
    bias = constantTensor(std::make_shared<Constant>(smallestMask(*mask.constant)));
  else if (mask.dtype == DType::Bool) // 1 where a key is seen
    bias = scaled(emit, addTensors(emit, mask, emit.filledWith(mask.shape(), -1)), 1e30);
  Shape shape = bias.shape();
  shape.insert(shape.begin(), 4 - shape.size(), 1);
  bias = emit.reshaped(bias, shape);
  shape.back() = positions;
  return emit.plain(emit.expanded(bias, shape));
}

/// Of queries, keys and values of one shape: no scores are kept.
static Tensor fusedAttention(Emitter &emit, const std::array<Tensor, 3> &tensors,
                             const Tensor *mask, bool causal) {
  Shape shape = tensors[0].shape();
  int64_t batch = shape[0], heads = shape[1], positions = shape[2], features = shape[3];
  std::array<Value, 3> parts;
  for (auto [part, tensor] : llvm::zip_equal(parts, tensors))
    part = emit.reshape(emit.ordered(tensor, {0, 2, 1, 3}), {batch, positions, heads * features});
  if (mask && mask->constant && isCausal(smallestMask(*mask->constant), positions)) {
    mask = nullptr;
    causal = true;
  }
  Value bias = mask ? biasValue(emit, *mask, positions) : Value();
  UnitAttr hides = causal ? emit.attributes().getUnitAttr() : UnitAttr();
  Value result =
      emit.create<AttentionOp>(packed(emit, parts), bias, emit.i64(heads), hides).getOutput();
  return emit.wrap(emit.reshape(result, {batch, positions, heads, features}), {0, 2, 1, 3});
}

static std::vector<Tensor> attention(Call &call) {
  Emitter &emit = call.emit;
  const Tensor &q = call.tensor("query"), &k = call.tensor("key"), &v = call.tensor("value");
  const Tensor *mask = call.optional("attn_mask");
  if (hidesNothing(mask))
    mask = nullptr;
  if (q.rank() != 4 || k.rank() != 4 || v.rank() != 4)
    return call.refuse("gc's attention has batch, heads, positions and features");
  if (call.truth("enable_gqa", false))
    return call.refuse("its queries share keys and values");
  double probability = call.number("dropout_p", 0);
  bool causal = call.truth("is_causal", false);
  int64_t features = q.layout.size(3);
  double usual = 1 / std::sqrt(static_cast<double>(features)), scale = call.number("scale", usual);
  bool same = q.shape() == k.shape() && q.shape() == v.shape();
  if (mask && causal)
    return call.refuse("it is causal and has a mask");
  Shape a = q.shape(), b = k.shape(), c = v.shape();
  if (a[0] != b[0] || a[1] != b[1] || a[3] != b[3] || c[0] != b[0] || c[1] != b[1] ||
      c[2] != b[2] || !std::isfinite(scale) || !(probability >= 0 && probability < 1))
    return call.refuse("its shapes do not fit");
  Shape seen = {a[0], a[1], a[2], b[2]};
  if (mask && broadcastShape(mask->shape(), seen) != seen)
    return call.refuse("its mask does not fit");
  if (same && probability == 0) {
    Tensor scaledQuery = std::abs(scale / usual - 1) < 1e-6 ? q : scaled(emit, q, scale / usual);
    return {fusedAttention(emit, {scaledQuery, k, v}, mask, causal)};
  }
  if (causal && a[2] * b[2] > (1 << 20))
    return call.refuse("it is causal over more than 2^20 pairs of positions");
  // softmax(q k^T scale + mask) v, written out.
  Tensor scores = scaled(emit, matrixProduct(call, q, emit.permuted(k, {0, 1, 3, 2})), scale);
  if (causal)
    scores = addTensors(emit, scores, causalMask(q.layout.size(2), k.layout.size(2)));
  if (mask && mask->dtype == DType::Bool) {
    if (!mask->constant)
      return call.refuse("its mask is computed of the input: pass one of floats, which is added");
    scores = addTensors(emit, scores, additive(*mask->constant));
  } else if (mask) {
    scores = addTensors(emit, scores, *mask);
  }
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
  int64_t padding = call.integer("padding_idx", -1);
  bool pads = padding >= 0 &&
              !(indices.constant &&
                !llvm::is_contained(indices.constant->values, static_cast<double>(padding)));
  if (indices.constant) {
    // Rows of the table in order are the table itself, or its first rows.
    const std::vector<double> &rows = indices.constant->values;
    bool ordered = !pads && static_cast<int64_t>(rows.size()) <= table.layout.size(0);
    for (size_t i = 0; i < rows.size(); ++i)
      ordered = ordered && rows[i] == static_cast<double>(i);
    if (ordered) {
      Shape shape = indices.shape();
      shape.push_back(table.layout.size(1));
      return {emit.reshaped(emit.sliced(table, 0, 0, static_cast<int64_t>(rows.size())), shape)};
    }
  }
  Value places = emit.plain(indices);
  Tensor rows = emit.wrap(emit.create<EmbeddingOp>(places, emit.plain(table)));
  if (!pads)
    return {rows};
  // PyTorch never trains the row of the padding: where it was asked for, its numbers are known.
  ConstantPtr numbers = table.variable ? emit.archived(table.variable->name) : nullptr;
  int64_t words = table.layout.size(0);
  if (!numbers || padding >= words || words > (1 << 20))
    return call.refuse("padding_idx of a table that is computed, or of more than 2^20 rows");
  auto trained = std::make_shared<Constant>(*filled(DType::F32, {words, 1}, 1));
  trained->values[static_cast<size_t>(padding)] = 0;
  Tensor mask = emit.wrap(emit.create<EmbeddingOp>(places, emit.plain(constantTensor(trained))));
  Tensor row = constantTensor(sliceConstant(*numbers, 0, padding, 1));
  return {selected(emit, mask, rows, row, rows.shape())};
}

/// x - log(sum(exp(x))) = log(softmax(x)), whose softmax is at least 2^-126 wherever it matters.
static std::vector<Tensor> logSoftmax(Call &call) {
  Emitter &emit = call.emit;
  const Tensor &x = call.tensor("self");
  if (x.rank() == 0)
    return call.refuse("its input has no dimensions");
  size_t dim = call.dim("dim", -1, x);
  // x - max is never above 0, and the sum of its exponentials at least 1.
  Tensor here = emit.withLast(x, dim);
  int64_t columns = x.layout.size(dim);
  Value rows = emit.reshape(here.value, {x.elements() / columns, columns});
  Shape shape = shapeOf(rows);
  auto repeat = [&](Value row) { return emit.broadcast(row, shape, {0}); };
  Value top = emit.create<ReduceMaxOp>(rows, emit.array({1}));
  Value below = emit.create<SubOp>(rows.getType(), rows, repeat(top));
  Value sum = emit.create<ReduceSumOp>(emit.create<ExpOp>(rows.getType(), below).getResult(),
                                       emit.array({1}));
  Value log = emit.create<LogOp>(sum.getType(), sum);
  Value result = emit.create<SubOp>(rows.getType(), below, repeat(log));
  return {emit.like(here, emit.reshape(result, shapeOf(here.value)))};
}

/// x[i] with known i along one dimension: rows of a table.
static std::vector<Tensor> index(Call &call) {
  Emitter &emit = call.emit;
  const Tensor &x = call.tensor("self");
  const Argument *given = call.node.find("indices");
  size_t dim = 0, count = 0;
  for (size_t i = 0; given && i < given->tensors.size(); ++i)
    if (!given->tensors[i].empty()) {
      dim = i;
      ++count;
    }
  std::vector<Tensor> indices = call.list("indices");
  if (count != 1 || indices.size() != 1 || !indices[0].constant ||
      indices[0].dtype == DType::Bool || dim >= x.rank())
    return call.refuse("it takes elements at places that are computed, or in several dimensions");
  Constant places = *indices[0].constant;
  int64_t size = x.layout.size(dim);
  for (double &place : places.values) {
    place = place < 0 ? place + static_cast<double>(size) : place;
    if (!(place >= 0 && place < static_cast<double>(size)))
      return call.refuse("an index is out of range");
  }
  // The dimension in front, the others as a row behind it.
  Order order = {static_cast<int>(dim)};
  Shape result = places.shape;
  for (size_t d = 0; d < x.rank(); ++d)
    if (d != dim) {
      order.push_back(static_cast<int>(d));
      result.push_back(x.layout.size(d));
    }
  Value table = emit.reshape(emit.ordered(x, order), {size, x.elements() / size});
  Tensor which = constantTensor(std::make_shared<Constant>(places));
  Value rows = emit.create<EmbeddingOp>(emit.plain(which), table);
  Tensor gathered = emit.wrap(emit.reshape(rows, result));
  // The index's dimensions go to where the indexed one was.
  Order back;
  size_t added = places.shape.size();
  for (size_t d = 0; d < dim; ++d)
    back.push_back(static_cast<int>(added + d));
  for (size_t d = 0; d < added; ++d)
    back.push_back(static_cast<int>(d));
  for (size_t d = dim + 1; d < x.rank(); ++d)
    back.push_back(static_cast<int>(added + d - 1));
  return {emit.permuted(gathered, back)};
}

void addAttention(ConverterTable &table) {
  table["aten.scaled_dot_product_attention.default"] = attention;
  table["aten.softmax.int"] = table["aten._softmax.default"] = softmax;
  table["aten.log_softmax.int"] = table["aten._log_softmax.default"] = logSoftmax;
  table["aten.embedding.default"] = embedding;
  table["aten.index.Tensor"] = index;
}

} // namespace gc::importer
