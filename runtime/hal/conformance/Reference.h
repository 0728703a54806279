// Convolution and matrix product as their definitions read, in double precision: the truth that
// devices are compared with.
#ifndef GC_RUNTIME_HAL_CONFORMANCE_REFERENCE_H
#define GC_RUNTIME_HAL_CONFORMANCE_REFERENCE_H

#include "runtime/hal/cpu/library/Library.h"

namespace gc::runtime::conformance {

/// Reads and writes as the spec's direction says; all vectors have their full size.
void referenceConvolution(const cpu::ConvolutionSpec &spec, std::vector<float> &src,
                          std::vector<float> &weights, std::vector<float> &dst,
                          std::vector<float> &bias, const std::vector<float> &residual);

/// Offsets are in elements.
void referenceMatMul(const cpu::MatMulSpec &spec, const std::vector<float> &a, size_t aOffset,
                     const std::vector<float> &b, size_t bOffset, std::vector<float> &c,
                     size_t cOffset, const std::vector<float> &bias,
                     const std::vector<float> &residual);

} // namespace gc::runtime::conformance

#endif // GC_RUNTIME_HAL_CONFORMANCE_REFERENCE_H
