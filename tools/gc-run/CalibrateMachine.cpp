#include "tools/gc-run/CalibrateMachine.h"

#include "compiler/Calibrate.h"
#include "runtime/hal/Registry.h"
#include "runtime/plan/PlanFile.h"
#include "runtime/process/AtomicFile.h"
#include "runtime/process/Interrupt.h"
#include "runtime/trainer/TrainPlan.h"
#include "tools/flags/ModelFile.h"
#include "tools/gc-run/CalibrationNetworks.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <unistd.h>
#include <utility>

using namespace gc::runtime;

namespace {

constexpr int rounds = 3, stepsInARound = 4;

/// A profile on its way from the runtime to the compiler: it has a name for as long as it takes to
/// open it, so that nothing is left behind however this process ends.
class OpenedProfile {
public:
  static Result<OpenedProfile> take(const std::string &path) {
    OpenedProfile profile;
    profile.fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (profile.fd < 0)
      return runFailed(fmt::format("cannot open '{}': {}", path, std::strerror(errno)));
    ::unlink(path.c_str());
    return profile;
  }
  OpenedProfile(OpenedProfile &&other) noexcept : fd(std::exchange(other.fd, -1)) {}
  ~OpenedProfile() {
    if (fd >= 0)
      ::close(fd);
  }
  std::string path() const { return fmt::format("/proc/self/fd/{}", fd); }

private:
  OpenedProfile() = default;
  int fd = -1;
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

Status calibrateMachine(const std::string &file, int threads) {
  Result<AtomicFile> output = AtomicFile::create(file); // now, rather than an error in two minutes
  if (!output)
    return output.error();
  std::error_code none;
  std::string profilePath =
      (std::filesystem::temp_directory_path(none) / fmt::format("gc-calibrate-{}.json", ::getpid()))
          .string();
  TemporaryName profileName(profilePath);
  std::vector<OpenedProfile> profiles;
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
  for (int round = 0; round < rounds; ++round) {
    for (Compiled &one : *compiled) {
      TrainOptions options;
      options.schedule.steps = stepsInARound;
      options.schedule.workers = 0; // nothing beside the step
      options.threads = threads;
      options.profile = profilePath;
      if (quiet)
        options.out = quiet.get();
      if (Status ran = trainPlan(one.plan, options); !ran)
        return ran;
      if (interruptRequested())
        endByInterrupt(interruptSignal());
      Result<OpenedProfile> profile = OpenedProfile::take(profilePath);
      if (!profile)
        return profile.error();
      one.network.profiles.push_back(profile->path());
      profiles.push_back(std::move(*profile));
    }
    fmt::print("measured {} of {} times\n", round + 1, rounds);
    std::fflush(stdout);
  }
  std::vector<gc::ProfiledNetwork> networks;
  for (Compiled &one : *compiled)
    networks.push_back(std::move(one.network));
  gc::CompileOptions options;
  options.threads = threads;
  gc::Calibration calibration = gc::calibrate(networks, options);
  if (!calibration.error.empty())
    return runFailed(calibration.error);
  for (const auto &[name, value] : calibration.rates)
    fmt::print("{:<38} {:.4g}\n", name, value);
  for (const gc::Calibration::Fit &fit : calibration.fits)
    fmt::print("{:<38} {:.4g} s measured, {:.4g} s predicted\n", fit.model, fit.measuredSeconds,
               fit.predictedSeconds);
  if (Status wrote = output->write(calibration.json(machineOf((*compiled)[0].plan), threads));
      !wrote)
    return wrote;
  return output->commit();
}
