// atom and red, lane by lane.
#include "test/emulator/ptx/AddressResolution.h"
#include "test/emulator/ptx/Builder.h"
#include "test/emulator/ptx/FloatFormats.h"

#include <algorithm>
#include <cstring>

using namespace gc::emulator::ptx;

namespace {

struct Add {
  template <class T> static T apply(T old, T b, T) { return old + b; }
};
struct AddNarrow {
  static Half apply(Half old, Half b, Half) { return narrowTo<Half>(widen(old) + widen(b)); }
  static Bfloat apply(Bfloat old, Bfloat b, Bfloat) {
    return narrowTo<Bfloat>(widen(old) + widen(b));
  }
};
/// In global memory, subnormal numbers are flushed.
struct AddFlushing {
  static float apply(float old, float b, float) { return flush(flush(old) + flush(b)); }
};
struct Minimum {
  template <class T> static T apply(T old, T b, T) { return std::min(old, b); }
};
struct Maximum {
  template <class T> static T apply(T old, T b, T) { return std::max(old, b); }
};
struct And {
  template <class T> static T apply(T old, T b, T) { return old & b; }
};
struct Or {
  template <class T> static T apply(T old, T b, T) { return old | b; }
};
struct Xor {
  template <class T> static T apply(T old, T b, T) { return old ^ b; }
};
struct Exchange {
  template <class T> static T apply(T, T b, T) { return b; }
};
struct CompareAndSwap {
  template <class T> static T apply(T old, T b, T c) { return old == b ? c : old; }
};
struct Increment {
  static uint32_t apply(uint32_t old, uint32_t b, uint32_t) { return old >= b ? 0 : old + 1; }
};
struct Decrement {
  static uint32_t apply(uint32_t old, uint32_t b, uint32_t) {
    return old == 0 || old > b ? b : old - 1;
  }
};

/// Sources: address, b and, of cas, c.
template <class T, class Op, uint32_t PerLane = 1>
void atomic(Warp &warp, const Instruction &in, uint32_t mask) {
  Resolved at;
  resolve(warp, in, mask, AccessKind::Atomic, at);
  const T *b = warp.row<T>(in.operands[in.destinations + 1]);
  const T *c = warp.row<T>(in.operands[in.destinations + (in.sources > 2 ? 2 : 1)]);
  T *result = in.destinations ? warp.row<T>(in.operands[0]) : nullptr;
  forLanes(mask, [&](uint32_t lane) {
    for (uint32_t i = 0; i < PerLane; ++i) {
      uint32_t element = lane * PerLane + i;
      std::byte *place = at.pointers[lane] + i * sizeof(T);
      T old;
      std::memcpy(&old, place, sizeof(T));
      T updated = Op::apply(old, b[element], c[element]);
      if (result)
        result[element] = old;
      std::memcpy(place, &updated, sizeof(T));
    }
  });
}

/// A float's sum flushes in global memory only; a generic address says which it is.
void addFloat(Warp &warp, const Instruction &in, uint32_t mask) {
  Space space = in.memory.space;
  if (space == Space::Generic) {
    const uint64_t *row = warp.row<uint64_t>(in.operands[in.destinations]);
    uint64_t window = (row[std::countr_zero(mask)] + in.immediate) & windowMask;
    space = window == sharedWindow ? Space::Shared : Space::Global;
  }
  (space == Space::Shared ? atomic<float, Add> : atomic<float, AddFlushing>)(warp, in, mask);
}

Handler handlerOf(Builder &b, size_t operation, Type type) {
  bool wide = sizeOf(type) == 8;
  switch (operation) {
  case 0:
    switch (type) {
    case Type::F32:
      return addFloat;
    case Type::F64:
      return atomic<double, Add>;
    case Type::F16:
      return atomic<Half, AddNarrow>;
    case Type::BF16:
      return atomic<Bfloat, AddNarrow>;
    case Type::F16x2:
      return atomic<Half, AddNarrow, 2>;
    case Type::BF16x2:
      return atomic<Bfloat, AddNarrow, 2>;
    default:
      return wide ? atomic<uint64_t, Add> : atomic<uint32_t, Add>;
    }
  case 1:
    if (isSigned(type))
      return wide ? atomic<int64_t, Minimum> : atomic<int32_t, Minimum>;
    return wide ? atomic<uint64_t, Minimum> : atomic<uint32_t, Minimum>;
  case 2:
    if (isSigned(type))
      return wide ? atomic<int64_t, Maximum> : atomic<int32_t, Maximum>;
    return wide ? atomic<uint64_t, Maximum> : atomic<uint32_t, Maximum>;
  case 3:
    return wide ? atomic<uint64_t, And> : atomic<uint32_t, And>;
  case 4:
    return wide ? atomic<uint64_t, Or> : atomic<uint32_t, Or>;
  case 5:
    return wide ? atomic<uint64_t, Xor> : atomic<uint32_t, Xor>;
  case 6:
    return wide ? atomic<uint64_t, Exchange> : atomic<uint32_t, Exchange>;
  case 7:
    return wide                ? atomic<uint64_t, CompareAndSwap>
           : sizeOf(type) == 4 ? atomic<uint32_t, CompareAndSwap>
                               : atomic<uint16_t, CompareAndSwap>;
  case 8:
    return atomic<uint32_t, Increment>;
  case 9:
    return atomic<uint32_t, Decrement>;
  }
  b.fail("unknown operation");
}

void decodeAtomic(Builder &b) {
  bool returns = b.opcode() == "atom";
  b.takeAny({"relaxed", "acquire", "release", "acq_rel"});
  b.takeAny({"cta", "cluster", "gpu", "sys"});
  MemoryMode &memory = b.instruction.memory;
  memory.strong = true;
  if (auto space = b.takeAny({"global", "shared", "shared::cta"}))
    memory.space = *space ? Space::Shared : Space::Global;
  auto operation =
      b.takeAny({"add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec"});
  if (!operation || (!returns && (*operation == 6 || *operation == 7)))
    b.fail("operation '." + b.nextModifier() + "' is not supported");
  bool noftz = b.take("noftz");
  Type type;
  switch (*operation) {
  case 0:
    type = b.takeType({Type::U32, Type::S32, Type::U64, Type::S64, Type::F32, Type::F64, Type::F16,
                       Type::BF16, Type::F16x2, Type::BF16x2});
    break;
  case 1:
  case 2:
    type = b.takeType({Type::U32, Type::S32, Type::U64, Type::S64});
    break;
  case 7:
    type = b.takeType({Type::B16, Type::B32, Type::B64});
    break;
  case 8:
  case 9:
    type = b.takeType({Type::U32});
    break;
  default:
    type = b.takeType({Type::B32, Type::B64});
  }
  bool narrow =
      type == Type::F16 || type == Type::BF16 || type == Type::F16x2 || type == Type::BF16x2;
  if (noftz != narrow)
    b.fail("modifier '.noftz' belongs to f16 and bf16, and only to them");
  memory.bytes = sizeOf(type);
  if (returns)
    b.destination(type);
  b.address();
  b.source(type);
  if (*operation == 7)
    b.source(type);
  b.instruction.run = handlerOf(b, *operation, type);
}

} // namespace

Decode gc::emulator::ptx::atomicDecoder(std::string_view opcode) {
  return opcode == "atom" || opcode == "red" ? decodeAtomic : nullptr;
}
