// Sums, means and maxima over any dimensions.
#include "tools/gc-import/Converters.h"

using namespace mlir;

namespace gc::importer {

enum class Reduction { Sum, Mean, Max };

/// Over the dimensions that are marked; with `keep` they stay, of size 1.
static Tensor reduced(Emitter &emit, const Tensor &x, const std::vector<bool> &over, bool keep,
                      Reduction how) {
  Tensor here = emit.inMemory(x);
  std::vector<bool> gone(here.layout.sizes.size(), false);
  for (size_t dim = 0; dim < x.rank(); ++dim)
    for (int axis : here.layout.dims[dim])
      gone[axis] = over[dim];
  Shape dimensions, left;
  std::vector<int> place(gone.size());
  for (size_t axis = 0; axis < gone.size(); ++axis) {
    place[axis] = static_cast<int>(left.size());
    if (gone[axis])
      dimensions.push_back(static_cast<int64_t>(axis));
    else
      left.push_back(here.layout.sizes[axis]);
  }
  Tensor result = emit.like(here, here.value);
  result.layout.sizes = left;
  result.layout.dims.clear();
  for (size_t dim = 0; dim < x.rank(); ++dim) {
    if (!over[dim] || keep)
      result.layout.dims.emplace_back();
    if (!over[dim])
      for (int axis : here.layout.dims[dim])
        result.layout.dims.back().push_back(place[axis]);
  }
  if (dimensions.empty())
    return result;
  // The mean of an image, or over the positions of a sequence.
  bool middle = how == Reduction::Mean && left.size() == 2 && gone.size() >= 3 && !gone.front() &&
                !gone.back();
  Value source = emit.byAxes(here);
  if (middle)
    result.value = emit.create<GlobalAvgPoolOp>(source);
  else if (how == Reduction::Sum)
    result.value = emit.create<ReduceSumOp>(source, emit.array(dimensions));
  else if (how == Reduction::Mean)
    result.value = emit.create<ReduceMeanOp>(source, emit.array(dimensions));
  else
    result.value = emit.create<ReduceMaxOp>(source, emit.array(dimensions));
  return result;
}

static std::vector<bool> marked(Call &call, const Tensor &x) {
  Shape dims = call.integers("dim", {});
  std::vector<bool> over(x.rank(), dims.empty());
  for (int64_t dim : dims) {
    dim = dim < 0 ? dim + static_cast<int64_t>(x.rank()) : dim;
    if (dim >= 0 && dim < static_cast<int64_t>(x.rank()))
      over[dim] = true;
  }
  return over;
}

template <Reduction how> static std::vector<Tensor> reduce(Call &call) {
  const Tensor &x = call.tensor("self");
  return {reduced(call.emit, x, marked(call, x), call.truth("keepdim", false), how)};
}

/// The mean of squared distances to the mean, over n - correction.
static std::vector<Tensor> variance(Call &call) {
  Emitter &emit = call.emit;
  const Tensor &x = call.tensor("self");
  std::vector<bool> over = marked(call, x);
  double count = 1;
  for (size_t dim = 0; dim < x.rank(); ++dim)
    count *= over[dim] ? static_cast<double>(x.layout.size(dim)) : 1;
  double correction = call.has("correction") ? call.number("correction", 1)
                                             : (call.truth("unbiased", true) ? 1 : 0);
  if (count <= correction)
    return call.refuse("one value has no variance");
  Tensor mean = reduced(emit, x, over, /*keep=*/true, Reduction::Mean);
  Tensor off = addTensors(emit, x, scaled(emit, mean, -1));
  Tensor squares = multiply(emit, off, off);
  bool keep = call.truth("keepdim", false);
  Tensor sum =
      scaled(emit, reduced(emit, squares, over, keep, Reduction::Sum), 1 / (count - correction));
  if (llvm::StringRef(call.node.target).contains("var_mean"))
    return {sum, keep ? mean : reduced(emit, x, over, keep, Reduction::Mean)};
  return {sum};
}

static std::vector<Tensor> deviation(Call &call) {
  std::vector<Tensor> squared = variance(call);
  if (squared.empty())
    return {};
  Tensor here = call.emit.inMemory(squared[0]);
  return {call.emit.like(here, call.emit.create<SqrtOp>(here.value.getType(), here.value))};
}

/// The root of the sum of squares.
static std::vector<Tensor> norm(Call &call) {
  Emitter &emit = call.emit;
  const Tensor &x = call.tensor("self");
  double order = call.number("p", call.number("ord", 2));
  if (order != 1 && order != 2)
    return call.refuse("it is neither the norm of squares nor of distances");
  Tensor here = emit.inMemory(x);
  Type type = here.value.getType();
  Tensor each =
      emit.like(here, order == 1 ? Value(emit.create<AbsOp>(type, here.value))
                                 : Value(emit.create<MulOp>(type, here.value, here.value)));
  Tensor sum = reduced(emit, each, marked(call, x), call.truth("keepdim", false), Reduction::Sum);
  if (order == 1)
    return {sum};
  return {emit.like(sum, emit.create<SqrtOp>(sum.value.getType(), sum.value))};
}

void addReductions(ConverterTable &table) {
  table["aten.mean.default"] = table["aten.mean.dim"] = reduce<Reduction::Mean>;
  table["aten.sum.default"] = table["aten.sum.dim_IntList"] = reduce<Reduction::Sum>;
  table["aten.amax.default"] = table["aten.max.default"] = reduce<Reduction::Max>;
  table["aten.std.correction"] = table["aten.std.dim"] = table["aten.std.default"] = deviation;
  table["aten.norm.ScalarOpt_dim"] = table["aten.linalg_vector_norm.default"] = norm;
  table["aten.norm.Scalar"] = norm;
  table["aten.var.correction"] = table["aten.var.dim"] = table["aten.var.default"] = variance;
  table["aten.var_mean.correction"] = table["aten.var_mean.default"] = variance;
}

} // namespace gc::importer
