// Logic, shifts, bit fields, counts of bits.
#include "test/emulator/ptx/Builder.h"
#include "test/emulator/ptx/LaneLoops.h"

#include <algorithm>
#include <type_traits>

using namespace gc::emulator::ptx;

namespace {

constexpr std::initializer_list<Type> bitTypes = {Type::B16, Type::B32, Type::B64};

struct And {
  template <class T> static T apply(T a, T b) { return a & b; }
};
struct Or {
  template <class T> static T apply(T a, T b) { return a | b; }
};
struct Xor {
  template <class T> static T apply(T a, T b) { return a ^ b; }
};
struct Not {
  template <class T> static T apply(T a) { return T(~a); }
};
struct LogicalNot {
  template <class T> static T apply(T a) { return T(a == 0); }
};
struct ReverseBits {
  template <class T> static T apply(T a) {
    T result = 0;
    for (uint32_t i = 0; i < 8 * sizeof(T); ++i)
      result |= (a >> i & 1) << (8 * sizeof(T) - 1 - i);
    return result;
  }
};

/// Amounts beyond the width are clamped: zeros, or the sign, remain.
template <class T> void shiftLeft(Warp &warp, const Instruction &in, uint32_t mask) {
  const T *a = warp.row<T>(in.operands[1]);
  const uint32_t *b = warp.row<uint32_t>(in.operands[2]);
  constexpr uint32_t bits = 8 * sizeof(T);
  writeLanes(warp.row<T>(in.operands[0]), mask, [=](uint32_t i) {
    return b[i] < bits ? T(uint64_t(a[i]) << (b[i] & (bits - 1))) : T(0);
  });
}
template <class T> void shiftRight(Warp &warp, const Instruction &in, uint32_t mask) {
  const T *a = warp.row<T>(in.operands[1]);
  const uint32_t *b = warp.row<uint32_t>(in.operands[2]);
  constexpr uint32_t bits = 8 * sizeof(T);
  writeLanes(warp.row<T>(in.operands[0]), mask, [=](uint32_t i) {
    T signs = std::is_signed_v<T> && a[i] < 0 ? T(-1) : T(0);
    return b[i] < bits ? T(a[i] >> (b[i] & (bits - 1))) : signs;
  });
}

template <bool Left, bool Wrap> struct FunnelShift {
  static uint32_t apply(uint32_t low, uint32_t high, uint32_t amount) {
    uint32_t n = Wrap ? amount & 31 : std::min(amount, 32u);
    uint64_t both = uint64_t(high) << 32 | low;
    return Left ? uint32_t(both << n >> 32) : uint32_t(both >> n);
  }
};

template <class T> void countBits(Warp &warp, const Instruction &in, uint32_t mask) {
  const T *a = warp.row<T>(in.operands[1]);
  writeLanes(warp.row<uint32_t>(in.operands[0]), mask,
             [=](uint32_t i) { return uint32_t(std::popcount(a[i])); });
}
template <class T> void countZeros(Warp &warp, const Instruction &in, uint32_t mask) {
  const T *a = warp.row<T>(in.operands[1]);
  writeLanes(warp.row<uint32_t>(in.operands[0]), mask,
             [=](uint32_t i) { return uint32_t(std::countl_zero(a[i])); });
}
template <class T, bool Shift> void findBit(Warp &warp, const Instruction &in, uint32_t mask) {
  using U = std::make_unsigned_t<T>;
  const T *a = warp.row<T>(in.operands[1]);
  writeLanes(warp.row<uint32_t>(in.operands[0]), mask, [=](uint32_t i) {
    U bits = a[i] < 0 ? U(~a[i]) : U(a[i]);
    if (!bits)
      return ~0u;
    uint32_t zeros = std::countl_zero(bits);
    return Shift ? zeros : uint32_t(8 * sizeof(T) - 1 - zeros);
  });
}

template <class T> void extractField(Warp &warp, const Instruction &in, uint32_t mask) {
  const T *a = warp.row<T>(in.operands[1]);
  const uint32_t *b = warp.row<uint32_t>(in.operands[2]), *c = warp.row<uint32_t>(in.operands[3]);
  writeLanes(warp.row<T>(in.operands[0]), mask, [=](uint32_t i) {
    constexpr uint32_t last = 8 * sizeof(T) - 1;
    uint32_t position = b[i] & 0xFF, length = c[i] & 0xFF;
    uint32_t signPosition = std::min(position + length - 1, last);
    bool sign = std::is_signed_v<T> && length && (a[i] >> signPosition & 1);
    T result = 0;
    for (uint32_t k = 0; k <= last; ++k) {
      bool bit = k < length && position + k <= last ? a[i] >> (position + k) & 1 : sign;
      result = T(result | T(uint64_t(bit) << k));
    }
    return result;
  });
}
template <class T> void insertField(Warp &warp, const Instruction &in, uint32_t mask) {
  const T *a = warp.row<T>(in.operands[1]), *b = warp.row<T>(in.operands[2]);
  const uint32_t *c = warp.row<uint32_t>(in.operands[3]), *d = warp.row<uint32_t>(in.operands[4]);
  writeLanes(warp.row<T>(in.operands[0]), mask, [=](uint32_t i) {
    constexpr uint32_t bits = 8 * sizeof(T);
    uint32_t position = c[i] & 0xFF, length = d[i] & 0xFF;
    if (position >= bits || !length)
      return b[i];
    T field = length >= bits ? T(-1) : T((T(1) << length) - 1);
    return T((b[i] & ~(field << position)) | ((a[i] & field) << position));
  });
}

struct Permute {
  static uint32_t apply(uint32_t a, uint32_t b, uint32_t selector) {
    uint64_t both = uint64_t(b) << 32 | a;
    uint32_t result = 0;
    for (uint32_t i = 0; i < 4; ++i) {
      uint32_t pick = selector >> (4 * i) & 0xF;
      uint8_t byte = both >> (8 * (pick & 7));
      if (pick & 8)
        byte = byte & 0x80 ? 0xFF : 0;
      result |= uint32_t(byte) << (8 * i);
    }
    return result;
  }
};

void lookup3(Warp &warp, const Instruction &in, uint32_t mask) {
  const uint32_t *a = warp.row<uint32_t>(in.operands[1]), *b = warp.row<uint32_t>(in.operands[2]),
                 *c = warp.row<uint32_t>(in.operands[3]);
  uint32_t table = in.immediate;
  writeLanes(warp.row<uint32_t>(in.operands[0]), mask, [=](uint32_t i) {
    uint32_t result = 0;
    for (uint32_t k = 0; k < 8; ++k)
      if (table >> k & 1)
        result |= (k & 4 ? a[i] : ~a[i]) & (k & 2 ? b[i] : ~b[i]) & (k & 1 ? c[i] : ~c[i]);
    return result;
  });
}

template <class Op> void onPredicates(Warp &warp, const Instruction &in, uint32_t mask) {
  uint32_t a = warp.predicateSource(in, 0);
  uint32_t b = in.sources > 1 ? warp.predicateSource(in, 1) : 0;
  uint32_t bits;
  if constexpr (std::is_same_v<Op, Not>)
    bits = ~a;
  else
    bits = Op::apply(a, b);
  writePredicate(warp.predicate(in.operands[0]), mask, bits);
}

/// d, a, …: operands all of one type.
void operands(Builder &b, Type type, uint32_t sources) {
  b.destination(type);
  for (uint32_t i = 0; i < sources; ++i)
    b.source(type);
}

template <class Op> void decodeLogic(Builder &b) {
  constexpr bool one = std::is_same_v<Op, Not>;
  if (b.nextModifier() == "pred") {
    Type type = b.takeType({Type::Pred});
    b.instruction.run = onPredicates<Op>;
    operands(b, type, one ? 1 : 2);
    return;
  }
  Type type = b.takeType(bitTypes);
  b.instruction.run = forInteger(type, [](auto t) -> Handler {
    if constexpr (one)
      return unary<decltype(t), Op>;
    else
      return binary<decltype(t), Op>;
  });
  operands(b, type, one ? 1 : 2);
}
void decodeCnot(Builder &b) {
  Type type = b.takeType(bitTypes);
  b.instruction.run =
      forInteger(type, [](auto t) -> Handler { return unary<decltype(t), LogicalNot>; });
  operands(b, type, 1);
}
void decodeShift(Builder &b) {
  bool left = b.opcode() == "shl";
  Type type = left ? b.takeType(bitTypes)
                   : b.takeType({Type::B16, Type::B32, Type::B64, Type::U16, Type::U32, Type::U64,
                                 Type::S16, Type::S32, Type::S64});
  b.instruction.run = forInteger(type, [&](auto t) -> Handler {
    return left ? shiftLeft<decltype(t)> : shiftRight<decltype(t)>;
  });
  b.destination(type);
  b.source(type);
  b.source(Type::U32);
}
void decodeFunnelShift(Builder &b) {
  auto side = b.takeAny({"l", "r"}), mode = b.takeAny({"wrap", "clamp"});
  if (!side || !mode)
    b.fail("expected .l or .r and .wrap or .clamp");
  Type type = b.takeType({Type::B32});
  b.instruction.run = *side == 0 ? (*mode == 0 ? ternary<uint32_t, FunnelShift<true, true>>
                                               : ternary<uint32_t, FunnelShift<true, false>>)
                                 : (*mode == 0 ? ternary<uint32_t, FunnelShift<false, true>>
                                               : ternary<uint32_t, FunnelShift<false, false>>);
  operands(b, type, 3);
}
void decodeCount(Builder &b) {
  bool ones = b.opcode() == "popc";
  Type type = b.takeType({Type::B32, Type::B64});
  b.instruction.run = type == Type::B32 ? (ones ? countBits<uint32_t> : countZeros<uint32_t>)
                                        : (ones ? countBits<uint64_t> : countZeros<uint64_t>);
  b.destination(Type::U32);
  b.source(type);
}
void decodeFindBit(Builder &b) {
  bool shift = b.take("shiftamt");
  Type type = b.takeType({Type::U32, Type::U64, Type::S32, Type::S64});
  b.instruction.run = forInteger(type, [&](auto t) -> Handler {
    return shift ? findBit<decltype(t), true> : findBit<decltype(t), false>;
  });
  b.destination(Type::U32);
  b.source(type);
}
void decodeReverse(Builder &b) {
  Type type = b.takeType({Type::B32, Type::B64});
  b.instruction.run =
      type == Type::B32 ? unary<uint32_t, ReverseBits> : unary<uint64_t, ReverseBits>;
  operands(b, type, 1);
}
void decodeExtract(Builder &b) {
  Type type = b.takeType({Type::U32, Type::U64, Type::S32, Type::S64});
  b.instruction.run = forInteger(type, [](auto t) -> Handler { return extractField<decltype(t)>; });
  b.destination(type);
  b.source(type);
  b.source(Type::U32);
  b.source(Type::U32);
}
void decodeInsert(Builder &b) {
  Type type = b.takeType({Type::B32, Type::B64});
  b.instruction.run = type == Type::B32 ? insertField<uint32_t> : insertField<uint64_t>;
  b.destination(type);
  b.source(type);
  b.source(type);
  b.source(Type::U32);
  b.source(Type::U32);
}
void decodePermute(Builder &b) {
  Type type = b.takeType({Type::B32});
  b.instruction.run = ternary<uint32_t, Permute>;
  operands(b, type, 3);
}
void decodeLookup3(Builder &b) {
  Type type = b.takeType({Type::B32});
  b.instruction.run = lookup3;
  operands(b, type, 3);
  b.instruction.immediate = b.constant();
}

} // namespace

Decode gc::emulator::ptx::bitDecoder(std::string_view opcode) {
  static const std::map<std::string_view, Decode> table = {
      {"and", decodeLogic<And>}, {"or", decodeLogic<Or>},    {"xor", decodeLogic<Xor>},
      {"not", decodeLogic<Not>}, {"cnot", decodeCnot},       {"shl", decodeShift},
      {"shr", decodeShift},      {"shf", decodeFunnelShift}, {"popc", decodeCount},
      {"clz", decodeCount},      {"bfind", decodeFindBit},   {"brev", decodeReverse},
      {"bfe", decodeExtract},    {"bfi", decodeInsert},      {"prmt", decodePermute},
      {"lop3", decodeLookup3}};
  auto found = table.find(opcode);
  return found == table.end() ? nullptr : found->second;
}
