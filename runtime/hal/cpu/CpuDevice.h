// The CPU: OpenMP for generated kernels, oneDNN (through cpu/library) for the rest, on one thread
// pool.
#ifndef GC_RUNTIME_HAL_CPU_CPUDEVICE_H
#define GC_RUNTIME_HAL_CPU_CPUDEVICE_H

#include "runtime/hal/Device.h"

namespace gc::runtime::hal {

Result<std::unique_ptr<Device>> createCpuDevice(const DeviceOptions &options);

} // namespace gc::runtime::hal

#endif // GC_RUNTIME_HAL_CPU_CPUDEVICE_H
