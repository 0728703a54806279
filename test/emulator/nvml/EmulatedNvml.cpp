// A libnvidia-ml.so.1 for machines without one: the functions that we use, over the emulated
// driver's device. It ends the program, with a line that says why, on everything that a caller of
// NVML must not do, and at exit where initializations are not all shut down. README.md lists what
// the environment can ask of it; it is read at each first nvmlInit_v2.
#include "runtime/nvml/NvmlApi.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

using namespace gc::runtime::nvml;

/// The handle of a device: it is only ever pointed to.
struct gc::runtime::nvml::nvmlDevice_st {
  unsigned index = 0;
};

namespace {

struct Fault {
  std::string function;
  uint64_t call = 0; // from 1; 0: every one
  nvmlReturn_t code = NVML_SUCCESS;
};

constexpr unsigned kMostDevices = 16;

struct State {
  std::mutex mutex;
  int initialized = 0;
  std::vector<Fault> faults;
  std::map<std::string, uint64_t, std::less<>> calls;
  unsigned devices = 1;
  std::string process; // how this process is listed
  struct Other {
    std::string name;
    uint64_t bytes = 0;
  };
  std::vector<Other> others; // on the driver's first device
  unsigned pciDomain = 0;
  bool isPartition = false; // the driver's first device is a part of a partitioned GPU
  nvmlDevice_st handles[kMostDevices];
};
State state;

[[noreturn]] void stop(const std::string &message) {
  std::fprintf(stderr, "emulated NVML: %s\n", message.c_str());
  std::fflush(stderr);
  std::abort();
}

template <class T> bool parse(std::string_view text, T &value) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

uint64_t bytesOf(const char *variable, const std::string &value) {
  std::string_view text = value;
  unsigned shift = 0;
  for (auto [suffix, power] : {std::pair("KiB", 10u), {"MiB", 20u}, {"GiB", 30u}})
    if (text.ends_with(suffix)) {
      text.remove_suffix(3);
      shift = power;
    }
  uint64_t bytes = 0;
  if (!parse(text, bytes))
    stop(std::string(variable) + "='" + value + "' is not a number of bytes, KiB, MiB or GiB");
  return bytes << shift;
}

uint64_t bytesFrom(const char *variable, uint64_t otherwise) {
  const char *value = std::getenv(variable);
  return value ? bytesOf(variable, value) : otherwise;
}

const char *const functionNames[] = {
#define GC_NVML_NAME(result, symbol, parameters) #symbol,
    GC_NVML_FUNCTIONS(GC_NVML_NAME)
#undef GC_NVML_NAME
};

Fault parseFault(std::string_view text) {
  size_t colon = text.find(':'), equals = text.find('=');
  Fault fault;
  unsigned code = 0;
  if (colon != text.npos && equals != text.npos && colon < equals) {
    fault.function = text.substr(0, colon);
    std::string_view call = text.substr(colon + 1, equals - colon - 1);
    bool known = false;
    for (const char *name : functionNames)
      known |= fault.function == name;
    if (known && (call == "*" || (parse(call, fault.call) && fault.call > 0)) &&
        parse(text.substr(equals + 1), code) && code > 0) {
      fault.code = static_cast<nvmlReturn_t>(code);
      return fault;
    }
  }
  stop("GC_EMULATOR_NVML_FAIL: '" + std::string(text) +
       "' is not FUNCTION:N=CODE (N from 1, or *)");
}

void readEnvironment() {
  auto text = [](const char *name) -> std::string_view {
    const char *value = std::getenv(name);
    return value ? value : "";
  };
  state.faults.clear();
  state.calls.clear();
  for (std::string_view faults = text("GC_EMULATOR_NVML_FAIL"); !faults.empty();) {
    size_t comma = faults.find(',');
    state.faults.push_back(parseFault(faults.substr(0, comma)));
    faults = comma == faults.npos ? "" : faults.substr(comma + 1);
  }
  state.devices = 1;
  if (std::string_view devices = text("GC_EMULATOR_NVML_DEVICES");
      !devices.empty() && (!parse(devices, state.devices) || state.devices > kMostDevices))
    stop("GC_EMULATOR_NVML_DEVICES should be a number up to 16");
  state.process = text("GC_EMULATOR_NVML_PROCESS");
  if (!state.process.empty() && state.process != "hidden" && state.process != "unknown")
    stop("GC_EMULATOR_NVML_PROCESS should be hidden or unknown");
  state.others.clear();
  for (std::string_view others = text("GC_EMULATOR_OTHERS"); !others.empty();) {
    std::string_view one = others.substr(0, others.find(','));
    size_t colon = one.find(':');
    if (colon == one.npos)
      stop("GC_EMULATOR_OTHERS: '" + std::string(one) + "' is not NAME:BYTES");
    state.others.push_back({std::string(one.substr(0, colon)),
                            bytesOf("GC_EMULATOR_OTHERS", std::string(one.substr(colon + 1)))});
    others = one.size() == others.size() ? "" : others.substr(one.size() + 1);
  }
  state.pciDomain = 0;
  if (std::string_view domain = text("GC_EMULATOR_PCI_DOMAIN");
      !domain.empty() && !parse(domain, state.pciDomain))
    stop("GC_EMULATOR_PCI_DOMAIN should be a number");
  state.isPartition = text("GC_EMULATOR_MIG") == "1";
  for (unsigned i = 0; i < kMostDevices; ++i)
    state.handles[i].index = i;
}

/// Counts the call; an error where the environment asks for one.
std::optional<nvmlReturn_t> enter(const char *function) {
  if (!state.initialized && std::strcmp(function, "nvmlInit_v2") != 0)
    stop(std::string(function) + " was called before nvmlInit_v2");
  uint64_t call = ++state.calls[function];
  for (const Fault &fault : state.faults)
    if (fault.function == function && (fault.call == 0 || fault.call == call))
      return fault.code;
  return std::nullopt;
}

void need(const char *function, const void *pointer, const char *what) {
  if (!pointer)
    stop(std::string(function) + ": " + what + " is null");
}

/// Its index.
unsigned check(const char *function, nvmlDevice_t device) {
  for (unsigned i = 0; i < state.devices; ++i)
    if (device == &state.handles[i])
      return i;
  stop(std::string(function) + ": no handle of a device");
}

/// The emulated driver's devices come the other way round, so that whoever takes a CUDA ordinal for
/// an index gets another device's numbers.
int ordinalOf(unsigned index) { return static_cast<int>(state.devices - 1 - index); }

/// The emulated driver's; it is not asked, for its calls are counted and may be ordered to fail.
std::string uuidOf(unsigned index) {
  unsigned char bytes[16] = "gc-emulated-gpu";
  bool isPart = state.isPartition && ordinalOf(index) == 0;
  if (isPart)
    std::memcpy(bytes, "gc-emulated-mig", 15);
  bytes[15] = static_cast<unsigned char>(ordinalOf(index));
  std::string text = isPart ? "MIG-" : "GPU-";
  for (int i = 0; i < 16; ++i) {
    char digits[3];
    std::snprintf(digits, sizeof digits, "%02x", bytes[i]);
    text += (i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "") + std::string(digits);
  }
  return text;
}

struct Usage {
  uint64_t total = 0, used = 0;
};
constexpr uint64_t kReserved = 64 << 20;

Usage usageOf(unsigned index) {
  if (ordinalOf(index) != 0)
    return {uint64_t{4} << 30, uint64_t{index + 1} << 20};
  // As NVML counts, which calls more the device's than CUDA does.
  Usage usage = {bytesFrom("GC_EMULATOR_MEMORY", uint64_t{2} << 30) + kReserved, 0};
  // The driver that the process has loaded; never loads it.
  if (void *driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD)) {
    auto ask = reinterpret_cast<void (*)(uint64_t *)>(::dlsym(driver, "gcEmulatorMemoryUsed"));
    if (!ask)
      stop("the libcuda.so.1 that is loaded is not the emulated one");
    ask(&usage.used);
    ::dlclose(driver);
  } else
    usage.used = bytesFrom("GC_EMULATOR_NVML_MEMORY", 100 << 20);
  return usage;
}

