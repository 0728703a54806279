#include "passes/algorithms/rematerialization/LiveProfile.h"

#include <algorithm>
#include <limits>

namespace gc {

LiveProfile::LiveProfile(const std::vector<int64_t> &live) : places(1) {
  while (places < static_cast<int>(live.size()))
    places *= 2;
  largest.assign(2 * places, std::numeric_limits<int64_t>::min());
  added.assign(2 * places, 0);
  std::copy(live.begin(), live.end(), largest.begin() + places);
  for (int node = places - 1; node > 0; --node)
    largest[node] = std::max(largest[2 * node], largest[2 * node + 1]);
}

void LiveProfile::add(int begin, int end, int64_t bytes) {
  if (begin >= end)
    return;
  // From the leaves upwards: whole subtrees in between get the bytes, and then the nodes above
  // both ends are counted anew.
  int left = begin + places, right = end + places;
  for (int l = left, r = right; l < r; l /= 2, r /= 2) {
    if (l % 2) {
      largest[l] += bytes;
      added[l++] += bytes;
    }
    if (r % 2) {
      largest[--r] += bytes;
      added[r] += bytes;
    }
  }
  auto countAnew = [this](int node) {
    for (node /= 2; node > 0; node /= 2)
      largest[node] = std::max(largest[2 * node], largest[2 * node + 1]) + added[node];
  };
  countAnew(left);
  if (right - 1 != left)
    countAnew(right - 1);
}

int64_t LiveProfile::most(int begin, int end) const {
  return begin < end ? most(1, 0, places, begin, end) : std::numeric_limits<int64_t>::min();
}

int LiveProfile::whereMost() const {
  int node = 1;
  while (node < places)
    node = largest[2 * node] >= largest[2 * node + 1] ? 2 * node : 2 * node + 1;
  return node - places;
}

int64_t LiveProfile::most(int node, int low, int high, int begin, int end) const {
  if (begin <= low && high <= end)
    return largest[node];
  int middle = (low + high) / 2;
  int64_t found = std::numeric_limits<int64_t>::min();
  if (begin < middle)
    found = most(2 * node, low, middle, begin, end);
  if (end > middle)
    found = std::max(found, most(2 * node + 1, middle, high, begin, end));
  return found + added[node];
}

} // namespace gc
