//===- Philox.h - Random words that can be drawn again --------------------===//
//
// Philox4x32-10 (Salmon et al. 2011): ten rounds of multiplication and exclusive or turn a counter
// and a key into four random words. Counter: (i / 4, step) as two 64-bit numbers, i counted through
// the micro-batches of a step; key: the seed, its high half mixed with the op's id. Any element can
// be drawn at any time, in any order.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_LANGUAGE_PHILOX_H
#define GC_COMPILER_LANGUAGE_PHILOX_H

#include "compiler/language/KernelBuilder.h"
#include "compiler/language/OpUses.h"
#include "dialects/Gc.h"

namespace gc::kernels {

/// Which elements a dropout drops: what every target draws alike.
class DropoutDraw {
public:
  DropoutDraw(DropoutOp op, const OpUses &buffers);

  int64_t elements, quads;           // a draw is for four elements; the last may have fewer
  llvm::SmallVector<BufferUse> uses; // input, (seed, step), output and the micro-batch, if any

  /// Loads what all draws share. Call it before the others, in every kernel.
  void start(KernelBuilder &k, llvm::ArrayRef<mlir::Value> buffers);
  /// Four random words for elements 4 * quad, ….
  llvm::SmallVector<Expr> draw(KernelBuilder &k, Expr quad) const;
  /// The output for an element and its word.
  Expr apply(KernelBuilder &k, Expr input, Expr word) const;

private:
  struct Words {
    Expr low, high;
  };
  static Words split(KernelBuilder &k, Expr number);
  static Words multiply(KernelBuilder &k, Expr word, int64_t constant);

  int32_t threshold, id;
  float scale;
  Words key, step;
  Expr first; // the number of the micro-batch's first group of four elements
};

} // namespace gc::kernels

#endif // GC_COMPILER_LANGUAGE_PHILOX_H
