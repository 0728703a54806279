#include "passes/algorithms/rematerialization/ExactRemat.h"
#include "passes/algorithms/rematerialization/Retention.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <queue>
#include <unordered_map>

namespace gc {
namespace {

// A value below this part of all bytes is small.
constexpr int64_t smallPart = 4096;
// The limit on states also covers the choices of what to let go: this many count as one state.
constexpr int64_t waysPerState = 16;

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

// How a state was reached: from which, and by running which op.
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
    for (const StepValue &value : graph.values)
      total += value.producer < 0 ? 0 : value.bytes;
    // Small values stay alive once they are made: dropping their few bytes would help nobody.
    for (size_t v = 0; v < graph.values.size(); ++v)
      if (graph.values[v].producer >= 0 && graph.values[v].bytes * smallPart >= total) {
        bit[v] = static_cast<int>(values.size());
        values.push_back(static_cast<int>(v));
        large += graph.values[v].bytes;
      }
    if (!isSmall())
      return;
    lastUse.assign(values.size(), -1);
    reads.assign(graph.ops.size(), 0);
    for (size_t i = 0; i < graph.ops.size(); ++i)
      for (int operand : graph.ops[i].operands)
        if (bit[operand] >= 0) {
          lastUse[bit[operand]] = static_cast<int>(i);
          reads[i] |= uint64_t(1) << bit[operand];
        }
    // wanted[i]: the values made before op i that original ops from i on read.
    wanted.assign(graph.ops.size() + 1, 0);
    for (size_t i = graph.ops.size(); i-- > 0;)
      wanted[i] = wanted[i + 1] | reads[i];
    for (size_t i = 0; i <= graph.ops.size(); ++i)
      for (size_t b = 0; b < values.size(); ++b)
        if (graph.values[values[b]].producer >= static_cast<int>(i))
          wanted[i] &= ~(uint64_t(1) << b);
  }

  // Few values are large, and the others are few bytes together: in deep networks none is large.
  bool isSmall() const { return values.size() <= 64 && (total - large) * 16 <= total; }

  ExactRemat run() {
    if (!isSmall())
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
      ++settled;
      if (looked() > limit)
        return {looked(), false, nullptr};
      if (state.done == ops)
        return {looked(), true, scheduleTo(state)};
      expand(state, arrival.seconds);
    }
    return {looked(), looked() <= limit, nullptr};
  }

