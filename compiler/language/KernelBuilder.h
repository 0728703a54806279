//===- KernelBuilder.h - Writing kernels as loops and formulas ------------===//
//
// A thin layer over MLIR's builders, so that a kernel reads like its formula:
//   k.loop(zero, channels, [&](Expr c) { k.store(k.load(x, {r, c}) * scale, y, {r, c}); });
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_LANGUAGE_KERNELBUILDER_H
#define GC_COMPILER_LANGUAGE_KERNELBUILDER_H

#include "compiler/language/ElementTypes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include <type_traits>

namespace gc::kernels {

class KernelBuilder;

/// A number in a formula: 3 or 0.5. Only whole ones go with indices and integers.
template <typename T>
concept Number = std::is_arithmetic_v<T>;

/// A value being computed: an index, an integer, a float, or a vector of floats. Operators demand
/// equal types; a number on one side takes the type of the other.
class Expr {
public:
  Expr() = default;
  Expr(KernelBuilder &kernel, mlir::Value value) : kernel(&kernel), value(value) {}
  operator mlir::Value() const { return value; }
  mlir::Type type() const { return value.getType(); }

  Expr operator+(Expr other) const;
  Expr operator-(Expr other) const;
  Expr operator*(Expr other) const;
  Expr operator/(Expr other) const; // unsigned for integers and indices
  Expr operator%(Expr other) const; // unsigned
  Expr operator+(Number auto other) const { return *this + like(other); }
  Expr operator-(Number auto other) const { return *this - like(other); }
  Expr operator*(Number auto other) const { return *this * like(other); }
  Expr operator/(Number auto other) const { return *this / like(other); }
  Expr operator%(Number auto other) const { return *this % like(other); }
  Expr operator&(Expr other) const;
  Expr operator|(Expr other) const;
  Expr operator^(Expr other) const;
  Expr operator>>(int64_t bits) const; // unsigned

  Expr operator<(Expr other) const; // signed for integers; false for NaN
  Expr operator>(Expr other) const;
  Expr operator<=(Expr other) const;
  Expr operator>=(Expr other) const;
  Expr operator==(Expr other) const;
  Expr operator<(Number auto other) const { return *this < like(other); }
  Expr operator>=(Number auto other) const { return *this >= like(other); }
  Expr operator==(Number auto other) const { return *this == like(other); }

  /// A constant of this type.
  Expr like(Number auto constant) const;
  KernelBuilder &builder() const { return *kernel; }

private:
  Expr compare(mlir::arith::CmpIPredicate integers, mlir::arith::CmpFPredicate floats,
               Expr other) const;
  KernelBuilder *kernel = nullptr;
  mlir::Value value;
};

/// Lanes of the vectors in which rows are computed. Fixed, so that the order of additions, and with
/// it every bit, is the same on every CPU; LLVM splits them where registers are narrower.
constexpr int64_t lanes = 16;

/// Some columns of a row: `lanes` of them, or fewer at its end.
struct Columns {
  Expr first;       // index of the first
  int64_t count;    // how many
  mlir::Value mask; // null when all lanes are there
};

class KernelBuilder {
public:
  KernelBuilder(mlir::OpBuilder &builder, mlir::Location location)
      : builder(builder), location(location) {}

  // Constants.
  Expr index(int64_t value);
  Expr f32(double value); // of the accumulator's type
  Expr f64(double value);
  Expr i32(int64_t value);
  Expr i64(int64_t value);
  /// Of any type that an expression may have; fractions only of floats.
  template <Number T> Expr constant(mlir::Type type, T value) {
    if constexpr (std::is_floating_point_v<T>)
      return fraction(type, value);
    else
      return wholeNumber(type, value);
  }
  Expr wrap(mlir::Value value) { return Expr(*this, value); }

  // Control.
  void loop(Expr begin, Expr end, int64_t step, llvm::function_ref<void(Expr)> body);
  void loop(Expr begin, Expr end, llvm::function_ref<void(Expr)> body) {
    loop(begin, end, 1, body);
  }
  /// A loop that carries values; `body` gets them and returns the next ones.
  llvm::SmallVector<Expr>
  loop(Expr begin, Expr end, int64_t step, llvm::ArrayRef<Expr> initial,
       llvm::function_ref<llvm::SmallVector<Expr>(Expr, llvm::ArrayRef<Expr>)> body);
  /// A loop that goes on as long as `condition` of the carried values holds.
  llvm::SmallVector<Expr>
  loopWhile(llvm::ArrayRef<Expr> initial, llvm::function_ref<Expr(llvm::ArrayRef<Expr>)> condition,
            llvm::function_ref<llvm::SmallVector<Expr>(llvm::ArrayRef<Expr>)> body);
  void when(Expr condition, llvm::function_ref<void()> then,
            llvm::function_ref<void()> otherwise = nullptr);

