#include "tools/flags/CudaModel.h"

#include "runtime/hal/Registry.h"
#include <fmt/format.h>

using namespace gc::runtime;

static Result<gc::cuda::DeviceModel> modelOf(const std::string &device,
                                             const std::string &properties) {
  std::string reason;
  if (auto model = gc::cuda::describedDevice(properties, reason))
    return *model;
  return deviceError(fmt::format("device '{}' {}; use --device=cpu", device, reason));
}

Result<gc::cuda::DeviceModel> cudaModel(hal::Device &device) {
  Result<std::string> properties = device.propertiesJson();
  if (!properties)
    return properties.error();
  return modelOf(device.name(), *properties);
}

Status describeTarget(const std::string &device, gc::CompileOptions &options) {
  Result<std::unique_ptr<hal::Device>> made = hal::createDevice(device);
  if (!made)
    return made.error();
  Result<std::string> properties = (*made)->propertiesJson();
  if (!properties)
    return properties.error();
  if (Result<gc::cuda::DeviceModel> model = modelOf((*made)->name(), *properties); !model)
    return model.error();
  options.targetProperties = *properties;
  return {};
}
