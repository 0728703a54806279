//===- ExpandMath.cpp - Math functions as arithmetic ----------------------===//
//
//   %y = math.exp %x : f32
// becomes
//   %t = math.fma %x, log2(e), 1.5·2^23     // the nearest integer n, in the low bits
//   …                                       // a polynomial in r = x − n·ln 2, scaled by 2^n
//
// The polynomials are Chebyshev interpolants computed for these intervals with 40 digits. "Largest
// error" is against the function in double precision, over all tested inputs, in units in the last
// place of the result.
//
//===----------------------------------------------------------------------===//
#include "compiler/lowering/ExpandMath.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/TypeSwitch.h"
#include <limits>

using namespace mlir;

namespace gc::codegen {
namespace {

constexpr double log2OfE = 1.4426950408889634;
// ln 2 in two parts: n·ln2High is exact for |n| < 2^9, with or without a fused multiply-add.
constexpr double ln2High = 0.693145751953125;
constexpr double ln2Low = 1.428606820309417e-06;
// Adding 1.5·2^23 rounds to the nearest integer and leaves it in the low bits of the sum. Unlike a
// conversion to an integer this is defined for NaN as well.
constexpr double roundingMagic = 12582912.0;
constexpr int32_t roundingMagicBits = 0x4b400000;

/// Builds arithmetic on values of one type: f32 or a vector of it, and the i32 of that shape.
class Arithmetic {
public:
  Arithmetic(OpBuilder &builder, Location location, Type type)
      : builder(builder), location(location), type(type),
        integers(withElement(builder.getI32Type())) {}

  Value constant(double value) { return splat(type, builder.getF32FloatAttr(float(value))); }
  Value integer(int32_t value) { return splat(integers, builder.getI32IntegerAttr(value)); }
  Value add(Value a, Value b) { return make<arith::AddFOp>(a, b); }
  Value sub(Value a, Value b) { return make<arith::SubFOp>(a, b); }
  Value mul(Value a, Value b) { return make<arith::MulFOp>(a, b); }
  Value div(Value a, Value b) { return make<arith::DivFOp>(a, b); }
  Value fma(Value a, Value b, Value c) { return make<math::FmaOp>(a, b, c); }
  Value addI(Value a, Value b) { return make<arith::AddIOp>(a, b); }
  Value subI(Value a, Value b) { return make<arith::SubIOp>(a, b); }
  Value shiftLeft(Value a, int32_t bits) { return make<arith::ShLIOp>(a, integer(bits)); }
  Value shiftRight(Value a, int32_t bits) { return make<arith::ShRSIOp>(a, integer(bits)); }
  Value abs(Value a) { return make<math::AbsFOp>(a); }
  Value copySign(Value a, Value sign) { return make<math::CopySignOp>(a, sign); }
  Value toBits(Value a) { return arith::BitcastOp::create(builder, location, integers, a); }
  Value fromBits(Value a) { return arith::BitcastOp::create(builder, location, type, a); }
  Value toFloat(Value a) { return arith::SIToFPOp::create(builder, location, type, a); }
  Value compare(arith::CmpFPredicate predicate, Value a, Value b) {
    return make<arith::CmpFOp>(predicate, a, b);
  }
  Value select(Value condition, Value a, Value b) { return make<arith::SelectOp>(condition, a, b); }
  /// NaN stays NaN: it compares false.
  Value atMost(Value a, double bound) {
    Value limit = constant(bound);
    return select(compare(arith::CmpFPredicate::OGT, a, limit), limit, a);
  }
  Value atLeast(Value a, double bound) {
    Value limit = constant(bound);
    return select(compare(arith::CmpFPredicate::OLT, a, limit), limit, a);
  }
  /// c0 + c1·x + c2·x² + …
  Value polynomial(Value x, ArrayRef<double> coefficients) {
    Value sum = constant(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back()))
      sum = fma(sum, x, constant(coefficient));
    return sum;
  }
  /// 2^n for integers −126 ≤ n ≤ 127.
  Value powerOfTwo(Value n) { return fromBits(shiftLeft(addI(n, integer(127)), 23)); }

private:
  Type withElement(Type element) {
    if (auto vector = dyn_cast<VectorType>(type))
      return vector.clone(element);
    return element;
  }
  Value splat(Type of, TypedAttr value) {
    if (auto vector = dyn_cast<VectorType>(of))
      value = DenseElementsAttr::get(vector, Attribute(value));
    return arith::ConstantOp::create(builder, location, value);
  }
  template <typename Op, typename... Operands> Value make(Operands... operands) {
    return Op::create(builder, location, operands...);
  }

