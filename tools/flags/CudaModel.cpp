#include "tools/flags/CudaModel.h"

#include "runtime/hal/Registry.h"
#include <fmt/format.h>
#include <nlohmann/json.hpp>

using namespace gc::runtime;

Result<const gc::cuda::DeviceModel *> cudaModel(hal::Device &device) {
  Result<std::string> text = device.propertiesJson();
  if (!text)
    return text.error();
  auto properties = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
  std::string capability =
      properties.is_object() ? properties.value("compute_capability", "") : std::string();
  int major = 0, minor = 0;
  if (std::sscanf(capability.c_str(), "%d.%d", &major, &minor) != 2)
    return deviceError(fmt::format("device '{}' does not tell its compute capability; say with "
                                   "--target what to compile for",
                                   device.name()));
  const gc::cuda::DeviceModel *model = gc::cuda::deviceModelFor(10 * major + minor);
  if (!model)
    return deviceError(fmt::format(
        "device '{}' ({}) has compute capability {}, and code is generated from {} on; use "
        "--device=cpu",
        device.name(), properties.value("name", "?"), capability,
        gc::cuda::deviceModels().front().target));
  return model;
}

Result<const gc::cuda::DeviceModel *> cudaModel(const std::string &device) {
  Result<std::unique_ptr<hal::Device>> made = hal::createDevice(device);
  if (!made)
    return made.error();
  return cudaModel(**made);
}
