//===- GreedyPacking.cpp - one item after the other ----------------------===//

#include "passes/algorithms/packing/GreedyPacking.h"
#include "passes/algorithms/ParallelTasks.h"

#include <algorithm>
#include <atomic>
#include <iterator>

namespace gc {

namespace {

/// Placed items sorted by offset, in chunks: a scan over contiguous memory costs less than any
/// search structure at the sizes that occur, and an insertion moves one chunk only.
class PlacedItems {
public:
  struct Entry {
    int64_t offset, end;
    int first, last;
  };

  void insert(const Entry &entry);

  /// Where the item fits among those that it conflicts with, or above them all.
  int64_t findGap(const PackingComponent::Item &item, GapChoice choice) const;

private:
  static constexpr size_t kChunk = 128;
  std::vector<std::vector<Entry>> chunks;
};

} // namespace

void PlacedItems::insert(const Entry &entry) {
  auto lower = [](const Entry &a, const Entry &b) { return a.offset < b.offset; };
  if (chunks.empty())
    chunks.emplace_back();
  size_t at = 0;
  while (at + 1 < chunks.size() && chunks[at].back().offset <= entry.offset)
    ++at;
  std::vector<Entry> &chunk = chunks[at];
  chunk.insert(std::upper_bound(chunk.begin(), chunk.end(), entry, lower), entry);
  if (chunk.size() < kChunk)
    return;
  std::vector<Entry> upperHalf(chunk.begin() + kChunk / 2, chunk.end());
  chunk.resize(kChunk / 2);
  chunks.insert(chunks.begin() + at + 1, std::move(upperHalf));
}

int64_t PlacedItems::findGap(const PackingComponent::Item &item, GapChoice choice) const {
  int64_t candidate = 0; // lowest aligned offset above all conflicts seen so far
  int64_t best = -1, bestGap = 0;
  for (const std::vector<Entry> &chunk : chunks)
    for (const Entry &other : chunk) {
      if (other.last <= item.first || other.first >= item.last)
        continue;
      int64_t gap = other.offset - candidate;
      if (gap >= item.size && (best < 0 || gap < bestGap)) {
        best = candidate;
        bestGap = gap;
        if (choice == GapChoice::FirstFit || gap == item.size)
          return best;
      }
      candidate = std::max(candidate, alignUp(other.end, item.alignment));
    }
  return best >= 0 ? best : candidate;
}

GreedyPacking packInOrder(const PackingComponent &component, std::span<const int> order,
                          GapChoice choice) {
  PlacedItems placed;
  GreedyPacking result;
  result.offsets.assign(component.items.size(), 0);
  auto place = [&](int index, int64_t offset) {
    const PackingComponent::Item &item = component.items[index];
    placed.insert({offset, offset + item.size, item.first, item.last});
    result.offsets[index] = offset;
    result.height = std::max(result.height, offset + item.size);
  };

  for (size_t i = 0; i < component.items.size(); ++i)
    if (component.items[i].fixed >= 0)
      place(static_cast<int>(i), component.items[i].fixed);
  for (int index : order)
    if (component.items[index].fixed < 0)
      place(index, placed.findGap(component.items[index], choice));
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
  struct Attempt {
    PackingKey keys[3];
    GapChoice choice;
  };
  // The most promising first: large problems get only these.
  static constexpr Attempt kAttempts[] = {
      {{Size, Lifetime, Start}, GapChoice::BestFit},
      {{Area, Size, Start}, GapChoice::BestFit},
      {{Lifetime, Size, Start}, GapChoice::BestFit},
      {{Lifetime, Size, Start}, GapChoice::FirstFit},
      {{Pressure, Size, Lifetime}, GapChoice::BestFit},
      {{Start, Size, Lifetime}, GapChoice::FirstFit},
      {{Conflicts, Size, Lifetime}, GapChoice::BestFit},
      {{Size, Lifetime, Start}, GapChoice::FirstFit},
      {{Area, Size, Start}, GapChoice::FirstFit},
      {{Pressure, Size, Lifetime}, GapChoice::FirstFit},
      {{Start, Size, Lifetime}, GapChoice::BestFit},
      {{Conflicts, Size, Lifetime}, GapChoice::FirstFit},
      {{Pressure, Area, Lifetime}, GapChoice::BestFit},
      {{Pressure, Area, Lifetime}, GapChoice::FirstFit},
      {{Sections, Size, Start}, GapChoice::BestFit},
      {{Sections, Size, Start}, GapChoice::FirstFit},
  };
  constexpr size_t kLarge = 4000;
  const int attempts = component.items.size() < kLarge ? std::size(kAttempts) : 6;
  std::vector<GreedyPacking> results(attempts);
  std::atomic<int> winner{attempts}; // lowest attempt that reached `enough`
  // The first is often good enough: until that is known, no thread begins another.
  auto attempt = [&](int number) {
    if (number > winner.load(std::memory_order_relaxed))
      return;
    const Attempt &attempt = kAttempts[number];
    results[number] = packInOrder(component, keys.order(attempt.keys), attempt.choice);
    if (results[number].height <= enough)
      lowerTo(winner, number);
  };
  attempt(0);
  runTasks(attempts - 1, threads, [&](int number) { attempt(number + 1); });

  // Attempts after the winner may or may not have run: leave them out, so that time does not
  // matter.
  int best = 0;
  for (int number = 1; number < attempts && number <= winner; ++number)
    if (results[number].height < results[best].height)
      best = number;
  GreedyPacking result = std::move(results[best]);
  while (result.height > enough) {
    GreedyPacking again = packInOrder(component, orderByOffset(result), GapChoice::FirstFit);
    if (again.height >= result.height)
      break;
    result = std::move(again);
  }
  return result;
}

} // namespace gc
