// Live bytes over the places of a schedule, where lives are added and taken away.
#ifndef GC_PASSES_ALGORITHMS_REMATERIALIZATION_LIVEPROFILE_H
#define GC_PASSES_ALGORITHMS_REMATERIALIZATION_LIVEPROFILE_H

#include <cstdint>
#include <vector>

namespace gc {

/// Adds bytes to a range of places, and finds the most of a range, in logarithmic time.
class LiveProfile {
public:
  explicit LiveProfile(const std::vector<int64_t> &live);
  /// At the places from `begin` to before `end`.
  void add(int begin, int end, int64_t bytes);
  /// The lowest number there is for an empty range.
  int64_t most(int begin, int end) const;
  int64_t mostOfAll() const { return largest[1]; }
  /// The first place that has the most of all.
  int whereMost() const;

private:
  int64_t most(int node, int low, int high, int begin, int end) const;

  int places;
  std::vector<int64_t> largest; // below each node, without what is added above it
  std::vector<int64_t> added;   // at each node, to all places below it
};

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_REMATERIALIZATION_LIVEPROFILE_H
