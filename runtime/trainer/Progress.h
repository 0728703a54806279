// The line that moves while training. On a terminal it rewrites itself; otherwise whole lines come
// at intervals, so that a log stays short.
#ifndef GC_RUNTIME_TRAINER_PROGRESS_H
#define GC_RUNTIME_TRAINER_PROGRESS_H

#include <chrono>
#include <cstdint>
#include <cstdio>

namespace gc::runtime {

struct ProgressState {
  uint64_t step = 0, totalSteps = 0;   // since the beginning of training
  uint64_t epoch = 0, totalEpochs = 0; // counted from 1; 0 epochs: not counted
  double loss = 0;
  double accuracy = -1; // of the epoch so far; negative: not known
  uint64_t memoryBytes = 0;
  int64_t samples = 0; // in a step
};

class Progress {
public:
  /// Writes to `out` (not owned). `terminal` and the time between lines are decided by the caller.
  Progress(std::FILE *out, bool terminal,
           std::chrono::milliseconds interval = std::chrono::milliseconds(0));

  /// After each step. Prints when it is time; allocates nothing.
  void update(const ProgressState &state);
  /// Ends a line that is being rewritten, so that something else can be printed.
  void finishLine();

private:
  void print(const ProgressState &state);

  std::FILE *out;
  bool terminal;
  double interval;
  std::chrono::steady_clock::time_point began;
  double lastPrint = -1, lastStepTime = 0;
  double secondsPerStep = 0; // a moving mean
  uint64_t updates = 0;
  size_t lineLength = 0;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_PROGRESS_H
