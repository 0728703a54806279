// Arrays between bf16 and f32, on OpenMP's threads. Private to the library.
#ifndef GC_RUNTIME_HAL_CPU_LIBRARY_HALVES_H
#define GC_RUNTIME_HAL_CPU_LIBRARY_HALVES_H

#include <cstdint>

namespace gc::runtime::cpu {

/// target = source, which is `n` bf16.
void widen(float *target, const void *source, int64_t n);
/// The `n` bf16 of target = source, rounded to the nearest, of two the even one: the bits that
/// generated kernels round to (compiler/lowering/ExpandMath).
void narrow(void *target, const float *source, int64_t n);

} // namespace gc::runtime::cpu

#endif // GC_RUNTIME_HAL_CPU_LIBRARY_HALVES_H
