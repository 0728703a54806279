#include "runtime/trainer/ConsoleText.h"

#include "runtime/report/Sizes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace gc::runtime {

static std::string line(const char *label, const std::string &text) {
  return fmt::format("{:<{}} {}\n", label, kLabelColumns, text);
}

static std::string percent(double fraction) { return fmt::format("{:.2f} %", 100 * fraction); }

std::string rematText(const RematReport &remat) {
  std::string text = remat.policy;
  if (remat.budgetBytes)
    text += fmt::format(", budget {}", sizeText(*remat.budgetBytes));
  if (remat.recomputed > 0)
    text += fmt::format(", {} of {} saved values recomputed, {} more time predicted for it",
                        remat.recomputed, remat.recomputed + remat.retained,
                        percent(remat.recomputeFraction));
  return text;
}

/// "12,800 of 60,000 training samples are used; 12,800 in an epoch"; empty where all are.
static std::string dataUseText(const DataUse &use) {
  if (use.endless || use.usedInEpoch == use.samples)
    return "";
  std::string text = fmt::format("{} of {} training samples are used", countText(use.used),
                                 countText(use.samples));
  if (use.usedInEpoch < use.used)
    text += fmt::format("; the last {} of an epoch's order fill no batch",
                        countText(use.used - use.usedInEpoch));
  return text;
}

std::string headerText(const TrainingReport &r, const ScheduleText &schedule) {
  const MemoryReport &m = r.memory;
  std::string text;
  text += line("model", fmt::format("{}, {}", r.model, parametersText(r)));
  text += line("device",
               fmt::format("{}, {} thread{}", r.device, r.threads, r.threads == 1 ? "" : "s"));
  text += line("data", r.data);
  for (const std::string &more : {r.dataPreparation, dataUseText(r.dataUse)})
    if (!more.empty())
      text += line("", more);
  std::string steps =
      schedule.wholeEpochs
          ? fmt::format("{} epochs of {} steps", schedule.totalSteps / schedule.stepsPerEpoch,
                        schedule.stepsPerEpoch)
          : fmt::format("{} steps", schedule.totalSteps);
  if (schedule.fromStep > 0)
    steps += fmt::format(" (resuming after step {})", schedule.fromStep);
  std::string batch = r.microBatches > 1
                          ? fmt::format("batch {} in {} micro-batches", r.batch, r.microBatches)
                          : fmt::format("batch {}", r.batch);
  if (schedule.weights.empty())
    text += line("training", fmt::format("{}, {}{}{}, seed {}", steps, batch,
                                         r.optimizer.empty() ? "" : ", ", r.optimizer, r.seed));
  else
    text += line("evaluating", fmt::format("{}, {}, nothing is trained", schedule.weights, batch));
  if (schedule.weights.empty() && !r.schedule.empty() && r.schedule != "constant")
    text += line("", "learning rate " + r.schedule);
  double gap =
      m.planned.lower_bound > 0 ? static_cast<double>(m.arenaBytes) / m.planned.lower_bound - 1 : 0;
  text += line("plan peak", sizeText(m.arenaBytes));
  text += line(
      "", fmt::format("lower bound {}, gap {}", sizeText(m.planned.lower_bound), percent(gap)));
  text += line("", fmt::format("weights {}, gradients {}, optimizer {}, activations {},",
                               shortSizeText(m.planned.weights), shortSizeText(m.planned.gradients),
                               shortSizeText(m.planned.optimizer),
                               shortSizeText(m.planned.activations)));
  text += line("", fmt::format("workspace {}, input {}, fragmentation {}",
                               shortSizeText(m.planned.workspace), shortSizeText(m.planned.input),
                               shortSizeText(m.planned.fragmentation)));
  text += line("remat", rematText(r.remat));
  if (r.split.parts > 1)
    text += line("split", fmt::format("ops {} in {} parts of the batch; gradients equal those of "
                                      "the whole batch up to rounding",
                                      r.split.chains, r.split.parts));
  if (r.compileSeconds > 0)
    text += line("compiled in", fmt::format("{:.2f} s", r.compileSeconds));
  return text;
}