  // Memory. What is loaded has the compute type of the buffer's elements; what is stored is rounded
  // to them.
  Expr load(mlir::Value memref, llvm::ArrayRef<Expr> indices);
  void store(Expr value, mlir::Value memref, llvm::ArrayRef<Expr> indices);
  /// A small array on the stack, of accumulators or of `element`. Call it outside of loops.
  mlir::Value stackArray(llvm::ArrayRef<int64_t> shape) {
    return stackArray(shape, accumulatorType());
  }
  mlir::Value stackArray(llvm::ArrayRef<int64_t> shape, mlir::Type element);
  /// A loaded element, or a vector of them, in its compute type.
  Expr asComputed(Expr element);
  /// Whether a buffer holds what is computed without rounding it.
  bool holdsComputed(mlir::Value memref);
  /// `value`, or a vector, as the buffer `memref` holds it.
  Expr asStored(Expr value, mlir::Value memref);
  mlir::Type accumulatorType() { return kernels::accumulatorType(builder.getContext()); }

  // Functions.
  Expr select(Expr condition, Expr a, Expr b);
  Expr minimum(Expr a, Expr b); // indices and integers, signed
  Expr maximum(Expr a, Expr b); // indices and integers, signed
  Expr larger(Expr a, Expr b);  // floats: NaN wins
  Expr exp(Expr x);
  Expr log(Expr x);
  Expr sqrt(Expr x);
  Expr isNaN(Expr x);
  Expr negate(Expr x);
  Expr toFloat(Expr integer);       // to the accumulator's type, signed
  Expr toDouble(Expr x);            // from the accumulator's type
  Expr wholeToDouble(Expr integer); // signed
  Expr toSingle(Expr x);            // from f64 to the accumulator's type
  Expr toIndex(Expr integer);       // sign extended
  Expr fromIndex(Expr index, mlir::Type type);
  Expr narrow(Expr integer, mlir::Type type);
  Expr widen(Expr integer, mlir::Type type); // zero extended

  // Rows in vectors.
  Expr splat(Expr scalar);
  /// The index of each column, as floats: exact up to 2^24.
  Expr numbers(const Columns &columns);
  /// `count` columns of the last dimension, starting at `columns.first`, after `leading` indices.
  /// Lanes that are not there read as `missing`.
  Expr load(mlir::Value memref, llvm::ArrayRef<Expr> leading, const Columns &columns,
            double missing = 0);
  void store(Expr value, mlir::Value memref, llvm::ArrayRef<Expr> leading, const Columns &columns);
  /// `value` where there is a column, `missing` elsewhere.
  Expr keep(Expr value, const Columns &columns, double missing = 0);
  /// Runs `body` for all of `size` columns.
  void forColumns(int64_t size, llvm::function_ref<void(const Columns &)> body);
  /// Reduces vectors that `body` computes, several at a time (one per element of the result):
  /// sums, or maxima where `isMaximum`. Additions happen in an order that only `size` determines.
  llvm::SmallVector<Expr>
  reduceColumns(int64_t size, unsigned results, bool isMaximum,
                llvm::function_ref<llvm::SmallVector<Expr>(const Columns &)> body);
  Expr sumColumns(int64_t size, llvm::function_ref<Expr(const Columns &)> body);
  Expr maximumOfColumns(int64_t size, llvm::function_ref<Expr(const Columns &)> body);

  mlir::OpBuilder &builder;
  mlir::Location location;

private:
  Expr wholeNumber(mlir::Type type, int64_t value);
  Expr fraction(mlir::Type type, double value);
  Expr foldLanes(Expr vector, bool isMaximum);
};

Expr Expr::like(Number auto constant) const { return kernel->constant(type(), constant); }

} // namespace gc::kernels

#endif // GC_COMPILER_LANGUAGE_KERNELBUILDER_H
