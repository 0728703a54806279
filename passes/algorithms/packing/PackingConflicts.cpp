//===- PackingConflicts.cpp - which items conflict, section by section ---===//

#include "passes/algorithms/packing/PackingConflicts.h"

#include <map>
#include <tuple>

namespace gc {

uint64_t PackingConflicts::entriesFor(const PackingComponent &component) {
  uint64_t entries = 0, alive = 0;
  std::vector<int> starts(component.sections + 1, 0), ends(component.sections + 1, 0);
  for (const PackingComponent::Item &item : component.items) {
    entries += static_cast<uint64_t>(item.last - item.first);
    ++starts[item.first];
    ++ends[item.last];
  }
  for (int section = 0; section < component.sections; ++section) {
    alive -= ends[section];
    for (int i = 0; i < starts[section]; ++i)
      entries += 2 * alive++;
  }
  return entries;
}

PackingConflicts::PackingConflicts(const PackingComponent &component)
    : component(component), conflicts(component.items.size()), sectionItems(component.sections),
      twin(component.items.size(), -1) {
  const auto &items = component.items;
  std::vector<std::vector<int>> starting(component.sections);
  std::map<std::tuple<int, int, int64_t, int64_t>, int> lastEqual;
  for (int i = 0; i < static_cast<int>(items.size()); ++i) {
    starting[items[i].first].push_back(i);
    for (int section = items[i].first; section < items[i].last; ++section)
      sectionItems[section].push_back(i);
    auto [at, isNew] = lastEqual.try_emplace(
        {items[i].first, items[i].last, items[i].size, items[i].alignment}, i);
    if (!isNew) {
      twin[i] = at->second;
      at->second = i;
    }
  }
  for (int section = 0; section < component.sections; ++section)
    for (int i : starting[section])
      for (int j : sectionItems[section]) {
        // Every pair once, at the first section that both are in.
        if (j == i || (items[j].first == section && j > i))
          continue;
        conflicts[i].push_back(j);
        conflicts[j].push_back(i);
      }
}

} // namespace gc
