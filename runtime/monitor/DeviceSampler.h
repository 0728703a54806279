// What a device says of itself while it works, for the monitor to ask. Who asks which device, and
// by what library, is the sampler's own affair (runtime/nvml is one).
#ifndef GC_RUNTIME_MONITOR_DEVICESAMPLER_H
#define GC_RUNTIME_MONITOR_DEVICESAMPLER_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

namespace gc::runtime {

enum class DeviceQuantity : size_t {
  MemoryUsed,    // by everybody
  ProcessMemory, // by this process
  Utilization,   // part of the time in which a kernel ran
  MemoryUtilization,
  Power,
  Clock, // of the multiprocessors
  MemoryClock,
  Temperature,
};
inline constexpr size_t kDeviceQuantities = 8;

/// How reports name a quantity: the key says the unit, too.
struct DeviceQuantityName {
  const char *key;   // "power_watts"
  const char *label; // "power"
  const char *unit;  // "W"; "bytes" are printed as sizes
};
inline constexpr std::array<DeviceQuantityName, kDeviceQuantities> kDeviceQuantityNames = {
    {{"memory_used_bytes", "memory used", "bytes"},
     {"process_memory_bytes", "memory of this process", "bytes"},
     {"utilization_percent", "utilization", "%"},
     {"memory_utilization_percent", "memory utilization", "%"},
     {"power_watts", "power", "W"},
     {"clock_mhz", "clock", "MHz"},
     {"memory_clock_mhz", "memory clock", "MHz"},
     {"temperature_celsius", "temperature", "°C"}}};

/// One moment, by quantity. What the device did not say is absent: zero would be an answer.
using DeviceSample = std::array<std::optional<double>, kDeviceQuantities>;

/// Which device to watch, as its maker's tools name it. Ordinals differ between libraries, so
/// neither is one. Both empty: a device that nobody watches.
struct WatchedDevice {
  std::string uuid;     // "GPU-01234567-89ab-cdef-0123-456789abcdef"
  std::string pciBusId; // "3b:00.0", or with its domain "0000:3b:00.0"

  bool any() const { return !uuid.empty() || !pciBusId.empty(); }
};

/// What is known of the device that is sampled.
struct DeviceDescription {
  std::string name, uuid; // empty: not known
  std::optional<uint64_t> memoryTotalBytes;
  /// What driver and firmware keep for themselves. Absent where it is not told apart: then it is in
  /// MemoryUsed, which otherwise has allocations alone.
  std::optional<uint64_t> memoryReservedBytes;
};

class DeviceSampler {
public:
  virtual ~DeviceSampler() = default;
  /// From any thread, one at a time; asks the heap for nothing itself.
  virtual DeviceSample sample() = 0;
  /// Below: when nobody samples any more.
  virtual DeviceDescription describe() const = 0;
  /// Why a quantity was absent, the first time and how often; empty where it never was.
  virtual std::string failure(DeviceQuantity quantity) const = 0;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_MONITOR_DEVICESAMPLER_H
