#include "runtime/nvml/NvmlProcesses.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <unistd.h>

namespace gc::runtime {

using namespace nvml;

/// The last part of the path that NVML tells.
static std::string nameOf(const Functions &api, unsigned pid) {
  std::array<char, 1024> text = {};
  if (!api.nvmlSystemGetProcessName ||
      api.nvmlSystemGetProcessName(pid, text.data(), text.size()) != NVML_SUCCESS)
    return "";
  text.back() = '\0';
  std::string name = text.data();
  name = name.substr(0, name.find(' '));
  return name.substr(name.rfind('/') + 1);
}

std::vector<GpuProcess> nvmlOtherProcesses(const WatchedDevice &device,
                                           const std::string &library) {
  Result<std::unique_ptr<Nvml>> nvml = Nvml::open(library);
  if (!nvml)
    return {};
  Result<nvmlDevice_t> handle = (*nvml)->find(device);
  if (!handle)
    return {};
  const Functions &api = (*nvml)->api();
  std::vector<GpuProcess> others;
  bool isOneOfThem = false;
  for (auto list : {api.nvmlDeviceGetComputeRunningProcesses_v3,
                    api.nvmlDeviceGetGraphicsRunningProcesses_v3}) {
    std::vector<nvmlProcessInfo_t> processes(64);
    auto count = static_cast<unsigned>(processes.size());
    nvmlReturn_t code = list ? list(*handle, &count, processes.data()) : NVML_ERROR_NOT_SUPPORTED;
    if (code ==
        NVML_ERROR_INSUFFICIENT_SIZE) { // it says how many there are; some may come meanwhile
      processes.resize(count + 64);
      count = static_cast<unsigned>(processes.size());
      code = list(*handle, &count, processes.data());
    }
    if (code != NVML_SUCCESS)
      continue;
    for (unsigned i = 0; i < count && i < processes.size(); ++i) {
      unsigned pid = processes[i].pid;
      if (pid == static_cast<unsigned>(::getpid())) {
        isOneOfThem = true;
        continue;
      }
      // One that computes and draws is in both lists.
      if (std::any_of(others.begin(), others.end(),
                      [&](const GpuProcess &one) { return one.pid == pid; }))
        continue;
      GpuProcess &one = others.emplace_back(GpuProcess{pid, nameOf(api, pid), std::nullopt});
      if (processes[i].usedGpuMemory != kNotAvailable)
        one.bytes = processes[i].usedGpuMemory;
    }
  }
  if (!isOneOfThem && others.size() == 1 && others[0].name.empty())
    return {};
  std::sort(others.begin(), others.end(), [](const GpuProcess &a, const GpuProcess &b) {
    return a.bytes.value_or(0) > b.bytes.value_or(0);
  });
  return others;
}

std::string processesText(const std::vector<GpuProcess> &processes) {
  if (processes.empty())
    return "";
  const GpuProcess &first = processes[0];
  std::string text = first.name.empty() ? "a process" : first.name;
  text += " (pid " + std::to_string(first.pid);
  if (first.bytes) {
    char size[32];
    std::snprintf(size, sizeof(size), ", %.1f MiB", static_cast<double>(*first.bytes) / 0x1p20);
    text += size;
  }
  text += ")";
  if (processes.size() == 2)
    text += " and another process";
  else if (processes.size() > 2)
    text += " and " + std::to_string(processes.size() - 1) + " other processes";
  return text;
}

} // namespace gc::runtime
