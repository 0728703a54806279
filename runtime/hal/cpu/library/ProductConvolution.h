// A convolution as one matrix product: over pixels (1×1, stride 1) or over gathered patches
// (kernel == stride, no padding). Filters are used as they are: OHWI is a matrix of out_c rows.
#ifndef GC_RUNTIME_HAL_CPU_LIBRARY_PRODUCTCONVOLUTION_H
#define GC_RUNTIME_HAL_CPU_LIBRARY_PRODUCTCONVOLUTION_H

#include "runtime/hal/cpu/library/Library.h"

namespace gc::runtime::cpu {

/// True when buildProductConvolution can do it.
bool isProduct(const ConvolutionSpec &spec);

Result<std::unique_ptr<ConvolutionCall>> buildProductConvolution(const ConvolutionSpec &spec);

} // namespace gc::runtime::cpu

#endif // GC_RUNTIME_HAL_CPU_LIBRARY_PRODUCTCONVOLUTION_H
