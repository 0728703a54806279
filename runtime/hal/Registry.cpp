#include "runtime/hal/Device.h"
#include "runtime/hal/cpu/CpuDevice.h"
#include "runtime/hal/null/NullDevice.h"

#include <algorithm>
#include <charconv>
#include <dlfcn.h>

namespace gc::runtime::hal {

static Result<std::unique_ptr<Device>> createPlugin(const std::string &kind,
                                                    const DeviceOptions &options) {
  bool plain = !kind.empty() && std::all_of(kind.begin(), kind.end(), [](unsigned char c) {
    return std::islower(c) || std::isdigit(c);
  });
  if (!plain)
    return deviceError("unknown device '" + kind + "'; try cpu, cuda or null");
  std::string library = "libgc-device-" + kind + ".so";
  // Never closed: the device's code must outlive everything it made.
  void *handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = ::dlerror();
    return deviceError("device '" + kind + "' is not available: cannot load " + library + " (" +
                       (reason ? reason : "no reason given") + "); built in are cpu and null");
  }
  auto create = reinterpret_cast<CreateDeviceFunction>(::dlsym(handle, kCreateDeviceSymbol));
  if (!create)
    return deviceError("device plugin " + library + " does not export " + kCreateDeviceSymbol);
  Error error = deviceError("device plugin " + library + " gave no reason");
  if (Device *device = create(&options, &error))
    return std::unique_ptr<Device>(device);
  return error;
}

Result<std::unique_ptr<Device>> createDevice(const std::string &name, DeviceOptions options) {
  std::string kind = name;
  if (size_t colon = name.find(':'); colon != std::string::npos) {
    kind = name.substr(0, colon);
    const char *begin = name.data() + colon + 1, *end = name.data() + name.size();
    auto [stop, code] = std::from_chars(begin, end, options.ordinal);
    if (code != std::errc() || stop != end || options.ordinal < 0)
      return badInput("device '" + name + "' should be NAME or NAME:NUMBER");
  }
  if (options.threads < 0 || options.threads > 4096)
    return badInput("cannot use " + std::to_string(options.threads) + " threads");
  if (kind == "cpu" || kind == "null") {
    if (options.ordinal != 0)
      return deviceError("there is no device '" + name + "', only " + kind + ":0");
    return kind == "cpu" ? createCpuDevice(options) : createNullDevice(options);
  }
  return createPlugin(kind, options);
}

Result<SlotMap> SlotMap::create(const gc::plan::Plan &plan, uint32_t slot) {
  SlotMap map;
  size_t buffers = plan.buffers() ? plan.buffers()->size() : 0;
  for (size_t i = 0; i < buffers; ++i)
    map.buffers_.push_back(static_cast<uint32_t>(i));
  for (size_t i = 0; plan.inputs() && i < plan.inputs()->size(); ++i) {
    const gc::plan::Input &input = *plan.inputs()->Get(i);
    if (slot >= input.slots()->size())
      return badInput("input '" + input.name()->str() + "' has " +
                      std::to_string(input.slots()->size()) + " slots; slot " +
                      std::to_string(slot) + " was asked for");
    map.buffers_[input.slots()->Get(0)] = input.slots()->Get(slot);
  }
  return map;
}

} // namespace gc::runtime::hal
