#include "runtime/report/DeviceReport.h"

#include "runtime/report/HtmlParts.h"
#include "runtime/report/Sizes.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string_view>

namespace gc::runtime {

using json = nlohmann::ordered_json;

template <class T> static json orNull(const std::optional<T> &value) {
  return value ? json(*value) : json(nullptr);
}

static json nullIfEmpty(const std::string &text) {
  return text.empty() ? json(nullptr) : json(text);
}

static bool isBytes(size_t quantity) {
  return std::string_view(kDeviceQuantityNames[quantity].unit) == "bytes";
}

/// Bytes as the whole numbers that they are.
static json valueJson(size_t quantity, double value) {
  return isBytes(quantity) ? json(static_cast<uint64_t>(value)) : json(value);
}

static std::string valueText(size_t quantity, double value) {
  return isBytes(quantity) ? shortSizeText(static_cast<uint64_t>(value))
                           : fmt::format("{:.0f} {}", value, kDeviceQuantityNames[quantity].unit);
}

std::optional<uint64_t> DeviceMemoryReport::beforeBytes() const {
  if (!driver.context)
    return std::nullopt;
  return driver.usedWithContext - std::min(driver.usedWithContext, *driver.context);
}

int64_t DeviceMemoryReport::remainderBytes() const {
  return static_cast<int64_t>(usedBytes() -
                              (driver.usedWithContext + driver.libraries + driver.arena));
}

/// ` + context 1.0 MiB`, or ` - …` where it is negative.
static std::string term(const char *name, int64_t bytes) {
  return fmt::format(" {} {} {}", bytes < 0 ? '-' : '+', name,
                     shortSizeText(static_cast<uint64_t>(bytes < 0 ? -bytes : bytes)));
}

json deviceMemoryJson(const DeviceMemoryReport &m) {
  return {{"capacity_bytes", m.driver.total},
          {"used_bytes", m.usedBytes()},
          {"before_bytes", orNull(m.beforeBytes())},
          {"context_bytes", orNull(m.driver.context)},
          {"before_and_context_bytes", m.driver.usedWithContext},
          {"libraries_bytes", m.driver.libraries},
          {"arena_bytes", m.driver.arena},
          {"remainder_bytes", m.remainderBytes()},
          {"driver_used_bytes", m.driver.used},
          {"nvml_used_peak_bytes", orNull(m.nvmlUsedPeakBytes)}};
}

std::string deviceMemoryText(const DeviceMemoryReport &m) {
  std::string text = fmt::format("total used {} = ", shortSizeText(m.usedBytes()));
  if (std::optional<uint64_t> before = m.beforeBytes())
    text += "before " + shortSizeText(*before) +
            term("context", static_cast<int64_t>(*m.driver.context));
  else
    text += "before and context " + shortSizeText(m.driver.usedWithContext);
  return text + term("libraries", static_cast<int64_t>(m.driver.libraries)) +
         term("arena", static_cast<int64_t>(m.driver.arena)) +
         term("remainder", m.remainderBytes());
}

json nvmlJson(const NvmlReport &nvml, const MonitorSummary &monitor) {
  json out = {{"available", nvml.reason.empty()}, {"reason", nullIfEmpty(nvml.reason)}};
  if (!monitor.device)
    return out;
  const DeviceSummary &device = *monitor.device;
  const QuantityRange &memory = device[DeviceQuantity::MemoryUsed];
  out["name"] = nullIfEmpty(nvml.device.name);
  out["uuid"] = nullIfEmpty(nvml.device.uuid);
  out["memory_total_bytes"] = orNull(nvml.device.memoryTotalBytes);
  out["memory_reserved_bytes"] = orNull(nvml.device.memoryReservedBytes);
  out["memory_used_peak_bytes"] =
      memory.samples ? json(static_cast<uint64_t>(memory.max)) : json(nullptr);
  out["samples_taken"] = device.taken;
  json failures = json::object(), series = json::object();
  series["seconds"] = json::array();
  for (const MonitorSample &sample : monitor.samples)
    series["seconds"].push_back(sample.seconds);
  for (size_t i = 0; i < kDeviceQuantities; ++i) {
    const char *key = kDeviceQuantityNames[i].key;
    const QuantityRange &range = device.ranges[i];
    out[key] = range.samples ? json{{"min", valueJson(i, range.min)},
                                    {"mean", valueJson(i, range.mean)},
                                    {"max", valueJson(i, range.max)},
                                    {"samples", range.samples}}
                             : json(nullptr);
    if (!nvml.failures[i].empty())
      failures[key] = nvml.failures[i];
    series[key] = json::array();
    for (const DeviceSample &sample : device.samples)
      series[key].push_back(sample[i] ? valueJson(i, *sample[i]) : json(nullptr));
  }
  out["failures"] = failures;
  out["samples"] = series;
  return out;
}

std::string nvmlText(const NvmlReport &nvml, const MonitorSummary &monitor) {
  if (!monitor.device)
    return "none: " + nvml.reason;
  std::string text = nvml.device.name.empty() ? "device without a name" : nvml.device.name, absent;
  for (size_t i = 0; i < kDeviceQuantities; ++i) {
    const QuantityRange &range = monitor.device->ranges[i];
    const char *label = kDeviceQuantityNames[i].label;
    if (!range.samples)
      absent += fmt::format("{}{}", absent.empty() ? "" : ", ", label);
    else // memory counts at its peak
      text += fmt::format(", {} {}", label, valueText(i, isBytes(i) ? range.max : range.mean));
  }
  return absent.empty() ? text : text + "; not told: " + absent;
}

std::string deviceMemoryHtml(const DeviceMemoryReport &m) {
  return fmt::format("<h2>Memory of the device</h2>\n<p>{}; it has {}</p>\n",
                     escaped(deviceMemoryText(m)), sizeText(m.driver.total));
}

std::string nvmlHtml(const NvmlReport &nvml, const MonitorSummary &monitor) {
  std::string html = "<h2>The device as NVML saw it</h2>\n";
  if (!monitor.device)
    return html + "<p>not at all: " + escaped(nvml.reason) + "</p>\n";
  std::string rows = factRow("device", nvml.device.name) + factRow("uuid", nvml.device.uuid);
  for (size_t i = 0; i < kDeviceQuantities; ++i) {
    const QuantityRange &range = monitor.device->ranges[i];
    std::string text = range.samples
                           ? fmt::format("{} to {}, mean {}", valueText(i, range.min),
                                         valueText(i, range.max), valueText(i, range.mean))
                           : "";
    if (!nvml.failures[i].empty())
      text += fmt::format("{}{}", text.empty() ? "absent: " : "; not always: ", nvml.failures[i]);
    rows += factRow(kDeviceQuantityNames[i].label, text);
  }
  return html + factTable(rows);
}

} // namespace gc::runtime
