//===- CapacitySearch.cpp - the smallest capacity of a component ---------===//
//
// A run of the search either succeeds soon or hardly ever, so runs are short and many: slots differ
// in their order of items and in where they continue after a contradiction. From run to run a
// slot moves those items forward that took part in contradictions. Rounds repeat all slots with a
// growing limit, so that a proof of impossibility is reached in the end too.
//
// The outcome of a round is that of the first slot (by number) that decided it, whichever thread
// was faster; so results depend on the limits alone.
//
//===----------------------------------------------------------------------===//

#include "passes/algorithms/packing/CapacitySearch.h"
#include "passes/algorithms/ParallelTasks.h"
#include "passes/algorithms/packing/PackingSearch.h"

#include <iterator>
#include <optional>
#include <random>

namespace gc {

using enum PackingKey;

static constexpr PackingKey kOrders[][3] = {
    {Lifetime, Area, Pressure}, {Pressure, Area, Lifetime}, {Pressure, Lifetime, Area},
    {Size, Area, Lifetime},     {Area, Lifetime, Pressure}, {Conflicts, Area, Lifetime},
    {Sections, Area, Pressure}, {Pressure, Sections, Area}, {Pressure, Size, Lifetime},
};
static constexpr int kSlots = 2 * static_cast<int>(std::size(kOrders));
static constexpr double kFirstNodes = 1000, kFirstNodesPerItem = 3; // a straight dive takes 1 each
static constexpr int kRoundsBeforeGrowth = 4, kRoundsBetweenDescents = 8, kSlotsForDescent = 2;
static constexpr double kNodesGrowth = 1.5;
static constexpr double kFailureWeight = 2.0, kFailureDecay = 0.9, kNoise = 0.1;
static constexpr uint64_t kLargestTables = 40'000'000; // entries: 160 MB

namespace {

/// One member of the portfolio. Its state goes on from run to run at the same capacity.
struct Slot {
  std::vector<double> failures;
  std::mt19937 generator;
  int runs = 0;
};

class CapacitySearch {
public:
  CapacitySearch(const PackingComponent &component, const PackingKeys &keys, SearchBudget &budget)
      : keys(keys), problem(component), itemCount(component.items.size()), budget(budget) {}

  bool exhausted() const {
    return budget.steps == 0 || std::chrono::steady_clock::now() >= budget.deadline;
  }

  /// One round at a capacity, with the first `slotCount` slots. nullopt: undecided. Else the
  /// offsets found, or none if there is no packing.
  std::optional<std::vector<int64_t>> decide(int64_t capacity, std::vector<Slot> &slots,
                                             int slotCount, uint64_t nodes);

private:
  std::vector<int> orderFor(int number, Slot &slot) const;