/// The readings of a busy device, the same in every run: they move with the number of calls.
unsigned utilizationNow() {
  return 50 + static_cast<unsigned>(state.calls["nvmlDeviceGetUtilizationRates"] * 7 % 50);
}

nvmlReturn_t handleFor(unsigned index, nvmlDevice_t *device) {
  *device = &state.handles[index];
  return NVML_SUCCESS;
}

struct LeakCheck {
  ~LeakCheck() {
    if (state.initialized)
      stop(std::to_string(state.initialized) + " nvmlInit_v2 without nvmlShutdown");
  }
} leakCheck;

} // namespace

#define GC_ENTER()                                                                                 \
  std::lock_guard lock(state.mutex);                                                               \
  if (std::optional<nvmlReturn_t> fault = enter(__func__))                                         \
  return *fault

extern "C" {

/// How often it is initialized now; for tests.
int gcEmulatorNvmlInitialized() {
  std::lock_guard lock(state.mutex);
  return state.initialized;
}

nvmlReturn_t nvmlInit_v2() {
  std::lock_guard lock(state.mutex);
  if (state.initialized == 0)
    readEnvironment();
  if (std::optional<nvmlReturn_t> fault = enter(__func__))
    return *fault;
  state.initialized += 1;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlShutdown() {
  GC_ENTER(); // the real one counts down only where it succeeds, too
  state.initialized -= 1;
  return NVML_SUCCESS;
}

const char *nvmlErrorString(nvmlReturn_t result) {
  switch (result) {
  case NVML_SUCCESS:
    return "Success";
  case NVML_ERROR_UNINITIALIZED:
    return "Uninitialized";
  case NVML_ERROR_INVALID_ARGUMENT:
    return "Invalid Argument";
  case NVML_ERROR_NOT_SUPPORTED:
    return "Not Supported";
  case NVML_ERROR_NO_PERMISSION:
    return "Insufficient Permissions";
  case NVML_ERROR_NOT_FOUND:
    return "Not Found";
  case NVML_ERROR_INSUFFICIENT_SIZE:
    return "Insufficient Size";
  case NVML_ERROR_DRIVER_NOT_LOADED:
    return "Driver Not Loaded";
  case NVML_ERROR_FUNCTION_NOT_FOUND:
    return "Function Not Found";
  case NVML_ERROR_GPU_IS_LOST:
    return "GPU is lost";
  default:
    return "Unknown Error";
  }
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned *count) {
  GC_ENTER();
  need(__func__, count, "count");
  *count = state.devices;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByUUID(const char *uuid, nvmlDevice_t *device) {
  GC_ENTER();
  need(__func__, uuid, "the UUID");
  need(__func__, device, "device");
  for (unsigned i = 0; i < state.devices; ++i)
    if (uuidOf(i) == uuid)
      return handleFor(i, device);
  return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char *id, nvmlDevice_t *device) {
  GC_ENTER();
  need(__func__, id, "the bus id");
  need(__func__, device, "device");
  unsigned domain = 0, bus = 0, slot = 0, function = 0;
  bool whole = std::sscanf(id, "%x:%x:%x.%x", &domain, &bus, &slot, &function) == 4;
  bool domainless = !whole && std::sscanf(id, "%x:%x.%x", &bus, &slot, &function) == 3;
  // Bus 1 is the driver's first device, and so on. That of a part is the whole GPU's, which a user
  // of the part may not see.
  if (state.isPartition && bus == 1)
    return NVML_ERROR_NO_PERMISSION;
  if ((whole || domainless) && (domainless || domain == state.pciDomain) && bus >= 1 &&
      bus <= state.devices && slot == 0 && function == 0)
    return handleFor(state.devices - bus, device);
  return NVML_ERROR_NOT_FOUND;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned index, nvmlDevice_t *device) {
  GC_ENTER();
  need(__func__, device, "device");
  if (index >= state.devices)
    return NVML_ERROR_INVALID_ARGUMENT;
  return handleFor(index, device);
}

nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t device, char *name, unsigned length) {
  GC_ENTER();
  need(__func__, name, "name");
  std::string text = "Emulated GPU " + std::to_string(ordinalOf(check(__func__, device)));
  if (length <= text.size())
    return NVML_ERROR_INSUFFICIENT_SIZE;
  std::memcpy(name, text.c_str(), text.size() + 1);
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo(nvmlDevice_t device, nvmlMemory_t *memory) {
  GC_ENTER();
  need(__func__, memory, "memory");
  Usage usage = usageOf(check(__func__, device));
  *memory = {usage.total, usage.total - usage.used - kReserved, usage.used + kReserved};
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t device, nvmlUtilization_t *rates) {
  GC_ENTER();
  need(__func__, rates, "rates");
  if (state.isPartition && ordinalOf(check(__func__, device)) == 0)
    return NVML_ERROR_NOT_SUPPORTED; // no part of a GPU has this
  check(__func__, device);
  *rates = {utilizationNow(), utilizationNow() / 2};
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned *clock) {
  GC_ENTER();
  need(__func__, clock, "clock");
  check(__func__, device);
  if (type != NVML_CLOCK_SM && type != NVML_CLOCK_MEM)
    stop(std::string(__func__) + ": no clock of ours");
  *clock = type == NVML_CLOCK_SM ? 1695 : 9751;
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t device, nvmlTemperatureSensors_t sensor,
                                      unsigned *celsius) {
  GC_ENTER();
  need(__func__, celsius, "celsius");
  check(__func__, device);
  if (sensor != NVML_TEMPERATURE_GPU)
    stop(std::string(__func__) + ": no sensor of ours");
  *celsius = 40 + static_cast<unsigned>(std::min<uint64_t>(state.calls[__func__], 35));
  return NVML_SUCCESS;
}

// What drivers of a few years ago do not have: tests build the library without it, too.
#ifndef GC_EMULATOR_NVML_OLD

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t device, nvmlMemory_v2_t *memory) {
  GC_ENTER();
  need(__func__, memory, "memory");
  if (memory->version != kMemoryVersion2)
    stop(std::string(__func__) + ": the struct does not say its version");
  Usage usage = usageOf(check(__func__, device));
  *memory = {kMemoryVersion2, usage.total, kReserved, usage.total - usage.used - kReserved,
             usage.used};
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned *milliwatts) {
  GC_ENTER();
  need(__func__, milliwatts, "milliwatts");
  check(__func__, device);
  *milliwatts = 30'000 + 2'500 * utilizationNow();
  return NVML_SUCCESS;
}

// Nobody has these numbers.
static constexpr unsigned kFirstOther = 0x7fffff00, kHidden = 0x7ffffffe;

nvmlReturn_t nvmlDeviceGetComputeRunningProcesses_v3(nvmlDevice_t device, unsigned *count,
                                                     nvmlProcessInfo_t *processes) {
  GC_ENTER();
  need(__func__, count, "count");
  Usage usage = usageOf(check(__func__, device));
  unsigned room = *count;
  *count = 1 + static_cast<unsigned>(state.others.size());
  if (room < *count)
    return NVML_ERROR_INSUFFICIENT_SIZE;
  need(__func__, processes, "processes");
  uint64_t own = usage.used;
  for (unsigned i = 0; i < state.others.size(); ++i) {
    processes[i] = {kFirstOther + i, state.others[i].bytes, ~0u, ~0u};
    own -= std::min(own, state.others[i].bytes);
  }
  processes[state.others.size()] = {state.process == "hidden" ? kHidden
                                                              : static_cast<unsigned>(::getpid()),
                                    state.process == "unknown" ? kNotAvailable : own, ~0u, ~0u};
  return NVML_SUCCESS;
}

// The first of the others draws, too.
nvmlReturn_t nvmlDeviceGetGraphicsRunningProcesses_v3(nvmlDevice_t device, unsigned *count,
                                                      nvmlProcessInfo_t *processes) {
  GC_ENTER();
  need(__func__, count, "count");
  check(__func__, device);
  unsigned room = *count;
  *count = state.others.empty() ? 0 : 1;
  if (room < *count)
    return NVML_ERROR_INSUFFICIENT_SIZE;
  need(__func__, processes, "processes");
  if (*count)
    processes[0] = {kFirstOther, state.others[0].bytes, ~0u, ~0u};
  return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemGetProcessName(unsigned pid, char *name, unsigned length) {
  GC_ENTER();
  need(__func__, name, "name");
  if (pid < kFirstOther || pid - kFirstOther >= state.others.size())
    return NVML_ERROR_NOT_FOUND;
  std::snprintf(name, length, "/usr/bin/%s", state.others[pid - kFirstOther].name.c_str());
  return NVML_SUCCESS;
}

#endif // GC_EMULATOR_NVML_OLD

} // extern "C"
