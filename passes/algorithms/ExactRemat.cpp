#include "passes/algorithms/ExactRemat.h"
#include "passes/algorithms/Retention.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <queue>
#include <unordered_map>

namespace gc {
namespace {

// How many original ops are done, and which values are alive.
struct State {
  int done = 0;
  uint64_t alive = 0;
  bool operator==(const State &) const = default;
};
struct StateHash {
  size_t operator()(const State &state) const {
    return (state.alive ^ (static_cast<uint64_t>(state.done) << 57)) * 0x9e3779b97f4a7c15ull >> 7;
  }
};

// How a state was reached first: from which, and by running which op (-1: by letting a value go).
struct Arrival {
  double seconds = 0;
  State from;
  int op = -1;
  bool settled = false;
};

class ShortestPath {
public:
  ShortestPath(const StepGraph &graph, int64_t budget, int limit)
      : graph(graph), budget(budget), limit(limit), bit(graph.values.size(), -1) {
    for (size_t v = 0; v < graph.values.size(); ++v)
      if (graph.values[v].producer >= 0) {
        bit[v] = static_cast<int>(values.size());
        values.push_back(static_cast<int>(v));
      }
    lastUse.assign(values.size(), -1);
    for (size_t i = 0; i < graph.ops.size(); ++i)
      for (int operand : graph.ops[i].operands)
        if (bit[operand] >= 0)
          lastUse[bit[operand]] = static_cast<int>(i);
  }

  ExactRemat run() {
    if (values.size() > 64)
      return {};
    reach({}, 0, {}, -1);
    int ops = static_cast<int>(graph.ops.size());
    while (!queue.empty()) {
      State state = queue.top().second;
      queue.pop();
      Arrival &arrival = arrivals[state];
      if (arrival.settled)
        continue;
      arrival.settled = true;
      if (state.done == ops)
        return {true, scheduleTo(state)};
      if (--limit < 0)
        return {};
      expand(state, arrival.seconds);
    }
    return {true, nullptr};
  }

private:
  void reach(State state, double seconds, State from, int op) {
    auto [it, isNew] = arrivals.try_emplace(state, Arrival{seconds, from, op, false});
    if (!isNew) {
      if (it->second.settled || it->second.seconds <= seconds)
        return;
      it->second = {seconds, from, op, false};
    }
    // Equal seconds: the one that is further on first.
    queue.push({{-seconds, state.done}, state});
  }

  int64_t bytesOf(uint64_t alive) const {
    int64_t sum = 0;
    for (; alive; alive &= alive - 1)
      sum += alignedBytes(graph.values[values[std::countr_zero(alive)]].bytes);
    return sum;
  }

  // What must stay: the step's outcome, and what cannot be made again and is still to be read.
  bool mayGo(int index, int done) const {
    int value = values[index];
    if (graph.values[value].untilEnd)
      return false;
    return canDrop(graph, value) || lastUse[index] < done;
  }

  bool mayRunAgain(int op, int done) const {
    const StepOp &candidate = graph.ops[op];
    if (candidate.backward || !candidate.repeatable)
      return false;
    for (int i = 0; i < done; ++i)
      for (int changed : graph.ops[i].changes)
        if (std::find(candidate.operands.begin(), candidate.operands.end(), changed) !=
            candidate.operands.end())
          return false;
    return true;
  }

  void expand(const State &state, double seconds) {
    bool tight = false;
    for (int op = 0; op <= state.done; ++op) {
      bool original = op == state.done;
      uint64_t made = 0;
      for (int result : graph.ops[op].results)
        made |= uint64_t(1) << bit[result];
      if (!original && ((state.alive & made) == made || !mayRunAgain(op, state.done)))
        continue;
      bool ready = true;
      for (int operand : graph.ops[op].operands)
        ready &= bit[operand] < 0 || (state.alive >> bit[operand] & 1);
      if (ready)
        tight |= !execute(state, seconds, op, made, original);
    }
    if (!tight)
      return;
    for (uint64_t rest = state.alive; rest; rest &= rest - 1) {
      int index = std::countr_zero(rest);
      if (mayGo(index, state.done))
        reach({state.done, state.alive & ~(uint64_t(1) << index)}, seconds, state, -1);
    }
  }

  // Runs the op if it fits, in place if only that fits; false if it does not.
  bool execute(const State &state, double seconds, int index, uint64_t made, bool original) {
    const StepOp &op = graph.ops[index];
    int64_t needed = bytesOf(state.alive) + (op.workspace > 0 ? alignedBytes(op.workspace) : 0);
    for (int result : op.results)
      needed += alignedBytes(graph.values[result].bytes);
    int done = state.done + original;
    double cost = original ? 0 : op.seconds;
    if (needed <= budget) {
      reach({done, state.alive | made}, seconds + cost, state, index);
      return true;
    }
    // Each result over at most one operand that goes here.
    for (auto [over, result] : op.inPlace) {
      int value = op.operands[over];
      if (bit[value] < 0 || (made >> bit[value] & 1) || !mayGo(bit[value], done) ||
          graph.values[value].bytes != graph.values[op.results[result]].bytes)
        continue;
      bool allowed = true;
      for (size_t other = 0; other < op.operands.size(); ++other)
        if (op.operands[other] == value)
          allowed &= std::find(op.inPlace.begin(), op.inPlace.end(),
                               std::pair<int, int>(other, result)) != op.inPlace.end();
      if (allowed && needed - alignedBytes(graph.values[value].bytes) <= budget)
        reach({done, (state.alive & ~(uint64_t(1) << bit[value])) | made}, seconds + cost, state,
              index);
    }
    return false;
  }

  std::shared_ptr<const Schedule> scheduleTo(State state) {
    std::vector<std::pair<int, bool>> path; // op, original
    while (state.done != 0 || state.alive != 0) {
      const Arrival &arrival = arrivals[state];
      if (arrival.op >= 0)
        path.push_back({arrival.op, arrival.from.done != state.done});
      state = arrival.from;
    }
    auto schedule = std::make_shared<Schedule>();
    FlatGraph flat(graph);
    std::vector<int> current(graph.values.size(), -1);
    for (auto it = path.rbegin(); it != path.rend(); ++it) {
      int instance = schedule->append(flat, it->first, !it->second, current);
      for (int value : graph.ops[it->first].results)
        current[value] = instance++;
    }
    return schedule;
  }

  const StepGraph &graph;
  int64_t budget;
  int limit;
  std::vector<int> bit;    // of each value; -1: persistent
  std::vector<int> values; // of each bit
  std::vector<int> lastUse; // of each bit, the last original op that reads it
  std::unordered_map<State, Arrival, StateHash> arrivals;
  using Entry = std::pair<std::pair<double, int>, State>;
  struct Less {
    bool operator()(const Entry &a, const Entry &b) const { return a.first < b.first; }
  };
  std::priority_queue<Entry, std::vector<Entry>, Less> queue;
};

} // namespace

ExactRemat solveExactly(const StepGraph &graph, int64_t budget, int states) {
  return ShortestPath(graph, budget, states).run();
}

} // namespace gc
