// Two plans side by side: what differs in what they were compiled for, in what they need, and in
// what they keep and compute again. runtime/trainer/DescribePlan.h makes a description of a plan.
#ifndef GC_RUNTIME_REPORT_PLANDIFF_H
#define GC_RUNTIME_REPORT_PLANDIFF_H

#include "runtime/report/MemoryTimeline.h"
#include "runtime/report/SavedValues.h"
#include "runtime/report/TrainingReport.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace gc::runtime {

/// How an op of a micro-batch or of the update runs.
struct OpImplementation {
  std::string name;
  std::string how; // "generated", "oneDNN", "cuDNN, engine 3"
  bool byLibrary = false;
  double seconds = 0; // as predicted
};

/// A plan as plain data.
struct DescribedPlan {
  std::string path;
  TrainingReport facts; // as fillPlanFacts() fills it
  std::string machine;  // "znver4", "sm_86 RTX 3090"
  std::string library;  // "oneDNN 3.5.1"; empty where the plan needs none
  std::string types;    // of the numbers that it computes with: "f32"
  uint32_t threads = 0; // that it was compiled for; 0: any
  uint64_t planBytes = 0;
  size_t inputBuffers = 0; // for each input
  bool evaluates = false, keepsGradients = false;
  struct {
    size_t once = 0, microBatch = 0, step = 0, evaluate = 0;
    size_t inStep() const { return microBatch + step; }
  } commands;
  size_t kernels = 0, libraryGraphs = 0;
  std::vector<OpImplementation> ops; // those that are recomputed once
  /// Bytes of the arena in use at each command of a micro-batch and then of the update, and the
  /// first command behind the loss.
  std::vector<uint64_t> live;
  size_t firstBackward = 0;
  std::optional<MemoryTimeline> timeline;       // nothing where the plan does not tell
  std::optional<std::vector<SavedValue>> saved; // likewise
  std::string executed; // the plan without its report: equal bytes do the same

  /// That computing the value again costs a step, all micro-batches together.
  double secondsPaid(const SavedValue &value) const;
  /// Of several values: an op is paid once, however many of its results are among them.
  double secondsPaid(const std::vector<SavedValue> &values) const;
  std::optional<double> samplesPerSecond() const;
};

/// Something that a plan was compiled for, in words.
struct ComparedSetting {
  std::string name, a, b;
  bool differs() const { return a != b; }
};

/// A number of each plan; absent where a plan does not tell.
struct ComparedFigure {
  enum class Unit { Bytes, Seconds, Count, PerSecond };
  std::string key;   // in JSON
  std::string label; // for people
  Unit unit = Unit::Count;
  std::optional<double> a, b;
};

/// One value in both plans, whole or in parts.
struct ComparedValue {
  /// Of several parts: bytes and seconds of all of them, whether all are kept, the most executions
  /// of one, and the op of the first.
  SavedValue a, b;
  std::vector<SavedValue> partsA, partsB; // at least one each
  /// Its op runs again as often in both, on average of the parts.
  bool runsAgainAlike() const;
};

/// What is alive at the peaks under one name, of one kind.
struct ComparedTensor {
  std::string name, kind;
  uint64_t a = 0, b = 0; // bytes
};

/// One op that runs in two ways.
struct ComparedOp {
  OpImplementation a, b;
};

struct PlanDiff {
  DescribedPlan a, b;
  bool identical = false; // they do the same, command by command and byte by byte
  bool sameModel = false;
  std::vector<ComparedSetting> settings;
  std::vector<ComparedFigure> figures, memory; // memory: at the peak, by kind
  /// Largest first. Values are told apart by the names of their ops.
  std::vector<ComparedValue> recomputedInA, recomputedInB; // and kept in the other
  std::vector<ComparedValue> recomputedInBoth;             // most often in one of them first
  size_t keptInBoth = 0;
  size_t keptPartsA = 0, keptPartsB = 0;    // that these are in each plan
  std::vector<SavedValue> onlyInA, onlyInB; // without a counterpart
  std::string whyUnmatched;                 // what may be the reason, in words
  std::vector<ComparedTensor> alive;        // at the peaks; the largest difference first
  std::vector<ComparedOp> implementations;  // that differ; the longest first
  std::vector<std::string> notes;           // what could not be compared
};

PlanDiff comparePlans(DescribedPlan a, DescribedPlan b);

/// The name of an op by which it is found in another plan: without the file that the model was read
/// from, whose line remains.
std::string nameToMatch(const std::string &opName);

/// Places with the same key in both lists, the first with the first and so on. A key that is there
/// more often in one of them pairs nothing: nobody knows which of them is which. (Saved values of
/// such a name are compared by their totals.)
std::vector<std::pair<size_t, size_t>> pairsByKey(const std::vector<std::string> &a,
                                                  const std::vector<std::string> &b);

/// Whether values of one name can be the same numbers in other parts: each part is rounded up to 64
/// bytes, so that the totals differ by less than 64 bytes for each part of the plan that has more.
bool haveEqualTotals(const std::vector<SavedValue> &a, const std::vector<SavedValue> &b);

/// For a terminal. The first `shown` of each list are listed and the others counted.
std::string diffText(const PlanDiff &diff, size_t shown);
/// Everything; the keys are a promise to scripts.
std::string diffJson(const PlanDiff &diff);
/// A page to look at, with the memory of both over a step.
std::string diffPage(const PlanDiff &diff, size_t shown);

} // namespace gc::runtime

#endif // GC_RUNTIME_REPORT_PLANDIFF_H
