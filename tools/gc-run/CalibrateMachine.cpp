#include "tools/gc-run/CalibrateMachine.h"

#include "compiler/Calibrate.h"
#include "runtime/hal/Device.h"
#include "runtime/plan/PlanFile.h"
#include "runtime/trainer/TrainPlan.h"
#include "runtime/weights/AtomicFile.h"
#include "tools/flags/ModelFile.h"
#include "tools/gc-run/CalibrationNetworks.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>

using namespace gc::runtime;

namespace {

constexpr int rounds = 3, stepsInARound = 4;

/// Profiles on their way from the runtime to the compiler.
class ScratchDirectory {
public:
  ScratchDirectory() {
    std::error_code none;
    name = (std::filesystem::temp_directory_path(none) / "gc-calibrate-XXXXXX").string();
    made = ::mkdtemp(name.data()) != nullptr;
  }
  ~ScratchDirectory() {
    std::error_code ignored;
    if (made)
      std::filesystem::remove_all(name, ignored);
  }
  bool ok() const { return made; }
  std::string file(size_t number) const { return name + "/" + std::to_string(number) + ".json"; }
  const std::string &path() const { return name; }

private:
  std::string name;
  bool made = false;
};

struct Compiled {
  PlanFile plan;
  gc::ProfiledNetwork network;
};

Result<std::vector<Compiled>> compileAll(int threads) {
  std::vector<Compiled> all;
  for (std::string &text : calibrationNetworks()) {
    gc::CompileOptions options;
    options.threads = threads;
    Result<CompiledModel> compiled = compileText(text, "calibration", options);
    if (!compiled)
      return compiled.error();
    Result<PlanFile> plan =
        PlanFile::fromMemory(std::as_bytes(std::span(compiled->result.plan)), "calibration");
    if (!plan)
      return plan.error();
    all.push_back({std::move(*plan), {std::move(text), {}}});
  }
  return all;
}

std::string machineOf(const PlanFile &plan) {
  const auto *cpu = plan->target()->cpu();
  return cpu ? cpu->str() : "";
}

} // namespace

Result<void> calibrateMachine(const std::string &file, int threads) {
  Result<AtomicFile> output = AtomicFile::create(file); // now, rather than an error in two minutes
  if (!output)
    return output.error();
  ScratchDirectory scratch;
  if (!scratch.ok())
    return badInput(fmt::format("--calibrate: cannot make a directory like '{}': {}",
                                scratch.path(), std::strerror(errno)));
  {
    auto device = hal::createDevice("cpu", {.threads = threads});
    if (!device)
      return device.error();
    threads = (*device)->threads();
  }
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> quiet(std::fopen("/dev/null", "w"), std::fclose);
  Result<std::vector<Compiled>> compiled = compileAll(threads);
  if (!compiled)
    return compiled.error();
  size_t profiles = 0;
  for (int round = 0; round < rounds; ++round) {
    for (Compiled &one : *compiled) {
      TrainOptions options;
      options.schedule.steps = stepsInARound;
      options.schedule.workers = 0; // nothing beside the step
      options.threads = threads;
      options.profile = scratch.file(profiles++);
      if (quiet)
        options.out = quiet.get();
      if (Result<void> ran = trainPlan(one.plan, options); !ran)
        return ran;
      one.network.profiles.push_back(options.profile);
    }
    fmt::print("measured {} of {} times\n", round + 1, rounds);
    std::fflush(stdout);
  }
  std::vector<gc::ProfiledNetwork> networks;
  for (Compiled &one : *compiled)
    networks.push_back(std::move(one.network));
  gc::Calibration calibration = gc::calibrate(networks, threads);
  if (!calibration.error.empty())
    return runFailed(calibration.error);
  for (const auto &[name, value] : calibration.rates)
    fmt::print("{:<38} {:.4g}\n", name, value);
  for (const gc::Calibration::Fit &fit : calibration.fits)
    fmt::print("{:<38} {:.4g} s measured, {:.4g} s predicted\n", fit.model, fit.measuredSeconds,
               fit.predictedSeconds);
  if (Result<void> wrote = output->write(calibration.json(machineOf((*compiled)[0].plan), threads));
      !wrote)
    return wrote;
  return output->commit();
}
