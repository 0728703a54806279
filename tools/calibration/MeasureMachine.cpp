#include "tools/calibration/MeasureMachine.h"

#include "runtime/hal/Registry.h"
#include "runtime/plan/PlanFile.h"
#include "runtime/process/Interrupt.h"
#include "runtime/process/TemporaryNames.h"
#include "runtime/session/Disturbance.h"
#include "runtime/trainer/TrainPlan.h"
#include "tools/calibration/CalibrationNetworks.h"
#include "tools/calibration/InputRate.h"
#include "tools/flags/ModelFile.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <memory>
#include <unistd.h>
#include <utility>

using namespace gc::runtime;

namespace {

/// The fastest one counts.
constexpr int stepsInARound = 3;

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

class Measurement {
public:
  Measurement(int threads, const MeasureLimits &limits) : limits(limits) {
    compileOptions.threads = threads;
  }

  Result<MeasuredMachine> run() {
    MeasuredMachine machine;
    Result<double> inputRate = measureInputRate();
    if (!inputRate)
      return inputRate.error();
    if (Status measured = measureNetworks(machine.cpu); !measured)
      return measured.error();
    machine.threads = compileOptions.threads;
    machine.calibration = gc::calibrate(networks(), compileOptions);
    if (!machine.calibration.error.empty())
      return runFailed(machine.calibration.error);
    machine.calibration.inputBytesPerSecond = *inputRate;
    machine.busy = waited / trained;
    return machine;
  }

private:
  using Clock = std::chrono::steady_clock;

  struct Compiled {
    PlanFile plan;
    gc::ProfiledNetwork network;
  };

  bool isOver(double limit) const {
    double elapsed = std::chrono::duration<double>(Clock::now() - begin).count();
    return limit > 0 && elapsed > limit;
  }

  Status measureNetworks(std::string &cpu) {
    Result<std::unique_ptr<hal::Device>> device =
        hal::createDevice("cpu", {.threads = compileOptions.threads});
    if (!device)
      return device.error();
    compileOptions.threads = (*device)->threads();
    device->reset();
    std::vector<std::string> texts = calibrationNetworks();
    for (int round = 0; round < limits.rounds; ++round) {
      for (size_t i = 0; i < texts.size(); ++i) {
        if (round > 0 && isOver(limits.enoughSeconds))
          return {};
        if (round == 0 && isOver(limits.mostSeconds))
          return runFailed(fmt::format("{} of {} networks took {} s; the machine is too busy",
                                       all.size(), texts.size(), limits.mostSeconds));
        if (round == 0)
          if (Status compiled = compile(texts[i]); !compiled)
            return compiled;
        if (const auto *name = all[0].plan->target()->cpu())
          cpu = name->str();
        if (Status measured = measure(all[i]); !measured)
          return measured;
      }
      limits.afterRound(round);
    }
    return {};
  }

  Status compile(const std::string &text) {
    Result<CompiledModel> compiled = compileText(text, "calibration", compileOptions);
    if (!compiled)
      return compiled.error();
    Result<PlanFile> plan =
        PlanFile::fromMemory(std::as_bytes(std::span(compiled->result.plan)), "calibration");
    if (!plan)
      return plan.error();
    all.push_back({std::move(*plan), {text, {}}});
    return {};
  }

  Status measure(Compiled &one) {
    TrainOptions options;
    options.schedule.steps = stepsInARound;
    options.schedule.workers = 0; // nothing beside the step
    options.threads = compileOptions.threads;
    options.profile = profilePath;
    if (quiet)
      options.out = quiet.get();
    Disturbance before = Disturbance::now();
    if (Status ran = trainPlan(one.plan, options); !ran)
      return ran;
    Disturbance after = Disturbance::now();
    waited += after.waitedSeconds - before.waitedSeconds;
    trained += after.seconds - before.seconds;
    if (interruptRequested())
      endByInterrupt(interruptSignal());
    Result<OpenedProfile> profile = OpenedProfile::take(profilePath);
    if (!profile)
      return profile.error();
    one.network.profiles.push_back(profile->path());
    profiles.push_back(std::move(*profile));
    return {};
  }

  std::vector<gc::ProfiledNetwork> networks() const {
    std::vector<gc::ProfiledNetwork> networks;
    for (const Compiled &one : all)
      networks.push_back(one.network);
    return networks;
  }

  const MeasureLimits &limits;
  gc::CompileOptions compileOptions;
  Clock::time_point begin = Clock::now();
  double waited = 0, trained = 0; // seconds
  std::vector<Compiled> all;
  std::vector<OpenedProfile> profiles;
  std::error_code noFolder; // then the profile is written to the working directory, or fails
  std::string profilePath = (std::filesystem::temp_directory_path(noFolder) /
                             fmt::format("gc-calibrate-{}.json", ::getpid()))
                                .string();
  TemporaryName profileName{profilePath};
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> quiet{std::fopen("/dev/null", "w"), std::fclose};
};

} // namespace

std::string MeasuredMachine::json() const {
  auto out = nlohmann::ordered_json::parse(calibration.json(cpu, threads));
  out[kBusyKey] = busy;
  return out.dump(1) + "\n";
}

Result<MeasuredMachine> measureMachine(int threads, const MeasureLimits &limits) {
  return Measurement(threads, limits).run();
}
