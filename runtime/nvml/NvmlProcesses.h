// Who else uses a GPU.
#ifndef GC_RUNTIME_NVML_NVMLPROCESSES_H
#define GC_RUNTIME_NVML_NVMLPROCESSES_H

#include "runtime/nvml/Nvml.h"

#include <vector>

namespace gc::runtime {

struct GpuProcess {
  unsigned pid = 0;
  std::string name;              // "Xorg"; empty: not told
  std::optional<uint64_t> bytes; // of the GPU's memory; absent: not told
};

/// The other processes with a context on the device, those that draw among them, largest first.
/// Empty where NVML does not say. In a container, where NVML numbers processes as the host does,
/// one process of an unknown number is taken for this one.
std::vector<GpuProcess> nvmlOtherProcesses(const WatchedDevice &device,
                                           const std::string &library = nvml::kLibraryName);

/// "Xorg (pid 1234, 300.0 MiB) and 2 other processes"; empty where there are none.
std::string processesText(const std::vector<GpuProcess> &processes);

} // namespace gc::runtime

#endif // GC_RUNTIME_NVML_NVMLPROCESSES_H
