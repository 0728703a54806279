//===- KernelBuilder.cpp - Writing kernels as loops and formulas ----------===//
#include "compiler/language/KernelBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/TypeUtilities.h"
#include <limits>

using namespace mlir;

namespace gc::kernels {

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

namespace {

bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value.getType())); }

template <typename FloatOp, typename IntegerOp> Expr binary(Expr a, Expr b) {
  KernelBuilder &k = a.builder();
  if (isFloat(a))
    return k.wrap(FloatOp::create(k.builder, k.location, Value(a), Value(b)));
  return k.wrap(k.builder.createOrFold<IntegerOp>(k.location, Value(a), Value(b)));
}
template <typename IntegerOp> Expr integerBinary(Expr a, Expr b) {
  KernelBuilder &k = a.builder();
  return k.wrap(k.builder.createOrFold<IntegerOp>(k.location, Value(a), Value(b)));
}

SmallVector<Value> values(ArrayRef<Expr> expressions) {
  return SmallVector<Value>(expressions.begin(), expressions.end());
}

} // namespace

Expr Expr::operator+(Expr other) const {
  return binary<arith::AddFOp, arith::AddIOp>(*this, other);
}
Expr Expr::operator-(Expr other) const {
  return binary<arith::SubFOp, arith::SubIOp>(*this, other);
}
Expr Expr::operator*(Expr other) const {
  return binary<arith::MulFOp, arith::MulIOp>(*this, other);
}
Expr Expr::operator/(Expr other) const {
  return binary<arith::DivFOp, arith::DivUIOp>(*this, other);
}
Expr Expr::operator%(Expr other) const { return integerBinary<arith::RemUIOp>(*this, other); }
Expr Expr::operator&(Expr other) const { return integerBinary<arith::AndIOp>(*this, other); }
Expr Expr::operator|(Expr other) const { return integerBinary<arith::OrIOp>(*this, other); }
Expr Expr::operator^(Expr other) const { return integerBinary<arith::XOrIOp>(*this, other); }
Expr Expr::operator>>(int64_t bits) const {
  return integerBinary<arith::ShRUIOp>(*this, like(bits));
}

Expr Expr::compare(arith::CmpIPredicate integers, arith::CmpFPredicate floats, Expr other) const {
  KernelBuilder &k = *kernel;
  if (isFloat(value))
    return k.wrap(arith::CmpFOp::create(k.builder, k.location, floats, value, other.value));
  return k.wrap(k.builder.createOrFold<arith::CmpIOp>(k.location, integers, value, other.value));
}
Expr Expr::operator<(Expr other) const {
  return compare(arith::CmpIPredicate::slt, arith::CmpFPredicate::OLT, other);
}
Expr Expr::operator>(Expr other) const {
  return compare(arith::CmpIPredicate::sgt, arith::CmpFPredicate::OGT, other);
}
Expr Expr::operator<=(Expr other) const {
  return compare(arith::CmpIPredicate::sle, arith::CmpFPredicate::OLE, other);
}
Expr Expr::operator>=(Expr other) const {
  return compare(arith::CmpIPredicate::sge, arith::CmpFPredicate::OGE, other);
}
Expr Expr::operator==(Expr other) const {
  return compare(arith::CmpIPredicate::eq, arith::CmpFPredicate::OEQ, other);
}

//===----------------------------------------------------------------------===//
// Constants, control, memory
//===----------------------------------------------------------------------===//

static Expr constantOf(KernelBuilder &k, Type type, TypedAttr element) {
  if (auto vector = dyn_cast<VectorType>(type))
    element = DenseElementsAttr::get(vector, Attribute(element));
  return k.wrap(arith::ConstantOp::create(k.builder, k.location, element));
}
Expr KernelBuilder::wholeNumber(Type type, int64_t value) {
  Type element = getElementTypeOrSelf(type);
  if (isa<FloatType>(element))
    return fraction(type, double(value));
  return constantOf(*this, type, builder.getIntegerAttr(element, value));
}
Expr KernelBuilder::fraction(Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  // Converting would cut a fraction to a whole number, and a division by it would be a different
  // one.
  if (!isa<FloatType>(element))
    llvm::report_fatal_error("a fraction meets an integer in a kernel's formula");
  return constantOf(*this, type, builder.getFloatAttr(element, value));
}
Expr KernelBuilder::index(int64_t value) {
  return wrap(arith::ConstantIndexOp::create(builder, location, value));
}
Expr KernelBuilder::f32(double value) { return constant(accumulatorType(), float(value)); }
Expr KernelBuilder::f64(double value) { return constant(builder.getF64Type(), value); }
Expr KernelBuilder::i32(int64_t value) {
  return wrap(arith::ConstantIntOp::create(builder, location, value, 32));
}
Expr KernelBuilder::i64(int64_t value) {
  return wrap(arith::ConstantIntOp::create(builder, location, value, 64));
}

