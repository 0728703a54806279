#include "tools/selftest/CudaSelfTest.h"

#include "runtime/process/AtomicFile.h"
#include "tools/flags/CommandLine.h"
#include "tools/selftest/SelfTestSetup.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

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

void SelfTestSetup::shareFiles() {
  for (const auto *list : {&networks, &rateNetworks})
    for (const SelfTestNetwork &network : *list)
      for (const char *what :
           {"reference", "cpu", "generated", "cudnn", "generated.profile", "cudnn.profile"})
        (void)files.add(network.name + "." + what); // what has no place is made again each time
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

Result<PlanFile> sharedPlan(const SelfTestSetup &setup, const SelfTestNetwork &network,
                            const std::string &variant) {
  std::string name = network.name + "." + variant, bytes = setup.files.read(name);
  if (bytes.empty()) {
    gc::CompileOptions options = variant == "cpu"
                                     ? setup.cpuOptions()
                                     : setup.cudaOptions(variant == "cudnn" ? "cudnn" : "none");
    Result<CompiledModel> compiled =
        compileText(network.text, network.name, options, /*showWarnings=*/false);
    if (!compiled)
      return compiled.error();
    const std::vector<uint8_t> &plan = compiled->result.plan;
    bytes.assign(plan.begin(), plan.end());
    (void)setup.files.write(name, bytes); // without it the next one compiles again
  }
  return PlanFile::fromMemory(std::as_bytes(std::span(bytes)), network.name);
}

namespace {

const char *const kSections[] = {"device", "conformance", "gradients", "ops", "training", "rates"};

/// Says what can be done with this GPU now.
std::string summaryOf(const Findings &findings, const SelfTestSetup &setup, bool isWhole) {
  auto failedWith = [&](auto isMeant) {
    return std::any_of(findings.failures().begin(), findings.failures().end(), isMeant);
  };
  auto isOfLibrary = [](const Findings::Failure &failure) {
    return failure.problem == Problem::Library || failure.name.find("cudnn") != std::string::npos;
  };
  if (failedWith([&](const Findings::Failure &failure) { return !isOfLibrary(failure); }))
    return "do not train on this GPU yet: see the next steps";
  if (failedWith(isOfLibrary))
    return "this GPU trains with generated kernels: use --cuda-library=none until cuDNN's cases "
           "pass";
  if (!isWhole)
    return "what was asked for works";
  return setup.whyNoLibrary.empty()
             ? "this GPU trains, with generated kernels and with cuDNN"
             : fmt::format("this GPU trains with generated kernels; cuDNN was not tested ({})",
                           setup.whyNoLibrary);
}

/// A line for each kind of failure: how many, the first, what to do.
Findings::Json nextSteps(const Findings &findings) {
  std::map<Problem, std::vector<const Findings::Failure *>> kinds;
  for (const Findings::Failure &failure : findings.failures())
    kinds[failure.problem].push_back(&failure);
  Findings::Json steps = Findings::Json::array();
  for (const auto &[problem, failures] : kinds)
    steps.push_back({{"problem", problemName(problem)},
                     {"seen", problemText(problem)},
                     {"cases", failures.size()},
                     {"first", failures[0]->whole()},
                     {"do", nextStep(problem, failures[0]->section, failures[0]->name)}});
  return steps;
}

void printSteps(const Findings::Json &steps) {
  if (!steps.empty())
    fmt::print("next steps\n");
  for (const Findings::Json &step : steps)
    fmt::print("  {} ({} case{}, first {}): {}\n", step["seen"].get<std::string>(),
               step["cases"].get<size_t>(), step["cases"].get<size_t>() == 1 ? "" : "s",
               step["first"].get<std::string>(), step["do"].get<std::string>());
}

} // namespace

const std::vector<std::string> &cudaSelfTestSections() {
  static const std::vector<std::string> names(std::begin(kSections), std::end(kSections));
  return names;
}

int cudaSelfTest(const CudaSelfTestOptions &options) {
  SelfTestSetup setup;
  setup.device = options.device;
  setup.threads = options.threads;
  setup.quick = options.quick;
  setup.networks = selfTestNetworks(options.quick);
  setup.rateNetworks = selfTestRateNetworks(options.quick);
  setup.shareFiles();

  Findings::Json report = {
      {"gc_version", GC_VERSION}, {"plan_version", kPlanVersion}, {"quick", options.quick}};
  Findings findings;
  std::string progress = options.report + ".progress";
  if (Status begun = findings.appendTo(progress, report); !begun)
    return failWith("gc-run", begun.error());
  auto removeProgress = [&] {
    std::error_code none;
    std::filesystem::remove(progress, none);
  };
  fmt::print("cases are appended to {} as they end; a crash or a hang leaves them there\n",
             progress);
  CaseRunner cases(findings, options.limitSeconds);
  int opened = testDevice(setup, cases);
  if (opened != gc::exits::Done && findings.failures().empty()) {
    removeProgress();
    return opened;
  }
  cases.select(options.only);
  size_t casesOfDevice = cases.selectedCases();
  using Section = void (*)(const SelfTestSetup &, CaseRunner &);
  constexpr std::pair<const char *, Section> sections[] = {{"conformance", testConformance},
                                                           {"gradients", testGradients},
                                                           {"ops", testOps},
                                                           {"training", testTraining}};
  auto isAskedFor = [&](const char *section) {
    return options.sections.empty() || std::find(options.sections.begin(), options.sections.end(),
                                                 section) != options.sections.end();
  };
  if (!setup.properties.empty()) {
    for (auto [name, run] : sections)
      if (isAskedFor(name))
        run(setup, cases);
    if (isAskedFor("rates"))
      if (CaseReporter::Json costs = measureRates(setup, cases); costs.is_object())
        report.update(costs);
  }

  if (!options.only.empty() && cases.selectedCases() == casesOfDevice) {
    removeProgress();
    return failWith("gc-run", badInput("--selftest-only: no case of these sections begins so; the "
                                       "names are in the output of the self-test"));
  }

  report["target"] = setup.model.target;
  report["shared_with"] = setup.whoElse;
  report["properties"] = setup.properties.empty()
                             ? Findings::Json()
                             : Findings::Json::parse(setup.properties, nullptr,
                                                     /*allow_exceptions=*/false);
  report["sections"] = findings.finish();
  bool isFine = findings.failures().empty();
  std::string verdict =
      fmt::format("{}: {} passed, {} failed, {} skipped", isFine ? "passed" : "FAILED",
                  findings.passes(), findings.failures().size(), findings.skips());
  std::string summary =
      summaryOf(findings, setup, options.sections.empty() && options.only.empty());
  report["verdict"] = verdict;
  report["summary"] = summary;
  report["next_steps"] = nextSteps(findings);
  fmt::print("\nverdict: {}\n{}\n", verdict, summary);
  printSteps(report["next_steps"]);
  if (Status written = writeFileAtomically(
          options.report,
          report.dump(1, ' ', false, Findings::Json::error_handler_t::replace) + "\n");
      !written)
    return failWith("gc-run", written.error());
  removeProgress();
  fmt::print("{} has every number; please send it back\n", options.report);
  if (report.contains("roofline"))
    fmt::print("measured rates are in it: gc-compile and gc-run take them with --costs={}\n",
               options.report);
  if (isFine)
    return gc::exits::Done;
  const Findings::Failure &first = findings.failures().front();
  fmt::print(stderr, "gc-run: device '{}' failed its self-test ({}: {})\n", options.device,
             first.whole(), first.text);
  return opened == gc::exits::Done ? gc::exits::RunFailed : opened;
}
