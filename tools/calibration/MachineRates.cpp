#include "tools/calibration/MachineRates.h"

#include "runtime/hal/cpu/library/Team.h"
#include "tools/calibration/CacheFolder.h"
#include "tools/calibration/ChildProcess.h"
#include "tools/calibration/MeasureMachine.h"
#include "tools/calibration/RatesFile.h"
#include "tools/calibration/TimesFile.h"

#include <fmt/format.h>

#include <cstdio>

using namespace gc::runtime;

namespace {

/// After the first, what was measured is good enough; before the second, each network must have
/// begun; the last is for a machine on which one hangs.
constexpr int kEnoughSeconds = 8, kMostSeconds = 15, kLimitSeconds = 60;

Result<std::string> measureApart(int threads) {
  return inChildProcess(
      [threads]() -> Result<std::string> {
        MeasureLimits limits;
        limits.enoughSeconds = kEnoughSeconds;
        limits.mostSeconds = kMostSeconds;
        Result<MeasuredMachine> machine = measureMachine(threads, limits);
        if (!machine)
          return machine.error();
        return machine->json();
      },
      kLimitSeconds);
}

} // namespace

bool asksForTime(const gc::CompileOptions &options) {
  return options.budgetBytes || options.pareto || options.accumulateAuto ||
         options.remat != "none" || options.explain;
}

RatesWish usualWish(bool noCalibrate, bool measure) {
  return {noCalibrate || isCalibrationOff(), measure, measureApart,
          [](const std::string &line) { fmt::print(stderr, "note: {}\n", line); }};
}

void findMachineRates(gc::CompileOptions &options, const RatesWish &wish) {
  if (wish.noCalibrate || options.device != "cpu" || !options.costs.empty())
    return;
  int usable = gc::runtime::cpu::usableThreads();
  MachineKey key = thisMachine(options.threads > 0 ? options.threads : usable);
  if (key.threads > usable) {
    if (wish.measure)
      wish.say(fmt::format("a plan for {} threads cannot be measured on this machine, which has "
                           "{}; built-in rates are used",
                           key.threads, usable));
    return;
  }
  auto use = [&](const std::string &rates) {
    options.machine.name = "calibrated " + key.text();
    options.machine.rates = rates;
  };
  Result<std::string> folder = cacheFolder();
  if (folder) {
    std::string fault;
    options.machine.opSeconds = TimesFile(*folder, key).read(fault);
    if (!fault.empty())
      wish.say(fault + "; the times in it are not used, and the next run begins it anew");
    RatesFile::Content content = RatesFile(*folder, key).read();
    if (!content.rates.empty())
      use(content.rates);
    if (!content.rates.empty() && !(wish.measure && content.isWorthRepeating))
      return;
    if (!content.fault.empty() && wish.measure)
      wish.say(content.fault + "; it is measured again");
  }
  if (!wish.measure)
    return;
  wish.say(fmt::format("measuring this machine's rates once ({}), about 10 s; --no-calibrate uses "
                       "built-in ones",
                       key.text()));
  Result<std::string> rates = wish.how(key.threads);
  if (!rates)
    return wish.say(fmt::format("this machine's rates could not be measured ({}); {} are used",
                                rates.error().message,
                                options.machine.rates.empty() ? "built-in ones" : "older ones"));
  use(*rates);
  Status wrote = folder ? RatesFile(*folder, key).write(*rates) : Status(folder.error());
  wish.say(wrote ? fmt::format("measured; kept in '{}'", RatesFile(*folder, key).path())
                 : "measured, but not kept for the next time: " + wrote.error().message);
}

void keepOpTimes(const std::vector<OpTime> &times, int threads) {
  if (times.empty() || isCalibrationOff())
    return;
  // A run has done what was asked for; that its times are not kept is no reason to say anything.
  if (Result<std::string> folder = cacheFolder())
    (void)TimesFile(*folder, thisMachine(threads)).add(times);
}
