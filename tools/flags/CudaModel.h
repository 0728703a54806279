// What to compile for where the user names a device and no target.
#ifndef GC_TOOLS_FLAGS_CUDAMODEL_H
#define GC_TOOLS_FLAGS_CUDAMODEL_H

#include "compiler/cuda/DeviceModel.h"
#include "runtime/hal/Device.h"

/// The newest model that this GPU can run code of. Fails (device) where it is older than all.
gc::runtime::Result<const gc::cuda::DeviceModel *> cudaModel(gc::runtime::hal::Device &device);
/// The same by name, "cuda" or "cuda:1". Fails (device) where there is no such device.
gc::runtime::Result<const gc::cuda::DeviceModel *> cudaModel(const std::string &device);

#endif // GC_TOOLS_FLAGS_CUDAMODEL_H
