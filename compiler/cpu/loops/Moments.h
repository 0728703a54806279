//===- Moments.h - Mean and sum of squares of a chunk of rows -------------===//
#ifndef GC_COMPILER_CPU_LOOPS_MOMENTS_H
#define GC_COMPILER_CPU_LOOPS_MOMENTS_H

#include "compiler/cpu/loops/OpKernels.h"

namespace gc::cpu {

/// Rows that are summed before they are added to the chunk's sum, which keeps rounding small.
constexpr int64_t momentsBlockRows = 64;

/// Writes the mean of each channel over `rows` of `input` [rows, channels] to partials[0][chunk],
/// and the sum of squared deviations from it to partials[1][chunk]. `block` is scratch [channels].
void addMomentsOfRows(KernelBuilder &k, mlir::Value input, mlir::Value partials, mlir::Value block,
                      Expr chunk, Range rows, int64_t channels);

} // namespace gc::cpu

#endif // GC_COMPILER_CPU_LOOPS_MOMENTS_H
