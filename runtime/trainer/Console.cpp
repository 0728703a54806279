#include "runtime/trainer/Console.h"

#include "runtime/process/Terminal.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace gc::runtime {

using Event = nlohmann::ordered_json; // or a value in one

static Event orNull(const std::optional<double> &value) {
  return value && std::isfinite(*value) ? Event(*value) : Event();
}

static std::string lineOf(const Event &event) {
  return event.dump(-1, ' ', false, Event::error_handler_t::replace) + "\n";
}

/// Labels, which begin at the first column, in bold.
static std::string withBoldLabels(const std::string &text) {
  std::string bold;
  for (size_t begin = 0; begin < text.size();) {
    size_t end = std::min(text.find('\n', begin), text.size() - 1) + 1;
    size_t label = std::min(kLabelColumns, end - begin - 1);
    bool hasLabel = label > 0 && text[begin] != ' ';
    bold += (hasLabel ? "\x1b[1m" : "") + text.substr(begin, label) + (hasLabel ? "\x1b[0m" : "") +
            text.substr(begin + label, end - begin - label);
    begin = end;
  }
  return bold;
}

void Console::print(const std::string &text) {
  std::fputs(text.c_str(), out);
  std::fflush(out);
}

void Console::begin(const TrainingReport &r, const ScheduleText &schedule) {
  if (isSilent())
    return;
  if (!isJson()) {
    std::string text = headerText(r, schedule);
    if (r.partialLoad)
      text += partialLoadText(*r.partialLoad);
    return print(takesColours(out) ? withBoldLabels(text) : text);
  }
  print(lineOf({{"event", "begin"},
                {"model", r.model},
                {"device", r.device},
                {"threads", r.threads},
                {"data", r.data},
                {"parameters", r.parameters},
                {"trainable_parameters", r.trainableParameters},
                {"batch", r.batch},
                {"micro_batches", r.microBatches},
                {"optimizer", r.optimizer},
                {"schedule", r.schedule},
                {"seed", r.seed},
                {"from_step", schedule.fromStep},
                {"steps", schedule.totalSteps},
                {"steps_per_epoch", schedule.stepsPerEpoch},
                {"predicted_peak_bytes", r.memory.arenaBytes}}));
}

void Console::evaluation(const EvaluationReport &e, bool isValidation) {
  progress_.clearLine();
  if (isSilent())
    return;
  if (!isJson())
    return print(evaluationText(e, isValidation ? "validation" : "test"));
  print(lineOf({{"event", isValidation ? "validation" : "evaluation"},
                {"epoch", e.epoch},
                {"step", e.step},
                {"samples", e.samples},
                {"mean_loss", orNull(e.loss)},
                {"accuracy", orNull(e.accuracy)},
                {"top5", orNull(e.topFive)}}));
}

void Console::end(const TrainingReport &r, uint64_t step) {
  if (isSilent())
    return;
  if (!isJson()) {
    if (r.interrupted)
      print("interrupted after step " + std::to_string(step) + "\n");
    std::string text = summaryText(r);
    return print(epochTable(r) + (takesColours(out) ? withBoldLabels(text) : text));
  }
  const MemoryReport &m = r.memory;
  print(lineOf({{"event", "end"},
                {"interrupted", r.interrupted},
                {"step", step},
                {"steps", r.steps},
                {"seconds", r.seconds},
                {"samples_per_second", r.samplesPerSecond()},
                {"predicted_peak_bytes", m.arenaBytes},
                {"measured_peak_bytes", m.measured.peakBytes},
                {"allocations_in_step", m.measured.allocationsInStep}}));
}

} // namespace gc::runtime
