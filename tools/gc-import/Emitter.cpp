#include "tools/gc-import/Emitter.h"
#include <algorithm>
#include <numeric>

using namespace mlir;

namespace gc::importer {

// Far below any number that is computed, and far above what float32 loses.
static constexpr double lowest = 1e30;

Shape shapeOf(Value value) {
  auto shape = cast<RankedTensorType>(value.getType()).getShape();
  return {shape.begin(), shape.end()};
}

Tensor constantTensor(ConstantPtr constant) {
  Tensor tensor;
  tensor.dtype = constant->dtype;
  tensor.layout = Layout::plain(constant->shape);
  tensor.constant = std::move(constant);
  return tensor;
}

Emitter::Emitter(Operation *function, Block *body)
    : builder(OpBuilder::atBlockEnd(body)), variables(function), where(function->getLoc()) {}

void Emitter::setLocation(llvm::StringRef name) {
  where = NameLoc::get(builder.getStringAttr(name));
}

static RankedTensorType withShape(Value x, const Shape &shape) {
  return RankedTensorType::get(shape, cast<RankedTensorType>(x.getType()).getElementType());
}

Value Emitter::reshape(Value x, const Shape &shape) {
  if (shapeOf(x) == shape)
    return x;
  Value &known = shaped[{x.getAsOpaquePointer(), shape}];
  if (known)
    return known;
  Value source = x;
  if (auto before = x.getDefiningOp<ReshapeOp>())
    source = before.getInput();
  return known = shapeOf(source) == shape ? source : create<ReshapeOp>(withShape(x, shape), source);
}

Value Emitter::transpose(Value x, const Order &permutation) {
  if (permutation == naturalOrder(permutation.size()))
    return x;
  Value &known = transposed[{x.getAsOpaquePointer(), permutation}];
  if (!known)
    known = create<TransposeOp>(x, array(Shape(permutation.begin(), permutation.end())));
  return known;
}

Value Emitter::slice(Value x, int64_t axis, int64_t offset, int64_t size) {
  if (offset == 0 && size == shapeOf(x)[axis])
    return x;
  return create<SliceOp>(x, i64(axis), i64(offset), i64(size));
}

Value Emitter::concat(llvm::ArrayRef<Value> parts, int64_t axis) {
  return parts.size() == 1 ? parts[0] : create<ConcatOp>(parts, i64(axis));
}

Value Emitter::scale(Value x, double factor) {
  // A drop path divides by the probability that it has just multiplied with.
  if (auto before = x.getDefiningOp<ScaleOp>()) {
    factor *= before.getFactor().convertToDouble();
    x = before.getInput();
  }
  return std::abs(factor - 1) < 1e-6 ? x : create<ScaleOp>(x, f32(factor));
}

Value Emitter::broadcast(Value x, const Shape &shape, const Shape &dimensions) {
  if (shapeOf(x) == shape)
    return x;
  return create<BroadcastOp>(withShape(x, shape), x, array(dimensions));
}

Tensor Emitter::wrap(Value value, const Order &order) {
  Shape memory = shapeOf(value), shape(order.size());
  for (size_t i = 0; i < order.size(); ++i)
    shape[order[i]] = memory[i];
  Tensor tensor;
  tensor.value = value;
  tensor.layout = Layout::ordered(shape, order);
  if (cast<RankedTensorType>(value.getType()).getElementType().isInteger(32))
    tensor.dtype = DType::I32;
  return tensor;
}

Tensor Emitter::wrap(Value value) { return wrap(value, naturalOrder(shapeOf(value).size())); }

Tensor Emitter::like(const Tensor &tensor, Value value) const {
  Tensor result = tensor;
  result.variable = nullptr;
  result.constant = nullptr;
  result.value = value;
  return result;
}

Value Emitter::byAxes(const Tensor &x) { return reshape(x.value, x.layout.sizes); }

Tensor Emitter::reordered(const Tensor &x, const Order &axes) {
  if (x.constant) {
    Tensor known = wrap(constantValue(*x.constant));
    known.dtype = x.dtype;
    known.layout = x.layout; // plain, but its axes may be split as those of what it meets
    return reordered(known, axes);
  }
  if (!x.value)
    return fromVariable(x, axes);
  if (axes == naturalOrder(axes.size()))
    return x;
  Tensor result = x;
  result.layout = x.layout.reordered(axes);
  // Axes that stay side by side move as one where there are more than the dialect has dimensions.
  Shape sizes = x.layout.sizes, from;
  Order moved, first;
  for (size_t axis = 0; axis < sizes.size(); ++axis) {
    auto at = llvm::find(axes, static_cast<int>(axis)) - axes.begin();
    bool joins = sizes.size() > kLargestRank && axis > 0 && at > 0 &&
                 axes[at - 1] == static_cast<int>(axis) - 1;
    if (joins) {
      from.back() *= sizes[axis];
    } else {
      from.push_back(sizes[axis]);
      first.push_back(static_cast<int>(axis));
    }
  }
  for (int axis : axes)
    if (auto at = llvm::find(first, axis); at != first.end())
      moved.push_back(static_cast<int>(at - first.begin()));
  result.value = transpose(reshape(x.value, from), moved);
  return result;
}

Tensor Emitter::inMemory(const Tensor &x) {
  return x.value ? x : reordered(x, naturalOrder(x.layout.sizes.size()));
}

Value Emitter::ordered(const Tensor &x, const Order &order) {
  Shape shape;
  for (int dim : order)
    shape.push_back(x.layout.size(dim));
  // A filter of one channel has a dimension of one element, which its layout in the file names.
  if (x.variable && !x.variable->value && x.shape() == x.variable->meta.sizes && x.layout.isPlain())
    return declare(*x.variable, x.variable->meta.sizes, order);
  return reshape(reordered(x, x.layout.axes(order)).value, shape);
}

Value Emitter::plain(const Tensor &x) { return ordered(x, naturalOrder(x.rank())); }

Tensor Emitter::withLast(const Tensor &x, size_t dim) {
  const std::vector<int> &last = x.layout.dims[dim];
  Order order;
  for (int axis = 0; axis < static_cast<int>(x.layout.sizes.size()); ++axis)
    if (std::find(last.begin(), last.end(), axis) == last.end())
      order.push_back(axis);
  order.insert(order.end(), last.begin(), last.end());
  return reordered(x, order);
}

// A variable's layout inside is that of its first use.
Value Emitter::declare(Variable &variable, const Shape &split, const Order &order,
                       const Shape &merged) {
  auto f32Type = builder.getF32Type();
  Shape inside = merged;
  if (merged.empty())
    for (int axis : order)
      inside.push_back(split[axis]);
  bool asInFile = order == naturalOrder(order.size());
  const Shape &file = variable.meta.sizes;
  if (asInFile)
    inside = file;
  auto type = RankedTensorType::get(inside, f32Type);
  auto attribute = [&](const Shape &values) {
    return asInFile ? DenseI64ArrayAttr() : array(values);
  };
  auto init = initializers.find(&variable);
  models::Initializer start = init == initializers.end() ? models::constant(0.0) : init->second;
  auto name = builder.getStringAttr(variable.name);
  ParameterOp::create(variables, NameLoc::get(name), name, TypeAttr::get(type),
                      start.attribute(builder.getContext()), attribute(file), attribute(split),
                      attribute(Shape(order.begin(), order.end())));
  variable.isDeclared = true;
  variable.split = split;
  variable.order = order;
  variable.value = create<ReadOp>(type, FlatSymbolRefAttr::get(name));
  return variable.value;
}

Tensor Emitter::fromVariable(const Tensor &x, const Order &axes) {
  Variable &variable = *x.variable;
  Tensor result = x;
  result.variable = nullptr;
  if (!variable.value) {
    declare(variable, x.layout.sizes, axes);
    result.value = variable.value;
    result.layout = x.layout.reordered(axes);
    return result;
  }
  // Another use has chosen a layout: from there to the file's order, and on.
  Order back(variable.order.size());
  Shape inside;
  for (size_t i = 0; i < back.size(); ++i) {
    back[variable.order[i]] = static_cast<int>(i);
    inside.push_back(variable.split[variable.order[i]]);
  }
  result.value = transpose(reshape(variable.value, inside), back);
  return reordered(result, axes);
}

Tensor Emitter::reshaped(const Tensor &x, const Shape &shape) {
  if (x.constant)
    return constantTensor(reshapeConstant(*x.constant, shape));
  Tensor result = x;
  if (std::optional<Layout> layout = x.layout.reshaped(shape)) {
    result.layout = std::move(*layout);
    return result;
  }
  // One axis for all: it can be split anywhere.
  Tensor whole = reordered(x, x.layout.axes(naturalOrder(x.rank())));
  whole.layout = *Layout::plain({x.elements()}).reshaped(shape);
  return whole;
}

Tensor Emitter::permuted(const Tensor &x, const Order &dimensions) {
  if (x.constant)
    return constantTensor(permuteConstant(*x.constant, dimensions));
  Tensor result = x;
  result.layout = x.layout.permuted(dimensions);
  return result;
}

Tensor Emitter::sliced(const Tensor &x, size_t dim, int64_t start, int64_t size) {
  if (start == 0 && size == x.layout.size(dim))
    return x;
  if (x.constant)
    return constantTensor(sliceConstant(*x.constant, dim, start, size));
  Tensor result = inMemory(x);
  const std::vector<int> axes = result.layout.dims[dim];
  int64_t minor = result.layout.size(dim) / result.layout.sizes[axes[0]];
  if (start % minor != 0 || size % minor != 0) {
    // The dimension becomes one axis.
    Shape shape = x.shape();
    result = wrap(plain(x));
    result.dtype = x.dtype;
    minor = 1;
  }
  int axis = result.layout.dims[dim][0];
  result.value = slice(byAxes(result), axis, start / minor, size / minor);
  result.layout = result.layout.resized(axis, size / minor);
  return result;
}

Tensor Emitter::expanded(const Tensor &x, const Shape &shape) {
  if (x.shape() == shape)
    return x;
  // A large one is repeated in the IR.
  if (x.constant && product(shape) <= maxConstantElements)
    return constantTensor(expandConstant(*x.constant, shape));
  size_t added = shape.size() - x.rank();
  Shape dimensions;
  for (size_t dim = 0; dim < x.rank(); ++dim)
    dimensions.push_back(static_cast<int64_t>(added + dim));
  Tensor result = wrap(broadcast(plain(x), shape, dimensions));
  result.dtype = x.dtype;
  return result;
}

Tensor Emitter::concatenated(const std::vector<Tensor> &parts, size_t dim) {
  bool known = llvm::all_of(parts, [](const Tensor &part) { return part.constant != nullptr; });
  if (known) {
    std::vector<ConstantPtr> constants;
    for (const Tensor &part : parts)
      constants.push_back(part.constant);
    return constantTensor(concatConstants(constants, dim));
  }
  // The largest one's order of dimensions in memory.
  auto lead = llvm::max_element(parts, [](const Tensor &a, const Tensor &b) {
    return (a.value ? a.elements() : 0) < (b.value ? b.elements() : 0);
  });
  Order order;
  for (int axis = 0; axis < static_cast<int>(lead->layout.sizes.size()); ++axis)
    for (size_t d = 0; d < lead->rank(); ++d)
      if (llvm::is_contained(lead->layout.dims[d], axis) &&
          !llvm::is_contained(order, static_cast<int>(d)))
        order.push_back(static_cast<int>(d));
  // Dimensions of one element go where they are, as far as the others' order tells.
  for (size_t d = 0; d < lead->rank(); ++d)
    if (!llvm::is_contained(order, static_cast<int>(d)))
      order.insert(llvm::find_if(order, [&](int each) { return each > static_cast<int>(d); }),
                   static_cast<int>(d));
  SmallVector<Value> values;
  for (const Tensor &part : parts)
    values.push_back(ordered(part, order));
  Tensor result =
      wrap(concat(values, llvm::find(order, static_cast<int>(dim)) - order.begin()), order);
  result.dtype = parts[0].dtype;
  return result;
}

void Emitter::declareState(llvm::StringRef name, StateRole role, RankedTensorType type,
                           const models::Initializer &init) {
  StateOp::create(variables, NameLoc::get(builder.getStringAttr(name)), builder.getStringAttr(name),
                  StateRoleAttr::get(builder.getContext(), role), TypeAttr::get(type),
                  init.attribute(builder.getContext()));
}

Value Emitter::readState(llvm::StringRef name, Type type) {
  return create<ReadOp>(type, FlatSymbolRefAttr::get(builder.getContext(), name));
}

Value Emitter::generator() {
  auto pair = RankedTensorType::get({2}, builder.getI64Type()); // seed and step
  if (!drawn)
    declareState("generator", StateRole::Generator, pair, models::constant(0.0));
  return drawn = readState("generator", pair);
}

Tensor Emitter::filledWith(const Shape &shape, double value) {
  return constantTensor(filled(DType::F32, shape, value));
}

Value Emitter::constantValue(const Constant &constant) {
  bool isWhole = !isFloat(constant.dtype) && constant.dtype != DType::Bool;
  Type element = isWhole ? Type(builder.getI32Type()) : builder.getF32Type();
  std::vector<double> values = constant.values;
  // Masks that are added are -inf where they hide; so far below everything else is as good.
  for (double &value : values)
    value = std::clamp(value, -lowest, lowest);
  bool same = !isWhole && llvm::all_equal(values); // whole numbers cannot be repeated in the IR
  if (same)
    values.resize(1);
  Value &known = constants[{isWhole, constant.shape, values}];
  if (known)
    return known;
  // The same number everywhere is one number, repeated: of any batch.
  Shape shape = same ? Shape(constant.shape.size(), 1) : constant.shape;
  auto type = RankedTensorType::get(shape, element);
  auto name = builder.getStringAttr("constant." + std::to_string(constants.size() - 1));
  models::Initializer init{same ? InitKind::Constant : InitKind::Values, {}};
  init.values.assign(values.begin(), values.end());
  declareState(name, StateRole::Constant, type, init);
  known = readState(name, type);
  if (shape != constant.shape) {
    Shape dimensions(shape.size());
    std::iota(dimensions.begin(), dimensions.end(), 0);
    known = broadcast(known, constant.shape, dimensions);
  }
  return known;
}

} // namespace gc::importer
