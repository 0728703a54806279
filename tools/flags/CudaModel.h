// What to compile for where the user names a device and no target.
#ifndef GC_TOOLS_FLAGS_CUDAMODEL_H
#define GC_TOOLS_FLAGS_CUDAMODEL_H

#include "compiler/Compile.h"
#include "compiler/cuda/DeviceModel.h"
#include "runtime/hal/Device.h"

/// The GPU as its driver describes it. Fails (device) where it is older than all that we compile
/// for.
gc::runtime::Result<gc::cuda::DeviceModel> cudaModel(gc::runtime::hal::Device &device);
/// Lets the GPU `device` ("cuda" or "cuda:1") describe itself in `options.targetProperties`. Fails
/// (device) where there is no such device, or it is too old.
gc::runtime::Status describeTarget(const std::string &device, gc::CompileOptions &options);

/// The targets and the cards of each, as a table.
std::string targetsText();

#endif // GC_TOOLS_FLAGS_CUDAMODEL_H
