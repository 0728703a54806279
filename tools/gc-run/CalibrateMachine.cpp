#include "tools/gc-run/CalibrateMachine.h"

#include "runtime/process/AtomicFile.h"
#include "tools/calibration/MeasureMachine.h"

#include <fmt/format.h>

using namespace gc::runtime;

Status calibrateMachine(const std::string &file, int threads) {
  Result<AtomicFile> output = AtomicFile::create(file); // now, rather than an error in a minute
  if (!output)
    return output.error();
  MeasureLimits limits;
  limits.afterRound = [&](int round) {
    fmt::print("measured {} of {} times\n", round + 1, limits.rounds);
    std::fflush(stdout);
  };
  Result<MeasuredMachine> machine = measureMachine(threads, limits);
  if (!machine)
    return machine.error();
  const gc::Calibration &calibration = machine->calibration;
  for (const auto &[name, value] : calibration.rates)
    fmt::print("{:<38} {:.4g}\n", name, value);
  fmt::print("{:<38} {:.4g}\n", "input_bytes_per_second", calibration.inputBytesPerSecond);
  for (const gc::Calibration::Fit &fit : calibration.fits)
    fmt::print("{:<38} {:.4g} s measured, {:.4g} s predicted\n", fit.model, fit.measuredSeconds,
               fit.predictedSeconds);
  if (Status wrote = output->write(machine->json()); !wrote)
    return wrote;
  return output->commit();
}
