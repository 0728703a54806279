// What a run found out about a device with memory of its own: where its memory went, and what its
// own monitor (NVML) saw.
#ifndef GC_RUNTIME_REPORT_DEVICEREPORT_H
#define GC_RUNTIME_REPORT_DEVICEREPORT_H

#include "runtime/Measurements.h"
#include "runtime/monitor/Monitor.h"

#include <array>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace gc::runtime {

/// used = before + context + libraries + arena + remainder. All but the last are measured, by the
/// driver (total − free), and none of them is negative. Where NVML does not tell what the context
/// took, the first two stay one number.
struct DeviceMemoryReport {
  DeviceMemory driver;
  std::optional<uint64_t> nvmlUsedPeakBytes; // at most, while training, as NVML counts

  /// What others had; absent where the context's part is not known.
  std::optional<uint64_t> beforeBytes() const;
  /// NVML's peak, or the driver's count where there is none.
  uint64_t usedBytes() const { return nvmlUsedPeakBytes.value_or(driver.used); }
  /// What others took meanwhile, and what the two count differently; negative where others freed.
  int64_t remainderBytes() const;
};

/// Beside the samples, which are the monitor's.
struct NvmlReport {
  std::string reason; // why there are no samples; empty where there are
  DeviceDescription device;
  std::array<std::string, kDeviceQuantities>
      failures; // why a quantity was absent; empty: it never was
};

/// {capacity_bytes, used_bytes, before_bytes, context_bytes, before_and_context_bytes,
///  libraries_bytes, arena_bytes, remainder_bytes, driver_used_bytes, nvml_used_peak_bytes}
nlohmann::ordered_json deviceMemoryJson(const DeviceMemoryReport &memory);
/// {available, reason, name, uuid, memory_total_bytes, memory_reserved_bytes,
/// memory_used_peak_bytes,
///  samples_taken, QUANTITY: {min, mean, max, samples} or null, failures{QUANTITY: why},
///  samples{seconds[], QUANTITY[]}}
nlohmann::ordered_json nvmlJson(const NvmlReport &nvml, const MonitorSummary &monitor);

/// `total used 900.0 MiB = before 100.0 MiB + context 250.0 MiB + … + remainder 2.0 MiB`
std::string deviceMemoryText(const DeviceMemoryReport &memory);
/// One line: the reason, or peak of memory and means of the rest.
std::string nvmlText(const NvmlReport &nvml, const MonitorSummary &monitor);

/// Parts of a page that HtmlParts begins: the equation, a row for each quantity. Its charts are
/// RunCharts'.
std::string deviceMemoryHtml(const DeviceMemoryReport &memory);
std::string nvmlHtml(const NvmlReport &nvml, const MonitorSummary &monitor);

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_DEVICEREPORT_H