void KernelBuilder::loop(Expr begin, Expr end, int64_t step, function_ref<void(Expr)> body) {
  auto op = scf::ForOp::create(builder, location, begin, end, index(step));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(op.getBody());
  body(wrap(op.getInductionVar()));
}

SmallVector<Expr> KernelBuilder::loop(Expr begin, Expr end, int64_t step, ArrayRef<Expr> initial,
                                      function_ref<SmallVector<Expr>(Expr, ArrayRef<Expr>)> body) {
  auto op = scf::ForOp::create(builder, location, begin, end, index(step), values(initial));
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(op.getBody());
    SmallVector<Expr> carried;
    for (Value argument : op.getRegionIterArgs())
      carried.push_back(wrap(argument));
    SmallVector<Expr> next = body(wrap(op.getInductionVar()), carried);
    if (!initial.empty()) // otherwise MLIR has added the terminator already
      scf::YieldOp::create(builder, location, values(next));
  }
  SmallVector<Expr> results;
  for (Value result : op.getResults())
    results.push_back(wrap(result));
  return results;
}

SmallVector<Expr> KernelBuilder::loopWhile(ArrayRef<Expr> initial,
                                           function_ref<Expr(ArrayRef<Expr>)> condition,
                                           function_ref<SmallVector<Expr>(ArrayRef<Expr>)> body) {
  SmallVector<Value> start = values(initial);
  auto wrapAll = [&](ValueRange range) {
    SmallVector<Expr> wrapped;
    for (Value value : range)
      wrapped.push_back(wrap(value));
    return wrapped;
  };
  // The callbacks insert through `builder`, wherever MLIR's own builder stands.
  auto op = scf::WhileOp::create(
      builder, location, TypeRange(ValueRange(start)), start,
      [&](OpBuilder &inner, Location, ValueRange carried) {
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointToEnd(inner.getInsertionBlock());
        Expr goesOn = condition(wrapAll(carried));
        scf::ConditionOp::create(builder, location, goesOn, carried);
      },
      [&](OpBuilder &inner, Location, ValueRange carried) {
        OpBuilder::InsertionGuard guard(builder);
        builder.setInsertionPointToEnd(inner.getInsertionBlock());
        scf::YieldOp::create(builder, location, values(body(wrapAll(carried))));
      });
  return wrapAll(op.getResults());
}

void KernelBuilder::when(Expr condition, function_ref<void()> then,
                         function_ref<void()> otherwise) {
  auto op = scf::IfOp::create(builder, location, condition, bool(otherwise));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(op.thenBlock());
  then();
  if (otherwise) {
    builder.setInsertionPointToStart(op.elseBlock());
    otherwise();
  }
}

Expr KernelBuilder::load(Value memref, ArrayRef<Expr> indices) {
  return asComputed(wrap(memref::LoadOp::create(builder, location, memref, values(indices))));
}
void KernelBuilder::store(Expr value, Value memref, ArrayRef<Expr> indices) {
  memref::StoreOp::create(builder, location, asStored(value, memref), memref, values(indices));
}
Value KernelBuilder::stackArray(ArrayRef<int64_t> shape, Type element) {
  return memref::AllocaOp::create(builder, location, MemRefType::get(shape, element), ValueRange(),
                                  builder.getI64IntegerAttr(64));
}

static Type withElement(Type type, Type element) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? VectorType::get(vector.getShape(), element) : element;
}
static Type elementOf(Value memref) { return cast<MemRefType>(memref.getType()).getElementType(); }

