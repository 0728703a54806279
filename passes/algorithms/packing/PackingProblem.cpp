//===- PackingProblem.cpp - intervals split into independent problems ----===//

#include "passes/algorithms/packing/PackingProblem.h"

#include <algorithm>
#include <numeric>

namespace gc {

static uint64_t occupied(const Interval &interval) {
  return (interval.size + interval.alignment - 1) & ~(interval.alignment - 1);
}

namespace {

class Splitter {
public:
  Splitter(std::span<const Interval> intervals, std::vector<uint64_t> &offsets,
           uint64_t &bottomBytes)
      : intervals(intervals), offsets(offsets), bottomBytes(bottomBytes) {}

  void split(std::vector<size_t> ids, uint64_t base);

  std::vector<PackingComponent> components;

private:
  void splitConnected(std::vector<size_t> ids, uint64_t base);
  void addComponent(const std::vector<size_t> &ids, uint64_t base);

  std::span<const Interval> intervals;
  std::vector<uint64_t> &offsets;
  uint64_t &bottomBytes;
};

} // namespace

void Splitter::split(std::vector<size_t> ids, uint64_t base) {
  std::sort(ids.begin(), ids.end(), [&](size_t a, size_t b) {
    return std::pair(intervals[a].lower, a) < std::pair(intervals[b].lower, b);
  });
  for (size_t begin = 0; begin < ids.size();) {
    int64_t upper = intervals[ids[begin]].upper;
    size_t end = begin + 1;
    for (; end < ids.size() && intervals[ids[end]].lower < upper; ++end)
      upper = std::max(upper, intervals[ids[end]].upper);
    splitConnected({ids.begin() + begin, ids.begin() + end}, base);
    begin = end;
  }
}

void Splitter::splitConnected(std::vector<size_t> ids, uint64_t base) {
  // Sections decide what "throughout" means: an item that covers them all conflicts with all.
  int64_t latestLower = intervals[ids.back()].lower; // ids are sorted by lower
  int64_t earliestUpper = intervals[ids.front()].upper;
  uint64_t largestAlignment = 1;
  bool hasFixed = false;
  for (size_t id : ids) {
    earliestUpper = std::min(earliestUpper, intervals[id].upper);
    largestAlignment = std::max(largestAlignment, intervals[id].alignment);
    hasFixed |= intervals[id].fixedOffset.has_value();
  }
  std::vector<size_t> rest;
  for (size_t id : ids) {
    const Interval &interval = intervals[id];
    bool throughout = interval.lower < earliestUpper && interval.upper > latestLower;
    // A size that would misalign what comes above must take part in the search.
    if (hasFixed || !throughout || occupied(interval) % largestAlignment != 0 ||
        base % largestAlignment != 0) {
      rest.push_back(id);
      continue;
    }
    offsets[id] = base;
    base += occupied(interval);
    bottomBytes = std::max(bottomBytes, base);
  }
  if (rest.size() == ids.size())
    addComponent(ids, base);
  else
    split(std::move(rest), base);
}

void Splitter::addComponent(const std::vector<size_t> &ids, uint64_t base) {
  // A section is the time from the last start before an end up to that end.
  std::vector<std::pair<int64_t, bool>> events; // (time, is start); ends first
  PackingComponent component;
  component.unit = 0;
  component.base = base;
  for (size_t id : ids) {
    const Interval &interval = intervals[id];
    events.push_back({interval.lower, true});
    events.push_back({interval.upper, false});
    component.unit = std::gcd(component.unit, std::gcd(occupied(interval), interval.alignment));
    component.hasFixed |= interval.fixedOffset.has_value();
  }
  std::sort(events.begin(), events.end());
  std::vector<int64_t> sectionTimes;
  for (size_t i = 0; i + 1 < events.size(); ++i)
    if (events[i].second && !events[i + 1].second)
      sectionTimes.push_back(events[i].first);
  component.sections = static_cast<int>(sectionTimes.size());

  std::vector<int64_t> change(component.sections + 1, 0);
  for (size_t id : ids) {
    const Interval &interval = intervals[id];
    auto sectionFrom = [&](int64_t time) {
      return static_cast<int>(std::lower_bound(sectionTimes.begin(), sectionTimes.end(), time) -
                              sectionTimes.begin());
    };
    PackingComponent::Item item;
    item.interval = id;
    item.size = static_cast<int64_t>(occupied(interval) / component.unit);
    item.alignment = static_cast<int64_t>(interval.alignment / component.unit);
    item.first = sectionFrom(interval.lower);
    item.last = sectionFrom(interval.upper);
    item.lifetime = static_cast<double>(interval.upper) - static_cast<double>(interval.lower);
    item.fixed = interval.fixedOffset
                     ? static_cast<int64_t>((*interval.fixedOffset - base) / component.unit)
                     : -1;
    if (item.fixed >= 0)
      component.lowerBound = std::max(component.lowerBound, item.fixed + item.size);
    change[item.first] += item.size;
    change[item.last] -= item.size;
    component.items.push_back(item);
  }
  int64_t total = 0;
  for (int section = 0; section < component.sections; ++section) {
    total += change[section];
    component.sectionTotal.push_back(total);
    component.lowerBound = std::max(component.lowerBound, total);
  }
  components.push_back(std::move(component));
}

std::vector<PackingComponent> splitIntervals(std::span<const Interval> intervals,
                                             std::vector<uint64_t> &offsets,
                                             uint64_t &bottomBytes) {
  offsets.assign(intervals.size(), 0);
  bottomBytes = 0;
  std::vector<size_t> ids;
  for (size_t id = 0; id < intervals.size(); ++id) {
    if (intervals[id].size > 0)
      ids.push_back(id);
    else
      offsets[id] = intervals[id].fixedOffset.value_or(0);
  }
  Splitter splitter(intervals, offsets, bottomBytes);
  splitter.split(std::move(ids), 0);
  return std::move(splitter.components);
}

uint64_t largestLiveBytes(std::span<const Interval> intervals) {
  std::vector<std::pair<int64_t, int64_t>> changes; // ends sort before starts: half open
  for (const Interval &interval : intervals) {
    changes.push_back({interval.lower, static_cast<int64_t>(occupied(interval))});
    changes.push_back({interval.upper, -static_cast<int64_t>(occupied(interval))});
  }
  std::sort(changes.begin(), changes.end());
  int64_t live = 0, largest = 0;
  for (auto [time, change] : changes) {
    live += change;
    largest = std::max(largest, live);
  }
  return static_cast<uint64_t>(largest);
}

} // namespace gc
