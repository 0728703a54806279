// Arithmetic with PyTorch's broadcasting, on tensors that may lie differently.
#include "tools/gc-import/Converters.h"

using namespace mlir;

namespace gc::importer {

namespace {

/// The tensor with as many dimensions, new ones of size 1 in front.
Tensor ofRank(Emitter &emit, const Tensor &x, size_t rank) {
  if (x.rank() >= rank)
    return x;
  Shape shape(rank - x.rank(), 1);
  for (int64_t size : x.shape())
    shape.push_back(size);
  return emit.reshaped(x, shape);
}

/// Two tensors as an elementwise op wants them. `small` lacks some of the axes of `large`.
struct Aligned {
  Tensor large;    // in the IR, with the shape of the result
  Value small;     // one IR dimension for each of its axes
  Shape positions; // the axis of `large` that each of them is
};

Aligned align(Emitter &emit, Tensor large, Tensor small) {
  Layout a = large.layout, b = small.layout;
  if (refineTogether(a, b)) {
    large.layout = a;
    small.layout = b;
  } else {
    Shape shape = small.shape();
    large = emit.wrap(emit.plain(large));
    small = emit.wrap(emit.plain(small));
    refineTogether(large.layout, small.layout);
  }
  large = emit.inMemory(large);
  Order order;
  Aligned result;
  for (int axis = 0; axis < static_cast<int>(large.layout.sizes.size()); ++axis)
    for (size_t dim = 0; dim < large.rank(); ++dim) {
      const std::vector<int> &theirs = large.layout.dims[dim], &mine = small.layout.dims[dim];
      auto at = llvm::find(theirs, axis);
      if (at == theirs.end() || mine.empty())
        continue;
      order.push_back(mine[at - theirs.begin()]);
      result.positions.push_back(axis);
    }
  // A parameter that is used whole lies as PyTorch has it where it can.
  Tensor inOrder = emit.reordered(small, order);
  result.small = emit.reshape(inOrder.value, inOrder.layout.sizes);
  result.large = std::move(large);
  return result;
}

bool isWhole(const Aligned &aligned) {
  return aligned.positions.size() == aligned.large.layout.sizes.size();
}

/// `small` repeated to the IR shape of `large`.
Value repeated(Emitter &emit, const Aligned &aligned) {
  const Shape &sizes = aligned.large.layout.sizes;
  Value small = aligned.small;
  if (!isWhole(aligned))
    small = emit.broadcast(small, sizes, aligned.positions);
  return emit.reshape(small, shapeOf(aligned.large.value));
}

/// Whether `small` is the last axes of `large`, all of them.
bool isTrailing(const Aligned &aligned) {
  size_t count = aligned.positions.size(), all = aligned.large.layout.sizes.size();
  if (count == 0 || count == all)
    return false;
  for (size_t i = 0; i < count; ++i)
    if (aligned.positions[i] != static_cast<int64_t>(all - count + i))
      return false;
  return true;
}

/// large + small, where small is its last axes: a bias of as many columns.
Tensor addTrailing(Emitter &emit, const Aligned &aligned) {
  int64_t columns = product(shapeOf(aligned.small));
  Shape shape = shapeOf(aligned.large.value);
  Value large = aligned.large.value;
  if (shape.empty() || shape.back() != columns)
    large = emit.reshape(large, {product(shape) / columns, columns});
  Value sum = emit.create<BiasOp>(large, emit.reshape(aligned.small, {columns}));
  return emit.like(aligned.large, emit.reshape(sum, shape));
}

/// Both with the shape of the result, the first one not to be repeated where one of them is not.
struct Operands {
  Tensor a, b;
  bool swapped = false;
};
Operands prepared(Emitter &emit, const Tensor &a, const Tensor &b) {
  Shape shape = *broadcastShape(a.shape(), b.shape());
  Operands result{ofRank(emit, a, shape.size()), ofRank(emit, b, shape.size())};
  bool aFull = result.a.shape() == shape, bFull = result.b.shape() == shape;
  // What is computed decides how a parameter or a constant lies, not the other way around.
  bool bLeads = bFull && (!aFull || (!result.a.value && result.b.value));
  if (bLeads) {
    std::swap(result.a, result.b);
    result.swapped = true;
  } else if (!aFull) {
    result.a = emit.expanded(result.a, shape);
  }
  return result;
}

template <typename Op> Tensor pairwise(Emitter &emit, const Tensor &a, const Tensor &b) {
  Operands operands = prepared(emit, a, b);
  Aligned aligned = align(emit, operands.a, operands.b);
  Value x = aligned.large.value, y = repeated(emit, aligned);
  if (operands.swapped)
    std::swap(x, y);
  return emit.like(aligned.large, emit.create<Op>(x.getType(), x, y));
}

} // namespace

Tensor scaled(Emitter &emit, const Tensor &x, double factor) {
  Tensor here = emit.inMemory(x);
  return emit.like(here, emit.scale(here.value, factor));
}

Tensor addTensors(Emitter &emit, const Tensor &a, const Tensor &b) {
  Operands operands = prepared(emit, a, b);
  Aligned aligned = align(emit, operands.a, operands.b);
  if (isTrailing(aligned))
    return addTrailing(emit, aligned);
  Value x = aligned.large.value, y = repeated(emit, aligned);
  if (operands.swapped)
    std::swap(x, y);
  return emit.like(aligned.large, emit.create<AddOp>(x.getType(), x, y));
}

Tensor multiply(Emitter &emit, const Tensor &a, const Tensor &b) {
  return pairwise<MulOp>(emit, a, b);
}

static bool fits(const Tensor &a, const Tensor &b) {
  return broadcastShape(a.shape(), b.shape()).has_value();
}

/// The other operand: a tensor, or null and a number.
static const Tensor *other(Call &call, double &number) {
  number = call.number("other", 0);
  return call.optional("other");
}

static std::vector<Tensor> add(Call &call, double sign) {
  const Tensor &a = call.tensor("self");
  double number, alpha = sign * call.number("alpha", 1);
  const Tensor *b = other(call, number);
  if (!b) {
    if (number == 0)
      return {a};
    return call.refuse("adding a number needs constants, which the dialect does not have");
  }
  if (!fits(a, *b))
    return call.refuse("its shapes do not fit");
  if (alpha == -1 && a.shape() == b->shape())
    return {pairwise<SubOp>(call.emit, a, *b)};
  return {addTensors(call.emit, a, alpha == 1 ? *b : scaled(call.emit, *b, alpha))};
}

static std::vector<Tensor> mul(Call &call) {
  double number;
  const Tensor *b = other(call, number);
  if (!b)
    return {scaled(call.emit, call.tensor("self"), number)};
  if (!fits(call.tensor("self"), *b))
    return call.refuse("its shapes do not fit");
  return {multiply(call.emit, call.tensor("self"), *b)};
}

static std::vector<Tensor> div(Call &call) {
  double number;
  const Tensor *b = other(call, number);
  if (call.has("rounding_mode"))
    return call.refuse("it rounds");
  if (!b)
    return number == 0 ? call.refuse("it divides by 0")
                       : std::vector{scaled(call.emit, call.tensor("self"), 1 / number)};
  if (!fits(call.tensor("self"), *b))
    return call.refuse("its shapes do not fit");
  return {pairwise<DivOp>(call.emit, call.tensor("self"), *b)};
}

void addElementwise(ConverterTable &table) {
  table["aten.add.Tensor"] = table["aten.add.Scalar"] = [](Call &call) { return add(call, 1); };
  table["aten.sub.Tensor"] = table["aten.sub.Scalar"] = [](Call &call) { return add(call, -1); };
  table["aten.mul.Tensor"] = table["aten.mul.Scalar"] = mul;
  table["aten.div.Tensor"] = table["aten.div.Scalar"] = table["aten.div.Tensor_mode"] = div;
}

} // namespace gc::importer
