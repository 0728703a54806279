#include "runtime/nvml/NvmlSampler.h"

#include <unistd.h>

namespace gc::runtime {

using namespace nvml;

Result<std::unique_ptr<NvmlSampler>> NvmlSampler::open(const WatchedDevice &device,
                                                       const std::string &library) {
  Result<std::unique_ptr<Nvml>> nvml = Nvml::open(library);
  if (!nvml)
    return nvml.error();
  Result<nvmlDevice_t> handle = (*nvml)->find(device);
  if (!handle)
    return handle.error();
  std::unique_ptr<NvmlSampler> sampler(new NvmlSampler(std::move(*nvml), *handle));
  sampler->description.name = sampler->library->name(*handle);
  sampler->description.uuid = device.uuid;
  return sampler;
}

/// Not this time only: the board, or its driver, has no answer.
static bool isForGood(nvmlReturn_t code) {
  return code == NVML_ERROR_NOT_SUPPORTED || code == NVML_ERROR_FUNCTION_NOT_FOUND ||
         code == NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
}

void NvmlSampler::failed(Reading reading, const char *function, nvmlReturn_t code,
                         const char *inWords) {
  Failures &failure = failures[reading];
  if (failure.count++ == 0) {
    failure.function = function;
    failure.code = code;
    failure.inWords = inWords;
  }
  failure.never = isForGood(code);
}

bool NvmlSampler::ask(Reading reading, const char *name, auto function, auto... arguments) {
  if (failures[reading].never) {
    failures[reading].count += 1;
    return false;
  }
  nvmlReturn_t code = function ? function(device, arguments...) : NVML_ERROR_FUNCTION_NOT_FOUND;
  if (code != NVML_SUCCESS)
    failed(reading, name, code);
  return code == NVML_SUCCESS;
}

std::optional<double> NvmlSampler::readMemory() {
  const Functions &api = library->api();
  if (memoryVersion2 && api.nvmlDeviceGetMemoryInfo_v2) {
    nvmlMemory_v2_t memory = {};
    memory.version = kMemoryVersion2;
    nvmlReturn_t code = api.nvmlDeviceGetMemoryInfo_v2(device, &memory);
    if (code == NVML_SUCCESS) {
      description.memoryTotalBytes = memory.total;
      description.memoryReservedBytes = memory.reserved;
      return static_cast<double>(memory.used);
    }
    memoryVersion2 = !isForGood(code); // the first version may know what the second does not
    if (memoryVersion2) {
      failed(Memory, "nvmlDeviceGetMemoryInfo_v2", code);
      return std::nullopt;
    }
  }
  nvmlMemory_t memory = {};
  if (!ask(Memory, "nvmlDeviceGetMemoryInfo", api.nvmlDeviceGetMemoryInfo, &memory))
    return std::nullopt;
  description.memoryTotalBytes = memory.total;
  return static_cast<double>(memory.used);
}

std::optional<double> NvmlSampler::readProcess() {
  unsigned count = processes.size();
  if (!ask(Process, "nvmlDeviceGetComputeRunningProcesses_v3",
           library->api().nvmlDeviceGetComputeRunningProcesses_v3, &count, processes.data()))
    return std::nullopt;
  auto useless = [&](const char *inWords) {
    failed(Process, "nvmlDeviceGetComputeRunningProcesses_v3", NVML_SUCCESS, inWords);
    return std::nullopt;
  };
  // One process is listed once for each part of a partitioned device.
  std::optional<double> bytes;
  for (unsigned i = 0; i < count && i < processes.size(); ++i) {
    if (processes[i].pid != static_cast<unsigned>(::getpid()))
      continue;
    if (processes[i].usedGpuMemory == kNotAvailable)
      return useless("it does not know the memory of single processes");
    bytes = bytes.value_or(0) + static_cast<double>(processes[i].usedGpuMemory);
  }
  if (!bytes)
    return useless("this process is not in its list (in a container it numbers processes as the "
                   "host does)");
  return bytes;
}

std::optional<uint64_t> nvmlMemoryUsed(const WatchedDevice &device, const std::string &library) {
  Result<std::unique_ptr<NvmlSampler>> sampler = NvmlSampler::open(device, library);
  if (!sampler)
    return std::nullopt;
  std::optional<double> bytes =
      (*sampler)->sample()[static_cast<size_t>(DeviceQuantity::MemoryUsed)];
  return bytes ? std::optional(static_cast<uint64_t>(*bytes)) : std::nullopt;
}

DeviceSample NvmlSampler::sample() {
  const Functions &api = library->api();
  DeviceSample sample;
  auto set = [&](DeviceQuantity quantity, std::optional<double> value) {
    sample[static_cast<size_t>(quantity)] = value;
  };
  set(DeviceQuantity::MemoryUsed, readMemory());
  set(DeviceQuantity::ProcessMemory, readProcess());
  nvmlUtilization_t rates = {};
  if (ask(Utilization, "nvmlDeviceGetUtilizationRates", api.nvmlDeviceGetUtilizationRates,
          &rates)) {
    set(DeviceQuantity::Utilization, rates.gpu);
    set(DeviceQuantity::MemoryUtilization, rates.memory);
  }
  unsigned value = 0;
  if (ask(Power, "nvmlDeviceGetPowerUsage", api.nvmlDeviceGetPowerUsage, &value))
    set(DeviceQuantity::Power, value / 1000.0);
  if (ask(Clock, "nvmlDeviceGetClockInfo", api.nvmlDeviceGetClockInfo, NVML_CLOCK_SM, &value))
    set(DeviceQuantity::Clock, value);
  if (ask(MemoryClock, "nvmlDeviceGetClockInfo", api.nvmlDeviceGetClockInfo, NVML_CLOCK_MEM,
          &value))
    set(DeviceQuantity::MemoryClock, value);
  if (ask(Temperature, "nvmlDeviceGetTemperature", api.nvmlDeviceGetTemperature,
          NVML_TEMPERATURE_GPU, &value))
    set(DeviceQuantity::Temperature, value);
  return sample;
}

std::string NvmlSampler::failure(DeviceQuantity quantity) const {
  static constexpr Reading readings[kDeviceQuantities] = {
      Memory, Process, Utilization, Utilization, Power, Clock, MemoryClock, Temperature};
  const Failures &failure = failures[readings[static_cast<size_t>(quantity)]];
  if (failure.count == 0)
    return "";
  std::string text = failure.inWords ? std::string(failure.function) + ": " + failure.inWords
                                     : library->errorText(failure.function, failure.code);
  return text + (failure.count == 1 ? ", once" : ", " + std::to_string(failure.count) + " times");
}

} // namespace gc::runtime
