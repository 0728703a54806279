#include "runtime/trainer/Progress.h"

#include "runtime/process/Interrupt.h"
#include "runtime/process/Terminal.h"
#include "runtime/report/Sizes.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cerrno>
#include <cmath>

namespace gc::runtime {

/// How long a part stays while the terminal gets narrower; the first part always does.
enum Importance {
  kEpochLoss,
  kEpochAccuracy,
  kMemory,
  kLearningRate,
  kRate,
  kBar,
  kEpoch,
  kTimeLeft,
  kLoss,
  kAlways
};

static constexpr const char *kTrainingColour = "\x1b[32m", *kEvaluationColour = "\x1b[36m",
                            *kPlain = "\x1b[0m", *kEraseToEnd = "\x1b[K";

Progress::Progress(std::FILE *out, const ProgressOptions &wanted)
    : out(out), options(wanted), escapes(takesEscapes(out)), colours(takesColours(out)),
      began(Clock::now()) {
  if (options.mode == ProgressMode::Auto)
    options.mode = isTerminal(out) ? ProgressMode::Bar : ProgressMode::Lines;
  interval = options.interval.count() > 0 ? std::chrono::duration<double>(options.interval).count()
             : options.mode == ProgressMode::Bar ? 0.1
                                                 : 10.0;
}

double Progress::secondsSinceStart() const {
  return std::chrono::duration<double>(Clock::now() - began).count();
}

bool Progress::isDue(double now, bool always) {
  if (!always && lastPrint >= 0 && now - lastPrint < interval)
    return false;
  lastPrint = now;
  return true;
}

double Progress::secondsLeft(const ProgressState &s) const {
  double steps = static_cast<double>(s.totalSteps - std::min(s.step, s.totalSteps));
  double evaluations =
      static_cast<double>(s.totalEpochs >= s.epoch ? s.totalEpochs - s.epoch + 1 : 0);
  return secondsPerStep * steps + evaluationSeconds * evaluations;
}

/// `  7/120`, as wide from the first to the last, so that what follows stays in its place.
static std::string countOf(uint64_t done, uint64_t all) {
  std::string text = fmt::format("{}", all);
  return fmt::format("{:>{}}/{}", done, text.size(), text);
}

static LinePart accuracyPart(const char *of, double accuracy, int importance) {
  return {fmt::format("{}accuracy {:.1f} %", of, 100 * accuracy), importance};
}

void Progress::update(const ProgressState &s) {
  if (options.mode == ProgressMode::None)
    return;
  double now = secondsSinceStart();
  double seconds = now - lastStepTime;
  lastStepTime = now;
  // The first step warms caches up and would spoil the mean.
  secondsPerStep = updates < 2 ? seconds : 0.9 * secondsPerStep + 0.1 * seconds;
  ++updates;
  if (options.mode == ProgressMode::Json)
    return showJson(s, now);
  if (!isDue(now, s.step == s.totalSteps))
    return;
  std::vector<LinePart> parts = {{"step " + countOf(s.step, s.totalSteps), kAlways}};
  if (s.totalEpochs > 0)
    parts.push_back({"epoch " + countOf(s.epoch, s.totalEpochs), kEpoch});
  parts.push_back({fmt::format("batch loss {:.4f}", s.loss), kLoss});
  parts.push_back({fmt::format("epoch loss {:.4f}", s.epochLoss), kEpochLoss});
  if (s.epochAccuracy)
    parts.push_back(accuracyPart("epoch ", *s.epochAccuracy, kEpochAccuracy));
  if (s.learningRate)
    parts.push_back({fmt::format("lr {:.4g}", *s.learningRate), kLearningRate});
  if (secondsPerStep > 0)
    parts.push_back(
        {fmt::format("{:>14}", rateText(static_cast<double>(s.samples) / secondsPerStep)), kRate});
  parts.push_back({"process " + shortSizeText(options.memoryBytes()), kMemory});
  parts.push_back({s.step < s.totalSteps ? durationText(secondsLeft(s)) + " left"
                                         : durationText(now) + " in all",
                   kTimeLeft});
  show(parts,
       static_cast<double>(s.step) / static_cast<double>(std::max<uint64_t>(s.totalSteps, 1)),
       kTrainingColour);
}

void Progress::update(const EvaluationState &s) {
  double now = secondsSinceStart();
  if (evaluationBegan < 0)
    evaluationBegan = lastStepTime;
  double seconds = now - evaluationBegan;
  // What passes here is no part of the next step.
  lastStepTime = now;
  bool isLast = s.done >= s.samples;
  if (isLast) {
    evaluationSeconds = seconds;
    evaluationBegan = -1;
  }
  // What came of it is an event or a line of its own.
  if (options.mode == ProgressMode::Json || options.mode == ProgressMode::None ||
      !isDue(now, options.mode == ProgressMode::Bar && isLast))
    return;
  double done = static_cast<double>(s.done), rate = seconds > 0 ? done / seconds : 0;
  std::vector<LinePart> parts = {
      {(s.isValidation ? "validating " : "testing ") +
           countOf(static_cast<uint64_t>(s.done), static_cast<uint64_t>(s.samples)),
       kAlways},
      {fmt::format("mean loss {:.4f}", s.loss), kLoss}};
  if (s.accuracy)
    parts.push_back(accuracyPart("", *s.accuracy, kEpochAccuracy));
  if (rate > 0)
    parts.push_back({rateText(rate), kRate});
  parts.push_back({"process " + shortSizeText(options.memoryBytes()), kMemory});
  if (rate > 0 && !isLast)
    parts.push_back(
        {durationText((static_cast<double>(s.samples) - done) / rate) + " left", kTimeLeft});
  show(parts, done / static_cast<double>(std::max<int64_t>(s.samples, 1)), kEvaluationColour);
}

void Progress::show(const std::vector<LinePart> &parts, double fraction, const char *colour) {
  if (options.mode != ProgressMode::Bar) {
    std::fputs((wholeLine(parts) + "\n").c_str(), out);
    return flush();
  }
  // The last column stays free: some terminals wrap as soon as it is written.
  size_t columns = options.columns ? options.columns : columnsOf(out);
  ProgressLine line = fitLine(parts, fraction, kBar, columns - 1);
  size_t length = line.text.size();
  std::string text = line.text;
  if (colours && line.barEnd > line.barBegin) {
    text.insert(line.barEnd, kPlain);
    text.insert(line.barBegin, colour);
  }
  // What a longer line before left behind is wiped; by blanks where nothing else is understood, and
  // no further than the line goes.
  if (escapes)
    text += kEraseToEnd;
  else if (lineLength > length)
    text += std::string(std::min(lineLength, columns - 1) - std::min(length, columns - 1), ' ');
  lineLength = length;
  std::fputs(("\r" + text).c_str(), out);
  flush();
}

static nlohmann::ordered_json numberOrNull(double value) {
  return std::isfinite(value) ? nlohmann::ordered_json(value) : nlohmann::ordered_json();
}

void Progress::showJson(const ProgressState &s, double now) {
  nlohmann::ordered_json event = {{"event", "step"}, {"step", s.step}, {"steps", s.totalSteps}};
  if (s.totalEpochs > 0) {
    event["epoch"] = s.epoch;
    event["epochs"] = s.totalEpochs;
  }
  event["batch_loss"] = numberOrNull(s.loss);
  event["epoch_loss"] = numberOrNull(s.epochLoss);
  if (s.epochAccuracy)
    event["epoch_accuracy"] = *s.epochAccuracy;
  if (s.learningRate)
    event["learning_rate"] = *s.learningRate;
  event["samples_per_second"] =
      numberOrNull(secondsPerStep > 0 ? static_cast<double>(s.samples) / secondsPerStep : 0);
  event["process_bytes"] = options.memoryBytes();
  event["seconds"] = now;
  event["seconds_left"] = numberOrNull(secondsLeft(s));
  std::fputs((event.dump() + "\n").c_str(), out);
  flush();
}

void Progress::flush() {
  // Whoever watched has gone: what was trained is saved, as if Ctrl-C had come.
  if (std::fflush(out) != 0 && errno == EPIPE)
    requestInterrupt(SIGPIPE);
}

void Progress::finishLine() {
  if (lineLength == 0)
    return;
  std::fputc('\n', out);
  lineLength = 0;
  std::fflush(out);
}

void Progress::clearLine() {
  if (lineLength == 0)
    return;
  std::string wiped = escapes ? kEraseToEnd : std::string(lineLength, ' ') + "\r";
  std::fputs(("\r" + wiped).c_str(), out);
  lineLength = 0;
  std::fflush(out);
}

} // namespace gc::runtime
