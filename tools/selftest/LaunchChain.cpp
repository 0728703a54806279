#include "tools/selftest/LaunchChain.h"

#include "runtime/hal/Registry.h"
#include "runtime/hal/conformance/Lowering.h"

#include <algorithm>
#include <chrono>

using namespace gc::runtime;

namespace {

/// Seconds of a list of so many launches: the fastest of several runs, after one that loads code.
Result<double> listSeconds(hal::Device &device, unsigned launches) {
  conformance::SmallPlan small;
  conformance::PtxLowering lowering;
  lowering.target(small);
  uint32_t in = small.activation("in", {1}), out = small.activation("out", {1});
  lowering.affine(small, in, out, /*items=*/1, /*grain=*/1, conformance::PtxLowering::kAffine);
  for (unsigned i = 1; i < launches; ++i)
    small.launch(0, i % 2 ? std::vector{out, in} : std::vector{in, out}, {1, 1, 1}, {128, 1, 1});
  auto plan = PlanFile::fromMemory(small.finish(), "launches");
  if (!plan)
    return plan.error();
  auto executable = device.load(**plan);
  if (!executable)
    return executable.error();
  auto commands = device.record({&plan->get(), (*plan)->micro_batch(), executable->get(), 0});
  auto arena = device.createArena(**plan);
  auto event = device.createEvent();
  if (!commands || !arena || !event)
    return !commands ? commands.error() : !arena ? arena.error() : event.error();
  if (Status bound = (*commands)->bind(**arena); !bound)
    return bound.error();
  double best = 1e9;
  for (int run = 0; run < 6; ++run) {
    auto began = std::chrono::steady_clock::now();
    Status done = device.submit(**commands, **event);
    if (done)
      done = (*event)->wait();
    if (!done)
      return done.error();
    std::chrono::duration<double> taken = std::chrono::steady_clock::now() - began;
    if (run > 0)
      best = std::min(best, taken.count());
  }
  return best;
}

} // namespace

Result<double> launchSeconds(const std::string &name, unsigned launches) {
  auto device = hal::createDevice(name);
  if (!device)
    return device.error();
  auto one = listSeconds(**device, 1), all = listSeconds(**device, launches);
  if (!one || !all)
    return (!one ? one : all).error();
  double seconds = (*all - *one) / (launches - 1);
  if (seconds <= 0)
    return runFailed("a list of " + std::to_string(launches) +
                     " launches took no longer than one launch");
  return seconds;
}
