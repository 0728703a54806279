// NVML as the monitor uses it: what it reads, and what becomes of each call that fails or is
// missing.
#include "runtime/monitor/Monitor.h"
#include "runtime/nvml/NvmlProcesses.h"
#include "runtime/nvml/NvmlSampler.h"
#include "test/runtime/io/TestFiles.h"
#include "test/runtime/nvml/EmulatedNvmlSetting.h"

#include <algorithm>
#include <set>

using namespace gc::runtime;
using Quantity = DeviceQuantity;

namespace {

const WatchedDevice device = {kEmulatedUuid, "0000:01:00.0"};

std::unique_ptr<NvmlSampler> sampler(const WatchedDevice &watched = device,
                                     const char *library = GC_EMULATED_NVML) {
  Result<std::unique_ptr<NvmlSampler>> opened = NvmlSampler::open(watched, library);
  EXPECT_TRUE(opened.ok()) << opened.error().message;
  return opened ? std::move(*opened) : nullptr;
}

std::set<Quantity> absent(const DeviceSample &sample) {
  std::set<Quantity> result;
  for (size_t i = 0; i < kDeviceQuantities; ++i)
    if (!sample[i])
      result.insert(static_cast<Quantity>(i));
  return result;
}

double value(const DeviceSample &sample, Quantity quantity) {
  return sample[static_cast<size_t>(quantity)].value_or(-1);
}

} // namespace

TEST(Nvml, ReadsEverything) {
  EmulatedNvmlSetting memory("MEMORY", "123456789");
  auto watched = sampler();
  DeviceSample sample = watched->sample();
  EXPECT_EQ(value(sample, Quantity::MemoryUsed), 123456789);
  EXPECT_EQ(value(sample, Quantity::ProcessMemory), 123456789);
  // The first call: 50 + 7 percent, and a power of 30 W + 2.5 W for each of them.
  EXPECT_EQ(value(sample, Quantity::Utilization), 57);
  EXPECT_EQ(value(sample, Quantity::MemoryUtilization), 28);
  EXPECT_EQ(value(sample, Quantity::Power), 172.5);
  EXPECT_EQ(value(sample, Quantity::Clock), 1695);
  EXPECT_EQ(value(sample, Quantity::MemoryClock), 9751);
  EXPECT_EQ(value(sample, Quantity::Temperature), 41);
  DeviceDescription description = watched->describe();
  EXPECT_EQ(description.name, "Emulated GPU 0");
  EXPECT_EQ(description.uuid, kEmulatedUuid);
  EXPECT_EQ(description.memoryTotalBytes, (2048u + 64u) << 20);
  EXPECT_EQ(description.memoryReservedBytes, 64u << 20);
  for (size_t i = 0; i < kDeviceQuantities; ++i)
    EXPECT_EQ(watched->failure(static_cast<Quantity>(i)), "");
  EXPECT_EQ(openInitializations(), 1);
  watched.reset();
  EXPECT_EQ(openInitializations(), 0);
}

TEST(Nvml, FindsTheDeviceByItsNameNotByItsNumber) {
  EmulatedNvmlSetting devices("DEVICES", "3"), memory("MEMORY", "5000");
  // The driver's first device is NVML's last here.
  EXPECT_EQ(value(sampler()->sample(), Quantity::MemoryUsed), 5000);
  EXPECT_EQ(value(sampler({"", "0000:01:00.0"})->sample(), Quantity::MemoryUsed), 5000);
  EXPECT_EQ(value(sampler({"GPU-no-such", "0000:01:00.0"})->sample(), Quantity::MemoryUsed), 5000);
  EXPECT_EQ(value(sampler({"", "0000:03:00.0"})->sample(), Quantity::MemoryUsed), 1 << 20);
}

TEST(Nvml, SaysWhichDevicesThereAreWhereOursIsNotOne) {
  EmulatedNvmlSetting devices("DEVICES", "2");
  auto opened = NvmlSampler::open({"GPU-no-such", "0000:09:00.0"}, GC_EMULATED_NVML);
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().exitCode(), 4);
  EXPECT_EQ(
      opened.error().message,
      "NVML does not find the device that trains: nvmlDeviceGetHandleByUUID: Not Found (6) for "
      "GPU-no-such, nvmlDeviceGetHandleByUUID: Not Found (6) for MIG-no-such, "
      "nvmlDeviceGetHandleByPciBusId_v2: Not Found (6) for 0000:09:00.0; it has 2 "
      "devices (Emulated GPU 1, Emulated GPU 0)");
  EXPECT_EQ(openInitializations(), 0);
}

