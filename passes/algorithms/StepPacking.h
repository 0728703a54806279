// Where the bytes of a schedule lie: the one answer for those who score plans and those who place
// them.
#ifndef GC_PASSES_ALGORITHMS_STEPPACKING_H
#define GC_PASSES_ALGORITHMS_STEPPACKING_H

#include "passes/algorithms/StepGraph.h"
#include "passes/algorithms/packing/Packing.h"

#include <map>

namespace gc {

/// Packs what is alive in a schedule, and remembers it: who asks again for the same lives gets the
/// very packing that was found the first time. So a plan is placed as it was scored. Searching is
/// limited in steps, never in time: a loaded machine finds the same.
class StepPacker {
public:
  explicit StepPacker(uint64_t searchSteps = 10'000'000) : searchSteps(searchSteps) {}

  /// One offset for each of `storages`; the reference stays valid.
  const PackingResult &pack(const std::vector<StorageLife> &storages);
  /// The same for a graph in the order of a schedule.
  const PackingResult &pack(const StepGraph &graph, const Schedule &schedule);

  /// How many different questions were asked.
  size_t packings() const { return known.size(); }

private:
  struct Life {
    int first, last;
    int64_t bytes;
    auto operator<=>(const Life &) const = default;
  };
  uint64_t searchSteps;
  std::map<std::vector<Life>, PackingResult> known;
};

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_STEPPACKING_H