  const PackingKeys &keys;
  PackingConflicts problem;
  size_t itemCount;
  SearchBudget &budget;
};

} // namespace

std::vector<int> CapacitySearch::orderFor(int number, Slot &slot) const {
  const auto &order = kOrders[(number / 2) % std::size(kOrders)];
  if (slot.runs == 0)
    return keys.order(order);
  double most = *std::max_element(slot.failures.begin(), slot.failures.end());
  std::vector<double> factors(itemCount);
  for (size_t item = 0; item < itemCount; ++item) {
    // Not a standard distribution: those differ between libraries, and results should not.
    double uniform = slot.generator() / 4294967296.0;
    factors[item] = (1.0 + kNoise * (2.0 * uniform - 1.0)) *
                    (1.0 + kFailureWeight * slot.failures[item] / std::max(most, 1.0));
  }
  return keys.order(order, factors);
}

std::optional<std::vector<int64_t>>
CapacitySearch::decide(int64_t capacity, std::vector<Slot> &slots, int slotCount, uint64_t nodes) {
  struct Run {
    PackingSearch::Outcome outcome = PackingSearch::Outcome::Stopped;
    std::vector<int64_t> offsets;
    uint64_t steps = 0;
  };
  std::vector<Run> runs(slotCount);
  std::atomic<int> decided{slotCount};
  uint64_t stepsEach = std::max<uint64_t>(1, budget.steps / static_cast<uint64_t>(slotCount));
  runTasks(slotCount, budget.threads, [&](int number) {
    auto cancelled = [&] {
      return number > decided.load(std::memory_order_relaxed) ||
             std::chrono::steady_clock::now() >= budget.deadline;
    };
    if (cancelled())
      return;
    Slot &slot = slots[number];
    // Even slots follow failures: usually the better half.
    PackingSearch search(problem, capacity, orderFor(number, slot), number % 2 == 0);
    runs[number].outcome = search.run({nodes, stepsEach, cancelled});
    runs[number].steps = search.steps();
    ++slot.runs;
    for (size_t item = 0; item < itemCount; ++item)
      slot.failures[item] = slot.failures[item] * kFailureDecay + search.failures()[item];
    if (runs[number].outcome == PackingSearch::Outcome::Stopped)
      return;
    runs[number].offsets = search.offsets();
    lowerTo(decided, number);
  });

  // Slots behind the deciding one ran for an arbitrary time; they count for nothing.
  for (int number = 0; number < slotCount && number <= decided; ++number)
    budget.steps -= std::min(budget.steps, runs[number].steps);
  if (decided == slotCount)
    return std::nullopt;
  Run &run = runs[decided];
  if (run.outcome == PackingSearch::Outcome::Infeasible)
    run.offsets.clear();
  return std::move(run.offsets);
}

void searchCapacity(const PackingComponent &component, const PackingKeys &keys, int64_t enough,
                    GreedyPacking &best, int64_t &lowerBound, SearchBudget &budget) {
  if (PackingConflicts::entriesFor(component) > kLargestTables)
    return;
  CapacitySearch search(component, keys, budget);
  auto freshSlots = [&] {
    std::vector<Slot> slots(kSlots);
    for (int number = 0; number < kSlots; ++number) {
      slots[number].failures.assign(component.items.size(), 0.0);
      slots[number].generator.seed(static_cast<uint32_t>(number + 1));
    }
    return slots;
  };
  auto done = [&] { return best.height <= std::max(enough, lowerBound) || search.exhausted(); };
  auto attempt = [&](int64_t capacity, std::vector<Slot> &slots, int slotCount, uint64_t nodes) {
    auto offsets = search.decide(capacity, slots, slotCount, nodes);
    if (!offsets)
      return;
    if (offsets->empty()) {
      lowerBound = std::max(lowerBound, capacity + 1);
      return;
    }
    best.offsets = std::move(*offsets);
    best.height = 0;
    for (size_t item = 0; item < component.items.size(); ++item)
      best.height = std::max(best.height, best.offsets[item] + component.items[item].size);
  };

  double nodes = std::max(kFirstNodes, kFirstNodesPerItem * component.items.size());
  int64_t target = 0;
  std::vector<Slot> slots;
  for (int round = 0; !done(); ++round) {
    // The goal itself, with all slots ...
    if (target != std::max(enough, lowerBound) || slots.empty()) {
      target = std::max(enough, lowerBound);
      slots = freshSlots();
    }
    attempt(target, slots, kSlots, static_cast<uint64_t>(nodes));
    // ... and, so that an unreachable goal does not leave us with nothing, now and then a few slots
    // on the way down: taking "undecided" for "impossible", this finds the least capacity that the
    // effort can decide.
    if (round % kRoundsBetweenDescents == 0) {
      for (int64_t low = target + 1; !done() && low < best.height;) {
        int64_t capacity = std::max(low + (best.height - 1 - low) / 2, lowerBound);
        std::vector<Slot> few = freshSlots();
        attempt(capacity, few, kSlotsForDescent, static_cast<uint64_t>(nodes));
        if (best.height > capacity)
          low = capacity + 1;
      }
    }
    if (round + 1 >= kRoundsBeforeGrowth)
      nodes = std::min(nodes * kNodesGrowth, 1e15);
  }
}

} // namespace gc
