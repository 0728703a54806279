// A training step as plain data: what rematerialization decides on. Ops are in program order; a
// value is a range of bytes (views are the value that they show). Nothing here knows IR.
#ifndef GC_PASSES_ALGORITHMS_STEPGRAPH_H
#define GC_PASSES_ALGORITHMS_STEPGRAPH_H

#include <cstdint>
#include <utility>
#include <vector>

namespace gc {

struct StepValue {
  int64_t bytes = 0;
  int producer = -1;       // op; -1: persistent (variables, inputs), which cost nothing here
  bool untilEnd = false;   // returned, or kept to be dumped
};

struct StepOp {
  std::vector<int> operands, results; // values
  double seconds = 0;
  int64_t workspace = 0;
  bool backward = false;   // depends on the gradient of the loss
  bool repeatable = false; // running it again gives the same bits
  /// Pairs of operand and result (by place) such that the result may be written over the operand.
  std::vector<std::pair<int, int>> inPlace;
};

struct StepGraph {
  std::vector<StepValue> values;
  std::vector<StepOp> ops;
};

/// What happens to a forward value that backward ops use.
enum class Retention : uint8_t {
  Keep,   // stays from forward to its last use
  Drop,   // dies in forward; comes back before its first backward use and stays to its last
  Forget, // likewise, but comes back for each use
};

/// One execution of an op. Operands and results are instances: executions of the same op make
/// different ones.
struct ScheduledOp {
  int op = 0;
  bool recomputed = false;
  std::vector<int> operands, results; // instances; -1 for persistent operands
};

struct Schedule {
  std::vector<ScheduledOp> ops;
  std::vector<int> valueOf; // instance to value
};

/// The order that follows from the decisions: ops as they are, and before each backward op what it
/// needs and is not there. `retention` has one entry per value.
Schedule buildSchedule(const StepGraph &graph, const std::vector<Retention> &retention);

/// Bytes that are alive from `first` to `last` (places in the schedule, both included).
struct StorageLife {
  int first = 0, last = 0;
  int64_t bytes = 0;
  int value = -1; // the first value in it; -1: workspace
};

struct ScheduleCost {
  int64_t peak = 0;  // largest sum of live bytes, in-place writing counted
  int peakAt = 0;    // place in the schedule
  double seconds = 0;
  double recomputeSeconds = 0;
  std::vector<int64_t> live; // at each place
  std::vector<StorageLife> storages;
};

/// Follows the schedule exactly: lives, in-place writing, workspaces.
ScheduleCost costOf(const StepGraph &graph, const Schedule &schedule);

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_STEPGRAPH_H
