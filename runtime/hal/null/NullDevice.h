// A device that records and checks but computes nothing: what would run, without running it.
#ifndef GC_RUNTIME_HAL_NULL_NULLDEVICE_H
#define GC_RUNTIME_HAL_NULL_NULLDEVICE_H

#include "runtime/hal/Device.h"

namespace gc::runtime::hal {

Result<std::unique_ptr<Device>> createNullDevice(const DeviceOptions &options);

/// Lines of what was submitted to a null device, oldest first; empty for other devices.
std::vector<std::string> submissions(const Device &device);

} // namespace gc::runtime::hal

#endif // GC_RUNTIME_HAL_NULL_NULLDEVICE_H
