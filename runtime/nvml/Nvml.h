// NVML, loaded when it is asked for.
#ifndef GC_RUNTIME_NVML_NVML_H
#define GC_RUNTIME_NVML_NVML_H

#include "runtime/Error.h"
#include "runtime/monitor/DeviceSampler.h"
#include "runtime/nvml/NvmlApi.h"

#include <memory>
#include <string>

namespace gc::runtime::nvml {

inline constexpr const char *kLibraryName = "libnvidia-ml.so.1";

/// What the library has; a function of a newer driver is null in an older one.
struct Functions {
#define GC_NVML_MEMBER(result, symbol, parameters) result(*symbol) parameters = nullptr;
  GC_NVML_FUNCTIONS(GC_NVML_MEMBER)
#undef GC_NVML_MEMBER
};

/// Initialized while it lives.
class Nvml {
public:
  /// Fails (device) where the library cannot be loaded, lacks what everything rests on, or does not
  /// start; the message says which and what to do.
  static Result<std::unique_ptr<Nvml>> open(const std::string &library = kLibraryName);
  ~Nvml();
  Nvml(const Nvml &) = delete;
  Nvml &operator=(const Nvml &) = delete;

  const Functions &api() const { return functions; }
  /// `nvmlDeviceGetName: Not Supported (3)`
  std::string errorText(const char *function, nvmlReturn_t code) const;

  /// By UUID, or by its PCI bus where that fails. Fails (device) with what NVML answered and the
  /// devices that it has.
  Result<nvmlDevice_t> find(const WatchedDevice &device) const;
  /// Empty where NVML does not say.
  std::string name(nvmlDevice_t device) const;

private:
  explicit Nvml(const Functions &functions) : functions(functions) {}
  std::string devicesText() const;

  const Functions functions;
};

} // namespace gc::runtime::nvml

#endif // GC_RUNTIME_NVML_NVML_H