Expr KernelBuilder::asComputed(Expr element) {
  Type type = withElement(element.type(), computeType(getElementTypeOrSelf(element.type())));
  if (type == element.type())
    return element;
  return wrap(arith::ExtFOp::create(builder, location, type, Value(element)));
}
bool KernelBuilder::holdsComputed(Value memref) {
  return computeType(elementOf(memref)) == elementOf(memref);
}
Expr KernelBuilder::asStored(Expr value, Value memref) {
  Type type = withElement(value.type(), elementOf(memref));
  if (type == value.type())
    return value;
  // What was loaded or rounded to this type needs no rounding again.
  if (auto widened = Value(value).getDefiningOp<arith::ExtFOp>())
    if (widened.getIn().getType() == type)
      return wrap(widened.getIn());
  return wrap(arith::TruncFOp::create(builder, location, type, Value(value)));
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

Expr KernelBuilder::select(Expr condition, Expr a, Expr b) {
  return wrap(arith::SelectOp::create(builder, location, condition, a, b));
}
Expr KernelBuilder::minimum(Expr a, Expr b) {
  return wrap(builder.createOrFold<arith::MinSIOp>(location, Value(a), Value(b)));
}
Expr KernelBuilder::maximum(Expr a, Expr b) {
  return wrap(builder.createOrFold<arith::MaxSIOp>(location, Value(a), Value(b)));
}
Expr KernelBuilder::larger(Expr a, Expr b) { return select((a > b) | isNaN(a), a, b); }
Expr KernelBuilder::exp(Expr x) { return wrap(math::ExpOp::create(builder, location, x)); }
Expr KernelBuilder::log(Expr x) { return wrap(math::LogOp::create(builder, location, x)); }
Expr KernelBuilder::sqrt(Expr x) { return wrap(math::SqrtOp::create(builder, location, x)); }
Expr KernelBuilder::isNaN(Expr x) {
  return wrap(arith::CmpFOp::create(builder, location, arith::CmpFPredicate::UNO, x, x));
}
Expr KernelBuilder::negate(Expr x) { return wrap(arith::NegFOp::create(builder, location, x)); }
Expr KernelBuilder::toFloat(Expr integer) {
  return wrap(arith::SIToFPOp::create(builder, location, accumulatorType(), integer));
}
Expr KernelBuilder::toDouble(Expr x) {
  return wrap(arith::ExtFOp::create(builder, location, builder.getF64Type(), Value(x)));
}
Expr KernelBuilder::wholeToDouble(Expr integer) {
  return wrap(arith::SIToFPOp::create(builder, location, builder.getF64Type(), Value(integer)));
}
Expr KernelBuilder::toSingle(Expr x) {
  return wrap(arith::TruncFOp::create(builder, location, accumulatorType(), Value(x)));
}
Expr KernelBuilder::toIndex(Expr integer) {
  return wrap(arith::IndexCastOp::create(builder, location, builder.getIndexType(), integer));
}
Expr KernelBuilder::fromIndex(Expr index, Type type) {
  return wrap(arith::IndexCastOp::create(builder, location, type, index));
}
Expr KernelBuilder::narrow(Expr integer, Type type) {
  return wrap(arith::TruncIOp::create(builder, location, type, Value(integer)));
}
Expr KernelBuilder::widen(Expr integer, Type type) {
  return wrap(arith::ExtUIOp::create(builder, location, type, Value(integer)));
}

//===----------------------------------------------------------------------===//
// Rows in vectors
//===----------------------------------------------------------------------===//

static VectorType rowVector(Type element) { return VectorType::get({lanes}, element); }

Expr KernelBuilder::splat(Expr scalar) {
  return wrap(vector::BroadcastOp::create(builder, location, rowVector(scalar.type()), scalar));
}

Expr KernelBuilder::numbers(const Columns &columns) {
  SmallVector<Attribute> offsets;
  for (int64_t i = 0; i < lanes; ++i)
    offsets.push_back(builder.getFloatAttr(accumulatorType(), double(i)));
  VectorType type = rowVector(accumulatorType());
  Value fromFirst =
      arith::ConstantOp::create(builder, location, DenseElementsAttr::get(type, offsets));
  return wrap(fromFirst) + splat(toFloat(fromIndex(columns.first, builder.getI32Type())));
}

Expr KernelBuilder::load(Value memref, ArrayRef<Expr> leading, const Columns &columns,
                         double missing) {
  SmallVector<Value> indices = values(leading);
  indices.push_back(columns.first);
  VectorType type = rowVector(elementOf(memref));
  if (!columns.mask)
    return asComputed(wrap(vector::LoadOp::create(builder, location, type, memref, indices)));
  return asComputed(wrap(vector::MaskedLoadOp::create(builder, location, type, memref, indices,
                                                      columns.mask, constant(type, missing))));
}

void KernelBuilder::store(Expr value, Value memref, ArrayRef<Expr> leading,
                          const Columns &columns) {
  SmallVector<Value> indices = values(leading);
  indices.push_back(columns.first);
  Expr stored = asStored(value, memref);
  if (columns.mask)
    vector::MaskedStoreOp::create(builder, location, memref, indices, columns.mask, stored);
  else
    vector::StoreOp::create(builder, location, stored, memref, indices);
}

Expr KernelBuilder::keep(Expr value, const Columns &columns, double missing) {
  if (!columns.mask)
    return value;
  return select(wrap(columns.mask), value, value.like(missing));
}

static Columns tailColumns(KernelBuilder &k, int64_t size) {
  int64_t count = size % lanes;
  auto type = VectorType::get({lanes}, k.builder.getI1Type());
  Value mask =
      vector::ConstantMaskOp::create(k.builder, k.location, type, ArrayRef<int64_t>{count});
  return {k.index(size - count), count, mask};
}

void KernelBuilder::forColumns(int64_t size, function_ref<void(const Columns &)> body) {
  int64_t whole = size / lanes * lanes;
  if (whole != 0)
    loop(index(0), index(whole), lanes, [&](Expr c) { body({c, lanes, {}}); });
  if (whole != size)
    body(tailColumns(*this, size));
}

SmallVector<Expr>
KernelBuilder::reduceColumns(int64_t size, unsigned results, bool isMaximum,
                             function_ref<SmallVector<Expr>(const Columns &)> body) {
  auto combine = [&](Expr a, Expr b) { return isMaximum ? larger(a, b) : a + b; };
  double neutral = isMaximum ? -std::numeric_limits<double>::infinity() : 0;
  // Several accumulators hide the latency of an addition.
  int64_t ways = size >= 16 * lanes ? 4 : size >= 4 * lanes ? 2 : 1;
  SmallVector<Expr> sums(results * ways, constant(rowVector(accumulatorType()), neutral));
  auto accumulate = [&](SmallVectorImpl<Expr> &into, int64_t way, const Columns &columns) {
    SmallVector<Expr> parts = body(columns);
    for (unsigned i = 0; i < results; ++i)
      into[way * results + i] = combine(keep(parts[i], columns, neutral), into[way * results + i]);
  };
  int64_t step = ways * lanes;
  int64_t whole = size / step * step;
  if (whole != 0)
    sums = loop(index(0), index(whole), step, sums, [&](Expr c, ArrayRef<Expr> carried) {
      SmallVector<Expr> next(carried);
      for (int64_t way = 0; way < ways; ++way)
        accumulate(next, way, {c + way * lanes, lanes, {}});
      return next;
    });
  int64_t way = 0;
  for (int64_t c = whole; c + lanes <= size; c += lanes)
    accumulate(sums, way++, {index(c), lanes, {}});
  if (size % lanes != 0)
    accumulate(sums, way, tailColumns(*this, size));
  SmallVector<Expr> folded;
  for (unsigned i = 0; i < results; ++i) {
    for (int64_t width = ways / 2; width > 0; width /= 2)
      for (int64_t a = 0; a < width; ++a)
        sums[a * results + i] = combine(sums[a * results + i], sums[(a + width) * results + i]);
    folded.push_back(foldLanes(sums[i], isMaximum));
  }
  return folded;
}

Expr KernelBuilder::sumColumns(int64_t size, function_ref<Expr(const Columns &)> body) {
  return reduceColumns(size, 1, false,
                       [&](const Columns &columns) { return SmallVector<Expr>{body(columns)}; })[0];
}

Expr KernelBuilder::maximumOfColumns(int64_t size, function_ref<Expr(const Columns &)> body) {
  return reduceColumns(size, 1, true,
                       [&](const Columns &columns) { return SmallVector<Expr>{body(columns)}; })[0];
}

Expr KernelBuilder::foldLanes(Expr vector, bool isMaximum) {
  for (int64_t width = lanes / 2; width > 0; width /= 2) {
    auto half = [&](int64_t offset) {
      return wrap(vector::ExtractStridedSliceOp::create(
          builder, location, Value(vector), ArrayRef<int64_t>{offset}, ArrayRef<int64_t>{width},
          ArrayRef<int64_t>{1}));
    };
    Expr low = half(0), high = half(width);
    vector = isMaximum ? larger(low, high) : low + high;
  }
  return wrap(vector::ExtractOp::create(builder, location, Value(vector), int64_t(0)));
}

} // namespace gc::kernels
