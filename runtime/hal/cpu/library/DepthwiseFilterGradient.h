// The filter's gradient of depthwise convolutions for which oneDNN has no code of its own: it pads
// every channel to a block of 16×16 then. Private to the library.
#ifndef GC_RUNTIME_HAL_CPU_LIBRARY_DEPTHWISEFILTERGRADIENT_H
#define GC_RUNTIME_HAL_CPU_LIBRARY_DEPTHWISEFILTERGRADIENT_H

#include "runtime/hal/cpu/library/Library.h"

namespace gc::runtime::cpu {

/// True where buildDepthwiseFilterGradient can do it, and is faster: filters larger than 3×3, or
/// dilated.
bool isDepthwiseFilterGradient(const ConvolutionSpec &spec);

std::unique_ptr<ConvolutionCall> buildDepthwiseFilterGradient(const ConvolutionSpec &spec);

} // namespace gc::runtime::cpu

#endif // GC_RUNTIME_HAL_CPU_LIBRARY_DEPTHWISEFILTERGRADIENT_H
