//===- FactoredVariance.cpp - what Adafactor keeps of squares -------------===//
//
//   %g = gc.reshape %dw                            // outer x R x C x inner
//   %r = gc.mean_square %g {dimensions = [2]}
//   gc.adafactor_average @w.row_var, %r, %c
//   %s = gc.mean_square %g {dimensions = [1]}
//   gc.adafactor_average @w.col_var, %s, %c
//   %rows = gc.read @w.row_var                     // as moved just now
//   %columns = gc.read @w.col_var
//   %means = gc.reduce_mean %rows {dimensions = [1]}
//
//===----------------------------------------------------------------------===//
#include "passes/FactoredVariance.h"

using namespace mlir;

namespace gc {

// For each axis of `split`, which axis of `shape` it is a part of.
static SmallVector<size_t> partsOf(ArrayRef<int64_t> shape, ArrayRef<int64_t> split) {
  SmallVector<size_t> parts;
  size_t axis = 0;
  int64_t product = 1;
  for (int64_t size : split) {
    parts.push_back(axis);
    product *= size;
    if (product == shape[axis] && axis + 1 < shape.size()) {
      ++axis;
      product = 1;
    }
  }
  return parts;
}

FailureOr<FactoredShape> factoredShapeOf(ParameterOp parameter) {
  auto type = cast<RankedTensorType>(parameter.getType());
  ArrayRef<int64_t> file = parameter.getFileShape().value_or(type.getShape());
  FactoredShape result;
  if (file.size() < 2) {
    result.rows = type.getNumElements();
    result.isFactored = false;
    return result;
  }
  ArrayRef<int64_t> split = parameter.getFileSplit().value_or(type.getShape());
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, split.size()));
  if (auto permutation = parameter.getFilePermutation())
    order.assign(permutation->begin(), permutation->end());
  SmallVector<size_t> parts = partsOf(file, split);
  // Before the factored axes, in the first, in the second, behind them.
  int64_t *const places[] = {&result.outer, &result.rows, &result.columns, &result.inner};
  size_t place = 0, last = 0;
  for (int64_t axis : order) {
    if (split[axis] == 1)
      continue;
    bool isFactored = parts[axis] + 2 >= file.size();
    bool goesOn = isFactored && (place == 1 || place == 2) && parts[axis] == last;
    if (isFactored && !goesOn && ++place > 2)
      return parameter.emitOpError("cannot be updated by Adafactor: other axes lie between the "
                                   "last two of the weight file; use another optimizer");
    if (!isFactored && place > 0)
      place = 3;
    last = parts[axis];
    *places[place] *= split[axis];
  }
  // Where there is nothing to factor, as in filters of 1 x 1, any cut into lines will do.
  if (place == 0) {
    result.outer = type.getDimSize(0);
    result.inner = type.getNumElements() / result.outer;
  }
  return result;
}

FailureOr<SmallVector<Value>> addFactoredVariance(OpBuilder &builder, StateVariables &variables,
                                                  ParameterOp parameter, Value gradient,
                                                  Value coefficients,
                                                  std::optional<double> clipValue) {
  FailureOr<FactoredShape> factored = factoredShapeOf(parameter);
  if (failed(factored))
    return failure();
  Location loc = parameter.getLoc();
  auto type = [&](ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, builder.getF32Type());
  };
  if (clipValue) {
    FloatAttr low = builder.getF32FloatAttr(static_cast<float>(-*clipValue));
    FloatAttr high = builder.getF32FloatAttr(static_cast<float>(*clipValue));
    gradient = ClampOp::create(builder, loc, gradient.getType(), gradient, low, high);
  }
  const auto [outer, rows, columns, inner, isFactored] = *factored;
  Value squared = ReshapeOp::create(builder, loc, type({outer, rows, columns, inner}), gradient);
  SmallVector<Value> variance;
  auto addAverage = [&](StringRef suffix, int64_t kept, int64_t averaged) -> LogicalResult {
    RankedTensorType averages = type({outer, kept, inner});
    std::string name = (parameter.getSymName() + suffix).str();
    if (failed(variables.add(loc, name, StateRole::Optimizer, averages)))
      return failure();
    auto symbol = FlatSymbolRefAttr::get(builder.getContext(), name);
    Value squares = MeanSquareOp::create(builder, loc, averages, squared,
                                         builder.getDenseI64ArrayAttr({averaged}));
    AdafactorAverageOp::create(builder, loc, symbol, squares, coefficients);
    variance.push_back(ReadOp::create(builder, loc, averages, symbol));
    return success();
  };
  if (!isFactored) {
    if (failed(addAverage(".variance", rows, 2)))
      return failure();
    return variance;
  }
  if (failed(addAverage(".row_var", rows, 2)) || failed(addAverage(".col_var", columns, 1)))
    return failure();
  variance.push_back(ReduceMeanOp::create(builder, loc, type({outer, inner}), variance.front(),
                                          builder.getDenseI64ArrayAttr({1})));
  return variance;
}

} // namespace gc
