// A convolution by oneDNN's own kernels. Private to the library.
#ifndef GC_RUNTIME_HAL_CPU_LIBRARY_DIRECTCONVOLUTION_H
#define GC_RUNTIME_HAL_CPU_LIBRARY_DIRECTCONVOLUTION_H

#include "runtime/hal/cpu/library/Primitive.h"

namespace gc::runtime::cpu {

/// Throws dnnl::error when the library has no implementation.
std::unique_ptr<ConvolutionCall> buildDirectConvolution(const ConvolutionSpec &spec);

} // namespace gc::runtime::cpu

#endif // GC_RUNTIME_HAL_CPU_LIBRARY_DIRECTCONVOLUTION_H
