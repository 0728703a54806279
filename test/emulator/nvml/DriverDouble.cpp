// A libcuda.so.1 with the three functions that the emulated NVML asks, and numbers that the test
// sets.
#include <cstddef>
#include <cstdint>
#include <cstring>

static uint64_t used = 0;

extern "C" {
void gcDriverDoubleUse(uint64_t bytes) { used = bytes; }
void gcEmulatorMemoryUsed(uint64_t *bytes) { *bytes = used; }
int cuDeviceTotalMem_v2(size_t *bytes, int device) {
  *bytes = size_t{3} << 30;
  return device == 0 ? 0 : 101;
}
int cuDeviceGetUuid_v2(char *uuid, int device) {
  std::memset(uuid, 0xab, 16);
  return device == 0 ? 0 : 101;
}
}