TEST(Nvml, MemoryBeforeAnybodyUsesIt) {
  EmulatedNvmlSetting memory("MEMORY", "4321");
  EXPECT_EQ(nvmlMemoryUsed(device, GC_EMULATED_NVML), 4321u);
  EXPECT_EQ(openInitializations(), 0);
  EXPECT_EQ(nvmlMemoryUsed(device, "libno-such-nvml.so.1"), std::nullopt);
  EmulatedNvmlSetting fail("FAIL", "nvmlDeviceGetMemoryInfo_v2:1=999");
  EXPECT_EQ(nvmlMemoryUsed(device, GC_EMULATED_NVML), std::nullopt);
}

TEST(Nvml, APartOfAPartitionedGpuHasAUuidOfItsOwn) {
  EmulatedNvmlSetting part("MIG", "1", "GC_EMULATOR_"), memory("MEMORY", "5000");
  // "gc-emulated-mig" as the driver tells it, and the bus of the whole GPU, which is not to be
  // asked.
  auto watched = sampler({"GPU-67632d65-6d75-6c61-7465-642d6d696700", "0000:01:00.0"});
  EXPECT_EQ(value(watched->sample(), Quantity::MemoryUsed), 5000);
  EXPECT_FALSE(NvmlSampler::open({"", "0000:01:00.0"}, GC_EMULATED_NVML).ok());
}

TEST(Nvml, OtherProcesses) {
  EXPECT_TRUE(nvmlOtherProcesses(device, GC_EMULATED_NVML).empty());
  EXPECT_TRUE(nvmlOtherProcesses(device, "libno-such-nvml.so.1").empty());
  EmulatedNvmlSetting others("OTHERS", "small:1MiB,Xorg:300MiB,third:2MiB", "GC_EMULATOR_");
  std::vector<GpuProcess> found = nvmlOtherProcesses(device, GC_EMULATED_NVML);
  ASSERT_EQ(found.size(), 3u); // "small" draws, too, and is there once
  EXPECT_EQ(found[0].name, "Xorg");
  EXPECT_EQ(found[0].bytes, 300u << 20);
  EXPECT_EQ(processesText(found),
            "Xorg (pid " + std::to_string(found[0].pid) + ", 300.0 MiB) and 2 other processes");
  // Names are not everybody's to see.
  EmulatedNvmlSetting fail("FAIL", "nvmlSystemGetProcessName:*=4");
  found = nvmlOtherProcesses(device, GC_EMULATED_NVML);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_TRUE(processesText(found).starts_with("a process (pid "));
  // In a container this process has another number there.
  EmulatedNvmlSetting none("OTHERS", "", "GC_EMULATOR_"), hidden("PROCESS", "hidden");
  EXPECT_TRUE(nvmlOtherProcesses(device, GC_EMULATED_NVML).empty());
}

TEST(Nvml, ManyOtherProcesses) {
  std::string many = "p:1KiB";
  for (int i = 1; i < 100; ++i)
    many += ",p:1KiB";
  EmulatedNvmlSetting others("OTHERS", many, "GC_EMULATOR_");
  EXPECT_EQ(nvmlOtherProcesses(device, GC_EMULATED_NVML).size(), 100u);
}

TEST(Nvml, NoLibrary) {
  auto opened = NvmlSampler::open(device, "libno-such-nvml.so.1");
  ASSERT_FALSE(opened.ok());
  EXPECT_EQ(opened.error().exitCode(), 4);
  EXPECT_CONTAINS(opened.error().message, "cannot load NVML (libno-such-nvml.so.1");
  EXPECT_CONTAINS(opened.error().message, "comes with NVIDIA's driver");
  // A library, but another one.
  EXPECT_CONTAINS(NvmlSampler::open(device, "libm.so.6").error().message, "lacks nvmlInit_v2");
}

