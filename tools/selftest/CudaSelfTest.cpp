#include "tools/selftest/CudaSelfTest.h"

#include "runtime/hal/Registry.h"
#include "runtime/hal/conformance/Conformance.h"
#include "runtime/nvml/NvmlSampler.h"
#include "runtime/process/AtomicFile.h"
#include "runtime/report/Sizes.h"
#include "tools/flags/CommandLine.h"
#include "tools/flags/CudaModel.h"
#include "tools/selftest/CudaLowering.h"
#include "tools/selftest/SelfTestSetup.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <algorithm>

using namespace gc::runtime;

gc::CompileOptions SelfTestSetup::cpuOptions() const {
  gc::CompileOptions options;
  options.threads = threads;
  return options;
}

gc::CompileOptions SelfTestSetup::cudaOptions(const std::string &library) const {
  gc::CompileOptions options;
  options.device = "cuda";
  options.targetProperties = properties;
  options.cudaLibrary = library;
  options.threads = threads;
  return options;
}

TrainOptions SelfTestSetup::trainOptions(const std::string &device, uint64_t steps) const {
  static std::FILE *const quiet = std::fopen("/dev/null", "w");
  TrainOptions options;
  options.schedule.steps = steps;
  options.schedule.workers = 0;
  options.schedule.seed = 1;
  options.device = device;
  options.threads = threads;
  if (quiet)
    options.out = quiet;
  return options;
}

Result<PlanFile> compileNetwork(const SelfTestNetwork &network, const gc::CompileOptions &options,
                                double *stepSeconds) {
  Result<CompiledModel> compiled =
      compileText(network.text, network.name, options, /*showWarnings=*/false);
  if (!compiled)
    return compiled.error();
  if (stepSeconds)
    *stepSeconds =
        nlohmann::json::parse(compiled->result.report, nullptr, /*allow_exceptions=*/false)
            .value("step_seconds_predicted", 0.0);
  return PlanFile::fromMemory(std::as_bytes(std::span(compiled->result.plan)), network.name);
}

namespace {

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

/// Whether the compiler can plan with it, too.
std::string whyNoPlans(const SelfTestSetup &setup) {
  Result<PlanFile> plan = compileNetwork(setup.networks.front(), setup.cudaOptions("cudnn"));
  return plan ? "" : plan.error().message;
}

void testDevice(hal::Device &device, SelfTestSetup &setup, Findings &findings,
                Findings::Json properties) {
  findings.section("device", "device, driver and libraries");
  findings.note("device",
                fmt::format("{} ({}), compute capability {}", properties.value("name", "?"),
                            device.name(), properties.value("compute_capability", "?")));
  findings.note("driver", properties.value("driver_version", "?"));
  findings.note("memory", sizeText(properties.value("total_memory_bytes", uint64_t(0))));
  findings.note("compiled for",
                fmt::format("{} (the model: {})", setup.model.target, setup.model.name));
  findings.passed("properties", fmt::format("{} attributes", properties["attributes"].size()));

  if (auto nvml = NvmlSampler::open({.uuid = device.uuid(), .pciBusId = device.pciBusId()}))
    findings.passed("nvml", fmt::format("knows the device as {}", (*nvml)->describe().name));
  else
    findings.skipped("nvml", nvml.error().message);

  std::string version;
  if (properties.value("name", "").find("emulated") != std::string::npos)
    setup.whyNoLibrary = "an emulated GPU executes no kernels of cuDNN";
  else
    setup.whyNoLibrary = whyNoCudnn(version);
  if (setup.whyNoLibrary.empty())
    setup.whyNoLibrary = whyNoPlans(setup);
  findings.fact("cudnn_version", version);
  if (setup.whyNoLibrary.empty())
    findings.passed("cudnn", "version " + version);
  else
    findings.skipped("cudnn", setup.whyNoLibrary);
}

void testConformance(const SelfTestSetup &setup, Findings &findings) {
  findings.section("conformance", "the suite that every device passes");
  CudaLowering lowering(setup.model);
  for (const std::string &name : conformance::caseNames(lowering)) {
    conformance::CaseResult result =
        conformance::runCase(name, setup.device, setup.threads, &lowering);
    findings.judge(result.passed, name, result.message);
  }
}

Result<void> writeFile(const std::string &path, const std::string &text) {
  Result<AtomicFile> file = AtomicFile::create(path);
  if (!file)
    return file.error();
  if (Result<void> done = file->write(text); !done)
    return done;
  return file->commit();
}

} // namespace

const std::vector<std::string> &cudaSelfTestSections() {
  static const std::vector<std::string> names = {"device", "conformance", "gradients", "ops",
                                                 "training"};
  return names;
}

int cudaSelfTest(const CudaSelfTestOptions &options) {
  SelfTestSetup setup;
  setup.device = options.device;
  setup.threads = options.threads;
  setup.quick = options.quick;
  Result<std::unique_ptr<hal::Device>> device = hal::createDevice(options.device);
  if (!device)
    return failWith("gc-run", device.error());
  Result<gc::cuda::DeviceModel> model = cudaModel(**device);
  if (!model)
    return failWith("gc-run", model.error());
  setup.model = *model;
  setup.networks = selfTestNetworks(options.quick);
  Result<std::string> text = (*device)->propertiesJson();
  if (!text)
    return failWith("gc-run", text.error());
  setup.properties = *text;
  auto properties = Findings::Json::parse(*text, nullptr, /*allow_exceptions=*/false);

  auto isAskedFor = [&](const char *section) {
    return options.sections.empty() || std::find(options.sections.begin(), options.sections.end(),
                                                 section) != options.sections.end();
  };
  Findings findings;
  testDevice(**device, setup, findings, properties);
  device->reset(); // the sections make their own
  if (isAskedFor("conformance"))
    testConformance(setup, findings);
  if (isAskedFor("gradients"))
    testGradients(setup, findings);
  if (isAskedFor("ops"))
    testOps(setup, findings);
  if (isAskedFor("training"))
    testTraining(setup, findings);

  Findings::Json report = {{"gc_version", GC_VERSION},
                           {"plan_version", kPlanVersion},
                           {"target", setup.model.target},
                           {"quick", setup.quick},
                           {"properties", properties}};
  report["sections"] = findings.finish();
  bool isFine = findings.failures() == 0;
  std::string verdict =
      fmt::format("{}: {} passed, {} failed, {} skipped", isFine ? "passed" : "FAILED",
                  findings.passes(), findings.failures(), findings.skips());
  report["verdict"] = verdict;
  fmt::print("\nverdict: {}\n", verdict);
  if (Result<void> written =
          writeFile(options.report,
                    report.dump(1, ' ', false, Findings::Json::error_handler_t::replace) + "\n");
      !written)
    return failWith("gc-run", written.error());
  fmt::print("{} has every number; please send it back\n", options.report);
  if (isFine)
    return gc::exits::Done;
  fmt::print(stderr, "gc-run: device '{}' failed its self-test ({})\n", options.device,
             findings.firstFailure());
  return gc::exits::RunFailed;
}
