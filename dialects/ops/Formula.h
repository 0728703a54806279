//===- Formula.h - writing scalar formulas ----------------------*- C++ -*-===//
#ifndef GC_DIALECTS_OPS_FORMULA_H
#define GC_DIALECTS_OPS_FORMULA_H

#include "dialects/Gc.h"

namespace gc {

/// Writes formulas on values of type `type` with arith and math ops, without fast-math flags.
struct Formula {
  Formula(mlir::OpBuilder &builder, mlir::Location loc, mlir::Type type)
      : b(builder), loc(loc), type(type) {}

  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type type;
  mlir::Value constant(double value) const {
    return mlir::arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
  }
  mlir::Value add(mlir::Value x, mlir::Value y) const {
    return mlir::arith::AddFOp::create(b, loc, x, y);
  }
  mlir::Value sub(mlir::Value x, mlir::Value y) const {
    return mlir::arith::SubFOp::create(b, loc, x, y);
  }
  mlir::Value mul(mlir::Value x, mlir::Value y) const {
    return mlir::arith::MulFOp::create(b, loc, x, y);
  }
  mlir::Value sqrt(mlir::Value x) const { return mlir::math::SqrtOp::create(b, loc, x); }
  mlir::Value div(mlir::Value x, mlir::Value y) const {
    return mlir::arith::DivFOp::create(b, loc, x, y);
  }
  mlir::Value neg(mlir::Value x) const { return mlir::arith::NegFOp::create(b, loc, x); }
  mlir::Value exp(mlir::Value x) const { return mlir::math::ExpOp::create(b, loc, x); }
  mlir::Value erf(mlir::Value x) const { return mlir::math::ErfOp::create(b, loc, x); }
  mlir::Value log(mlir::Value x) const { return mlir::math::LogOp::create(b, loc, x); }
  mlir::Value tanh(mlir::Value x) const { return mlir::math::TanhOp::create(b, loc, x); }
  mlir::Value abs(mlir::Value x) const { return mlir::math::AbsFOp::create(b, loc, x); }
  mlir::Value compare(mlir::arith::CmpFPredicate predicate, mlir::Value x, mlir::Value y) const {
    return mlir::arith::CmpFOp::create(b, loc, predicate, x, y);
  }
  mlir::Value positive(mlir::Value x) const {
    return compare(mlir::arith::CmpFPredicate::OGT, x, constant(0));
  }
  mlir::Value select(mlir::Value c, mlir::Value x, mlir::Value y) const {
    return mlir::arith::SelectOp::create(b, loc, c, x, y);
  }
  /// x, but not less than low or more than high; a NaN stays one.
  mlir::Value atLeast(mlir::Value x, double low) const {
    mlir::Value bound = constant(low);
    return select(compare(mlir::arith::CmpFPredicate::OLT, x, bound), bound, x);
  }
  mlir::Value atMost(mlir::Value x, double high) const {
    mlir::Value bound = constant(high);
    return select(compare(mlir::arith::CmpFPredicate::OGT, x, bound), bound, x);
  }
  /// (1 + erf(x / sqrt 2)) / 2, the normal distribution's cumulative function.
  mlir::Value normalCdf(mlir::Value x) const {
    return mul(constant(0.5), add(constant(1), erf(mul(x, constant(0.70710678118654752)))));
  }
};

} // namespace gc

#endif