/// Every function fails: what is absent then, or why nothing can be had. Those that are called only
/// when something else failed have a test of their own.
TEST(Nvml, EachFunctionFailsInTurn) {
  struct Case {
    const char *function;
    std::set<Quantity> absent;
    const char *notOpened = nullptr;
  };
  const Case cases[] = {
      {"nvmlInit_v2", {}, "NVML does not start: nvmlInit_v2: "},
      {"nvmlShutdown", {}},
      {"nvmlErrorString", {}},
      {"nvmlDeviceGetCount_v2", {}},
      {"nvmlDeviceGetHandleByUUID", {}, "nvmlDeviceGetHandleByUUID: "},
      {"nvmlDeviceGetHandleByPciBusId_v2", {}},
      {"nvmlDeviceGetHandleByIndex_v2", {}},
      {"nvmlDeviceGetName", {}},
      {"nvmlDeviceGetMemoryInfo", {}},
      {"nvmlDeviceGetMemoryInfo_v2", {Quantity::MemoryUsed}},
      {"nvmlDeviceGetUtilizationRates", {Quantity::Utilization, Quantity::MemoryUtilization}},
      {"nvmlDeviceGetPowerUsage", {Quantity::Power}},
      {"nvmlDeviceGetClockInfo", {Quantity::Clock, Quantity::MemoryClock}},
      {"nvmlDeviceGetTemperature", {Quantity::Temperature}},
      {"nvmlDeviceGetComputeRunningProcesses_v3", {Quantity::ProcessMemory}},
      {"nvmlDeviceGetGraphicsRunningProcesses_v3", {}},
      {"nvmlSystemGetProcessName", {}},
  };
#define GC_EXPECT_CASE(result, symbol, parameters)                                                 \
  EXPECT_TRUE(std::any_of(std::begin(cases), std::end(cases), [](const Case &c) {                  \
    return std::string(c.function) == #symbol;                                                     \
  })) << "no case for " #symbol;
  GC_NVML_FUNCTIONS(GC_EXPECT_CASE)
#undef GC_EXPECT_CASE
  for (const Case &c : cases)
    for (unsigned code : {3u, 4u, 15u, 999u}) {
      SCOPED_TRACE(std::string(c.function) + "=" + std::to_string(code));
      bool forGood = code == 3;
      {
        // A shutdown that failed must still be possible.
        bool once = c.function == std::string("nvmlShutdown");
        EmulatedNvmlSetting fail("FAIL", std::string(c.function) + (once ? ":1=" : ":*=") +
                                             std::to_string(code));
        auto opened = NvmlSampler::open({kEmulatedUuid, ""}, GC_EMULATED_NVML);
        EXPECT_EQ(!opened.ok(), c.notOpened != nullptr);
        if (!opened) {
          EXPECT_CONTAINS(opened.error().message, c.notOpened);
          EXPECT_CONTAINS(opened.error().message, "(" + std::to_string(code) + ")");
          continue;
        }
        bool named = c.function != std::string("nvmlDeviceGetName");
        EXPECT_EQ((*opened)->describe().name, named ? "Emulated GPU 0" : "");
        for (int i = 0; i < 3; ++i) {
          DeviceSample sample = (*opened)->sample();
          // The first version of memory's answer takes the place of the second.
          bool first = forGood && c.function == std::string("nvmlDeviceGetMemoryInfo_v2");
          EXPECT_EQ(absent(sample), first ? std::set<Quantity>() : c.absent);
          if (first) {
            EXPECT_EQ(value(sample, Quantity::MemoryUsed), (100 + 64) << 20);
            EXPECT_FALSE((*opened)->describe().memoryReservedBytes.has_value());
            continue;
          }
          for (Quantity quantity : c.absent) {
            std::string text = (*opened)->failure(quantity);
            EXPECT_CONTAINS(text, std::string(c.function) + ": ");
            EXPECT_CONTAINS(text, "(" + std::to_string(code) + "), ");
            EXPECT_CONTAINS(text, i == 0 ? "once" : std::to_string(i + 1) + " times");
          }
        }
      }
      if (c.function == std::string("nvmlShutdown")) { // what stayed open is this test's to close
        EXPECT_EQ(openInitializations(), 1);
        auto shutdown = reinterpret_cast<nvml::nvmlReturn_t (*)()>(
            ::dlsym(::dlopen(GC_EMULATED_NVML, RTLD_NOW), "nvmlShutdown"));
        EXPECT_EQ(shutdown(), nvml::NVML_SUCCESS);
      }
      EXPECT_EQ(openInitializations(), 0);
    }
}

TEST(Nvml, AFailureThatPassesIsAskedAgain) {
  EmulatedNvmlSetting fail("FAIL", "nvmlDeviceGetPowerUsage:1=999,nvmlDeviceGetTemperature:1=3");
  auto watched = sampler();
  EXPECT_EQ(absent(watched->sample()),
            (std::set<Quantity>{Quantity::Power, Quantity::Temperature}));
  // "Not supported" does not pass.
  EXPECT_EQ(absent(watched->sample()), std::set<Quantity>{Quantity::Temperature});
  EXPECT_EQ(watched->failure(Quantity::Power),
            "nvmlDeviceGetPowerUsage: Unknown Error (999), once");
  EXPECT_EQ(watched->failure(Quantity::Temperature),
            "nvmlDeviceGetTemperature: Not Supported (3), 2 times");
}

TEST(Nvml, BothVersionsOfMemoryFail) {
  EmulatedNvmlSetting fail("FAIL", "nvmlDeviceGetMemoryInfo_v2:*=25,nvmlDeviceGetMemoryInfo:*=4");
  auto watched = sampler();
  EXPECT_EQ(absent(watched->sample()), std::set<Quantity>{Quantity::MemoryUsed});
  EXPECT_EQ(watched->failure(Quantity::MemoryUsed),
            "nvmlDeviceGetMemoryInfo: Insufficient Permissions (4), once");
}