  OpBuilder &builder;
  Location location;
  Type type, integers;
};

struct Reduced {
  Value n; // integer
  Value r; // x − n·ln 2
};

Reduced reduceByLn2(Arithmetic &a, Value x) {
  Value shifted = a.fma(x, a.constant(log2OfE), a.constant(roundingMagic));
  Value n = a.sub(shifted, a.constant(roundingMagic));
  Value r = a.fma(n, a.constant(-ln2High), x);
  r = a.fma(n, a.constant(-ln2Low), r);
  return {a.subI(a.toBits(shifted), a.integer(roundingMagicBits)), r};
}

/// e^r − 1 for |r| ≤ ln(2)/2: r + r²·p(r).
Value expm1Reduced(Arithmetic &a, Value r) {
  Value p =
      a.polynomial(r, {0.5, 0.166665769897, 0.0416665546172, 0.00836317905272, 0.00139261835877});
  return a.fma(a.mul(r, r), p, r);
}

/// Largest error 1.1 ulp (subnormal results included).
Value expandExp(Arithmetic &a, Value x) {
  // Beyond these the result is 0 or infinite; within, n fits the two factors below.
  Value clamped = a.atLeast(a.atMost(x, 89.0), -104.0);
  auto [n, r] = reduceByLn2(a, clamped);
  Value mantissa = a.add(expm1Reduced(a, r), a.constant(1.0));
  // 2^n in two factors, as n runs from −150 to 128.
  Value half = a.shiftRight(n, 1);
  Value scaled = a.mul(mantissa, a.powerOfTwo(half));
  return a.mul(scaled, a.powerOfTwo(a.subI(n, half)));
}

/// Largest error 2 ulp.
Value expandExpm1(Arithmetic &a, Value x) {
  Value clamped = a.atLeast(a.atMost(x, 89.0), -25.0);
  auto [n, r] = reduceByLn2(a, clamped);
  // Half of the result, as 2^n itself may overflow: 2^(n−1)·(e^r − 1) + (2^(n−1) − 1/2).
  Value scale = a.powerOfTwo(a.subI(n, a.integer(1)));
  Value half = a.fma(scale, expm1Reduced(a, r), a.sub(scale, a.constant(0.5)));
  return a.add(half, half);
}

/// Largest error 1 ulp. log x = k·ln 2 + log(1 + f), 1 + f in [√½, √2);
/// log(1 + f) = f − f²/2 + s·(f²/2 + z·p(z)) with s = f/(2 + f), z = s².
Value expandLog(Arithmetic &a, Value x) {
  Value zero = a.constant(0.0);
  Value subnormal =
      a.compare(arith::CmpFPredicate::OLT, x, a.constant(std::numeric_limits<float>::min()));
  Value normal = a.select(subnormal, a.mul(x, a.constant(8388608.0)), x);
  Value bits = a.toBits(normal);
  Value exponent = a.shiftRight(a.subI(bits, a.integer(0x3f3504f3)), 23);
  Value f = a.sub(a.fromBits(a.subI(bits, a.shiftLeft(exponent, 23))), a.constant(1.0));
  Value k = a.sub(a.toFloat(exponent), a.select(subnormal, a.constant(23.0), zero));
  Value s = a.div(f, a.add(f, a.constant(2.0)));
  Value z = a.mul(s, s);
  Value tail =
      a.mul(z, a.polynomial(z, {0.66666666554, 0.400001222118, 0.285507786332, 0.233316144718}));
  Value halfSquare = a.mul(a.mul(f, f), a.constant(0.5));
  Value low = a.fma(s, a.add(halfSquare, tail), a.mul(k, a.constant(ln2Low)));
  Value result = a.fma(k, a.constant(ln2High), a.sub(f, a.sub(halfSquare, low)));
  double infinity = std::numeric_limits<double>::infinity();
  result = a.select(a.compare(arith::CmpFPredicate::ULT, x, a.constant(infinity)), result, x);
  result = a.select(a.compare(arith::CmpFPredicate::OLT, x, zero),
                    a.constant(std::numeric_limits<double>::quiet_NaN()), result);
  result = a.select(a.compare(arith::CmpFPredicate::OEQ, x, zero), a.constant(-infinity), result);
  return a.select(a.compare(arith::CmpFPredicate::UNO, x, x), x, result);
}

/// Largest error 3.5 ulp, 1.8e-7 absolute. erf x = x·p(x²) up to 3.92, where it rounds to 1; the
/// variable is moved to [−1, 1] so that the coefficients do not cancel.
Value expandErf(Arithmetic &a, Value x) {
  Value clamped = a.atLeast(a.atMost(x, 3.92), -3.92);
  Value u = a.fma(a.mul(clamped, clamped), a.constant(0.1301541030406952), a.constant(-1.0));
  Value p = a.polynomial(u, {0.36073681712150574, -0.18010859191417694, 0.1340847909450531,
                             -0.10918053984642029, 0.09059291332960129, -0.0740041509270668,
                             0.05842158943414688, -0.04351752623915672, 0.029621368274092674,
                             -0.01978485845029354, 0.01432561594992876, -0.007950687780976295,
                             0.001833373331464827, -0.0011922027915716171, 0.0021241232752799988,
                             -0.0009000014397315681});
  return a.mul(clamped, p);
}

/// Largest error 2 ulp. A polynomial below 0.625, else 1 − 2/(e^2|x| + 1).
Value expandTanh(Arithmetic &a, Value x) {
  Value magnitude = a.atMost(a.abs(x), 10.0);
  Value z = a.mul(magnitude, magnitude);
  Value p = a.polynomial(z, {-0.333333283662796, 0.1333276927471161, -0.05385090783238411,
                             0.020997179672122, -0.006096714176237583});
  Value near = a.fma(a.mul(p, z), magnitude, magnitude);
  Value power = expandExp(a, a.add(magnitude, magnitude));
  Value far = a.sub(a.constant(1.0), a.div(a.constant(2.0), a.add(power, a.constant(1.0))));
  Value isNear = a.compare(arith::CmpFPredicate::OLT, magnitude, a.constant(0.625));
  return a.copySign(a.select(isNear, near, far), x);
}

/// Correctly rounded square root and division.
Value expandRsqrt(Arithmetic &a, OpBuilder &builder, math::RsqrtOp op) {
  Value root = math::SqrtOp::create(builder, op.getLoc(), op.getOperand());
  return a.div(a.constant(1.0), root);
}

Type withElement(Type type, Type element) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? Type(vector.clone(element)) : element;
}

