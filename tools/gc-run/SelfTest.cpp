#include "tools/gc-run/SelfTest.h"

#include "runtime/hal/Registry.h"
#include "runtime/hal/conformance/Conformance.h"

#include "tools/selftest/CudaSelfTest.h"

#include <cstdio>

using namespace gc::runtime;

int selfTest(const Arguments &arguments) {
  std::string device = arguments.train.device.empty() ? "cpu" : arguments.train.device;
  int threads = arguments.train.threads;
  if (device.substr(0, device.find(':')) == "cuda") {
    CudaSelfTestOptions options;
    options.device = device;
    options.threads = threads;
    options.quick = arguments.selftestQuick;
    options.sections = arguments.selftestSections;
    options.only = arguments.selftestOnly;
    if (arguments.selftestLimit > 0)
      options.limitSeconds = arguments.selftestLimit;
    if (!arguments.train.report.empty())
      options.report = arguments.train.report;
    return cudaSelfTest(options);
  }
  {
    hal::DeviceOptions options;
    options.threads = threads;
    Result<std::unique_ptr<hal::Device>> made = hal::createDevice(device, options);
    if (!made) {
      std::fprintf(stderr, "gc-run: %s\n", made.error().message.c_str());
      return made.error().exitCode();
    }
    std::printf("device      %s, %d threads\n", (*made)->name().c_str(), (*made)->threads());
  }
  size_t passed = 0, failed = 0;
  std::string firstFailure;
  for (const std::string &name : conformance::caseNames(device)) {
    conformance::CaseResult result = conformance::runCase(name, device, threads);
    std::printf("%-6s %s%s%s\n", result.passed ? "ok" : "FAILED", name.c_str(),
                result.message.empty() ? "" : ": ", result.message.c_str());
    std::fflush(stdout);
    ++(result.passed ? passed : failed);
    if (!result.passed && firstFailure.empty())
      firstFailure = name + ": " + result.message;
  }
  std::printf("%zu passed, %zu failed\n", passed, failed);
  if (failed == 0 && passed > 0)
    return gc::exits::Done;
  std::fprintf(stderr, "gc-run: device '%s' failed its self-test (%s)\n", device.c_str(),
               firstFailure.empty() ? "there are no cases" : firstFailure.c_str());
  return gc::exits::RunFailed;
}
