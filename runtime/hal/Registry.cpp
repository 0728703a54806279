#include "runtime/hal/Registry.h"

#include "runtime/hal/cpu/CpuDevice.h"
#include "runtime/hal/null/NullDevice.h"

#include <algorithm>
#include <charconv>
#include <dlfcn.h>
#include <filesystem>

namespace gc::runtime::hal {

/// Never closed: the device's code must outlive everything it made.
static void *openPlugin(const std::string &library, std::string &reason) {
  std::error_code code;
  std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", code);
  // A plugin beside the program wins: one that lies elsewhere may be of another version.
  std::filesystem::path beside = program.parent_path().parent_path() / "lib" / "gc" / library;
  bool found = !code && std::filesystem::exists(beside, code);
  void *handle = ::dlopen(found ? beside.c_str() : library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *text = ::dlerror();
    reason = text ? text : "no reason given";
  }
  return handle;
}

static Result<std::unique_ptr<Device>> createPlugin(const std::string &kind,
                                                    const DeviceOptions &options) {
  bool plain = !kind.empty() && std::all_of(kind.begin(), kind.end(), [](unsigned char c) {
    return std::islower(c) || std::isdigit(c);
  });
  if (!plain)
    return deviceError("unknown device '" + kind + "'; try cpu, cuda or null");
  std::string library = "libgc-device-" + kind + ".so";
  std::string reason;
  void *handle = openPlugin(library, reason);
  if (!handle)
    return deviceError("device '" + kind + "' is not available: cannot load " + library + " (" +
                       reason + "); built in are cpu and null");
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

} // namespace gc::runtime::hal
