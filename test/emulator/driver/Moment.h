// Who comes before whom: vector clocks over lanes. A lane is a sequence of operations that run one
// after the other (a stream, or a stream's part of a graph).
#ifndef GC_TEST_EMULATOR_DRIVER_MOMENT_H
#define GC_TEST_EMULATOR_DRIVER_MOMENT_H

#include <algorithm>
#include <cstdint>
#include <vector>

namespace gc::emulator {

// An operation as one number: its lane and its place there (from 1); 0 is none.
using Epoch = uint32_t;
constexpr unsigned placeBits = 22;
constexpr uint32_t maximumLanes = 1u << (32 - placeBits);
constexpr uint32_t maximumPlace = (1u << placeBits) - 1;

class Clock {
public:
  void join(const Clock &other) {
    places.resize(std::max(places.size(), other.places.size()));
    for (size_t lane = 0; lane < other.places.size(); ++lane)
      places[lane] = std::max(places[lane], other.places[lane]);
  }
  void set(uint32_t lane, uint32_t place) {
    places.resize(std::max<size_t>(places.size(), lane + 1));
    places[lane] = place;
  }
  // Whether the operation `epoch` came before the owner of this clock, or is its owner.
  bool includes(Epoch epoch) const {
    uint32_t lane = epoch >> placeBits;
    return epoch == 0 || (lane < places.size() && places[lane] >= (epoch & maximumPlace));
  }

private:
  std::vector<uint32_t> places;
};

struct Moment {
  Epoch epoch = 0;
  Clock clock;
};

} // namespace gc::emulator

#endif // GC_TEST_EMULATOR_DRIVER_MOMENT_H
