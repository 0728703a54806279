// The few loops that oneDNN does not offer: epilogues on strided results, patches, column sums. All
// split statically over OpenMP's threads, so that results do not depend on timing. Private.
#ifndef GC_RUNTIME_HAL_CPU_LIBRARY_LOOPS_H
#define GC_RUNTIME_HAL_CPU_LIBRARY_LOOPS_H

#include "runtime/hal/cpu/library/Library.h"

namespace gc::runtime::cpu {

/// target += source, or target = source.
void addOrCopy(float *target, const float *source, int64_t n, bool add);

/// target[r][c] (dense rows) = activation(target + bias[c] + residual[r][c]); bias, residual may be
/// null.
void epilogue(float *target, const float *bias, const float *residual, plan::Activation activation,
              int64_t rows, int64_t columns);

/// A strided tensor of up to 6 dimensions.
struct Strided {
  std::vector<int64_t> sizes, strides;
};
/// dense = source, dense being row-major over source's sizes.
void pack(float *dense, const float *source, const Strided &layout);
/// target = activation(dense + bias + residual), or target += ...; residual has target's strides.
void unpack(float *target, const float *dense, const Strided &layout, const float *bias,
            const float *residual, plan::Activation activation, bool add);

/// sums[c] (+)= sum over rows of matrix[r][c]. `partial` has threads × columns elements.
void columnSums(float *sums, const float *matrix, int64_t rows, int64_t columns, float *partial,
                int threads, bool add);

/// Rows of patches [batch × out_h × out_w][kernel_h × kernel_w × in_c] for kernel == stride, no
/// padding.
void gatherPatches(float *patches, const float *image, const ConvolutionSpec &spec);
/// The inverse; `add` accumulates. Pixels that no patch covers become 0 (or stay, with `add`).
void scatterPatches(float *image, const float *patches, const ConvolutionSpec &spec, bool add);

} // namespace gc::runtime::cpu

#endif // GC_RUNTIME_HAL_CPU_LIBRARY_LOOPS_H
