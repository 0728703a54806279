// A short training: the loss falls as on the cpu device, the arena takes what the plan says, and
// the step what the roofline promises.
#include "runtime/process/Interrupt.h"
#include "runtime/report/Sizes.h"
#include "tools/selftest/RelativeError.h"
#include "tools/selftest/SelfTestSetup.h"

#include <fmt/format.h>

using namespace gc::runtime;

namespace {

void judgeLoss(const TrainingReport &report, const TrainingReport &cpu, Findings &findings) {
  double furthest = 0;
  for (size_t i = 0; i < report.loss.size() && i < cpu.loss.size(); ++i)
    furthest = std::fmax(furthest, std::fabs(report.loss[i] / cpu.loss[i] - 1));
  float first = report.loss.front(), last = report.loss.back();
  findings.judge(last < first, "loss-falls",
                 fmt::format("{:.4f} to {:.4f} in {} steps; at most {:.2g} of itself from the cpu "
                             "device's",
                             first, last, report.loss.size(), furthest),
                 {{"loss", report.loss}, {"cpu_loss", cpu.loss}});
}

/// A driver hands out memory in pages of 2 MiB and may have some in reserve.
constexpr uint64_t kPages = 4 << 20;

void judgeMemory(const TrainingReport &report, Findings &findings) {
  if (!report.memory.device)
    return findings.failed("arena", "the device does not tell what its memory went to");
  const DeviceMemoryReport &memory = *report.memory.device;
  uint64_t planned = report.memory.arenaBytes;
  findings.fact("memory", deviceMemoryJson(memory));
  findings.note("memory", deviceMemoryText(memory));
  findings.judge(memory.driver.arena >= planned && memory.driver.arena < planned + kPages, "arena",
                 fmt::format("planned {}, the driver gave {}", sizeText(planned),
                             sizeText(memory.driver.arena)),
                 {{"planned_bytes", planned}, {"driver_bytes", memory.driver.arena}});
  findings.judge(report.memory.measured.allocationsInStep == 0, "no-allocation-in-a-step",
                 fmt::format("{} requests", report.memory.measured.allocationsInStep));
  if (!memory.nvmlUsedPeakBytes)
    return findings.skipped("nvml-peak", report.nvml ? report.nvml->reason : "NVML was not asked");
  uint64_t least = memory.driver.usedBefore.value_or(0) + memory.driver.arena;
  findings.judge(*memory.nvmlUsedPeakBytes >= least, "nvml-peak",
                 fmt::format("{} at most, of which {} were there before; remainder {} bytes",
                             sizeText(*memory.nvmlUsedPeakBytes),
                             sizeText(memory.driver.usedBefore.value_or(0)),
                             memory.remainderBytes()),
                 {{"nvml_bytes", *memory.nvmlUsedPeakBytes}});
}

void judgeTime(const TrainingReport &report, double predicted, Findings &findings) {
  double measured = report.stepMedian();
  findings.fact("step_seconds", {{"median", measured}, {"predicted", predicted}});
  findings.note(
      "seconds of a step",
      fmt::format("{:.3g} measured, {:.3g} by the roofline of the target", measured, predicted));
}

} // namespace

void testTraining(const SelfTestSetup &setup, Findings &findings) {
  findings.section("training", "a short training, its memory and its time");
  const SelfTestNetwork &network = setup.networks.front();
  uint64_t steps = setup.quick ? 4 : 20;
  auto train = [&](gc::CompileOptions options, const std::string &device, TrainingReport &report,
                   double *predicted) -> Status {
    options.optimizer.name = "adam";
    Result<PlanFile> plan = compileNetwork(network, options, predicted);
    if (!plan)
      return plan.error();
    TrainOptions training = setup.trainOptions(device, steps);
    training.schedule.limit = static_cast<uint64_t>((*plan)->batch()); // the same batch every time
    Status done = trainPlan(*plan, training, report);
    if (report.interrupted)
      endByInterrupt(interruptSignal());
    return done;
  };
  TrainingReport cpu, report;
  double predicted = 0;
  if (Status done = train(setup.cpuOptions(), "cpu", cpu, nullptr); !done)
    return findings.failed(network.name + ".cpu", done.error().message);
  std::string library = setup.whyNoLibrary.empty() ? "auto" : "none";
  if (Status done = train(setup.cudaOptions(library), setup.device, report, &predicted); !done)
    return findings.failed(network.name, done.error().message);
  judgeLoss(report, cpu, findings);
  judgeMemory(report, findings);
  judgeTime(report, predicted, findings);
}
