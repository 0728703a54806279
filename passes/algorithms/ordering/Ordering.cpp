// What is alive depends only on the set of ops that have run, not on their order. So partial orders
// that ran the same ops compete, and a beam search over such sets, one op at a time, comes close to
// the best order of graphs that are mostly long and narrow, as training steps are.
//
// Some ops leave no more bytes alive than there were before them (updates, ops that write in
// place). It never pays to run such an op later: the more ops have run, the more of its operands
// die with it, so it will not add bytes later either. The search therefore runs it as soon as it is
// ready and tries no alternative.
//
// Most of the moves in the order that is found gain nothing. So a last search looks, among the
// orders whose peaks are no higher, for the one that differs least from the given order.
#include "passes/algorithms/ordering/Ordering.h"
#include "passes/algorithms/ordering/OrderingPhase.h"

#include <algorithm>
#include <optional>
#include <unordered_set>

namespace gc {
namespace {

Bytes larger(const Bytes &a, const Bytes &b) {
  return {std::max(a[Kept], b[Kept]), std::max(a[MadeAgain], b[MadeAgain])};
}
bool isWithin(const Bytes &bytes, const Bytes &limits) { return larger(bytes, limits) == limits; }
int64_t sum(const Bytes &bytes) { return bytes[Kept] + bytes[MadeAgain]; }

/// What running an op changes.
struct Effect {
  Bytes during = {}; // bytes alive while the op runs
  Bytes after = {};  // bytes alive after it, less those alive before it
};

/// What a search minimizes: first the sum of the peaks; among equals `rest`, which is the sum of
/// live bytes over all ops (findLeast) or the number of pairs of ops that swapped places
/// (findNear).
struct Score {
  int64_t peaks = 0, rest = 0;
  auto operator<=>(const Score &) const = default;
};

/// What is left of numbers that are counted down. It holds those alone that have begun and are not
/// at zero: few, where a step is long and narrow, so that states are quickly copied.
class Countdowns {
public:
  int left(int index, int from) const {
    auto found = find(index);
    return found != begun.end() && found->first == index ? found->second : from;
  }
  /// Returns what is left.
  int countDown(int index, int from) {
    auto found = begun.begin() + (find(index) - begun.begin());
    if (found == begun.end() || found->first != index) {
      if (from > 1)
        begun.insert(found, {index, from - 1});
      return from - 1;
    }
    int left = --found->second;
    if (left == 0)
      begun.erase(found);
    return left;
  }

private:
  std::vector<std::pair<int, int>>::const_iterator find(int index) const {
    return std::lower_bound(begun.begin(), begun.end(), std::pair(index, 0));
  }
  std::vector<std::pair<int, int>> begun; // index and what is left, by index
};

/// The ops that have run, as ranges of numbers.
class RanOps {
public:
  void add(int op) {
    auto after = std::upper_bound(ranges.begin(), ranges.end(), op,
                                  [](int op, const Range &range) { return op < range.begin; });
    bool joinsNext = after != ranges.end() && after->begin == op + 1;
    bool joinsPrevious = after != ranges.begin() && std::prev(after)->end == op;
    if (joinsPrevious && joinsNext) {
      std::prev(after)->end = after->end;
      ranges.erase(after);
    } else if (joinsPrevious) {
      ++std::prev(after)->end;
    } else if (joinsNext) {
      --after->begin;
    } else {
      ranges.insert(after, {op, op + 1});
    }
  }
  struct Range {
    int begin, end;
  };
  std::vector<Range> ranges; // apart from each other, ascending
};

/// A set of ops that have run.
struct State {
  Countdowns uses;        // of values: readers that have not run
  Countdowns waiting;     // of ops and gates: what they must follow and has not run
  std::vector<int> ready; // the ops that can run next, in their given order
  RanOps ran;
  Bytes live = {}, peaks = {};
  Score score;
  uint64_t hash = 0;
  int history = -1;
};

// Spreads the bits of an op's number: the sum of such numbers is the hash of a set of ops.
uint64_t mix(uint64_t x) {
  x = (x + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class Search {
public:
  explicit Search(const Phase &phase)
      : phase(phase), // the beam is as wide as a few hundredths of a second allow
        width(std::clamp<size_t>(8000 / std::max(1, phase.count), 16, 64)) {}

  /// An order with small peaks; peaks below `base` count as equal to it. The peak of the step that
  /// keeps everything stays within `limit`. Empty where no such order is found.
  std::vector<int> findLeast(const Bytes &base, int64_t limit) {
    return find([&](const State &state, size_t parent) { addAll(state, parent, base, limit); });
  }

  /// The order nearest to the given one among those within the limits; empty where none is found.
  std::vector<int> findNear(const Bytes &limits) {
    return find([&](const State &state, size_t parent) { addNear(state, parent, limits); });
  }

  Bytes peaksOf(const std::vector<int> &order) {
    State state = initial();
    for (int op : order)
      run(state, op, effectOf(state, op));
    return state.peaks;
  }

private:
  struct Candidate {
    size_t parent;
    int op;
    Effect effect;
    Score score;
  };
  struct Step {
    int previous, op;
  };

  State initial() const {
    State state;
    for (int i = 0; i < phase.count; ++i)
      if (phase.ops[i].waiting == 0)
        state.ready.push_back(i);
    state.live = phase.live;
    return state;
  }

  // Whether the value dies at the op that runs next: that op is its last reader, and nothing keeps
  // it.
  bool diesAt(const State &state, int index, Retained what) const {
    const Phase::Value &value = phase.values[index];
    if (what == MadeAgain && value.outside)
      return true;
    return !value.untilEnd && (what == MadeAgain || !value.after) &&
           state.uses.left(index, value.uses) == 1;
  }

  Effect effectOf(const State &state, int index) {
    const Phase::Op &op = phase.ops[index];
    Effect effect;
    for (Retained what : retained) {
      int64_t during = op.workspace, after = 0;
      for (int result : op.results) {
        const Phase::Value &value = phase.values[result];
        during += value.bytes;
        if (value.uses || value.untilEnd || (what == Kept && value.after))
          after += value.bytes;
      }
      for (int operand : op.operands) {
        const Phase::Value &value = phase.values[operand];
        if (what == MadeAgain && value.outside)
          during += value.bytes;
        else if (diesAt(state, operand, what))
          after -= value.bytes;
      }
      taken.clear();
      int placed = -1;
      for (auto [result, operand] : op.inPlace)
        if (result != placed && diesAt(state, operand, what) &&
            std::find(taken.begin(), taken.end(), operand) == taken.end()) {
          taken.push_back(operand);
          placed = result;
          during -= phase.values[operand].bytes;
        }
      effect.during[what] = state.live[what] + during;
      effect.after[what] = after;
    }
    return effect;
  }

  void run(State &state, int index, const Effect &effect) {
    const Phase::Op &op = phase.ops[index];
    state.peaks = larger(state.peaks, effect.during);
    for (Retained what : retained)
      state.live[what] += effect.after[what];
    state.hash += mix(static_cast<uint64_t>(index));
    state.ran.add(index);
    for (int value : op.operands)
      state.uses.countDown(value, phase.values[value].uses);
    state.ready.erase(std::lower_bound(state.ready.begin(), state.ready.end(), index));
    finished.assign(1, index);
    while (!finished.empty()) {
      int last = finished.back();
      finished.pop_back();
      for (int next : phase.ops[last].next)
        if (state.waiting.countDown(next, phase.ops[next].waiting) > 0)
          continue;
        else if (next >= phase.count)
          finished.push_back(next); // a gate that opens
        else
          state.ready.insert(std::lower_bound(state.ready.begin(), state.ready.end(), next), next);
    }
  }

  template <typename Add> std::vector<int> find(Add add) {
    std::vector<Step> steps;
    std::vector<State> beam{initial()}, next;
    std::unordered_set<uint64_t> seen;
    for (int done = 0; done < phase.count; ++done) {
      candidates.clear();
      for (size_t s = 0; s < beam.size(); ++s)
        add(beam[s], s);
      if (candidates.empty())
        return {};
      std::stable_sort(candidates.begin(), candidates.end(),
                       [](const Candidate &a, const Candidate &b) { return a.score < b.score; });
      next.clear();
      seen.clear();
      for (const Candidate &candidate : candidates) {
        if (next.size() == width)
          break;
        const State &parent = beam[candidate.parent];
        if (!seen.insert(parent.hash + mix(static_cast<uint64_t>(candidate.op))).second)
          continue;
        next.push_back(parent);
        run(next.back(), candidate.op, candidate.effect);
        next.back().score = candidate.score;
        next.back().history = static_cast<int>(steps.size());
        steps.push_back({parent.history, candidate.op});
      }
      std::swap(beam, next);
    }
    std::vector<int> order;
    for (int i = beam.front().history; i >= 0; i = steps[i].previous)
      order.push_back(steps[i].op);
    std::reverse(order.begin(), order.end());
    return order;
  }

  // Adds every op that can run next as a candidate. If some leave no more alive than before, only
  // the one of them that frees most is added.
  void addAll(const State &state, size_t parent, const Bytes &base, int64_t limit) {
    size_t first = candidates.size();
    Bytes peaks = larger(state.peaks, base);
    std::optional<Candidate> free;
    for (int op : state.ready) {
      Effect effect = effectOf(state, op);
      if (effect.during[Kept] > limit)
        continue;
      Score score{sum(larger(peaks, effect.during)), state.score.rest + sum(effect.during)};
      candidates.push_back({parent, op, effect, score});
      if (isWithin(effect.after, {0, 0}) && isWithin(effect.during, peaks) &&
          (!free || sum(effect.after) < sum(free->effect.after)))
        free = candidates.back();
    }
    if (free) {
      candidates.resize(first);
      candidates.push_back(*free);
    }
  }

  void addNear(const State &state, size_t parent, const Bytes &limits) {
    auto range = state.ran.ranges.begin();
    int64_t ran = 0; // ops before this one in the given order that have run
    for (int ready : state.ready) {
      for (; range != state.ran.ranges.end() && range->begin < ready; ++range)
        ran += range->end - range->begin;
      Effect effect = effectOf(state, ready);
      if (isWithin(effect.during, limits))
        candidates.push_back({parent, ready, effect, {0, state.score.rest + ready - ran}});
    }
  }

  const Phase &phase;
  size_t width;
  std::vector<Candidate> candidates;
  std::vector<int> taken, finished;
};

/// A phase with the best order found so far, at first the given one.
class PhaseOrder {
public:
  explicit PhaseOrder(Phase given) : phase(std::move(given)), search(phase) {
    for (int i = 0; i < phase.count; ++i)
      order.push_back(i);
    best = search.peaksOf(order);
  }
  PhaseOrder(const PhaseOrder &) = delete;

  const Bytes &peaks() const { return best; }

  /// Looks for an order with smaller peaks; what a peak has below `base` gains nothing.
  void improve(const Bytes &base, int64_t limit) {
    if (isWithin(best, base))
      return;
    std::vector<int> found = search.findLeast(base, limit);
    if (found.empty())
      return;
    Bytes reached = search.peaksOf(found);
    if (sum(larger(reached, base)) >= sum(larger(best, base)))
      return;
    order = std::move(found);
    best = reached;
  }

  /// An order near the given one, within limits that the best one keeps.
  std::vector<int> within(const Bytes &limits) {
    std::vector<int> near = search.findNear(limits);
    return near.empty() ? order : near;
  }

private:
  Phase phase;
  Search search;
  std::vector<int> order;
  Bytes best;
};

} // namespace

OrderPeaks peaksOf(const StepGraph &graph, const std::vector<int> &order) {
  int seed = firstBackwardOp(graph), ops = static_cast<int>(graph.ops.size());
  ExtraEdges none(graph.ops.size());
  Phase forward = makePhase(graph, none, 0, seed), backward = makePhase(graph, none, seed, ops);
  std::vector<int> first(order.begin(), order.begin() + seed), second;
  for (int i = seed; i < ops; ++i)
    second.push_back(order[i] - seed);
  Bytes peaks = larger(Search(forward).peaksOf(first), Search(backward).peaksOf(second));
  return {peaks[Kept], peaks[MadeAgain]};
}

std::vector<int> orderForMemory(const StepGraph &graph, const ExtraEdges &before) {
  int seed = firstBackwardOp(graph), ops = static_cast<int>(graph.ops.size());
  PhaseOrder forward(makePhase(graph, before, 0, seed));
  PhaseOrder backward(makePhase(graph, before, seed, ops));
  // The phase with the larger peak comes first: up to that peak, the other may use memory freely.
  bool forwardFirst = forward.peaks() > backward.peaks();
  PhaseOrder &first = forwardFirst ? forward : backward;
  PhaseOrder &second = forwardFirst ? backward : forward;
  int64_t limit = first.peaks()[Kept];
  first.improve({0, 0}, limit);
  second.improve(first.peaks(), limit);
  Bytes limits = larger(first.peaks(), second.peaks());
  std::vector<int> order = forward.within(limits);
  for (int op : backward.within(limits))
    order.push_back(seed + op);
  return order;
}

} // namespace gc
