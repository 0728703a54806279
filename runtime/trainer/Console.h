// What a run tells whoever started it, as text or as JSON: its beginning, evaluations, its end. The
// steps in between are told by Progress.
#ifndef GC_RUNTIME_TRAINER_CONSOLE_H
#define GC_RUNTIME_TRAINER_CONSOLE_H

#include "runtime/report/TrainingReport.h"
#include "runtime/trainer/ConsoleText.h"
#include "runtime/trainer/Progress.h"

namespace gc::runtime {

class Console {
public:
  Console(std::FILE *out, ProgressMode mode) : out(out), progress_(out, {mode}) {}

  Progress &progress() { return progress_; }
  void begin(const TrainingReport &report, const ScheduleText &schedule);
  void evaluation(const EvaluationReport &evaluation, bool isValidation = false);
  /// `step`: the last that is complete, since the beginning of training.
  void end(const TrainingReport &report, uint64_t step);

private:
  /// Text is `label text` a line; labels are bold where the terminal can show that.
  void print(const std::string &text);
  bool isJson() const { return progress_.mode() == ProgressMode::Json; }
  bool isSilent() const { return progress_.mode() == ProgressMode::None; }

  std::FILE *out;
  Progress progress_;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_CONSOLE_H
