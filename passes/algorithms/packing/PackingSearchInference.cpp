//===- PackingSearchInference.cpp - what follows from a placement --------===//
//
// The half of PackingSearch that raises lower bounds, finds contradictions and explains both.
//
//===----------------------------------------------------------------------===//

#include "passes/algorithms/packing/PackingSearch.h"

#include <algorithm>
#include <limits>

namespace gc {

// Far above any offset, yet sizes may be added to it.
static constexpr int64_t kNever = std::numeric_limits<int64_t>::max() / 4;

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
  raise(item, bound);
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
  raise(item, bound);
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
  ++stepCount;
  if (highest + total <= capacity || total == 0)
    return true;
  const int *list = sectionOpen[section].data();
  const int count = openCount[section];
  stepCount += static_cast<uint64_t>(count);
  int64_t floor = kNever, top = 0;
  for (int index = 0; index < count; ++index) {
    floor = std::min(floor, lower[list[index]]);
    top = std::max(top, lower[list[index]]);
  }
  if (top + total <= capacity)
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
