// What augmentations draw for a sample: uniform values, each a function of its place.
#ifndef GC_RUNTIME_DATA_DRAWS_H
#define GC_RUNTIME_DATA_DRAWS_H

#include "runtime/weights/Philox.h"

#include <algorithm>
#include <cstdint>

namespace gc::runtime {

class Draws {
public:
  enum Op : uint32_t { Crop, Shift, Flip, Rotate, Jitter, Erase, Rand };

  Draws(uint64_t seed, int64_t index, uint64_t epoch)
      : generator(mixKey(seed, hashName("augment"))), index(static_cast<uint64_t>(index)),
        epoch(static_cast<uint32_t>(epoch)) {}

  /// In [0, 1).
  float unit(Op op, uint32_t number) const {
    Philox::Block block =
        generator(Philox::Block{static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32),
                                epoch, op << 16 | number});
    return static_cast<float>(block[0] >> 8) * 0x1p-24f;
  }
  float between(float low, float high, Op op, uint32_t number) const {
    return low + (high - low) * unit(op, number);
  }
  /// A whole number in [low, high].
  int64_t whole(int64_t low, int64_t high, Op op, uint32_t number) const {
    double count = static_cast<double>(high - low + 1);
    return std::min(high, low + static_cast<int64_t>(count * unit(op, number)));
  }

private:
  Philox generator;
  uint64_t index;
  uint32_t epoch;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_DRAWS_H
