//===- LaneLoops.h - loops over the lanes of a row, for the vectoriser ------===//
#pragma once

#include "test/emulator/ptx/Warp.h"

// Rows are either the same or disjoint, so lanes never depend on each other.
#ifdef __clang__
#define GC_INDEPENDENT_LANES _Pragma("clang loop vectorize(assume_safety)")
#else
#define GC_INDEPENDENT_LANES _Pragma("GCC ivdep")
#endif

namespace gc::emulator::ptx {

/// row[i] = f(i) for the lanes of `mask`; `f` is called for all of them and must not fault. With
/// PerLane = 2 a row has two elements for each lane (f16x2, f32x2).
template <uint32_t PerLane = 1, class T, class F>
inline void writeLanes(T *row, uint32_t mask, F f) {
  constexpr uint32_t count = warpSize * PerLane;
  if (mask == ~0u) {
    GC_INDEPENDENT_LANES
    for (uint32_t i = 0; i < count; ++i)
      row[i] = f(i);
    return;
  }
  alignas(64) T values[count];
  GC_INDEPENDENT_LANES
  for (uint32_t i = 0; i < count; ++i)
    values[i] = f(i);
  for (uint32_t i = 0; i < count; ++i)
    row[i] = mask >> (i / PerLane) & 1 ? values[i] : row[i];
}

/// Sets the bits of `mask` in a predicate to f(lane).
template <class F> inline uint32_t lanesWhere(F f) {
  uint32_t bits = 0;
  for (uint32_t i = 0; i < warpSize; ++i)
    bits |= uint32_t(f(i) ? 1 : 0) << i;
  return bits;
}
inline void writePredicate(uint32_t &predicate, uint32_t mask, uint32_t bits) {
  predicate = (predicate & ~mask) | (bits & mask);
}

/// Handlers of element-wise operations. Op::apply maps elements of T to one of T.
template <class T, class Op, uint32_t PerLane = 1>
void unary(Warp &warp, const Instruction &in, uint32_t mask) {
  const T *a = warp.row<T>(in.operands[1]);
  writeLanes<PerLane>(warp.row<T>(in.operands[0]), mask,
                      [=](uint32_t i) { return Op::apply(a[i]); });
}
template <class T, class Op, uint32_t PerLane = 1>
void binary(Warp &warp, const Instruction &in, uint32_t mask) {
  const T *a = warp.row<T>(in.operands[1]), *b = warp.row<T>(in.operands[2]);
  writeLanes<PerLane>(warp.row<T>(in.operands[0]), mask,
                      [=](uint32_t i) { return Op::apply(a[i], b[i]); });
}
template <class T, class Op, uint32_t PerLane = 1>
void ternary(Warp &warp, const Instruction &in, uint32_t mask) {
  const T *a = warp.row<T>(in.operands[1]), *b = warp.row<T>(in.operands[2]),
          *c = warp.row<T>(in.operands[3]);
  writeLanes<PerLane>(warp.row<T>(in.operands[0]), mask,
                      [=](uint32_t i) { return Op::apply(a[i], b[i], c[i]); });
}

/// Calls `f` with a value of the C++ type that an integer or bit type stands for.
template <class F> Handler forInteger(Type type, F f) {
  switch (type) {
  case Type::B8:
  case Type::U8:
    return f(uint8_t());
  case Type::B16:
  case Type::U16:
    return f(uint16_t());
  case Type::B32:
  case Type::U32:
    return f(uint32_t());
  case Type::B64:
  case Type::U64:
    return f(uint64_t());
  case Type::S8:
    return f(int8_t());
  case Type::S16:
    return f(int16_t());
  case Type::S32:
    return f(int32_t());
  case Type::S64:
    return f(int64_t());
  default:
    return nullptr;
  }
}

} // namespace gc::emulator::ptx