TEST(Nvml, FindingFailsWhateverIsListed) {
  for (const char *function : {"nvmlDeviceGetCount_v2", "nvmlDeviceGetHandleByIndex_v2",
                               "nvmlDeviceGetHandleByPciBusId_v2"}) {
    EmulatedNvmlSetting fail("FAIL", std::string(function) + ":*=999");
    auto opened = NvmlSampler::open({"GPU-no-such", "0000:09:00.0"}, GC_EMULATED_NVML);
    ASSERT_FALSE(opened.ok());
    EXPECT_CONTAINS(opened.error().message, "nvmlDeviceGetHandleByUUID: Not Found (6)");
    EXPECT_CONTAINS(opened.error().message,
                    function == std::string("nvmlDeviceGetCount_v2") ? "that it does not count"
                    : function == std::string("nvmlDeviceGetHandleByIndex_v2")
                        ? "1 device (one that it does not show)"
                        : "nvmlDeviceGetHandleByPciBusId_v2: Unknown Error (999)");
  }
}

TEST(Nvml, AProcessThatIsNotListed) {
  EmulatedNvmlSetting hidden("PROCESS", "hidden");
  auto watched = sampler();
  EXPECT_EQ(absent(watched->sample()), std::set<Quantity>{Quantity::ProcessMemory});
  EXPECT_CONTAINS(watched->failure(Quantity::ProcessMemory), "this process is not in its list");
}

TEST(Nvml, AProcessWhoseMemoryNobodyKnows) {
  EmulatedNvmlSetting unknown("PROCESS", "unknown");
  auto watched = sampler();
  EXPECT_EQ(absent(watched->sample()), std::set<Quantity>{Quantity::ProcessMemory});
  EXPECT_CONTAINS(watched->failure(Quantity::ProcessMemory), "memory of single processes");
}

TEST(Nvml, AnOldDriver) {
  auto watched = sampler(device, GC_EMULATED_NVML_OLD);
  DeviceSample sample = watched->sample();
  EXPECT_EQ(absent(sample), (std::set<Quantity>{Quantity::ProcessMemory, Quantity::Power}));
  EXPECT_EQ(value(sample, Quantity::MemoryUsed), (100 + 64) << 20); // with what is reserved
  EXPECT_FALSE(watched->describe().memoryReservedBytes.has_value());
  EXPECT_EQ(watched->failure(Quantity::Power),
            "nvmlDeviceGetPowerUsage: Function Not Found (13), once");
}

namespace {

/// Memory 10, 20, 30, …; power every second time.
struct CountingSampler final : DeviceSampler {
  DeviceSample sample() override {
    DeviceSample sample;
    calls += 1;
    sample[static_cast<size_t>(Quantity::MemoryUsed)] = 10.0 * static_cast<double>(calls);
    if (calls % 2 == 0)
      sample[static_cast<size_t>(Quantity::Power)] = 100;
    return sample;
  }
  DeviceDescription describe() const override { return {}; }
  std::string failure(DeviceQuantity) const override { return ""; }
  uint64_t calls = 0;
};

} // namespace

TEST(Monitor, SamplesTheDevice) {
  using namespace std::chrono_literals;
  CountingSampler counting;
  Monitor monitor(1ms, 8);
  monitor.watch(&counting);
  monitor.start();
  while (!monitor.newDeviceSample())
    std::this_thread::sleep_for(1ms);
  std::this_thread::sleep_for(50ms);
  monitor.stop();
  EXPECT_TRUE(monitor.newDeviceSample().has_value());
  EXPECT_FALSE(monitor.newDeviceSample().has_value()) << "handed out twice";
  MonitorSummary summary = monitor.summary();
  ASSERT_TRUE(summary.device.has_value());
  const DeviceSummary &seen = *summary.device;
  double n = static_cast<double>(counting.calls);
  EXPECT_GT(n, 8);
  EXPECT_EQ(seen.taken, counting.calls);
  const QuantityRange &memory = seen[Quantity::MemoryUsed];
  EXPECT_EQ(memory.min, 10);
  EXPECT_EQ(memory.max, 10 * n);
  EXPECT_DOUBLE_EQ(memory.mean, 10 * (n + 1) / 2);
  EXPECT_EQ(seen[Quantity::Power].samples, counting.calls / 2);
  EXPECT_EQ(seen[Quantity::Power].mean, 100) << "absent samples count as zero";
  EXPECT_EQ(seen[Quantity::Clock].samples, 0u);
  ASSERT_EQ(seen.samples.size(), summary.samples.size());
  EXPECT_LE(seen.samples.size(), 8u);

  monitor.watch(nullptr);
  monitor.start();
  monitor.stop();
  EXPECT_FALSE(monitor.summary().device.has_value());
}
