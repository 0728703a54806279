// Arithmetic with PyTorch's broadcasting, on tensors that may lie differently.
#include "tools/gc-import/Converters.h"
#include <cmath>

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

template <typename Op, typename... Leading>
Tensor pairwise(Emitter &emit, const Tensor &a, const Tensor &b, Leading... leading) {
  Operands operands = prepared(emit, a, b);
  Aligned aligned = align(emit, operands.a, operands.b);
  Value x = aligned.large.value, y = repeated(emit, aligned);
  if (operands.swapped)
    std::swap(x, y);
  return emit.like(aligned.large, emit.create<Op>(x.getType(), leading..., x, y));
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

Tensor selected(Emitter &emit, const Tensor &mask, const Tensor &a, const Tensor &b,
                const Shape &shape) {
  auto whole = [&](const Tensor &x) { return emit.expanded(ofRank(emit, x, shape.size()), shape); };
  Tensor lead = emit.inMemory(whole(a.value || !b.value ? a : b));
  auto as = [&](const Tensor &x) { return align(emit, lead, whole(x)); };
  // Each step may refine the layout; the last one has all of it.
  for (const Tensor *each : {&mask, &a, &b})
    lead = as(*each).large;
  Aligned m = as(mask), x = as(a), y = as(b);
  Value left = repeated(emit, x), right = repeated(emit, y), which = repeated(emit, m);
  return emit.like(lead, emit.create<SelectOp>(left.getType(), which, left, right));
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
    Tensor here = call.emit.inMemory(a);
    return {call.emit.like(here, call.emit.create<AddScalarOp>(here.value.getType(), here.value,
                                                               call.emit.f32(alpha * number)))};
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

/// number - alpha x
static std::vector<Tensor> subtractFrom(Call &call) {
  Emitter &emit = call.emit;
  double number;
  const Tensor *b = other(call, number);
  Tensor minus = scaled(emit, call.tensor("self"), -call.number("alpha", 1));
  if (b)
    return {addTensors(emit, minus, *b)};
  return {emit.like(
      minus, emit.create<AddScalarOp>(minus.value.getType(), minus.value, emit.f32(number)))};
}

/// 1 where both compare so, else 0; a number is compared with as it is added.
template <Predicate predicate> static std::vector<Tensor> compare(Call &call) {
  Emitter &emit = call.emit;
  double number;
  const Tensor *b = other(call, number);
  const Tensor &a = call.tensor("self");
  if (!isFloat(a.dtype) || (b && !isFloat(b->dtype)))
    return call.refuse("it compares whole numbers that are computed");
  Tensor right = b ? *b : emit.filledWith(Shape(a.rank(), 1), number);
  if (!fits(a, right))
    return call.refuse("its shapes do not fit");
  return {pairwise<CompareOp>(emit, a, right, predicate)};
}

/// The larger or smaller one of two.
template <Predicate predicate> static std::vector<Tensor> choose(Call &call) {
  Emitter &emit = call.emit;
  const Tensor &a = call.tensor("self"), &b = call.tensor("other");
  if (!fits(a, b))
    return call.refuse("its shapes do not fit");
  Shape shape = *broadcastShape(a.shape(), b.shape());
  Tensor x = emit.inMemory(emit.expanded(ofRank(emit, a, shape.size()), shape));
  Aligned both = align(emit, x, emit.expanded(ofRank(emit, b, shape.size()), shape));
  Value left = both.large.value, right = repeated(emit, both);
  Value mask = emit.create<CompareOp>(left.getType(), predicate, left, right);
  return {emit.like(both.large, emit.create<SelectOp>(left.getType(), mask, left, right))};
}

static std::vector<Tensor> where(Call &call) {
  const TensorMeta *output = call.output();
  const Tensor *mask = call.optional("condition");
  if (!output || !mask)
    return call.refuse("it has no condition");
  auto side = [&](const char *argument) {
    const Tensor *found = call.optional(argument);
    return found ? *found : call.emit.filledWith({}, call.number(argument, 0));
  };
  Tensor a = side("self"), b = side("other");
  for (const Tensor *each :
       {mask, static_cast<const Tensor *>(&a), static_cast<const Tensor *>(&b)})
    if (broadcastShape(each->shape(), output->sizes) != output->sizes)
      return call.refuse("its shapes do not fit");
  for (const Tensor &each : {a, b})
    if (each.constant &&
        llvm::any_of(each.constant->values, [](double v) { return !std::isfinite(v); }))
      return call.refuse("it takes infinite numbers where the mask says so: use masked_fill");
  return {selected(call.emit, *mask, a, b, output->sizes)};
}

static std::vector<Tensor> maskedFill(Call &call) {
  Emitter &emit = call.emit;
  const Tensor &x = call.tensor("self"), &mask = call.tensor("mask");
  double value = call.number("value", 0);
  if (const Tensor *given = call.optional("value")) {
    if (!given->constant || given->constant->values.size() != 1)
      return call.refuse("its value is computed");
    value = given->constant->values[0];
  }
  if (std::isnan(value) || broadcastShape(x.shape(), mask.shape()) != x.shape())
    return call.refuse("its value is no number, or its shapes do not fit");
  Aligned both = align(emit, emit.inMemory(x), ofRank(emit, mask, x.rank()));
  Value where = repeated(emit, both);
  return {emit.like(both.large, emit.create<MaskedFillOp>(both.large.value.getType(),
                                                          both.large.value, where, emit.f32(value),
                                                          emit.attributes().getBoolAttr(false)))};
}

void addElementwise(ConverterTable &table) {
  table["aten.add.Tensor"] = table["aten.add.Scalar"] = [](Call &call) { return add(call, 1); };
  table["aten.sub.Tensor"] = table["aten.sub.Scalar"] = [](Call &call) { return add(call, -1); };
  table["aten.rsub.Scalar"] = table["aten.rsub.Tensor"] = subtractFrom;
  table["aten.lt.Tensor"] = table["aten.lt.Scalar"] = compare<Predicate::Less>;
  table["aten.le.Tensor"] = table["aten.le.Scalar"] = compare<Predicate::LessOrEqual>;
  table["aten.gt.Tensor"] = table["aten.gt.Scalar"] = compare<Predicate::Greater>;
  table["aten.ge.Tensor"] = table["aten.ge.Scalar"] = compare<Predicate::GreaterOrEqual>;
  table["aten.eq.Tensor"] = table["aten.eq.Scalar"] = compare<Predicate::Equal>;
  table["aten.ne.Tensor"] = table["aten.ne.Scalar"] = compare<Predicate::NotEqual>;
  table["aten.maximum.default"] = choose<Predicate::GreaterOrEqual>;
  table["aten.minimum.default"] = choose<Predicate::LessOrEqual>;
  table["aten.where.self"] = table["aten.where.ScalarSelf"] = where;
  table["aten.where.ScalarOther"] = table["aten.where.Scalar"] = where;
  table["aten.masked_fill.Scalar"] = table["aten.masked_fill.Tensor"] = maskedFill;
  table["aten.mul.Tensor"] = table["aten.mul.Scalar"] = mul;
  table["aten.div.Tensor"] = table["aten.div.Scalar"] = table["aten.div.Tensor_mode"] = div;
}

} // namespace gc::importer
