// A number by which a resumed run recognizes its data set. It finds mistakes, such as a wrong
// folder; it does not resist somebody who forges data.
#ifndef GC_RUNTIME_DATA_FINGERPRINT_H
#define GC_RUNTIME_DATA_FINGERPRINT_H

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace gc::runtime {

/// Takes eight bytes at a time: some gigabytes a second. The same bytes in other pieces give
/// another number.
class Fingerprint {
public:
  Fingerprint &add(uint64_t word) {
    state = (state ^ word) * 0x9e3779b97f4a7c15u;
    state ^= state >> 32;
    return *this;
  }
  Fingerprint &add(const void *data, size_t bytes) {
    const char *next = static_cast<const char *>(data);
    uint64_t word;
    for (; bytes >= sizeof word; bytes -= sizeof word, next += sizeof word) {
      std::memcpy(&word, next, sizeof word);
      add(word);
    }
    word = 0;
    std::memcpy(&word, next, bytes);
    return add(word).add(bytes);
  }
  uint64_t value() const { return state; }

private:
  uint64_t state = 0x243f6a8885a308d3u;
};

} // namespace gc::runtime

#endif // GC_RUNTIME_DATA_FINGERPRINT_H
