#include "runtime/monitor/Monitor.h"
#include "runtime/HelperThread.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace gc::runtime {

uint64_t processMemoryBytes() {
  // statm: sizes in pages; the second one is what is resident.
  char text[128];
  int fd = ::open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return 0;
  ssize_t length = ::read(fd, text, sizeof(text) - 1);
  ::close(fd);
  if (length <= 0)
    return 0;
  text[length] = '\0';
  char *next = text;
  std::strtoull(text, &next, 10);
  return std::strtoull(next, nullptr, 10) * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

double processCpuSeconds() {
  timespec time = {};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

Monitor::Monitor(std::chrono::milliseconds period, size_t capacity)
    : period(period), capacity(std::max<size_t>(capacity, 2)) {}

Monitor::~Monitor() { stop(); }

void Monitor::start() {
  stop();
  samples.clear();
  samples.reserve(capacity);
  deviceSamples.clear();
  if (sampler)
    deviceSamples.reserve(capacity);
  ranges = {};
  latest.reset();
  stride = 1;
  taken = 0;
  memorySum = cpusMax = 0;
  memoryMax = 0;
  stopping = false;
  began = previousTime = std::chrono::steady_clock::now();
  beganCpu = previousCpu = processCpuSeconds();
  watching = true;
  if (auto started = tryThread([this] { loop(); })) // without one, the end is the only sample
    thread = std::move(*started);
}

void Monitor::stop() {
  if (!watching)
    return;
  watching = false;
  {
    std::lock_guard lock(mutex);
    stopping = true;
  }
  wake.notify_all();
  if (thread.joinable())
    thread.join();
  sample(); // the end counts, even of a run shorter than the period
}

void Monitor::loop() {
  std::unique_lock lock(mutex);
  while (!wake.wait_for(lock, period, [&] { return stopping; }))
    sample();
}

/// Every second one, from the first.
template <class T> static void halve(std::vector<T> &series) {
  for (size_t i = 0; 2 * i < series.size(); ++i)
    series[i] = series[2 * i];
  series.resize((series.size() + 1) / 2);
}

DeviceSample Monitor::sampleDevice() {
  DeviceSample current = sampler->sample();
  for (size_t i = 0; i < kDeviceQuantities; ++i) {
    if (!current[i])
      continue;
    QuantityRange &range = ranges[i];
    range.min = range.samples ? std::min(range.min, *current[i]) : *current[i];
    range.max = range.samples ? std::max(range.max, *current[i]) : *current[i];
    range.mean += *current[i];
    range.samples += 1;
  }
  std::lock_guard lock(latestMutex);
  latest = current;
  return current;
}

std::optional<DeviceSample> Monitor::newDeviceSample() {
  std::lock_guard lock(latestMutex);
  return std::exchange(latest, std::nullopt);
}

void Monitor::sample() {
  auto now = std::chrono::steady_clock::now();
  double cpu = processCpuSeconds();
  double wall = std::chrono::duration<double>(now - previousTime).count();
  MonitorSample current;
  current.seconds = static_cast<float>(std::chrono::duration<double>(now - began).count());
  current.cpus = wall > 0 ? static_cast<float>((cpu - previousCpu) / wall) : 0;
  current.memoryBytes = processMemoryBytes();
  memoryMax = std::max(memoryMax, current.memoryBytes);
  memorySum += static_cast<double>(current.memoryBytes);
  // The clocks tick coarsely; a maximum over a sliver of time would mean nothing.
  if (wall * 2 > std::chrono::duration<double>(period).count())
    cpusMax = std::max<double>(cpusMax, current.cpus);
  elapsed = std::chrono::duration<double>(now - began).count();
  usedCpu = cpu - beganCpu;
  previousTime = now;
  previousCpu = cpu;
  DeviceSample device;
  if (sampler)
    device = sampleDevice();
  if (taken++ % stride != 0)
    return;
  if (samples.size() == capacity) {
    halve(samples);
    halve(deviceSamples);
    stride *= 2;
  }
  samples.push_back(current);
  if (sampler)
    deviceSamples.push_back(device);
}

MonitorSummary Monitor::summary() const {
  MonitorSummary result;
  result.seconds = elapsed;
  result.memoryMaxBytes = memoryMax;
  result.memoryMeanBytes =
      taken ? static_cast<uint64_t>(memorySum / static_cast<double>(taken)) : 0;
  result.cpusMean = elapsed > 0 ? usedCpu / elapsed : 0;
  result.cpusMax = std::max(cpusMax, result.cpusMean);
  result.periodSeconds =
      std::chrono::duration<double>(period).count() * static_cast<double>(stride);
  result.samples = samples;
  if (sampler) {
    result.device = {taken, ranges, deviceSamples};
    for (QuantityRange &range : result.device->ranges)
      if (range.samples)
        range.mean /= static_cast<double>(range.samples);
  }
  return result;
}

} // namespace gc::runtime