static std::string namesText(const std::vector<std::string> &names) {
  constexpr size_t shown = 8;
  std::string text = fmt::format(
      "{}", fmt::join(names.begin(), names.begin() + std::min(names.size(), shown), ", "));
  return names.size() > shown ? text + fmt::format(" and {} more", names.size() - shown) : text;
}

std::string partialLoadText(const PartialLoadReport &load) {
  std::string text = line("loaded", fmt::format("{} tensors of '{}'", load.loaded, load.file));
  if (!load.initialized.empty())
    text += line("", fmt::format("initialized: {}", namesText(load.initialized)));
  if (!load.leftOut.empty())
    text += line("", fmt::format("left out: {}", namesText(load.leftOut)));
  return text;
}

std::string evaluationText(const EvaluationReport &e, const char *split) {
  std::string text = fmt::format(
      "{} after {}: loss {:.4f}", split,
      e.epoch > 0 ? fmt::format("epoch {}", e.epoch) : fmt::format("step {}", e.step), e.loss);
  if (e.accuracy)
    text += fmt::format(", accuracy {}", percent(*e.accuracy));
  if (e.topFive)
    text += fmt::format(", top-5 {}", percent(*e.topFive));
  return text + fmt::format(" ({} samples)\n", e.samples);
}

/// Why more was measured than the budget allows; empty where that is not so. A budget bounds the
/// arena, and nothing else that a process needs; with a tiny model that shows.
static std::string aboveBudgetText(const TrainingReport &r) {
  const MemoryReport &m = r.memory;
  if (!r.remat.budgetBytes || m.measured.peakBytes <= *r.remat.budgetBytes)
    return "";
  return fmt::format("above the budget by {}: the arena, {}, is within it; the rest is {}",
                     sizeText(m.measured.peakBytes - *r.remat.budgetBytes), sizeText(m.arenaBytes),
                     m.device ? "the driver's rounding"
                              : "rounding to pages, and what loader and monitor threads touch");
}

std::string epochTable(const TrainingReport &r) {
  constexpr size_t shown = 20;
  size_t count = r.epochs.size();
  if (count < 2)
    return "";
  bool hasAccuracy = false, hasTest = !r.evaluations.empty(), hasHeld = !r.validations.empty();
  for (const EpochReport &epoch : r.epochs)
    hasAccuracy |= epoch.accuracy.has_value();
  auto cell = [](std::optional<double> value, bool isFraction) {
    return !value ? std::string("-") : isFraction ? percent(*value) : fmt::format("{:.4f}", *value);
  };
  auto row = [&](const std::string &epoch, const std::string &loss, const std::string &accuracy,
                 const std::string &heldLoss, const std::string &heldAccuracy,
                 const std::string &testLoss, const std::string &testAccuracy,
                 const std::string &time) {
    std::string text = fmt::format("{:>5}  {:>10}", epoch, loss);
    if (hasAccuracy)
      text += fmt::format("  {:>10}", accuracy);
    if (hasHeld)
      text += fmt::format("  {:>15}", heldLoss);
    if (hasHeld && hasAccuracy)
      text += fmt::format("  {:>19}", heldAccuracy);
    if (hasTest)
      text += fmt::format("  {:>10}", testLoss);
    if (hasTest && hasAccuracy)
      text += fmt::format("  {:>13}", testAccuracy);
    return text + fmt::format("  {:>8}\n", time);
  };
  std::string text = row("epoch", "mean loss", "accuracy", "validation loss", "validation accuracy",
                         "test loss", "test accuracy", "time");
  if (count > shown)
    text += fmt::format("{:>5}  ({} before)\n", "...", count - shown);
  for (size_t i = count > shown ? count - shown : 0; i < count; ++i) {
    const EpochReport &epoch = r.epochs[i];
    // The last of an epoch's.
    auto cells = [&](const std::vector<EvaluationReport> &evaluations) {
      std::optional<double> loss, accuracy;
      for (const EvaluationReport &e : evaluations)
        if (e.epoch == epoch.epoch) {
          loss = e.loss;
          accuracy = e.accuracy;
        }
      return std::pair(cell(loss, false), cell(accuracy, true));
    };
    auto [heldLoss, heldAccuracy] = cells(r.validations);
    auto [testLoss, testAccuracy] = cells(r.evaluations);
    text += row(std::to_string(epoch.epoch), cell(epoch.loss, false), cell(epoch.accuracy, true),
                heldLoss, heldAccuracy, testLoss, testAccuracy, durationText(epoch.seconds));
  }
  return text;
}

