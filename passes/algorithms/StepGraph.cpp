#include "passes/algorithms/StepGraph.h"

#include <algorithm>

namespace gc {
namespace {

int64_t aligned(int64_t bytes) { return (bytes + 63) / 64 * 64; }

class Scheduler {
public:
  Scheduler(const StepGraph &graph, const std::vector<Retention> &retention)
      : graph(graph), retention(retention), instance(graph.values.size(), -1),
        isOriginal(graph.values.size(), 0) {}

  Schedule run() {
    for (size_t i = 0; i < graph.ops.size(); ++i) {
      const StepOp &op = graph.ops[i];
      forgetAfter.clear();
      if (op.backward)
        for (int value : op.operands)
          require(value);
      execute(static_cast<int>(i), false);
      for (int value : forgetAfter)
        instance[value] = -1;
    }
    return std::move(schedule);
  }

private:
  // Whether the instance at hand may be read in backward.
  bool available(int value) const {
    const StepValue &v = graph.values[value];
    if (v.producer < 0)
      return true;
    if (instance[value] < 0)
      return false;
    const StepOp &producer = graph.ops[v.producer];
    if (producer.backward || !producer.repeatable)
      return true;
    return !isOriginal[value] || retention[value] == Retention::Keep;
  }

  void require(int value) {
    if (available(value))
      return;
    int producer = graph.values[value].producer;
    for (int operand : graph.ops[producer].operands)
      require(operand);
    execute(producer, true);
    // All results came back; those to be forgotten go when the op that asked has run.
    for (int result : graph.ops[producer].results)
      if (retention[result] == Retention::Forget)
        forgetAfter.push_back(result);
  }

  void execute(int index, bool recomputed) {
    const StepOp &op = graph.ops[index];
    ScheduledOp scheduled;
    scheduled.op = index;
    scheduled.recomputed = recomputed;
    for (int value : op.operands)
      scheduled.operands.push_back(graph.values[value].producer < 0 ? -1 : instance[value]);
    for (int value : op.results) {
      scheduled.results.push_back(static_cast<int>(schedule.valueOf.size()));
      // A kept sibling that is still there is not replaced by its recomputed twin.
      if (!recomputed || !available(value)) {
        instance[value] = static_cast<int>(schedule.valueOf.size());
        isOriginal[value] = !recomputed;
      }
      schedule.valueOf.push_back(value);
    }
    schedule.ops.push_back(std::move(scheduled));
  }

  const StepGraph &graph;
  const std::vector<Retention> &retention;
  std::vector<int> instance; // of each value, the one to read now
  std::vector<char> isOriginal;
  std::vector<int> forgetAfter;
  Schedule schedule;
};

} // namespace

Schedule buildSchedule(const StepGraph &graph, const std::vector<Retention> &retention) {
  return Scheduler(graph, retention).run();
}

ScheduleCost costOf(const StepGraph &graph, const Schedule &schedule) {
  int end = static_cast<int>(schedule.ops.size());
  size_t instances = schedule.valueOf.size();
  std::vector<int> lastUse(instances, -1);
  for (int place = 0; place < end; ++place)
    for (int operand : schedule.ops[place].operands)
      if (operand >= 0)
        lastUse[operand] = place;
  // Of several instances only the last one of a value that must reach the end does.
  for (size_t i = 0; i < instances; ++i)
    if (graph.values[schedule.valueOf[i]].untilEnd)
      lastUse[i] = end;

  ScheduleCost cost;
  cost.live.assign(end + 1, 0);
  std::vector<int> storageOf(instances, -1);
  std::vector<StorageLife> &storages = cost.storages;
  for (int place = 0; place < end; ++place) {
    const ScheduledOp &scheduled = schedule.ops[place];
    const StepOp &op = graph.ops[scheduled.op];
    cost.seconds += op.seconds;
    if (scheduled.recomputed)
      cost.recomputeSeconds += op.seconds;
    std::vector<int> taken;
    for (size_t r = 0; r < scheduled.results.size(); ++r) {
      int result = scheduled.results[r];
      int64_t bytes = graph.values[schedule.valueOf[result]].bytes;
      int chosen = -1;
      for (size_t o = 0; o < scheduled.operands.size() && chosen < 0; ++o) {
        int operand = scheduled.operands[o];
        if (operand < 0)
          continue;
        int storage = storageOf[operand];
        if (storages[storage].last != place || storages[storage].bytes != bytes ||
            std::find(taken.begin(), taken.end(), storage) != taken.end())
          continue;
        // Every operand that shows this storage must allow it.
        bool allowed = true;
        for (size_t other = 0; other < scheduled.operands.size(); ++other)
          if (scheduled.operands[other] >= 0 && storageOf[scheduled.operands[other]] == storage)
            allowed &= std::find(op.inPlace.begin(), op.inPlace.end(),
                                 std::pair<int, int>(other, r)) != op.inPlace.end();
        if (allowed)
          chosen = storage;
      }
      if (chosen >= 0) {
        taken.push_back(chosen);
        storageOf[result] = chosen;
      } else {
        storageOf[result] = static_cast<int>(storages.size());
        storages.push_back(
            {place, std::max(place, lastUse[result]), bytes, schedule.valueOf[result]});
      }
    }
    for (int result : scheduled.results) {
      int &last = storages[storageOf[result]].last;
      last = std::max({last, place, lastUse[result]});
    }
    if (op.workspace > 0)
      storages.push_back({place, place, op.workspace, -1});
  }
  // Lives as differences, then summed.
  std::vector<int64_t> change(end + 2, 0);
  for (const StorageLife &storage : storages) {
    change[storage.first] += aligned(storage.bytes);
    change[std::min(storage.last, end) + 1] -= aligned(storage.bytes);
  }
  int64_t sum = 0;
  for (int place = 0; place <= end; ++place) {
    sum += change[place];
    cost.live[place] += sum;
    if (cost.live[place] > cost.peak) {
      cost.peak = cost.live[place];
      cost.peakAt = place;
    }
  }
  return cost;
}

} // namespace gc
