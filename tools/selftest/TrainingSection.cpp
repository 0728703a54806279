// A short training: the loss falls (the cpu device's is told beside it), the arena takes what the
// plan says, and the step what the roofline promises.
#include "runtime/report/Sizes.h"
#include "tools/selftest/RelativeError.h"
#include "tools/selftest/SelfTestSetup.h"

#include <fmt/format.h>

using namespace gc::runtime;

namespace {

void judgeLoss(const std::string &name, const TrainingReport &trained, const TrainingReport &cpu,
               CaseReporter &report) {
  double furthest = 0;
  for (size_t i = 0; i < trained.loss.size() && i < cpu.loss.size(); ++i)
    furthest = std::fmax(furthest, std::fabs(trained.loss[i] / cpu.loss[i] - 1));
  float first = trained.loss.front(), last = trained.loss.back();
  report.judge(last < first, name + ".loss-falls",
               fmt::format("{:.4f} to {:.4f} in {} steps; at most {:.2g} of itself from the cpu "
                           "device's",
                           first, last, trained.loss.size(), furthest),
               {{"loss", trained.loss}, {"cpu_loss", cpu.loss}});
}

/// A driver hands out memory in pages of 2 MiB and may have some in reserve.
constexpr uint64_t kPages = 4 << 20;

void judgeMemory(const SelfTestSetup &setup, const std::string &name, const TrainingReport &trained,
                 CaseReporter &report) {
  if (!trained.memory.device)
    return report.failed(name + ".arena", "the device does not tell what its memory went to");
  const DeviceMemoryReport &memory = *trained.memory.device;
  uint64_t planned = trained.memory.arenaBytes;
  report.fact(name + "_memory", deviceMemoryJson(memory));
  report.note("memory", deviceMemoryText(memory));
  report.judge(trained.memory.measured.allocationsInStep == 0, name + ".no-allocation-in-a-step",
               fmt::format("{} requests", trained.memory.measured.allocationsInStep));
  if (!setup.whoElse.empty()) {
    for (const char *check : {".arena", ".nvml-peak"})
      report.skipped(name + check, fmt::format("{} on the GPU, whose memory would be counted, too",
                                               setup.whoElse));
    return;
  }
  report.judge(memory.driver.arena >= planned && memory.driver.arena < planned + kPages,
               name + ".arena",
               fmt::format("planned {}, the driver gave {}", sizeText(planned),
                           sizeText(memory.driver.arena)),
               {{"planned_bytes", planned}, {"driver_bytes", memory.driver.arena}});
  if (!memory.nvmlUsedPeakBytes)
    return report.skipped(name + ".nvml-peak",
                          trained.nvml ? trained.nvml->reason : "NVML was not asked");
  uint64_t before = memory.beforeBytes().value_or(0), least = before + memory.driver.arena;
  report.judge(*memory.nvmlUsedPeakBytes >= least, name + ".nvml-peak",
               fmt::format("{} at most, of which {} were there before; remainder {} bytes",
                           sizeText(*memory.nvmlUsedPeakBytes), sizeText(before),
                           memory.remainderBytes()),
               {{"nvml_bytes", *memory.nvmlUsedPeakBytes}});
}

void tellTime(const std::string &name, const TrainingReport &trained, double predicted,
              CaseReporter &report) {
  double measured = trained.stepMedian();
  report.fact(name + "_step_seconds", {{"median", measured}, {"predicted", predicted}});
  report.note(
      "seconds of a step",
      fmt::format("{:.3g} measured, {:.3g} by the roofline of the target", measured, predicted));
}

/// On one batch with Adam: the cpu device and the GPU.
void train(const SelfTestSetup &setup, const SelfTestNetwork &network, const std::string &name,
           const std::string &library, CaseReporter &report) {
  auto trainOn = [&](const std::string &device, gc::CompileOptions options, TrainingReport &trained,
                     double *predicted) -> Status {
    options.optimizer.name = "adam";
    report.doing("compiling for " + device);
    Result<PlanFile> plan = compileNetwork(network, options, predicted);
    if (!plan)
      return plan.error();
    TrainOptions training = setup.trainOptions(device, setup.quick ? 4 : 20);
    training.schedule.limit = static_cast<uint64_t>((*plan)->batch()); // the same batch every time
    report.doing("training on " + device);
    return trainPlan(*plan, training, trained);
  };
  TrainingReport cpu, trained;
  double predicted = 0;
  if (Status done = trainOn("cpu", setup.cpuOptions(), cpu, nullptr); !done)
    return report.failed(name + ".cpu", done.error().message);
  if (Status done = trainOn(setup.device, setup.cudaOptions(library), trained, &predicted); !done)
    return report.failed(name, done.error().message);
  judgeLoss(name, trained, cpu, report);
  judgeMemory(setup, name, trained, report);
  tellTime(name, trained, predicted, report);
}

} // namespace

void testTraining(const SelfTestSetup &setup, CaseRunner &cases) {
  cases.findings.section("training", "a short training, its memory and its time");
  // The last of the quick ones is the smallest.
  const SelfTestNetwork &network = setup.quick ? setup.networks.back() : setup.networks.front();
  cases.run("generated",
            [&](CaseReporter &report) { train(setup, network, "generated", "none", report); });
  if (!setup.whyNoLibrary.empty())
    return cases.findings.skipped("cudnn", setup.whyNoLibrary);
  cases.run("cudnn",
            [&](CaseReporter &report) { train(setup, network, "cudnn", "cudnn", report); });
}