bool isBf16(Value value) { return getElementTypeOrSelf(value.getType()).isBF16(); }

/// bf16 is the upper half of an f32.
void expandWidening(arith::ExtFOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Arithmetic a(builder, loc, op.getType());
  Type halves = withElement(op.getType(), builder.getI16Type());
  Value bits = arith::BitcastOp::create(builder, loc, halves, op.getIn());
  Value upper =
      arith::ExtUIOp::create(builder, loc, withElement(op.getType(), builder.getI32Type()), bits);
  op.replaceAllUsesWith(a.fromBits(a.shiftLeft(upper, 16)));
  op.erase();
}

/// To the nearest, of two the even one: a carry into the exponent is right. Not the instruction
/// that some CPUs have: it takes numbers below 2^-126 for 0, and bits must not depend on the CPU.
void expandNarrowing(arith::TruncFOp op) {
  OpBuilder builder(op);
  Location loc = op.getLoc();
  Value x = op.getIn();
  Arithmetic a(builder, loc, x.getType());
  Value bits = a.toBits(x);
  auto upperHalf = [&](Value of) -> Value {
    return arith::ShRUIOp::create(builder, loc, of, a.integer(16));
  };
  Value isOdd = arith::AndIOp::create(builder, loc, upperHalf(bits), a.integer(1));
  Value rounded = upperHalf(a.addI(a.addI(bits, a.integer(0x7fff)), isOdd));
  Value quiet = arith::OrIOp::create(builder, loc, upperHalf(bits), a.integer(0x40));
  Value isNaN = a.compare(arith::CmpFPredicate::UNO, x, x);
  Type halves = withElement(x.getType(), builder.getI16Type());
  Value half = arith::TruncIOp::create(builder, loc, halves, a.select(isNaN, quiet, rounded));
  op.replaceAllUsesWith(arith::BitcastOp::create(builder, loc, op.getType(), half).getResult());
  op.erase();
}

