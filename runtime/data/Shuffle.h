// A random order of [0, size) that needs no memory: a keyed permutation, evaluated where it is
// asked. Any thread can say which sample is the i-th of any epoch.
#ifndef GC_RUNTIME_DATA_SHUFFLE_H
#define GC_RUNTIME_DATA_SHUFFLE_H

#include "runtime/weights/Philox.h"

#include <bit>
#include <cstdint>

namespace gc::runtime {

class Shuffle {
public:
  Shuffle(uint64_t seed, uint64_t epoch, uint64_t size)
      : generator(mixKey(seed, hashName("shuffle"))), epoch(epoch), size(size),
        half(size > 1 ? (std::bit_width(size - 1) + 1) / 2 : 1) {}

  /// A bijection of [0, size): a Feistel network on the next even number of bits, walked until it
  /// falls inside (at most four times as many values as needed, so four walks in the mean).
  uint64_t operator()(uint64_t index) const {
    do
      index = encrypt(index);
    while (index >= size);
    return index;
  }

private:
  uint64_t encrypt(uint64_t value) const {
    const uint64_t mask = (uint64_t{1} << half) - 1;
    uint64_t left = value >> half, right = value & mask;
    for (uint64_t round = 0; round < 6; ++round) {
      uint64_t mixed = generator(right << 3 | round, epoch)[0] & mask;
      uint64_t next = left ^ mixed;
      left = right;
      right = next;
    }
    return left << half | right;
  }

  Philox generator;
  uint64_t epoch, size;
  int half;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_SHUFFLE_H
