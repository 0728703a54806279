#include "tools/flags/CudaModel.h"

#include "runtime/hal/Registry.h"
#include "runtime/plan/CudaVersions.h"
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

std::string targetsText() {
  std::string text = fmt::format("{:<8} {:<24} {:>15} {:>9}  {}\n", "target", "card",
                                 "multiprocessors", "memory", "oldest driver");
  for (const gc::cuda::DeviceModel &card : gc::cuda::cards())
    text += fmt::format("{:<8} {:<24} {:>15} {:>5} GiB  {}\n", card.target, card.name,
                        card.multiprocessors, card.memoryBytes >> 30,
                        gc::plan::describeCuda(gc::plan::cudaForPtx(card.ptxVersion())));
  return text;
}
