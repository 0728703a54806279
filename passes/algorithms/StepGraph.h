// A training step as plain data: what rematerialization decides on, and what liveness counts. Ops
// are in program order; a value is a range of bytes (views are the value that they show). Nothing
// here knows IR.
#ifndef GC_PASSES_ALGORITHMS_STEPGRAPH_H
#define GC_PASSES_ALGORITHMS_STEPGRAPH_H

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace gc {

/// Alignment of every storage: a cache line, and a vector.
constexpr int64_t storageAlignment = 64;
inline int64_t alignedBytes(int64_t bytes) {
  return (bytes + storageAlignment - 1) / storageAlignment * storageAlignment;
}

struct StepValue {
  int64_t bytes = 0;
  int producer = -1;     // op; -1: persistent (variables, inputs), which cost nothing here
  bool untilEnd = false; // returned, or kept to be dumped
};

struct StepOp {
  std::vector<int> operands, results; // values
  double seconds = 0;
  int64_t workspace = 0;
  bool backward = false;   // depends on the gradient of the loss
  bool repeatable = false; // running it again gives the same bits
  /// Pairs of operand and result (by place) such that the result may be written over the operand.
  std::vector<std::pair<int, int>> inPlace;
  /// Persistent values that this op changes: nothing may read their old contents after it.
  std::vector<int> changes;
};

struct StepGraph {
  std::vector<StepValue> values;
  std::vector<StepOp> ops;
};

/// The place of the first backward op; the number of ops, where there is none.
int firstBackwardOp(const StepGraph &graph);

/// A StepGraph in flat arrays, for searches that walk it thousands of times. Persistent values are
/// left out of the operands, and sizes are aligned.
struct FlatGraph {
  explicit FlatGraph(const StepGraph &graph);
  struct Range {
    int begin = 0, end = 0;
  };
  struct Op {
    Range operands, results, inPlace, changes; // ranges of `lists`; inPlace one of `pairs`
    double seconds = 0;
    int64_t workspace = 0;
    bool backward = false;
  };
  std::span<const int> list(Range range) const {
    return {lists.data() + range.begin, lists.data() + range.end};
  }
  std::vector<Op> ops;
  std::vector<int> lists;
  std::vector<std::pair<int, int>> pairs;
  std::vector<int64_t> bytes; // of each value
  std::vector<int> producer;  // of each value
  std::vector<char> untilEnd; // of each value
  std::vector<char> lasting;  // of each op: a result of it lasts to the end of the step
};

/// Executions of ops, in order; an op that is recomputed has several. Each execution makes new
/// *instances* of the op's results. Flat arrays, because searches build thousands of schedules.
class Schedule {
public:
  int size() const { return static_cast<int>(opAt.size()); }
  int instances() const { return static_cast<int>(valueOf.size()); }
  int op(int place) const { return opAt[place]; }
  bool recomputed(int place) const { return again[place]; }
  /// The instances that the execution reads, one for each operand; -1 for persistent values.
  std::span<const int> operands(int place) const {
    return {reads.data() + readsFrom[place], reads.data() + readsFrom[place + 1]};
  }
  /// The instance of the op's first result; those of the others follow it.
  int firstResult(int place) const { return madeFrom[place]; }
  int value(int instance) const { return valueOf[instance]; }
  /// The last place that reads the instance; -1: none.
  int lastRead(int instance) const { return lastReads[instance]; }
  /// False if an op would run again after one of its variables has changed.
  bool valid() const { return !readsChanged; }

  void clear();
  /// Appends an execution of `op` that reads the instances in `current` (one entry per value).
  /// Returns its first result.
  int append(const FlatGraph &graph, int op, bool isAgain, const std::vector<int> &current);
  void invalidate() { readsChanged = true; }

private:
  std::vector<int> opAt, reads, madeFrom, valueOf, lastReads;
  std::vector<int> readsFrom{0};
  std::vector<char> again;
  bool readsChanged = false;
};

/// The schedule that runs every op once, in the graph's order.
Schedule plainSchedule(const FlatGraph &graph);

/// Bytes that are alive from `first` to `last` (places in the schedule, both included; the place
/// behind the last op is the end of the step).
struct StorageLife {
  int first = 0, last = 0;
  int64_t bytes = 0; // aligned
  int instance = -1; // the first one in it; -1: workspace
};

/// The one answer to "which bytes are alive when". An instance lives from where it is made to its
/// last reader; a result is written over an operand that dies where the op allows it; a workspace
/// lives for its op. An object can be used again and again without allocating.
class Lives {
public:
  void analyse(const FlatGraph &graph, const Schedule &schedule, bool inPlace = true);

  const std::vector<StorageLife> &storages() const { return all; }
  int storageOf(int instance) const { return storage[instance]; }
  /// Sum of live bytes at each place, the end included.
  const std::vector<int64_t> &live() const { return sum; }
  int64_t peak() const { return sum.empty() ? 0 : sum[peakPlace]; }
  int peakAt() const { return peakPlace; }
  double seconds() const { return total; }
  double recomputeSeconds() const { return again; }

private:
  int findOverwritten(const FlatGraph &graph, const FlatGraph::Op &op,
                      std::span<const int> operands, int result, int64_t bytes, int place) const;
  std::vector<StorageLife> all;
  std::vector<int> storage, taken;
  std::vector<int64_t> sum;
  int peakPlace = 0;
  double total = 0, again = 0;
};

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_STEPGRAPH_H
