#include "runtime/nvml/Nvml.h"

#include <dlfcn.h>

namespace gc::runtime::nvml {

static std::string errorText(const Functions &functions, const char *function, nvmlReturn_t code) {
  const char *text = functions.nvmlErrorString(code);
  return std::string(function) + ": " + (text ? text : "error") + " (" +
         std::to_string(static_cast<unsigned>(code)) + ")";
}

Result<std::unique_ptr<Nvml>> Nvml::open(const std::string &library) {
  // Never closed: like the driver, it does not expect to be.
  void *handle = ::dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char *reason = ::dlerror();
    return deviceError("cannot load NVML (" + std::string(reason ? reason : library) +
                       "); it comes with NVIDIA's driver");
  }
  Functions functions;
#define GC_NVML_LOOK_UP(result, symbol, parameters)                                                \
  functions.symbol = reinterpret_cast<decltype(functions.symbol)>(::dlsym(handle, #symbol));
  GC_NVML_FUNCTIONS(GC_NVML_LOOK_UP)
#undef GC_NVML_LOOK_UP
  if (!functions.nvmlInit_v2 || !functions.nvmlShutdown || !functions.nvmlErrorString)
    return deviceError(library +
                       " lacks nvmlInit_v2, nvmlShutdown or nvmlErrorString; install the NVML that "
                       "belongs to the driver");
  if (nvmlReturn_t code = functions.nvmlInit_v2(); code != NVML_SUCCESS)
    return deviceError("NVML does not start: " + nvml::errorText(functions, "nvmlInit_v2", code) +
                       "; nvidia-smi should say the same");
  return std::unique_ptr<Nvml>(new Nvml(functions));
}

Nvml::~Nvml() { functions.nvmlShutdown(); }

std::string Nvml::errorText(const char *function, nvmlReturn_t code) const {
  return nvml::errorText(functions, function, code);
}

std::string Nvml::name(nvmlDevice_t device) const {
  char text[96] = {}; // as long as NVML ever needs
  if (!functions.nvmlDeviceGetName ||
      functions.nvmlDeviceGetName(device, text, sizeof(text)) != NVML_SUCCESS)
    return "";
  text[sizeof(text) - 1] = '\0';
  return text;
}

std::string Nvml::devicesText() const {
  unsigned count = 0;
  if (!functions.nvmlDeviceGetCount_v2 || !functions.nvmlDeviceGetHandleByIndex_v2 ||
      functions.nvmlDeviceGetCount_v2(&count) != NVML_SUCCESS)
    return "devices that it does not count";
  std::string text = std::to_string(count) + (count == 1 ? " device" : " devices");
  for (unsigned i = 0; i < count; ++i) {
    nvmlDevice_t device = nullptr;
    std::string each = functions.nvmlDeviceGetHandleByIndex_v2(i, &device) == NVML_SUCCESS
                           ? name(device)
                           : "one that it does not show";
    text += (i == 0 ? " (" : ", ") + (each.empty() ? "one without a name" : each);
  }
  return count ? text + ")" : text;
}

Result<nvmlDevice_t> Nvml::find(const WatchedDevice &device) const {
  nvmlDevice_t handle = nullptr;
  std::string answers;
  auto found = [&](const char *symbol, auto function, const std::string &id) {
    if (id.empty())
      return false;
    nvmlReturn_t code = function ? function(id.c_str(), &handle) : NVML_ERROR_FUNCTION_NOT_FOUND;
    if (code == NVML_SUCCESS)
      return true;
    answers += (answers.empty() ? "" : ", ") + errorText(symbol, code) + " for " + id;
    return false;
  };
  // A part of a partitioned GPU has a UUID that begins with MIG; its driver tells the bytes only.
  std::string ofPart = device.uuid.starts_with("GPU-") ? "MIG-" + device.uuid.substr(4) : "";
  if (found("nvmlDeviceGetHandleByUUID", functions.nvmlDeviceGetHandleByUUID, device.uuid) ||
      found("nvmlDeviceGetHandleByUUID", functions.nvmlDeviceGetHandleByUUID, ofPart) ||
      found("nvmlDeviceGetHandleByPciBusId_v2", functions.nvmlDeviceGetHandleByPciBusId_v2,
            device.pciBusId))
    return handle;
  return deviceError("NVML does not find the device that trains: " +
                     (answers.empty() ? "it has neither UUID nor PCI bus" : answers) + "; it has " +
                     devicesText());
}

} // namespace gc::runtime::nvml
