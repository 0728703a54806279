// What becomes of forward values that backward ops need, and the schedule that follows.
#ifndef GC_PASSES_ALGORITHMS_REMATERIALIZATION_RETENTION_H
#define GC_PASSES_ALGORITHMS_REMATERIALIZATION_RETENTION_H

#include "passes/algorithms/StepGraph.h"

namespace gc {

enum class Retention : uint8_t {
  Keep,   // stays from forward to its last use
  Drop,   // dies in forward; comes back before its first backward use and stays to its last
  Forget, // likewise, but comes back for each use
};

/// Whether a value may be dropped: made in forward by an op that can run again.
bool canDrop(const StepGraph &graph, int value);

/// Forward values that backward ops read and that could be made again: what is saved when nothing
/// is recomputed.
std::vector<int> savedValues(const StepGraph &graph);

/// Values that may be dropped and are worth it. Small ones (statistics and the like) are always
/// kept: dropping their few bytes helps nobody.
std::vector<int> decidableValues(const StepGraph &graph);

/// Saved values kept, all others left to die in forward: nothing is recomputed.
std::vector<Retention> retainSaved(const StepGraph &graph);

/// The decisions that a schedule shows: what it makes once, again, or more than once again.
std::vector<Retention> retentionOf(const StepGraph &graph, const Schedule &schedule);

/// Turns decisions (one per value) into a schedule: ops as they are, and before each backward op
/// what it needs and is not there. Used again and again, it allocates nothing.
class Scheduler {
public:
  explicit Scheduler(const StepGraph &graph);
  const Schedule &build(const std::vector<Retention> &retention);
  const Schedule &last() const { return schedule; }
  const FlatGraph &flat() const { return graph; }

private:
  void run(int op);
  bool available(int value) const;
  void require(int value);
  void execute(int op, bool again);

  FlatGraph graph;
  std::vector<char> droppable;
  const std::vector<Retention> *decisions = nullptr;
  std::vector<int> instance; // of each value, the one to read now
  std::vector<char> isOriginal, changed;
  std::vector<int> forgetAfter;
  Schedule schedule;
  // What is the same whatever is decided: ops up to the first backward one.
  int forward = 0;
  Schedule forwardSchedule;
  std::vector<int> forwardInstance;
  std::vector<char> forwardOriginal, forwardChanged;
};

/// Takes recomputation out of a schedule where its value could have been held since its last use
/// instead: where that keeps what is alive within `limit`. `live` is the schedule's live bytes.
Schedule holdWhereItFits(const FlatGraph &graph, const Schedule &schedule,
                         std::vector<int64_t> live, int64_t limit);

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_REMATERIALIZATION_RETENTION_H
