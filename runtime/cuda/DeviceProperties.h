// What the driver says about a GPU, for the file that a self-test leaves behind.
#ifndef GC_RUNTIME_CUDA_DEVICEPROPERTIES_H
#define GC_RUNTIME_CUDA_DEVICEPROPERTIES_H

#include "runtime/cuda/Context.h"

namespace gc::runtime::cuda {

/// One JSON object: name, uuid, compute capability, driver version, memory, and every attribute
/// that the targets of the compiler are described by.
Result<std::string> propertiesJson(const Context &context);

} // namespace gc::runtime::cuda

#endif // GC_RUNTIME_CUDA_DEVICEPROPERTIES_H
