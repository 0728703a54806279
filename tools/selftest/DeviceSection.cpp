// What is there: GPU, driver, NVML, cuDNN and one of its plans. The first section, as all others
// rest on it.
#include "runtime/hal/Registry.h"
#include "runtime/hal/conformance/Conformance.h"
#include "runtime/nvml/NvmlProcesses.h"
#include "runtime/nvml/NvmlSampler.h"
#include "runtime/report/Sizes.h"
#include "tools/flags/CommandLine.h"
#include "tools/flags/CudaModel.h"
#include "tools/selftest/CudaLowering.h"
#include "tools/selftest/SelfTestSetup.h"

#include <dlfcn.h>
#include <fmt/format.h>

using namespace gc::runtime;

namespace {

using Json = CaseReporter::Json;

/// What only a process with the device open can tell; an error where there is no such device.
void describe(const std::string &name, CaseReporter &report) {
  Result<std::unique_ptr<hal::Device>> device = hal::createDevice(name);
  Result<std::string> properties = device ? (*device)->propertiesJson() : device.error();
  if (!properties)
    return report.answer(
        {{"error", properties.error().message}, {"exit_code", properties.error().exitCode()}});
  WatchedDevice watched = {.uuid = (*device)->uuid(), .pciBusId = (*device)->pciBusId()};
  Json answer = {{"properties", *properties}, {"name", (*device)->name()}};
  if (auto nvml = NvmlSampler::open(watched))
    answer["nvml"] = (*nvml)->describe().name;
  else
    answer["no_nvml"] = nvml.error().message;
  answer["others"] = processesText(nvmlOtherProcesses(watched));
  report.answer(std::move(answer));
}

/// Empty where the library of cuDNN can be loaded; its version then.
std::string whyNoCudnn(std::string &version) {
  void *library = ::dlopen("libcudnn.so.9", RTLD_NOW | RTLD_LOCAL);
  if (!library) {
    const char *error = ::dlerror();
    return fmt::format("cuDNN 9 is not installed ({})", error ? error : "no reason given");
  }
  auto getVersion = reinterpret_cast<size_t (*)()>(::dlsym(library, "cudnnGetVersion"));
  if (getVersion)
    version = std::to_string(getVersion());
  return getVersion ? "" : "libcudnn.so.9 has no cudnnGetVersion";
}

/// One plan, made and loaded: what goes wrong here goes wrong for all of cuDNN.
void restore(const SelfTestSetup &setup, CaseReporter &report) {
  const char *name = "cudnn-restore";
  std::string version;
  if (std::string why = whyNoCudnn(version); !why.empty()) {
    report.answer({{"why_not", why}});
    return report.skipped(name, why);
  }
  report.fact("cudnn_version", version);
  report.note("cuDNN", version);
  report.doing("planning with cuDNN");
  Result<PlanFile> plan = sharedPlan(setup, setup.networks.front(), "cudnn");
  if (!plan) {
    report.answer({{"why_not", plan.error().message}});
    return report.skipped(name, plan.error().message);
  }
  report.doing("restoring a plan of cuDNN");
  auto device = hal::createDevice(setup.device);
  auto loaded = device ? (*device)->load(**plan) : device.error();
  // That the driver compiles kernels from PTX, as older ones do, is nothing against cuDNN.
  std::string problem = !loaded ? loaded.error().message : (*loaded)->withoutLibrary();
  if (!problem.empty()) {
    report.answer({{"why_not", "its plans do not restore here (cudnn-restore)"}});
    return report.failed(name, "cuDNN " + version + ": " + problem);
  }
  report.answer({{"why_not", ""}});
  report.passed(name, "a plan of cuDNN " + version + " loads");
}

} // namespace

int testDevice(SelfTestSetup &setup, CaseRunner &cases) {
  Findings &findings = cases.findings;
  findings.section("device", "device, driver and libraries");
  Json found = cases.run("open", [&](CaseReporter &report) { describe(setup.device, report); });
  if (!found.is_object()) // a crash or a hang, already told
    return gc::exits::RunFailed;
  if (found.contains("error")) {
    std::string why = found.value("error", "");
    int code = found.value("exit_code", int(gc::exits::Device));
    // No driver, no GPU, none with this number: that is no finding about a GPU.
    Problem problem = problemOf(why);
    if (problem == Problem::Unknown)
      return failWith("gc-run", {ErrorClass(code), why});
    findings.failed("open", problem, why);
    return code;
  }
  setup.properties = found.value("properties", "");
  std::string reason;
  auto model = gc::cuda::describedDevice(setup.properties, reason);
  if (!model)
    return failWith("gc-run", deviceError(fmt::format("device '{}' {}; use --device=cpu",
                                                      found.value("name", "?"), reason)));
  setup.model = *model;
  auto properties = Json::parse(setup.properties, nullptr, /*allow_exceptions=*/false);
  findings.note("device",
                fmt::format("{} ({}), compute capability {}", properties.value("name", "?"),
                            found.value("name", "?"), properties.value("compute_capability", "?")));
  findings.note("driver", properties.value("driver_version", "?"));
  findings.note("memory", sizeText(properties.value("total_memory_bytes", uint64_t(0))));
  findings.note("compiled for",
                fmt::format("{} (the model: {})", setup.model.target, setup.model.name));
  findings.passed("properties", fmt::format("{} attributes", properties["attributes"].size()));
  if (found.contains("nvml"))
    findings.passed("nvml", "knows the device as " + found.value("nvml", ""));
  else
    findings.skipped("nvml", found.value("no_nvml", ""));
  setup.whoElse = found.value("others", "");
  if (!setup.whoElse.empty())
    findings.note("shared with",
                  setup.whoElse + ": what they would spoil is skipped, times are uncertain");
  findings.fact("shared_with", setup.whoElse);
  if (properties.value("name", "").find("emulated") != std::string::npos) {
    setup.whyNoLibrary = "an emulated GPU executes no kernels of cuDNN";
    findings.skipped("cudnn-restore", setup.whyNoLibrary);
    return gc::exits::Done;
  }
  Json restored = cases.run("cudnn-restore", [&](CaseReporter &report) { restore(setup, report); });
  setup.whyNoLibrary = restored.is_object() ? restored.value("why_not", "")
                                            : "restoring a plan ended badly (cudnn-restore)";
  return gc::exits::Done;
}

void testConformance(const SelfTestSetup &setup, CaseRunner &cases) {
  cases.findings.section("conformance", "the suite that every device passes");
  CudaLowering lowering(setup.model);
  for (const std::string &name : conformance::caseNames(lowering))
    cases.run(name, [&](CaseReporter &report) {
      conformance::CaseResult result =
          conformance::runCase(name, setup.device, setup.threads, &lowering);
      // What no driver or library complains of are numbers that differ.
      if (result.passed || problemOf(result.message) == Problem::Unknown)
        report.judge(result.passed, name, result.message);
      else
        report.failed(name, result.message);
    });
}
