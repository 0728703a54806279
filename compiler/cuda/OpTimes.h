//===- OpTimes.h - how long an op's launches take ---------------*- C++ -*-===//
//
// The roofline's formula (passes/analysis/OpCosts.h) with what this target knows of an op's
// commands instead of what the op says of itself: how many there are, which bytes they move, and by
// how much idle multiprocessors and the ends of matrices slow products down. Products are cut by
// the same formula (grids/ProductKernel.h), so that what makes them faster makes the prediction
// better.
//
//===----------------------------------------------------------------------===//
#ifndef GC_COMPILER_CUDA_OPTIMES_H
#define GC_COMPILER_CUDA_OPTIMES_H

#include "compiler/cuda/grids/GpuKernels.h"
#include "passes/analysis/OpCosts.h"

namespace gc::cuda {

/// Whether more is known of the op's commands than what the op says: products, and what a library
/// could run instead of generated kernels.
bool knowsCommandsOf(mlir::Operation *op);

/// What the generated kernels of such an op use up.
Amounts generatedWork(mlir::Operation *op, const LaunchCosts &costs);

} // namespace gc::cuda

#endif // GC_COMPILER_CUDA_OPTIMES_H
