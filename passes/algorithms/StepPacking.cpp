#include "passes/algorithms/StepPacking.h"

#include <limits>

namespace gc {

const PackingResult &StepPacker::pack(const std::vector<StorageLife> &storages) {
  std::vector<Life> lives;
  for (const StorageLife &storage : storages)
    lives.push_back({storage.first, storage.last, storage.bytes});
  auto [entry, isNew] = known.try_emplace(std::move(lives));
  if (!isNew)
    return entry->second;
  std::vector<Interval> intervals;
  for (const Life &life : entry->first)
    intervals.push_back({.lower = life.first,
                         .upper = life.last + 1,
                         .size = static_cast<uint64_t>(life.bytes),
                         .alignment = storageAlignment});
  PackingOptions options;
  options.stepLimit = searchSteps;
  options.secondsLimit = std::numeric_limits<double>::infinity();
  return entry->second = packIntervals(intervals, options);
}

const PackingResult &StepPacker::pack(const StepGraph &graph, const Schedule &schedule) {
  Lives lives;
  lives.analyse(FlatGraph(graph), schedule);
  return pack(lives.storages());
}

} // namespace gc
