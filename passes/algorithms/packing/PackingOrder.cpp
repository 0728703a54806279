//===- PackingOrder.cpp - in which order to place items ------------------===//

#include "passes/algorithms/packing/PackingOrder.h"

#include <algorithm>
#include <numeric>

namespace gc {

PackingKeys::PackingKeys(const PackingComponent &component) {
  // Conflicts of an item: all that start before its end, less those that end before its start.
  std::vector<int> startedBefore(component.sections + 2, 0), endedBy(component.sections + 2, 0);
  for (const PackingComponent::Item &item : component.items) {
    ++startedBefore[item.first + 1];
    ++endedBy[item.last];
  }
  std::partial_sum(startedBefore.begin(), startedBefore.end(), startedBefore.begin());
  std::partial_sum(endedBy.begin(), endedBy.end(), endedBy.begin());

  for (const PackingComponent::Item &item : component.items) {
    auto add = [&](PackingKey key, double value) {
      values[static_cast<size_t>(key)].push_back(value);
    };
    add(PackingKey::Size, static_cast<double>(item.size));
    add(PackingKey::Area, static_cast<double>(item.size) * item.lifetime);
    add(PackingKey::Lifetime, item.lifetime);
    add(PackingKey::Sections, item.last - item.first);
    add(PackingKey::Conflicts, startedBefore[item.last] - endedBy[item.first]);
    auto begin = component.sectionTotal.begin();
    add(PackingKey::Pressure,
        static_cast<double>(*std::max_element(begin + item.first, begin + item.last)));
    add(PackingKey::Start, component.sections - item.first);
  }
}

std::vector<int> PackingKeys::order(std::span<const PackingKey> keys,
                                    std::span<const double> factors) const {
  std::vector<int> order(values[0].size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](int a, int b) {
    for (PackingKey key : keys) {
      const std::vector<double> &value = values[static_cast<size_t>(key)];
      double left = value[a] * (factors.empty() ? 1.0 : factors[a]);
      double right = value[b] * (factors.empty() ? 1.0 : factors[b]);
      if (left != right)
        return left > right;
    }
    return a < b;
  });
  return order;
}

} // namespace gc
