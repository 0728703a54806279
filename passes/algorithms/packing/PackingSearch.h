//===- PackingSearch.h - does a component fit into a capacity? ---*- C++ -*-===//
//
// Internal to the packer: one run of a complete search with inference and pruning, after the ideas
// of MiniMalloc (sections, canonical solutions, dominance) with branching and backjumping of our
// own. README.md tells how and why.
//
//===----------------------------------------------------------------------===//
#ifndef GC_PASSES_ALGORITHMS_PACKING_PACKINGSEARCH_H
#define GC_PASSES_ALGORITHMS_PACKING_PACKINGSEARCH_H

#include "passes/algorithms/packing/PackingConflicts.h"

#include <algorithm>
#include <functional>

namespace gc {

class PackingSearch {
public:
  enum class Outcome { Found, Infeasible, Stopped };

  struct Limits {
    uint64_t nodes;
    uint64_t steps;
    std::function<bool()> cancelled; ///< asked every few nodes
  };

  /// `capacity` in units, at least the component's lower bound. `order` breaks ties among the
  /// lowest items. `followFailures`: continue where the last contradiction was, not at the bottom.
  PackingSearch(const PackingConflicts &problem, int64_t capacity, std::span<const int> order,
                bool followFailures);

  Outcome run(const Limits &limits);

  const std::vector<int64_t> &offsets() const { return lower; } ///< once Found
  const std::vector<int> &failures() const { return failureCounts; }
  uint64_t steps() const { return stepCount; }

private:
  /// A change of an item's lower bound or state; undone in reverse. It also is the explanation of
  /// the bound: `cause` was placed, and `before` explains why the item cannot lie below it; or
  /// the facts in pool[factsBegin, factsEnd) and those of the skip.
  struct Change {
    int item;
    int oldReason, oldSkip;
    int cause, before;
    int skip, factsBegin, factsEnd;
    int64_t oldLower;
  };
  /// "This item is not at its lower bound", because of the placements in the pool.
  struct Skip {
    int factsBegin, factsEnd;
  };
  struct Decision {
    int item;
    size_t changes, skips, pool;
    int64_t highest;
  };
  /// A span of sections to look at.
  struct Hull {
    int begin, end;
    void clear() { begin = INT32_MAX, end = 0; }
    void add(const PackingComponent::Item &item) {
      begin = std::min(begin, item.first);
      end = std::max(end, item.last);
    }
  };

  int select() const;
  int lowestReachableFrom(int item) const;
  bool place(int item);
  bool skip(int item);
  bool backtrack();
  void undoTo(const Decision &decision);

  bool propagate();
  bool raiseSkipped(int item, bool &changed);
  bool raiseTwin(int item, bool &changed);
  bool sectionFits(int section);
  void failSection(int section, int64_t threshold, int64_t excess);

  Change &change(int item);
  void raise(int item, int64_t bound);
  void open(int item);
  void close(int item);
  void beginConflict();
  void explain(int reason);
  void addToConflict(int item);

  const PackingConflicts &problem;
  const std::vector<PackingComponent::Item> &items;
  const int64_t capacity;
  const bool followFailures;

  // Items. `lower` is the lowest offset possible, and the offset itself once an item is placed.
  std::vector<int64_t> size, lower;
  int64_t highest = 0; // no open item has a lower bound above this
  std::vector<char> placed;
  std::vector<int> reason; // index of the change that explains lower, or -1: holds always
  std::vector<int> skipOf; // index of the skip in force, or -1
  std::vector<int> rank, next, previous; // open items as a list in the given order
  std::vector<int> failureCounts;

  // Sections: the open items of each are in the first openCount entries; `position` finds them.
  std::vector<std::vector<int>> sectionOpen;
  std::vector<int> openCount;
  std::vector<int64_t> openTotal;
  std::vector<size_t> positionBase;
  std::vector<int> position;

  std::vector<Change> changes;
  std::vector<Skip> skips;
  std::vector<int> pool; // facts: an item (it is placed where it is), or ~change
  std::vector<Decision> decisions;
  std::vector<int> skipped, twins;
  Hull raisedAround, raised; // by the last placement outside of its own range; otherwise
  int placedFirst = 0, placedLast = 0;

  // The conflict: placements that cannot all stay.
  std::vector<char> inConflict;
  std::vector<int> conflict, explainStack, dropOrder;
  std::vector<uint64_t> explained;
  uint64_t conflictNumber = 0;
  int failedSection = -1;

  uint64_t stepCount = 0;
};

} // namespace gc

#endif // GC_PASSES_ALGORITHMS_PACKING_PACKINGSEARCH_H