std::string summaryText(const TrainingReport &r) {
  std::string text;
  int64_t evaluated = 0;
  for (const auto *evaluations : {&r.validations, &r.evaluations})
    for (const EvaluationReport &e : *evaluations)
      evaluated += e.samples;
  text += line(
      r.interrupted ? "interrupted" : "done",
      r.steps == 0 && evaluated > 0
          ? fmt::format("{} samples in {}, no step", countText(evaluated), durationText(r.seconds))
          : fmt::format("{} steps in {}", r.steps, durationText(r.seconds)));
  if (!r.loss.empty())
    text += line("loss", fmt::format("{:.4f} -> {:.4f}", r.loss.front(), r.loss.back()));
  std::string accuracy;
  if (r.accuracy)
    accuracy = fmt::format("{} training", percent(*r.accuracy));
  for (auto [split, evaluations] :
       {std::pair("validation", &r.validations), std::pair("test", &r.evaluations)})
    if (!evaluations->empty() && evaluations->back().accuracy)
      accuracy += fmt::format("{}{} {}", accuracy.empty() ? "" : ", ",
                              percent(*evaluations->back().accuracy), split);
  if (!accuracy.empty())
    text += line("accuracy", accuracy);
  if (r.best)
    text += line("best",
                 fmt::format("validation {} {:.6g} after step {}{}", r.best->monitor, r.best->value,
                             r.best->step, r.best->file.empty() ? "" : ", in " + r.best->file));
  if (r.earlyStop)
    text += line("stopped", fmt::format("early: {}", r.earlyStop->reason));
  if (r.badSamples.samples > 0)
    text += line("left out",
                 fmt::format("{} sample{} that cannot be read, {} time{} in all",
                             countText(r.badSamples.samples), r.badSamples.samples == 1 ? "" : "s",
                             countText(r.badSamples.times), r.badSamples.times == 1 ? "" : "s"));
  if (r.stepSeconds.empty())
    return text;
  float fastest = *std::min_element(r.stepSeconds.begin(), r.stepSeconds.end());
  text += line("step", fmt::format("median {}, fastest {}, {}", secondsText(r.stepMedian()),
                                   secondsText(fastest), rateText(r.samplesPerSecond())));
  constexpr double noticeable = 0.03;
  if (r.loaderWaitShare() >= noticeable)
    text += line("", fmt::format("{} of it waiting for data; reading would need {:.1f} cores of "
                                 "its own (--workers={})",
                                 percent(r.loaderWaitShare()), r.coresNeededToLoad(),
                                 r.loading.workers));
  const MemoryReport &m = r.memory;
  text += line("peak", fmt::format("predicted {}", sizeText(m.arenaBytes)));
  double difference =
      m.arenaBytes > 0 ? static_cast<double>(m.measured.peakBytes) / m.arenaBytes - 1 : 0;
  text += line(
      "", fmt::format("measured  {}, {:+.2f} %", sizeText(m.measured.peakBytes), 100 * difference));
  if (std::string above = aboveBudgetText(r); !above.empty())
    text += line("", above);
  text += line("", fmt::format("libraries {} apart", sizeText(m.measured.libraryBytes)));
  if (r.checkpoint && r.checkpoint->copyBytes > 0)
    text +=
        line("", fmt::format("copy for checkpoints {} apart", sizeText(r.checkpoint->copyBytes)));
  if (m.device)
    text += line("device memory", deviceMemoryText(*m.device));
  if (r.nvml)
    text += line("nvml", nvmlText(*r.nvml, r.monitor));
  text += line("allocations", fmt::format("{} in the step", m.measured.allocationsInStep));
  return text;
}

} // namespace gc::runtime
