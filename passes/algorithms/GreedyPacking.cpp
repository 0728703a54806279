//===- GreedyPacking.cpp - one item after the other ----------------------===//

#include "passes/algorithms/GreedyPacking.h"
#include "passes/algorithms/ParallelTasks.h"

#include <algorithm>
#include <atomic>
#include <iterator>

namespace gc {

GreedyPacking packInOrder(const PackingComponent &component, std::span<const int> order,
                          GapChoice choice) {
  // Sorted by offset and contiguous: a scan of all placed items costs less than any search
  // structure at the sizes that occur (10,000 items: tens of milliseconds an order).
  struct Placed {
    int64_t offset, end;
    int first, last;
  };
  std::vector<Placed> placed;
  placed.reserve(component.items.size());
  GreedyPacking result;
  result.offsets.assign(component.items.size(), 0);

  auto insert = [&](int index, int64_t offset) {
    const PackingComponent::Item &item = component.items[index];
    Placed entry{offset, offset + item.size, item.first, item.last};
    auto at =
        std::upper_bound(placed.begin(), placed.end(), entry,
                         [](const Placed &a, const Placed &b) { return a.offset < b.offset; });
    placed.insert(at, entry);
    result.offsets[index] = offset;
    result.height = std::max(result.height, entry.end);
  };

  for (size_t i = 0; i < component.items.size(); ++i)
    if (component.items[i].fixed >= 0)
      insert(static_cast<int>(i), component.items[i].fixed);

  for (int index : order) {
    const PackingComponent::Item &item = component.items[index];
    if (item.fixed >= 0)
      continue;
    int64_t candidate = 0; // lowest aligned offset above all conflicts seen so far
    int64_t best = -1, bestGap = 0;
    for (const Placed &other : placed) {
      if (other.last <= item.first || other.first >= item.last)
        continue;
      int64_t gap = other.offset - candidate;
      if (gap >= item.size && (best < 0 || gap < bestGap)) {
        best = candidate;
        bestGap = gap;
        if (choice == GapChoice::FirstFit || gap == item.size)
          break;
      }
      candidate = std::max(candidate, alignUp(other.end, item.alignment));
    }
    insert(index, best >= 0 ? best : candidate);
  }
  return result;
}

/// Items by offset: packing again in this order moves each down as far as it goes.
static std::vector<int> orderByOffset(const GreedyPacking &packing) {
  std::vector<int> order(packing.offsets.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = static_cast<int>(i);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    return std::pair(packing.offsets[a], a) < std::pair(packing.offsets[b], b);
  });
  return order;
}

GreedyPacking packGreedily(const PackingComponent &component, const PackingKeys &keys,
                           int64_t enough, int threads) {
  using enum PackingKey;
  static constexpr PackingKey kOrders[][3] = {
      {Size, Lifetime, Start},    {Area, Size, Start},     {Lifetime, Size, Start},
      {Pressure, Size, Lifetime}, {Start, Size, Lifetime}, {Conflicts, Size, Lifetime},
      {Pressure, Area, Lifetime}, {Sections, Size, Start},
  };
  constexpr int kTasks = 2 * static_cast<int>(std::size(kOrders));
  std::vector<GreedyPacking> results(kTasks);
  std::atomic<int> winner{kTasks}; // lowest task that reached `enough`
  runTasks(kTasks, threads, [&](int task) {
    if (task > winner.load(std::memory_order_relaxed))
      return;
    GapChoice choice = task % 2 ? GapChoice::FirstFit : GapChoice::BestFit;
    GreedyPacking packing = packInOrder(component, keys.order(kOrders[task / 2]), choice);
    if (packing.height > enough) {
      GreedyPacking polished = packInOrder(component, orderByOffset(packing), GapChoice::FirstFit);
      if (polished.height < packing.height)
        packing = std::move(polished);
    }
    if (packing.height <= enough)
      lowerTo(winner, task);
    results[task] = std::move(packing);
  });

  // Tasks after the winner may or may not have run: leave them out for the sake of determinism.
  int best = -1;
  for (int task = 0; task < kTasks && task <= winner; ++task)
    if (!results[task].offsets.empty() && (best < 0 || results[task].height < results[best].height))
      best = task;
  return std::move(results[best]);
}

} // namespace gc
