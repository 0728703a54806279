//===- Packing.cpp - give every interval an offset in one arena ----------===//

#include "passes/algorithms/packing/Packing.h"
#include "passes/algorithms/packing/CapacitySearch.h"
#include "passes/algorithms/packing/PackingCheck.h"

#include <algorithm>
#include <limits>

namespace gc {

/// Two fixed intervals on one byte, or an empty string. Checked by packing the fixed ones alone.
static std::string describeFixedCollision(std::span<const Interval> intervals) {
  std::vector<Interval> fixed;
  std::vector<uint64_t> offsets;
  std::vector<size_t> indices;
  for (size_t i = 0; i < intervals.size(); ++i) {
    if (!intervals[i].fixedOffset || intervals[i].size == 0)
      continue;
    fixed.push_back(intervals[i]);
    // Padding belongs to the interval.
    fixed.back().size = static_cast<uint64_t>(alignUp(
        static_cast<int64_t>(fixed.back().size), static_cast<int64_t>(fixed.back().alignment)));
    offsets.push_back(*intervals[i].fixedOffset);
    indices.push_back(i);
  }
  std::string problem =
      describeInvalidPacking(fixed, offsets, std::numeric_limits<uint64_t>::max());
  if (problem.empty())
    return {};
  return "two intervals with fixed offsets collide; counting only fixed ones: " + problem;
}

PackingResult packIntervals(std::span<const Interval> intervals, const PackingOptions &options) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point start = Clock::now();
  PackingResult result;
  result.error = describeInvalidIntervals(intervals);
  if (result.error.empty())
    result.error = describeFixedCollision(intervals);
  if (!result.error.empty())
    return result;

  uint64_t bottomBytes = 0;
  std::vector<PackingComponent> components = splitIntervals(intervals, result.offsets, bottomBytes);
  result.bytes = result.lowerBound = bottomBytes;
  for (const PackingComponent &component : components)
    result.lowerBound = std::max(result.lowerBound, component.bytesFor(component.lowerBound));
  // The tallest component decides; no other needs to be lower than what cannot be undercut.
  uint64_t enoughBytes = std::max(options.capacity, result.lowerBound);

  // Threads cost more than they bring on small problems.
  auto threadsFor = [&](const PackingComponent &component) {
    return component.items.size() < 64 ? 1 : std::max(options.threads, 1);
  };
  // Of very many items the last ten thousandth of the arena costs more time than it is worth.
  constexpr size_t manyItems = 4000;
  constexpr int64_t partOfMany = 8192;
  auto unitsEnough = [&](const PackingComponent &component) {
    int64_t units = component.unitsWithin(enoughBytes);
    bool isAny = options.capacity == 0 && component.items.size() >= manyItems;
    return isAny ? units + units / partOfMany : units;
  };
  std::vector<PackingKeys> keys;
  std::vector<GreedyPacking> packings;
  for (const PackingComponent &component : components) {
    keys.emplace_back(component);
    packings.push_back(
        packGreedily(component, keys.back(), unitsEnough(component), threadsFor(component)));
  }

  if (options.completeSearch && options.capacity >= (options.capacity ? result.lowerBound : 0)) {
    double seconds = std::clamp(options.secondsLimit, 0.0, 1e9);
    SearchBudget budget{
        start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds)),
        options.stepLimit ? options.stepLimit : std::numeric_limits<uint64_t>::max(), 1};
    uint64_t allowed = budget.steps;
    for (size_t i = 0; i < components.size(); ++i) {
      const PackingComponent &component = components[i];
      if (component.hasFixed)
        continue;
      budget.threads = threadsFor(component);
      int64_t lowerBound = component.lowerBound;
      searchCapacity(component, keys[i], unitsEnough(component), packings[i], lowerBound, budget);
      result.lowerBound = std::max(result.lowerBound, component.bytesFor(lowerBound));
      enoughBytes = std::max(enoughBytes, component.bytesFor(packings[i].height));
    }
    result.steps = allowed - budget.steps;
  }

  for (size_t i = 0; i < components.size(); ++i) {
    result.bytes = std::max(result.bytes, components[i].bytesFor(packings[i].height));
    for (size_t item = 0; item < components[i].items.size(); ++item)
      result.offsets[components[i].items[item].interval] =
          components[i].bytesFor(packings[i].offsets[item]);
  }
  result.optimal = result.bytes == result.lowerBound;
  result.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return result;
}

} // namespace gc