private:
  int looked() const { return static_cast<int>(std::max(settled, ways / waysPerState)); }

  void reach(State state, double seconds, State from, int op) {
    auto [it, isNew] = arrivals.try_emplace(state, Arrival{seconds, from, op, false});
    if (!isNew) {
      if (it->second.settled || it->second.seconds <= seconds)
        return;
      it->second = {seconds, from, op, false};
    }
    // Among states with equal seconds, the one with more ops done is looked at first.
    queue.push({{-(seconds + stillToPay(state)), state.done}, state});
  }

  // A lower bound of the seconds that every continuation of this state spends on recomputation:
  // what later ops read and is not alive must be made again, and so must what that is made from.
  // From a state to the next the bound falls by no more than the op between them costs (it is a
  // consistent heuristic, as A* needs).
  double stillToPay(const State &state) const {
    double seconds = 0;
    uint64_t seen = state.alive;
    for (uint64_t open = wanted[state.done] & ~seen; open; open &= ~seen) {
      int value = values[std::countr_zero(open)];
      const StepOp &op = graph.ops[graph.values[value].producer];
      seconds += op.seconds;
      seen |= open & -open;
      for (int result : op.results)
        if (bit[result] >= 0)
          seen |= uint64_t(1) << bit[result];
      open |= reads[graph.values[value].producer];
    }
    return seconds;
  }

  int64_t bytesOf(uint64_t alive) const {
    int64_t sum = 0;
    for (; alive; alive &= alive - 1)
      sum += alignedBytes(graph.values[values[std::countr_zero(alive)]].bytes);
    return sum;
  }

  // Whether the value may be let go. The step's results may not, and neither may a value that is
  // still to be read and cannot be made again.
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
    for (int op = 0; op <= state.done; ++op) {
      bool original = op == state.done;
      uint64_t made = 0;
      for (int result : graph.ops[op].results)
        if (bit[result] >= 0)
          made |= uint64_t(1) << bit[result];
      if (!original && ((state.alive & made) == made || !mayRunAgain(op, state.done)))
        continue;
      if ((reads[op] & ~state.alive) == 0)
        execute(state, seconds, op, made, original);
    }
  }

  // Runs the op in every state that lets go of just enough values for it to fit. With fewer gone it
  // would not fit; letting go of more can wait until a later op needs it.
  void execute(const State &state, double seconds, int index, uint64_t made, bool original) {
    const StepOp &op = graph.ops[index];
    int64_t excess = bytesOf(state.alive) + alignedBytes(op.workspace) - budget;
    for (int result : op.results)
      if (bit[result] >= 0)
        excess += alignedBytes(graph.values[result].bytes);
    Step step{state, index, made, state.done + original, seconds + (original ? 0 : op.seconds)};
    overwrite(step, 0, 0, excess);
  }

  struct Step {
    State from;
    int op;
    uint64_t made;
    int done;
    double seconds;
  };

  // Tries, for each result from `result` on, to write it over every operand that may go, or over
  // none.
  void overwrite(const Step &step, size_t result, uint64_t overwritten, int64_t excess) {
    const StepOp &op = graph.ops[step.op];
    if (excess <= 0 || result == op.results.size()) {
      letGo(step, overwritten, excess);
      return;
    }
    overwrite(step, result + 1, overwritten, excess);
    for (auto [over, target] : op.inPlace) {
      int index = bit[op.operands[over]];
      if (target != static_cast<int>(result) || index < 0 || (overwritten >> index & 1) ||
          !mayGo(index, step.done) || !mayOverwrite(op, op.operands[over], target))
        continue;
      overwrite(step, result + 1, overwritten | uint64_t(1) << index,
                excess - alignedBytes(graph.values[values[index]].bytes));
    }
  }

  // The op may read the value through several operands: each must allow being written over.
  bool mayOverwrite(const StepOp &op, int value, int result) const {
    if (alignedBytes(graph.values[value].bytes) !=
        alignedBytes(graph.values[op.results[result]].bytes))
      return false;
    for (size_t other = 0; other < op.operands.size(); ++other)
      if (op.operands[other] == value &&
          std::find(op.inPlace.begin(), op.inPlace.end(), std::pair<int, int>(other, result)) ==
              op.inPlace.end())
        return false;
    return true;
  }

  // Continues with every minimal set of other values that frees `excess` bytes.
  void letGo(const Step &step, uint64_t overwritten, int64_t excess) {
    candidates.clear();
    if (excess > 0)
      for (uint64_t rest = step.from.alive & ~reads[step.op]; rest; rest &= rest - 1)
        if (int index = std::countr_zero(rest); mayGo(index, step.from.done))
          candidates.push_back({alignedBytes(graph.values[values[index]].bytes), index});
    std::sort(candidates.rbegin(), candidates.rend());
    freeable.assign(candidates.size() + 1, 0);
    for (size_t i = candidates.size(); i-- > 0;)
      freeable[i] = freeable[i + 1] + candidates[i].first;
    choose(step, overwritten, 0, excess);
  }

  // Adds candidates, by falling size, until `excess` is freed: without its last, smallest member a
  // set would free too little, so it is minimal. It stops where all that are left are not enough.
  void choose(const Step &step, uint64_t gone, size_t next, int64_t excess) {
    if (excess <= 0) {
      uint64_t alive = (step.from.alive & ~gone) | step.made;
      for (uint64_t rest = alive; rest; rest &= rest - 1)
        if (int index = std::countr_zero(rest); isOver(index, step.done))
          alive &= ~(uint64_t(1) << index);
      reach({step.done, alive}, step.seconds, step.from, step.op);
      ++ways;
      return;
    }
    for (size_t i = next; freeable[i] >= excess && looked() <= limit; ++i)
      choose(step, gone | uint64_t(1) << candidates[i].second, i + 1, excess - candidates[i].first);
  }

  // Whether no op will read the value any more: it is an adjoint and its readers have all run.
  bool isOver(int index, int done) const {
    const StepValue &value = graph.values[values[index]];
    return !value.untilEnd && lastUse[index] < done && graph.ops[value.producer].backward;
  }

  std::shared_ptr<const Schedule> scheduleTo(State state) {
    std::vector<std::pair<int, bool>> path; // op, original
    while (!(state == State{})) {
      const Arrival &arrival = arrivals[state];
      path.push_back({arrival.op, arrival.from.done != state.done});
      state = arrival.from;
    }
    auto schedule = std::make_shared<Schedule>();
    FlatGraph flat(graph);
    std::vector<int> current(graph.values.size(), -1);
    for (auto it = path.rbegin(); it != path.rend(); ++it) {
      int instance = schedule->append(flat, it->first, !it->second, current);
      // A value that must last to the end stays the original instance, not the recomputed one.
      for (int value : graph.ops[it->first].results) {
        if (it->second || !graph.values[value].untilEnd)
          current[value] = instance;
        ++instance;
      }
    }
    return schedule;
  }

  const StepGraph &graph;
  int64_t total = 0, large = 0; // bytes of all values, and of those that are not small
  int64_t budget;
  int limit;
  int64_t settled = 0, ways = 0; // states looked at, and continuations of them that were tried
  std::vector<int> bit;          // for each value, its bit in State::alive; -1: it has none
  std::vector<int> values;       // for each bit, its value
  std::vector<int> lastUse;      // for each bit, the last original op that reads its value
  std::vector<uint64_t> reads, wanted; // for each op: what it reads; see the constructor
  std::vector<std::pair<int64_t, int>> candidates; // bytes and bit, to let go
  std::vector<int64_t> freeable;                   // bytes of the candidates from each on
  std::unordered_map<State, Arrival, StateHash> arrivals;
  using Entry = std::pair<std::pair<double, int>, State>;
  struct Less {
    bool operator()(const Entry &a, const Entry &b) const { return a.first < b.first; }
  };
  std::priority_queue<Entry, std::vector<Entry>, Less> queue;
};

} // namespace

bool canSolveExactly(const StepGraph &graph) { return ShortestPath(graph, 0, 0).isSmall(); }

ExactRemat solveExactly(const StepGraph &graph, int64_t budget, int states) {
  return ShortestPath(graph, budget, states).run();
}

} // namespace gc
