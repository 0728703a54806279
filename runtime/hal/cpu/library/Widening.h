// Calls on bf16 that compute in f32: operands are widened into the workspace, the result is rounded
// from there. For CPUs that multiply f32 faster, and for what the library has no bf16 kernels for.
#ifndef GC_RUNTIME_HAL_CPU_LIBRARY_WIDENING_H
#define GC_RUNTIME_HAL_CPU_LIBRARY_WIDENING_H

#include "runtime/hal/cpu/library/Library.h"

namespace gc::runtime::cpu {

/// Whether any operand or the result is bf16.
template <typename Spec> bool hasHalves(const Spec &spec) {
  return spec.type == plan::DType_BF16 || spec.result == plan::DType_BF16;
}

Result<std::unique_ptr<ConvolutionCall>> buildWideningConvolution(const ConvolutionSpec &spec);
/// Strides must leave no gaps in a result of bf16.
Result<std::unique_ptr<MatMulCall>> buildWideningMatMul(const MatMulSpec &spec);

} // namespace gc::runtime::cpu

#endif // GC_RUNTIME_HAL_CPU_LIBRARY_WIDENING_H
