// A short training: the loss falls and stays near the cpu device's, the arena takes what the plan
// says, and the step what the roofline promises.
#include "runtime/report/Sizes.h"
#include "tools/selftest/RelativeError.h"
#include "tools/selftest/SelfTestSetup.h"

#include <fmt/format.h>

using namespace gc::runtime;

namespace {

/// A way to train on the GPU.
struct Way {
  std::string name, library;
  bool allowTf32 = false;
  /// How far the loss may be from the cpu device's, as a part of the first one. Steps add up what
  /// rounds otherwise, and a ReLU near zero makes more of it (see README.md); a part of the first
  /// loss, as the last ones are small. Wrong gradients are far beyond: the loss falls to a fraction
  /// of it. TF32 rounds operands to 11 bits.
  double lossBound() const { return allowTf32 ? 0.05 : 0.01; }
};

void judgeLoss(const Way &way, const TrainingReport &trained, const TrainingReport &cpu,
               CaseReporter &report) {
  float first = trained.loss.front(), last = trained.loss.back();
  report.judge(last < first, way.name + ".loss-falls",
               fmt::format("{:.4f} to {:.4f} in {} steps", first, last, trained.loss.size()),
               {{"loss", trained.loss}, {"cpu_loss", cpu.loss}});
  double furthest = 0;
  bool isNear = trained.loss.size() == cpu.loss.size();
  for (size_t i = 0; isNear && i < cpu.loss.size(); ++i) {
    double distance = std::fabs(double(trained.loss[i]) - cpu.loss[i]) / cpu.loss[0];
    isNear = distance <= way.lossBound(); // what is no number is not near
    furthest = std::fmax(furthest, distance);
  }
  report.judge(isNear, way.name + ".loss-near-cpu",
               fmt::format("{:.4f} after {} steps, the cpu device's {:.4f}; at most {:.2g} of the "
                           "first loss apart, allowed is {}",
                           last, trained.loss.size(), cpu.loss.back(), furthest, way.lossBound()),
               {{"furthest", furthest}, {"bound", way.lossBound()}});
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
void train(const SelfTestSetup &setup, const SelfTestNetwork &network, const Way &way,
           CaseReporter &report) {
  const std::string &name = way.name;
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
  gc::CompileOptions options = setup.cudaOptions(way.library);
  options.allowTf32 = way.allowTf32;
  if (Status done = trainOn(setup.device, options, trained, &predicted); !done)
    return report.failed(name, done.error().message);
  judgeLoss(way, trained, cpu, report);
  judgeMemory(setup, name, trained, report);
  tellTime(name, trained, predicted, report);
}

} // namespace

void testTraining(const SelfTestSetup &setup, CaseRunner &cases) {
  cases.findings.section("training", "a short training, its memory and its time");
  // The last of the quick ones is the smallest.
  const SelfTestNetwork &network = setup.quick ? setup.networks.back() : setup.networks.front();
  auto run = [&](const Way &way) {
    cases.run(way.name, [&](CaseReporter &report) { train(setup, network, way, report); });
  };
  run({"generated", "none"});
  if (setup.model.hasTf32())
    run({"tf32", "none", /*allowTf32=*/true});
  else
    cases.findings.skipped("tf32", setup.model.target + " has no TF32");
  if (!setup.whyNoLibrary.empty())
    return cases.findings.skipped("cudnn", setup.whyNoLibrary);
  run({"cudnn", "cudnn"});
}
