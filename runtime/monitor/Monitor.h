// A thread that samples the process while it trains: memory (VmRSS) and CPU utilization, and the
// device where a sampler is given. It uses nothing but memory reserved when it starts, so that it
// does not disturb what it measures.
#ifndef GC_RUNTIME_MONITOR_MONITOR_H
#define GC_RUNTIME_MONITOR_MONITOR_H

#include "runtime/monitor/DeviceSampler.h"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace gc::runtime {

/// Bytes of this process in memory now; 0 where the system does not say. Allocates nothing.
uint64_t processMemoryBytes();
/// CPU seconds of all threads since the process started.
double processCpuSeconds();

struct MonitorSample {
  float seconds = 0; // since the start
  float cpus = 0;    // cores kept busy since the sample before
  uint64_t memoryBytes = 0;
};

/// Of a quantity over the samples that had it.
struct QuantityRange {
  uint64_t samples = 0; // 0: the rest means nothing
  double min = 0, mean = 0, max = 0;
};

struct DeviceSummary {
  uint64_t taken = 0; // samples asked for
  std::array<QuantityRange, kDeviceQuantities> ranges;
  std::vector<DeviceSample> samples; // one for each of MonitorSummary::samples

  const QuantityRange &operator[](DeviceQuantity quantity) const {
    return ranges[static_cast<size_t>(quantity)];
  }
};

struct MonitorSummary {
  double beginSeconds = 0; // on the clock of whoever runs the monitor; 0 unless that one says
  double seconds = 0;
  uint64_t memoryMaxBytes = 0, memoryMeanBytes = 0;
  double cpusMax = 0, cpusMean = 0;
  double periodSeconds = 0; // between the samples kept
  std::vector<MonitorSample> samples;
  std::optional<DeviceSummary> device; // where there was a sampler
};

class Monitor {
public:
  /// Keeps at most `capacity` samples: when they are full, every second one is dropped and the
  /// period doubles, so that a run of any length fits. Maxima see every sample taken.
  explicit Monitor(std::chrono::milliseconds period = std::chrono::milliseconds(50),
                   size_t capacity = 1024);
  ~Monitor();
  Monitor(const Monitor &) = delete;
  Monitor &operator=(const Monitor &) = delete;

  /// Asks this one too, from the next start on; null for none. Not owned, must outlive the monitor.
  void watch(DeviceSampler *device) { sampler = device; }
  /// Begins again from nothing.
  void start();
  void stop();
  /// What was seen between start and stop; call after stop.
  MonitorSummary summary() const;
  /// The device's last sample, unless it was handed out already. Never waits for the device.
  std::optional<DeviceSample> newDeviceSample();

private:
  void loop();
  void sample();
  DeviceSample sampleDevice();

  std::chrono::milliseconds period;
  size_t capacity;
  DeviceSampler *sampler = nullptr;
  std::vector<MonitorSample> samples;
  std::vector<DeviceSample> deviceSamples;             // as many, or none without a sampler
  std::array<QuantityRange, kDeviceQuantities> ranges; // their means are still sums
  std::mutex latestMutex;                              // held for a copy only
  std::optional<DeviceSample> latest;
  size_t stride = 1, taken = 0; // every stride-th sample taken is kept
  double memorySum = 0, cpusMax = 0;
  uint64_t memoryMax = 0;
  std::chrono::steady_clock::time_point began, previousTime;
  double beganCpu = 0, previousCpu = 0, elapsed = 0, usedCpu = 0;
  std::mutex mutex;
  std::condition_variable wake;
  bool watching = false, stopping = false;
  std::thread thread;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_MONITOR_MONITOR_H
