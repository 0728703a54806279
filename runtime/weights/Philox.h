// Philox4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3"): a counter-based
// generator. Draw i of a stream is a pure function of (key, i), so that results depend neither on
// the order of drawing nor on the number of threads.
#ifndef GC_RUNTIME_WEIGHTS_PHILOX_H
#define GC_RUNTIME_WEIGHTS_PHILOX_H

#include <array>
#include <cstdint>
#include <string_view>

namespace gc::runtime {

struct Philox {
  using Block = std::array<uint32_t, 4>;

  uint32_t key0 = 0, key1 = 0;

  explicit Philox(uint64_t key)
      : key0(static_cast<uint32_t>(key)), key1(static_cast<uint32_t>(key >> 32)) {}

  /// Four words from a counter of 128 bits.
  Block operator()(Block counter) const {
    uint32_t k0 = key0, k1 = key1;
    for (int round = 0; round < 10; ++round) {
      uint64_t product0 = uint64_t{0xD2511F53} * counter[0];
      uint64_t product1 = uint64_t{0xCD9E8D57} * counter[2];
      counter = {
          static_cast<uint32_t>(product1 >> 32) ^ counter[1] ^ k0, static_cast<uint32_t>(product1),
          static_cast<uint32_t>(product0 >> 32) ^ counter[3] ^ k1, static_cast<uint32_t>(product0)};
      k0 += 0x9E3779B9;
      k1 += 0xBB67AE85;
    }
    return counter;
  }

  /// Four words for block `index` of the numbered stream.
  Block operator()(uint64_t index, uint64_t stream = 0) const {
    return (*this)(Block{static_cast<uint32_t>(index), static_cast<uint32_t>(index >> 32),
                         static_cast<uint32_t>(stream), static_cast<uint32_t>(stream >> 32)});
  }
};

/// FNV-1a, 64 bits.
inline uint64_t hashName(std::string_view name) {
  uint64_t hash = 0xcbf29ce484222325;
  for (char c : name)
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

/// One key out of a user's seed and the name of what is drawn. Mixed (splitmix64's finalizer), so
/// that neighbouring seeds share nothing.
inline uint64_t mixKey(uint64_t seed, uint64_t salt) {
  uint64_t z = seed + 0x9e3779b97f4a7c15 * (salt | 1);
  z ^= salt;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

} // namespace gc::runtime

#endif // GC_RUNTIME_WEIGHTS_PHILOX_H
