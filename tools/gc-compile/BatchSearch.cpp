#include "tools/gc-compile/BatchSearch.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

void BatchSearch::learn(int64_t batch, bool fits, int64_t bytes) { known[batch] = {fits, bytes}; }

int64_t BatchSearch::largest() const {
  for (auto it = known.rbegin(); it != known.rend(); ++it)
    if (it->second.fits)
      return it->first;
  return 0;
}

int64_t BatchSearch::tooLarge() const {
  auto above = known.upper_bound(largest());
  return above == known.end() ? most + 1 : above->first;
}

// The largest batch by a line through the two batches whose needs are nearest to the room, or
// through one and the origin.
std::optional<int64_t> BatchSearch::guess() const {
  auto distance = [&](auto it) { return std::abs(it->second.bytes - room); };
  auto nearest = known.end(), second = known.end();
  for (auto it = known.begin(); it != known.end(); ++it) {
    if (it->second.bytes == 0)
      continue;
    if (nearest == known.end() || distance(it) < distance(nearest)) {
      second = nearest;
      nearest = it;
    } else if (second == known.end() || distance(it) < distance(second)) {
      second = it;
    }
  }
  if (nearest == known.end())
    return std::nullopt;
  double fromBatch = 0, fromBytes = 0;
  if (second != known.end()) {
    fromBatch = static_cast<double>(second->first);
    fromBytes = static_cast<double>(second->second.bytes);
  }
  double slope = (static_cast<double>(nearest->second.bytes) - fromBytes) /
                 (static_cast<double>(nearest->first) - fromBatch);
  if (!(slope > 0))
    return std::nullopt;
  double batch = static_cast<double>(nearest->first) +
                 static_cast<double>(room - nearest->second.bytes) / slope;
  return static_cast<int64_t>(std::clamp(std::floor(batch), 0.0, static_cast<double>(most)));
}

std::optional<int64_t> BatchSearch::next() {
  int64_t low = largest(), high = tooLarge();
  if (high - low <= 1)
    return std::nullopt;
  if (known.empty())
    return std::min(start, most);
  std::optional<int64_t> likely = guess();
  bool isOpen = high > most;
  if (isOpen) {
    // A little behind the guess, so that the answer lies between.
    int64_t doubled = low > most / 2 ? most : std::max<int64_t>(1, 2 * low);
    if (!likely || *likely <= low)
      return std::max(low + 1, asked++ == 0 && likely ? low + 1 : doubled);
    return std::clamp(*likely + 1, low + 1, std::max(low + 1, std::min(most, 64 * doubled)));
  }
  if (interval == 0 || high - low <= interval / 2) {
    interval = high - low;
    asked = 0;
  }
  constexpr int patience = 3;
  if (!likely || ++asked > patience)
    return low + (high - low) / 2;
  return std::clamp(*likely > low ? *likely : low + 1, low + 1, high - 1);
}
