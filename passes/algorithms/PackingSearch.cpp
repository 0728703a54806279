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

#include "passes/algorithms/PackingSearch.h"

#include <algorithm>
#include <limits>

namespace gc {

static constexpr int64_t kNever = std::numeric_limits<int64_t>::max() / 4;

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
  decisions.push_back({item, changes.size(), skips.size(), pool.size()});
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
    lower[other] = bound;
    reason[other] = static_cast<int>(changes.size()) - 1;
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

//===----------------------------------------------------------------------===//
// Inference
//===----------------------------------------------------------------------===//

bool PackingSearch::propagate() {
  for (bool changed = true; changed;) {
    changed = false;
    for (int item : skipped)
      if (!placed[item] && skipOf[item] >= 0 && !raiseSkipped(item, changed))
        return false;
    for (int item : twins)
      if (!placed[item] && !placed[problem.twin[item]] && !raiseTwin(item, changed))
        return false;
  }
  // Within the range of a placed item nothing new can fail: it was the lowest there, and the others
  // now start at its end, which leaves the height of the stack as it was.
  for (int section = raisedAround.begin; section < raisedAround.end; ++section)
    if ((section < placedFirst || section >= placedLast) &&
        (section < raised.begin || section >= raised.end) && !sectionFits(section))
      return false;
  for (int section = raised.begin; section < raised.end; ++section)
    if (!sectionFits(section))
      return false;
  return true;
}

bool PackingSearch::raiseSkipped(int item, bool &changed) {
  int64_t support = kNever;
  stepCount += problem.conflicts[item].size();
  for (int other : problem.conflicts[item])
    if (!placed[other])
      support = std::min(support, lower[other] + size[other]);
  int64_t bound = alignUp(support, items[item].alignment);
  if (bound <= lower[item])
    return true;
  bool fits = bound + size[item] <= capacity;
  if (!fits) // explain no more than needed
    bound = capacity - size[item] + 1;
  // No conflicting item ends between the old place and the bound: those placed are where they are,
  // those open start late enough, and large ones need no reason.
  Change &entry = change(item);
  entry.skip = skipOf[item];
  entry.factsBegin = static_cast<int>(pool.size());
  for (int other : problem.conflicts[item]) {
    if (size[other] >= bound)
      continue;
    if (placed[other])
      pool.push_back(other);
    else if (reason[other] >= 0)
      pool.push_back(~reason[other]);
  }
  entry.factsEnd = static_cast<int>(pool.size());
  lower[item] = bound;
  reason[item] = static_cast<int>(changes.size()) - 1;
  raised.add(items[item]);
  changed = true;
  if (fits)
    return true;
  beginConflict();
  explain(reason[item]);
  ++failureCounts[item];
  return false;
}

bool PackingSearch::raiseTwin(int item, bool &changed) {
  int below = problem.twin[item];
  int64_t bound = alignUp(lower[below] + size[below], items[item].alignment);
  if (bound <= lower[item])
    return true;
  Change &entry = change(item);
  entry.before = reason[below];
  lower[item] = bound;
  reason[item] = static_cast<int>(changes.size()) - 1;
  raised.add(items[item]);
  changed = true;
  if (bound + size[item] <= capacity)
    return true;
  beginConflict();
  explain(reason[item]);
  ++failureCounts[item];
  return false;
}

bool PackingSearch::sectionFits(int section) {
  const int64_t total = openTotal[section];
  if (total == 0)
    return true;
  const int *list = sectionOpen[section].data();
  const int count = openCount[section];
  stepCount += static_cast<uint64_t>(count);
  int64_t floor = kNever, highest = 0;
  for (int index = 0; index < count; ++index) {
    floor = std::min(floor, lower[list[index]]);
    highest = std::max(highest, lower[list[index]]);
  }
  if (highest + total <= capacity)
    return true;
  const int64_t slack = capacity - total - floor;
  if (slack < 0) {
    failSection(section, floor, -slack);
    return false;
  }
  // Stack the items as early as their bounds allow and add up the idle gaps, one busy block after
  // the other; more than the slack cannot be lost.
  int64_t idle = 0, busyUntil = floor;
  while (true) {
    int64_t started = 0, nextStart = kNever;
    stepCount += static_cast<uint64_t>(count);
    for (int index = 0; index < count; ++index) {
      int item = list[index];
      bool isStarted = lower[item] <= busyUntil;
      started += isStarted ? size[item] : 0;
      nextStart = std::min(nextStart, isStarted ? kNever : lower[item]);
    }
    int64_t end = floor + idle + started;
    if (nextStart == kNever)
      return true;
    if (end >= nextStart) {
      busyUntil = end;
      continue;
    }
    idle += nextStart - end;
    if (idle > slack) {
      failSection(section, nextStart, idle - slack);
      return false;
    }
    busyUntil = nextStart;
  }
}

void PackingSearch::failSection(int section, int64_t threshold, int64_t excess) {
  failedSection = section;
  // The items from the threshold up are too much by `excess`. Leave out what the contradiction
  // does not need, the latest bounds first: the earlier its last reason, the further the jump.
  dropOrder.clear();
  for (int index = 0; index < openCount[section]; ++index) {
    int item = sectionOpen[section][index];
    if (lower[item] < threshold)
      continue;
    ++failureCounts[item];
    if (reason[item] >= 0)
      dropOrder.push_back(item);
  }
  std::sort(dropOrder.begin(), dropOrder.end(),
            [&](int a, int b) { return reason[a] > reason[b]; });
  beginConflict();
  for (int item : dropOrder) {
    if (size[item] < excess)
      excess -= size[item];
    else
      explain(reason[item]);
  }
}

//===----------------------------------------------------------------------===//
// Explanation
//===----------------------------------------------------------------------===//

void PackingSearch::beginConflict() {
  for (int item : conflict)
    inConflict[item] = false;
  conflict.clear();
  ++conflictNumber;
}

void PackingSearch::addToConflict(int item) {
  if (inConflict[item])
    return;
  inConflict[item] = true;
  conflict.push_back(item);
}

void PackingSearch::explain(int start) {
  if (start < 0)
    return;
  explained.resize(std::max(explained.size(), changes.size()), 0);
  explainStack.assign(1, start);
  while (!explainStack.empty()) {
    int index = explainStack.back();
    explainStack.pop_back();
    if (explained[index] == conflictNumber)
      continue;
    explained[index] = conflictNumber;
    const Change &entry = changes[index];
    if (entry.cause >= 0)
      addToConflict(entry.cause);
    if (entry.before >= 0)
      explainStack.push_back(entry.before);
    if (entry.skip >= 0)
      for (int fact = skips[entry.skip].factsBegin; fact < skips[entry.skip].factsEnd; ++fact)
        addToConflict(pool[fact]);
    stepCount += static_cast<uint64_t>(1 + entry.factsEnd - entry.factsBegin);
    for (int fact = entry.factsBegin; fact < entry.factsEnd; ++fact) {
      if (pool[fact] >= 0)
        addToConflict(pool[fact]);
      else
        explainStack.push_back(~pool[fact]);
    }
  }
}

} // namespace gc
