// A device as NVML sees it, for the monitor.
#ifndef GC_RUNTIME_NVML_NVMLSAMPLER_H
#define GC_RUNTIME_NVML_NVMLSAMPLER_H

#include "runtime/nvml/Nvml.h"

#include <array>

namespace gc::runtime {

class NvmlSampler final : public DeviceSampler {
public:
  /// Fails (device) where there is no NVML, or it does not know the device. That is a reason to
  /// train unwatched, not to stop.
  static Result<std::unique_ptr<NvmlSampler>> open(const WatchedDevice &device,
                                                   const std::string &library = nvml::kLibraryName);

  DeviceSample sample() override;
  DeviceDescription describe() const override { return description; }
  std::string failure(DeviceQuantity quantity) const override;

private:
  /// What is asked of NVML in turn.
  enum Reading { Memory, Process, Utilization, Power, Clock, MemoryClock, Temperature, Readings };
  struct Failures {
    uint64_t count = 0;
    // The first one: what was called, what it answered, or in words where it answered uselessly.
    const char *function = "", *inWords = nullptr;
    nvml::nvmlReturn_t code = nvml::NVML_SUCCESS;
    bool never = false; // the device or its driver cannot tell: not asked again
  };

  NvmlSampler(std::unique_ptr<nvml::Nvml> library, nvml::nvmlDevice_t device)
      : library(std::move(library)), device(device) {}
  bool ask(Reading reading, const char *name, auto function, auto... arguments);
  void failed(Reading reading, const char *function, nvml::nvmlReturn_t code,
              const char *inWords = nullptr);
  std::optional<double> readMemory();
  std::optional<double> readProcess();

  std::unique_ptr<nvml::Nvml> library;
  nvml::nvmlDevice_t device;
  DeviceDescription description;
  std::array<Failures, Readings> failures;
  bool memoryVersion2 = true;
  std::array<nvml::nvmlProcessInfo_t, 256> processes; // of one device; more of them is an error
};

/// Bytes of the device that are in use now; nothing where NVML does not say. For whoever must know
/// before it uses the device itself.
std::optional<uint64_t> nvmlMemoryUsed(const WatchedDevice &device,
                                       const std::string &library = nvml::kLibraryName);

} // namespace gc::runtime

#endif // GC_RUNTIME_NVML_NVMLSAMPLER_H
