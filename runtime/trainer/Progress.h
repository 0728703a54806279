// What moves while training and evaluating: a bar that rewrites itself, lines at intervals, or an
// object of JSON for each step.
#ifndef GC_RUNTIME_TRAINER_PROGRESS_H
#define GC_RUNTIME_TRAINER_PROGRESS_H

#include "runtime/monitor/Monitor.h"
#include "runtime/trainer/ProgressLine.h"

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <optional>

namespace gc::runtime {

/// Auto: a bar on a terminal, else lines. None: nothing.
enum class ProgressMode { Auto, Bar, Lines, Json, None };

struct ProgressState {
  uint64_t step = 0, totalSteps = 0;   // since the beginning of training
  uint64_t epoch = 0, totalEpochs = 0; // counted from 1; 0 epochs: not counted
  double loss = 0;                     // of this step's batch
  double epochLoss = 0;                // mean over the steps of the epoch that were run
  std::optional<double> epochAccuracy; // likewise
  std::optional<double> learningRate;
  int64_t samples = 0; // in a step
};

struct EvaluationState {
  int64_t done = 0, samples = 0;
  double loss = 0; // mean over what is done
  std::optional<double> accuracy;
  bool isValidation = false; // else of the test split
};

struct ProgressOptions {
  ProgressMode mode = ProgressMode::Auto;
  std::chrono::milliseconds interval{0}; // between updates; 0: 100 ms of a bar, 10 s of lines
  size_t columns = 0;                    // 0: those of the terminal, asked at each update
  uint64_t (*memoryBytes)() = processMemoryBytes;
};

class Progress {
public:
  /// Writes to `out` (not owned).
  explicit Progress(std::FILE *out, const ProgressOptions &options = {});

  /// Never Auto.
  ProgressMode mode() const { return options.mode; }
  /// After each step. Prints the first, the last, and those in between when it is time; as JSON
  /// each.
  void update(const ProgressState &state);
  /// After each part of an evaluation.
  void update(const EvaluationState &state);
  /// Ends a line that is being rewritten, so that something else can be printed.
  void finishLine();
  /// Takes it away instead, as what it said is said otherwise.
  void clearLine();

private:
  using Clock = std::chrono::steady_clock;
  double secondsSinceStart() const;
  bool isDue(double now, bool always);
  void show(const std::vector<LinePart> &parts, double fraction, const char *colour);
  void showJson(const ProgressState &state, double now);
  void flush();
  /// Of what remains of training; evaluations take as long as the last one did.
  double secondsLeft(const ProgressState &state) const;

  std::FILE *out;
  ProgressOptions options;
  bool escapes, colours;
  double interval;
  Clock::time_point began;
  double lastPrint = -1, lastStepTime = 0;
  double secondsPerStep = 0; // a moving mean
  double evaluationBegan = -1, evaluationSeconds = 0;
  uint64_t updates = 0;
  size_t lineLength = 0;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_PROGRESS_H
