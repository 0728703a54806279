#include "test/algorithms/ScheduleReplay.h"

#include <algorithm>

namespace gc::test {

std::string replay(const StepGraph &graph, const Schedule &schedule) {
  std::vector<char> made(schedule.instances(), 0), changed(graph.values.size(), 0);
  int next = 0; // the original that must come next
  for (int place = 0; place < schedule.size(); ++place) {
    int op = schedule.op(place);
    std::string name = "op " + std::to_string(op);
    const StepOp &original = graph.ops[op];
    if (schedule.recomputed(place)) {
      if (original.backward || !original.repeatable)
        return name + " must not run twice";
      if (op >= next)
        return name + " runs again before it has run";
    } else if (op != next++) {
      return name + " is out of order";
    }
    for (size_t o = 0; o < original.operands.size(); ++o) {
      int instance = schedule.operands(place)[o], value = original.operands[o];
      if (changed[value])
        return name + " reads a variable after it has changed";
      if (graph.values[value].producer < 0)
        continue;
      if (instance < 0 || !made[instance] || schedule.value(instance) != value)
        return name + " reads something else than value " + std::to_string(value);
    }
    for (size_t r = 0; r < original.results.size(); ++r) {
      if (schedule.value(schedule.firstResult(place) + static_cast<int>(r)) != original.results[r])
        return name + " makes something else than its results";
      made[schedule.firstResult(place) + r] = 1;
    }
    for (int value : original.changes)
      changed[value] = 1;
  }
  if (next != static_cast<int>(graph.ops.size()))
    return std::to_string(graph.ops.size() - next) + " ops never ran";
  return "";
}

namespace {

struct Life {
  int made = 0, last = 0;
  int64_t bytes = 0;
};

// Bytes saved where results lie over operands that die at `place`: each, in order, over the first
// that allows it.
int64_t savedInPlace(const StepOp &op, std::span<const int> operands,
                     const std::vector<Life> &lives, int place,
                     const std::vector<int64_t> &resultBytes) {
  std::vector<int> taken;
  int64_t saved = 0;
  for (size_t r = 0; r < resultBytes.size(); ++r)
    for (auto [over, result] : op.inPlace) {
      int instance = operands[over];
      if (result != static_cast<int>(r) || instance < 0 || lives[instance].last != place ||
          lives[instance].bytes != resultBytes[r] ||
          std::find(taken.begin(), taken.end(), instance) != taken.end())
        continue;
      // However often the op reads it, each of its places must allow it.
      bool allowed = true;
      for (size_t other = 0; other < operands.size(); ++other)
        if (operands[other] == instance)
          allowed &= std::find(op.inPlace.begin(), op.inPlace.end(),
                               std::pair<int, int>(other, r)) != op.inPlace.end();
      if (!allowed)
        continue;
      taken.push_back(instance);
      saved += resultBytes[r];
      break;
    }
  return saved;
}

} // namespace

std::vector<int64_t> liveBytes(const StepGraph &graph, const Schedule &schedule) {
  auto aligned = [](int64_t bytes) { return (bytes + 63) / 64 * 64; };
  int end = schedule.size();
  std::vector<Life> lives(schedule.instances());
  for (int place = 0; place < end; ++place) {
    const StepOp &op = graph.ops[schedule.op(place)];
    for (size_t r = 0; r < op.results.size(); ++r) {
      const StepValue &value = graph.values[op.results[r]];
      bool toEnd = value.untilEnd && !schedule.recomputed(place);
      lives[schedule.firstResult(place) + r] = {place, toEnd ? end : place, aligned(value.bytes)};
    }
    for (int instance : schedule.operands(place))
      if (instance >= 0)
        lives[instance].last = std::max(lives[instance].last, place);
  }
  std::vector<int64_t> live(end + 1, 0);
  for (int place = 0; place <= end; ++place) {
    for (const Life &life : lives)
      if (life.made <= place && place <= life.last)
        live[place] += life.bytes;
    if (place == end)
      continue;
    const StepOp &op = graph.ops[schedule.op(place)];
    live[place] += aligned(op.workspace);
    std::vector<int64_t> resultBytes;
    for (int result : op.results)
      resultBytes.push_back(aligned(graph.values[result].bytes));
    live[place] -= savedInPlace(op, schedule.operands(place), lives, place, resultBytes);
  }
  return live;
}

} // namespace gc::test
