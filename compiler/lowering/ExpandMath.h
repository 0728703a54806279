//===- ExpandMath.h - Math functions as arithmetic ------------------------===//
#ifndef GC_COMPILER_LOWERING_EXPANDMATH_H
#define GC_COMPILER_LOWERING_EXPANDMATH_H

#include "mlir/Pass/Pass.h"
#include <memory>

namespace gc::codegen {

/// Replaces exp, log, erf, tanh, rsqrt, … on f32 (and vectors of it) by plain arithmetic that
/// LLVM can vectorize and that needs no math library. The largest errors are given at each
/// function in ExpandMath.cpp and pinned by test/compiler/objectcode. Functions without an
/// expansion are an error; square roots, rounding and the like stay, as CPUs and GPUs have
/// instructions for them.
std::unique_ptr<mlir::Pass> createExpandMathPass(bool useFMA);

} // namespace gc::codegen

#endif // GC_COMPILER_LOWERING_EXPANDMATH_H