class ExpandMathPass : public PassWrapper<ExpandMathPass, OperationPass<>> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExpandMathPass)
  explicit ExpandMathPass(bool useFMA) : useFMA(useFMA) {}
  StringRef getName() const override { return "ExpandMathPass"; }
  void getDependentDialects(DialectRegistry &registry) const override {
    registry.insert<arith::ArithDialect, math::MathDialect>();
  }

  void runOnOperation() override {
    SmallVector<Operation *> functions;
    getOperation()->walk([&](Operation *op) {
      if (isa_and_present<math::MathDialect>(op->getDialect()))
        functions.push_back(op);
    });
    for (Operation *op : functions)
      if (failed(expand(op)))
        return signalPassFailure();
    getOperation()->walk([](Operation *op) {
      if (auto widening = dyn_cast<arith::ExtFOp>(op); widening && isBf16(widening.getIn()))
        expandWidening(widening);
      else if (auto narrowing = dyn_cast<arith::TruncFOp>(op); narrowing && isBf16(narrowing))
        expandNarrowing(narrowing);
    });
    if (!useFMA)
      getOperation()->walk([](math::FmaOp op) {
        OpBuilder builder(op);
        Value product = arith::MulFOp::create(builder, op.getLoc(), op.getA(), op.getB());
        op.replaceAllUsesWith(
            arith::AddFOp::create(builder, op.getLoc(), product, op.getC()).getResult());
        op.erase();
      });
  }

private:
  LogicalResult expand(Operation *op) {
    // These are instructions on every CPU and GPU that we compile for.
    if (isa<math::FmaOp, math::SqrtOp, math::AbsFOp, math::CopySignOp, math::FloorOp, math::CeilOp,
            math::RoundEvenOp, math::TruncOp, math::AbsIOp, math::IsNaNOp, math::IsInfOp,
            math::IsFiniteOp>(op))
      return success();
    Type type = op->getResult(0).getType();
    if (!getElementTypeOrSelf(type).isF32())
      return op->emitError("has no expansion for elements of type ")
             << getElementTypeOrSelf(type) << "; compute it in f32";
    OpBuilder builder(op);
    Arithmetic a(builder, op->getLoc(), type);
    Value x = op->getOperand(0);
    Value result =
        llvm::TypeSwitch<Operation *, Value>(op)
            .Case<math::ExpOp>([&](auto) { return expandExp(a, x); })
            .Case<math::ExpM1Op>([&](auto) { return expandExpm1(a, x); })
            .Case<math::LogOp>([&](auto) { return expandLog(a, x); })
            .Case<math::ErfOp>([&](auto) { return expandErf(a, x); })
            .Case<math::TanhOp>([&](auto) { return expandTanh(a, x); })
            .Case<math::RsqrtOp>([&](auto rsqrt) { return expandRsqrt(a, builder, rsqrt); })
            .Default([](auto) { return Value(); });
    if (!result)
      return op->emitError("has no expansion; add one to ExpandMath.cpp");
    op->getResult(0).replaceAllUsesWith(result);
    op->erase();
    return success();
  }

  bool useFMA;
};

} // namespace

std::unique_ptr<Pass> createExpandMathPass(bool useFMA) {
  return std::make_unique<ExpandMathPass>(useFMA);
}

} // namespace gc::codegen
