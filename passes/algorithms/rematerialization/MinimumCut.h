// The cheapest set of edges that separates a source from a sink.
#ifndef GC_PASSES_ALGORITHMS_REMATERIALIZATION_MINIMUMCUT_H
#define GC_PASSES_ALGORITHMS_REMATERIALIZATION_MINIMUMCUT_H

#include <cstdint>
#include <limits>
#include <vector>

namespace gc {

/// A network whose shape is given once and whose capacities may change between two solutions.
/// Capacities are integers, so that a solution is exact and the same on every machine.
class MinimumCut {
public:
  static constexpr int64_t endless = std::numeric_limits<int64_t>::max() / 4;

  explicit MinimumCut(int nodes) : nodes(nodes) {}

  /// Returns the edge's number.
  int addEdge(int from, int to, int64_t capacity = 0);
  void setCapacity(int edge, int64_t value) { given[edge] = value; }

  /// The capacity of the cut: the largest flow from `source` to `sink`.
  int64_t solve(int source, int sink);
  /// After solve(): whether the node is reached from the source when the cut's edges are gone. Of
  /// all cheapest cuts it is the one nearest to the source.
  bool isOnSourceSide(int node) const { return level[node] >= 0; }

private:
  void layOut();
  bool findLevels(int source, int sink);
  int64_t augment(int source, int sink);

  int nodes;
  std::vector<int> fromOf, toOf;
  std::vector<int64_t> given;
  // Arcs: each edge and its reverse, those of one node side by side.
  std::vector<int> firstArc, head, partner, arcOf;
  std::vector<int64_t> left; // capacity that is not used, of each arc
  std::vector<int> level, next, queue, path;
};

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_REMATERIALIZATION_MINIMUMCUT_H
