// Devices by name.
#ifndef GC_RUNTIME_HAL_REGISTRY_H
#define GC_RUNTIME_HAL_REGISTRY_H

#include "runtime/hal/Device.h"

namespace gc::runtime::hal {

/// Makes a device by name: "cpu", "null", or "NAME:N". A name that is not built in is looked for as
/// a plugin, libgc-device-NAME.so, which exports `gcCreateDevice`: in ../lib/gc of the executable's
/// folder, then where the system's loader looks. An unknown or missing device is an error of class
/// Device.
Result<std::unique_ptr<Device>> createDevice(const std::string &name, DeviceOptions options = {});

} // namespace gc::runtime::hal

#endif // GC_RUNTIME_HAL_REGISTRY_H
