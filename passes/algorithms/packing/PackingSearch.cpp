//===- PackingSearch.cpp - does a component fit into a capacity? ---------===//
//
// If a packing exists, so does one in which every item rests on offset 0 or on an item below it
// (take the one with the least sum of offsets). Only those are enumerated:
//
//   lower[i]   the lowest offset that is possible for an open item
//   branch     an open item i, not higher than any open item it conflicts with:
//              place(i): it is at lower[i]; all conflicting open items are above it;
//              skip(i):  it is higher, so it rests on a conflicting item that is still open:
//                        lower[i] >= min(lower[k] + size[k])
//   prune      in each section the open items are stacked: for no bound b may
//              b + sum(size[i] : lower[i] >= b) exceed the capacity
//   backjump   each bound knows which placements caused it; a contradiction returns to the last of
//              its own placements, however many unrelated ones (elsewhere in time) came after
//
//===----------------------------------------------------------------------===//

#include "passes/algorithms/packing/PackingSearch.h"

#include <algorithm>

namespace gc {

PackingSearch::PackingSearch(const PackingConflicts &problem, int64_t capacity,
                             std::span<const int> order, bool followFailures)
    : problem(problem), items(problem.component.items), capacity(capacity),
      followFailures(followFailures), lower(items.size(), 0), placed(items.size(), false),
      reason(items.size(), -1), skipOf(items.size(), -1), rank(items.size()),
      next(items.size() + 1), previous(items.size() + 1), failureCounts(items.size(), 0),
      sectionOpen(problem.sectionItems), openTotal(problem.component.sectionTotal),
      inConflict(items.size(), false) {
  // The list of open items starts and ends at the extra node behind the last item.
  int last = static_cast<int>(items.size());
  for (size_t i = 0; i < order.size(); ++i) {
    rank[order[i]] = static_cast<int>(i);
    next[last] = order[i];
    previous[order[i]] = last;
    last = order[i];
  }
  next[last] = static_cast<int>(items.size());
  previous[items.size()] = last;

  size_t positions = 0;
  for (size_t i = 0; i < items.size(); ++i) {
    size.push_back(items[i].size);
    positionBase.push_back(positions);
    positions += static_cast<size_t>(items[i].last - items[i].first);
    if (problem.twin[i] >= 0)
      twins.push_back(static_cast<int>(i));
  }
  position.resize(positions);
  for (int section = 0; section < problem.component.sections; ++section) {
    openCount.push_back(static_cast<int>(sectionOpen[section].size()));
    for (int index = 0; index < openCount[section]; ++index) {
      int item = sectionOpen[section][index];
      position[positionBase[item] + (section - items[item].first)] = index;
    }
  }
}

//===----------------------------------------------------------------------===//
// State and its undoing
//===----------------------------------------------------------------------===//

PackingSearch::Change &PackingSearch::change(int item) {
  changes.push_back({item, reason[item], skipOf[item], -1, -1, -1, 0, 0, lower[item]});
  return changes.back();
}

/// To a bound that the change pushed last explains.
void PackingSearch::raise(int item, int64_t bound) {
  lower[item] = bound;
  reason[item] = static_cast<int>(changes.size()) - 1;
  highest = std::max(highest, bound);
}

void PackingSearch::close(int item) {
  placed[item] = true;
  next[previous[item]] = next[item];
  previous[next[item]] = previous[item];
  const PackingComponent::Item &range = items[item];
  size_t at = positionBase[item];
  for (int section = range.first; section < range.last; ++section, ++at) {
    std::vector<int> &list = sectionOpen[section];
    int index = position[at], last = --openCount[section];
    int moved = list[last];
    std::swap(list[index], list[last]);
    position[positionBase[moved] + (section - items[moved].first)] = index;
    position[at] = last;
    openTotal[section] -= size[item];
  }
}

// Items are opened in the reverse order of closing, so each finds its neighbours as they were.
void PackingSearch::open(int item) {
  placed[item] = false;
  next[previous[item]] = item;
  previous[next[item]] = item;
  for (int section = items[item].first; section < items[item].last; ++section) {
    ++openCount[section];
    openTotal[section] += size[item];
  }
}

void PackingSearch::undoTo(const Decision &decision) {
  while (changes.size() > decision.changes) {
    const Change &last = changes.back();
    lower[last.item] = last.oldLower;
    reason[last.item] = last.oldReason;
    skipOf[last.item] = last.oldSkip;
    changes.pop_back();
  }
  highest = decision.highest;
  skips.resize(decision.skips);
  pool.resize(decision.pool);
}

//===----------------------------------------------------------------------===//
// Branching
//===----------------------------------------------------------------------===//

int PackingSearch::lowestReachableFrom(int item) const {
  // Downhill over conflicting open items; what is skipped rests on something lower, so the walk
  // ends at an item that can be placed.
  while (true) {
    int lowest = item;
    for (int other : problem.conflicts[item]) {
      if (placed[other] || lower[other] > lower[lowest])
        continue;
      if (lower[other] < lower[lowest] || (lowest != item && rank[other] < rank[lowest]))
        lowest = other;
    }
    if (lowest == item)
      return item;
    item = lowest;
  }
}

int PackingSearch::select() const {
  const int end = static_cast<int>(items.size());
  int lowest = -1;
  if (followFailures && failedSection >= 0) {
    const std::vector<int> &list = sectionOpen[failedSection];
    for (int index = 0; index < openCount[failedSection]; ++index) {
      int item = list[index];
      if (skipOf[item] < 0 && (lowest < 0 || std::pair(lower[item], rank[item]) <
                                                 std::pair(lower[lowest], rank[lowest])))
        lowest = item;
    }
    if (lowest >= 0)
      return lowestReachableFrom(lowest);
  }
  for (int item = next[end]; item != end; item = next[item])
    if (skipOf[item] < 0 && (lowest < 0 || lower[item] < lower[lowest]))
      lowest = item;
  return lowest;
}

bool PackingSearch::place(int item) {
  decisions.push_back({item, changes.size(), skips.size(), pool.size(), highest});
  close(item);
  int64_t offset = lower[item], end = offset + size[item];
  raisedAround.clear();
  raised.clear();
  placedFirst = items[item].first;
  placedLast = items[item].last;
  stepCount += problem.conflicts[item].size();
  for (int other : problem.conflicts[item]) {
    if (placed[other])
      continue;
    int64_t bound = alignUp(end, items[other].alignment);
    bool higher = lower[other] < bound;
    if (!higher && skipOf[other] < 0)
      continue;
    // The other one may rest on this one, so it is no longer skipped.
    Change &entry = change(other);
    skipOf[other] = -1;
    if (!higher)
      continue;
    entry.cause = item;
    // It is above: not lower than this one; or too large to fit below, whatever its bound.
    entry.before = size[other] > offset ? -1 : reason[other];
    raise(other, bound);
    raisedAround.add(items[other]);
    if (bound + size[other] > capacity) {
      beginConflict();
      explain(reason[other]);
      ++failureCounts[other];
      return false;
    }
  }
  return propagate();
}

bool PackingSearch::skip(int item) {
  // The conflict without `item` says that it is not at lower[item]; that it is not below has its
  // own reason.
  explain(reason[item]);
  Skip record{static_cast<int>(pool.size()), 0};
  for (int fact : conflict)
    if (fact != item)
      pool.push_back(fact);
  record.factsEnd = static_cast<int>(pool.size());
  change(item);
  skipOf[item] = static_cast<int>(skips.size());
  skips.push_back(record);
  skipped.push_back(item);
  raisedAround.clear();
  raised.clear();
  return propagate();
}

bool PackingSearch::backtrack() {
  while (!decisions.empty()) {
    Decision decision = decisions.back();
    decisions.pop_back();
    // Reasons of the conflict are placements only, so undoing changes does not hurt it.
    undoTo(decision);
    open(decision.item);
    if (!inConflict[decision.item])
      continue;
    skipped.clear();
    const int end = static_cast<int>(items.size());
    for (int item = next[end]; item != end; item = next[item])
      if (skipOf[item] >= 0)
        skipped.push_back(item);
    if (skip(decision.item))
      return true;
  }
  return false;
}

PackingSearch::Outcome PackingSearch::run(const Limits &limits) {
  raised = {0, problem.component.sections};
  raisedAround.clear();
  bool consistent = propagate();
  for (uint64_t node = 0;; ++node) {
    if (!consistent && !backtrack())
      return Outcome::Infeasible;
    if (node >= limits.nodes || stepCount >= limits.steps || (node % 64 == 0 && limits.cancelled()))
      return Outcome::Stopped;
    int item = select();
    if (item < 0)
      return Outcome::Found;
    std::erase_if(skipped, [&](int other) { return placed[other] || skipOf[other] < 0; });
    consistent = place(item);
  }
}

} // namespace gc
