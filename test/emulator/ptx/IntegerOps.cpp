// Integer arithmetic.
#include "test/emulator/ptx/Builder.h"
#include "test/emulator/ptx/LaneLoops.h"

#include <type_traits>

using namespace gc::emulator::ptx;

namespace {

constexpr std::initializer_list<Type> arithmeticTypes = {Type::U16, Type::U32, Type::U64,
                                                         Type::S16, Type::S32, Type::S64};

/// Twice as wide, of the same sign.
template <class T>
using Wide = std::conditional_t<
    sizeof(T) == 8, std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>,
    std::conditional_t<sizeof(T) == 4, std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>,
                       std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>>>;
/// Wraps: the arithmetic of unsigned numbers, in at least 32 bits to escape promotion to int.
template <class T> using Wrapping = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

struct Add {
  template <class T> static T apply(T a, T b) { return T(Wrapping<T>(a) + Wrapping<T>(b)); }
};
struct Subtract {
  template <class T> static T apply(T a, T b) { return T(Wrapping<T>(a) - Wrapping<T>(b)); }
};
struct AddSaturating {
  static int32_t apply(int32_t a, int32_t b) {
    int64_t sum = int64_t(a) + b;
    return int32_t(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
  }
};
struct SubtractSaturating {
  static int32_t apply(int32_t a, int32_t b) {
    int64_t sum = int64_t(a) - b;
    return int32_t(sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum);
  }
};
struct MultiplyLow {
  template <class T> static T apply(T a, T b) { return T(Wrapping<T>(a) * Wrapping<T>(b)); }
};
struct MultiplyHigh {
  template <class T> static T apply(T a, T b) {
    return T(Wide<T>(a) * Wide<T>(b) >> (8 * sizeof(T)));
  }
};
struct MultiplyAddLow {
  template <class T> static T apply(T a, T b, T c) {
    return T(Wrapping<T>(a) * Wrapping<T>(b) + Wrapping<T>(c));
  }
};
struct MultiplyAddHigh {
  template <class T> static T apply(T a, T b, T c) {
    return Add::apply(MultiplyHigh::apply(a, b), c);
  }
};
/// Division by zero gives all ones, as GPUs do; the smallest number by -1 wraps.
struct Divide {
  template <class T> static T apply(T a, T b) {
    if (b == 0)
      return T(-1);
    if (std::is_signed_v<T> && b == T(-1))
      return Subtract::apply(T(0), a);
    return T(a / b);
  }
};
struct Remainder {
  template <class T> static T apply(T a, T b) {
    if (b == 0)
      return std::is_signed_v<T> ? T(-1) : a;
    if (std::is_signed_v<T> && b == T(-1))
      return T(0);
    return T(a % b);
  }
};
struct Minimum {
  template <class T> static T apply(T a, T b) { return a < b ? a : b; }
  template <class T> static T apply(T a, T b, T c) { return apply(apply(a, b), c); }
};
struct Maximum {
  template <class T> static T apply(T a, T b) { return a > b ? a : b; }
  template <class T> static T apply(T a, T b, T c) { return apply(apply(a, b), c); }
};
struct Absolute {
  template <class T> static T apply(T a) { return a < 0 ? Subtract::apply(T(0), a) : a; }
};
struct Negate {
  template <class T> static T apply(T a) { return Subtract::apply(T(0), a); }
};
struct AbsoluteDifference {
  template <class T> static T apply(T a, T b, T c) {
    return Add::apply(c, a < b ? Subtract::apply(b, a) : Subtract::apply(a, b));
  }
};
template <class T> void multiplyWide(Warp &warp, const Instruction &in, uint32_t mask) {
  using W = Wide<T>;
  const T *a = warp.row<T>(in.operands[1]), *b = warp.row<T>(in.operands[2]);
  writeLanes(warp.row<W>(in.operands[0]), mask, [=](uint32_t i) { return W(W(a[i]) * W(b[i])); });
}
template <class T> void multiplyAddWide(Warp &warp, const Instruction &in, uint32_t mask) {
  using W = Wide<T>;
  const T *a = warp.row<T>(in.operands[1]), *b = warp.row<T>(in.operands[2]);
  const W *c = warp.row<W>(in.operands[3]);
  writeLanes(warp.row<W>(in.operands[0]), mask,
             [=](uint32_t i) { return Add::apply(W(W(a[i]) * W(b[i])), c[i]); });
}

/// d, a, …: operands all of one type.
void operands(Builder &b, Type type, uint32_t sources) {
  b.destination(type);
  for (uint32_t i = 0; i < sources; ++i)
    b.source(type);
}

template <class Op> void decodeBinary(Builder &b) {
  if (decodeFloatArithmetic(b))
    return;
  Type type = b.takeType(arithmeticTypes);
  b.instruction.run = forInteger(type, [](auto t) -> Handler { return binary<decltype(t), Op>; });
  operands(b, type, 2);
}
template <class Op, class Saturating> void decodeSum(Builder &b) {
  if (b.isFloatingPoint() || !b.take("sat"))
    return decodeBinary<Op>(b);
  Type type = b.takeType({Type::S32});
  b.instruction.run = binary<int32_t, Saturating>;
  operands(b, type, 2);
}
template <class Op> void decodeUnary(Builder &b) {
  if (decodeFloatArithmetic(b))
    return;
  Type type = b.takeType({Type::S16, Type::S32, Type::S64});
  b.instruction.run = forInteger(type, [](auto t) -> Handler { return unary<decltype(t), Op>; });
  operands(b, type, 1);
}
template <class Op> void decodeExtremum(Builder &b) {
  if (decodeFloatArithmetic(b))
    return;
  Type type = b.takeType(arithmeticTypes);
  bool three = b.operandsLeft() == 4;
  b.instruction.run = forInteger(type, [&](auto t) -> Handler {
    return three ? ternary<decltype(t), Op> : binary<decltype(t), Op>;
  });
  operands(b, type, three ? 3 : 2);
}

Type widened(Type type) {
  switch (type) {
  case Type::U16:
    return Type::U32;
  case Type::S16:
    return Type::S32;
  case Type::U32:
    return Type::U64;
  default:
    return Type::S64;
  }
}
void decodeMultiply(Builder &b) {
  auto form = b.takeAny({"lo", "hi", "wide"});
  if (!form) {
    if (!decodeFloatArithmetic(b))
      b.fail("expected .lo, .hi, .wide or a floating-point type");
    return;
  }
  if (*form == 2) {
    Type type = b.takeType({Type::U16, Type::S16, Type::U32, Type::S32});
    b.instruction.run = forInteger(type, [](auto t) -> Handler {
      if constexpr (sizeof(t) == 2 || sizeof(t) == 4)
        return multiplyWide<decltype(t)>;
      return nullptr;
    });
    b.destination(widened(type));
    b.source(type);
    b.source(type);
    return;
  }
  Type type = b.takeType(arithmeticTypes);
  b.instruction.run = forInteger(type, [&](auto t) -> Handler {
    return *form ? binary<decltype(t), MultiplyHigh> : binary<decltype(t), MultiplyLow>;
  });
  operands(b, type, 2);
}
void decodeMultiplyAdd(Builder &b) {
  auto form = b.takeAny({"lo", "hi", "wide"});
  if (!form) {
    if (!decodeFloatArithmetic(b))
      b.fail("expected .lo, .hi, .wide or a floating-point type");
    return;
  }
  if (*form == 2) {
    Type type = b.takeType({Type::U16, Type::S16, Type::U32, Type::S32});
    b.instruction.run = forInteger(type, [](auto t) -> Handler {
      if constexpr (sizeof(t) == 2 || sizeof(t) == 4)
        return multiplyAddWide<decltype(t)>;
      return nullptr;
    });
    b.destination(widened(type));
    b.source(type);
    b.source(type);
    b.source(widened(type));
    return;
  }
  Type type = b.takeType(arithmeticTypes);
  b.instruction.run = forInteger(type, [&](auto t) -> Handler {
    return *form ? ternary<decltype(t), MultiplyAddHigh> : ternary<decltype(t), MultiplyAddLow>;
  });
  operands(b, type, 3);
}
void decodeSad(Builder &b) {
  Type type = b.takeType(arithmeticTypes);
  b.instruction.run =
      forInteger(type, [](auto t) -> Handler { return ternary<decltype(t), AbsoluteDifference>; });
  operands(b, type, 3);
}

} // namespace

Decode gc::emulator::ptx::integerDecoder(std::string_view opcode) {
  static const std::map<std::string_view, Decode> table = {
      {"add", decodeSum<Add, AddSaturating>},
      {"sub", decodeSum<Subtract, SubtractSaturating>},
      {"mul", decodeMultiply},
      {"mad", decodeMultiplyAdd},
      {"sad", decodeSad},
      {"div", decodeBinary<Divide>},
      {"rem", decodeBinary<Remainder>},
      {"min", decodeExtremum<Minimum>},
      {"max", decodeExtremum<Maximum>},
      {"abs", decodeUnary<Absolute>},
      {"neg", decodeUnary<Negate>}};
  auto found = table.find(opcode);
  return found == table.end() ? nullptr : found->second;
}
