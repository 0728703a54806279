#include "runtime/hal/cpu/library/Halves.h"

#include <algorithm>

namespace gc::runtime::cpu {
namespace {

constexpr int64_t kPart = 16384; // elements that a thread converts at a time

[[gnu::target_clones("avx512f", "avx2", "default")]] void
widenPart(uint32_t *target, const uint16_t *source, int64_t n) {
  for (int64_t i = 0; i < n; ++i)
    target[i] = static_cast<uint32_t>(source[i]) << 16;
}

[[gnu::target_clones("avx512f", "avx2", "default")]] void
narrowPart(uint16_t *target, const uint32_t *source, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    uint32_t bits = source[i];
    bool isNaN = (bits & 0x7fffffff) > 0x7f800000;
    uint32_t rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16, quiet = bits >> 16 | 0x40;
    target[i] = static_cast<uint16_t>(isNaN ? quiet : rounded);
  }
}

} // namespace

// Both see floats as their bits: the same storage, and never through a pointer to float here.
void widen(float *target, const void *source, int64_t n) {
  auto *to = reinterpret_cast<uint32_t *>(target);
  const auto *from = static_cast<const uint16_t *>(source);
#pragma omp parallel for schedule(static)
  for (int64_t first = 0; first < n; first += kPart)
    widenPart(to + first, from + first, std::min(kPart, n - first));
}

void narrow(void *target, const float *source, int64_t n) {
  auto *to = static_cast<uint16_t *>(target);
  const auto *from = reinterpret_cast<const uint32_t *>(source);
#pragma omp parallel for schedule(static)
  for (int64_t first = 0; first < n; first += kPart)
    narrowPart(to + first, from + first, std::min(kPart, n - first));
}

} // namespace gc::runtime::cpu
