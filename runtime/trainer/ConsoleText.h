// The header before training and the summary after it.
#ifndef GC_RUNTIME_TRAINER_CONSOLETEXT_H
#define GC_RUNTIME_TRAINER_CONSOLETEXT_H

#include "runtime/report/TrainingReport.h"

#include <string>

namespace gc::runtime {

/// Of a line of header or summary: its label, before the text.
constexpr size_t kLabelColumns = 11;

struct ScheduleText {
  uint64_t totalSteps = 0, stepsPerEpoch = 0, fromStep = 0;
  bool wholeEpochs = false;
  std::string weights = {}; // the file that is evaluated, where nothing is trained; empty: it is
};

/// `budget, budget 1000 bytes, 3 of 9 saved values recomputed, 1.00 % more time predicted`
std::string rematText(const RematReport &remat);
std::string headerText(const TrainingReport &report, const ScheduleText &schedule);
/// `test after epoch 1: loss 0.5145, accuracy 83.93 % (10000 samples)`; `split` is its first word.
std::string evaluationText(const EvaluationReport &evaluation, const char *split);
/// What --load-partial took, initialized and left out.
std::string partialLoadText(const PartialLoadReport &load);
/// A row for each epoch, the last ones where there are many; empty where there are less than two.
std::string epochTable(const TrainingReport &report);
std::string summaryText(const TrainingReport &report);

} // namespace gc::runtime

#endif // GC_RUNTIME_TRAINER_CONSOLETEXT_H
