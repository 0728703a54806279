// setp, set, selp, slct.
#include "test/emulator/ptx/Builder.h"
#include "test/emulator/ptx/FloatFormats.h"
#include "test/emulator/ptx/LaneLoops.h"

using namespace gc::emulator::ptx;

namespace {

// Ordered comparisons are false with a NaN, unordered ones true. `ne` is ordered as well.
struct Eq {
  template <class C> static bool apply(C a, C b) { return a == b; }
};
struct Ne {
  template <class C> static bool apply(C a, C b) { return a < b || a > b; }
};
struct Lt {
  template <class C> static bool apply(C a, C b) { return a < b; }
};
struct Le {
  template <class C> static bool apply(C a, C b) { return a <= b; }
};
struct Gt {
  template <class C> static bool apply(C a, C b) { return a > b; }
};
struct Ge {
  template <class C> static bool apply(C a, C b) { return a >= b; }
};
template <class Opposite> struct Unless {
  template <class C> static bool apply(C a, C b) { return !Opposite::apply(a, b); }
};
struct Num {
  template <class C> static bool apply(C a, C b) { return a == a && b == b; }
};

/// Comparison of one type; the lanes for which it holds.
using Compare = uint32_t (*)(Warp &, const Instruction &);

template <class T> auto value(T x, bool ftz) {
  if constexpr (std::is_integral_v<T>)
    return x;
  else if constexpr (std::is_same_v<T, float>)
    return ftz ? flush(x) : x;
  else
    return widen(x);
}

template <class T, class Op> uint32_t compare(Warp &warp, const Instruction &in) {
  const T *a = warp.row<T>(in.operands[in.destinations]),
          *b = warp.row<T>(in.operands[in.destinations + 1]);
  if constexpr (std::is_same_v<T, float>)
    if (in.mode.ftz)
      return lanesWhere(
          [=](uint32_t i) { return Op::apply(value(a[i], true), value(b[i], true)); });
  return lanesWhere([=](uint32_t i) { return Op::apply(value(a[i], false), value(b[i], false)); });
}

/// immediate: how the comparison is combined with the predicate of source 2.
enum Combine { Alone, WithAnd, WithOr, WithXor };
uint32_t combined(Warp &warp, const Instruction &in, uint32_t holds) {
  switch (in.immediate) {
  case WithAnd:
    return holds & warp.predicateSource(in, 2);
  case WithOr:
    return holds | warp.predicateSource(in, 2);
  case WithXor:
    return holds ^ warp.predicateSource(in, 2);
  default:
    return holds;
  }
}

template <class T, class Op> void setPredicates(Warp &warp, const Instruction &in, uint32_t mask) {
  uint32_t holds = compare<T, Op>(warp, in);
  uint32_t first = combined(warp, in, holds), second = combined(warp, in, ~holds);
  writePredicate(warp.predicate(in.operands[0]), mask, first);
  writePredicate(warp.predicate(in.operands[1]), mask, second);
}

/// `set`: all ones, or 1.0, where it holds.
template <class T, class Op> void setValue(Warp &warp, const Instruction &in, uint32_t mask) {
  uint32_t holds = combined(warp, in, compare<T, Op>(warp, in));
  uint32_t yes = in.mode.integral ? std::bit_cast<uint32_t>(1.0f) : ~0u;
  writeLanes(warp.row<uint32_t>(in.operands[0]), mask,
             [=](uint32_t i) { return holds >> i & 1 ? yes : 0u; });
}

template <class Op> Handler forType(Type type, bool predicates) {
  auto pick = [&](auto t) -> Handler {
    return predicates ? setPredicates<decltype(t), Op> : setValue<decltype(t), Op>;
  };
  switch (type) {
  case Type::F16:
    return pick(Half());
  case Type::BF16:
    return pick(Bfloat());
  case Type::F32:
    return pick(float());
  case Type::F64:
    return pick(double());
  default:
    return forInteger(type, pick);
  }
}

Handler forComparison(Builder &b, const std::string &name, Type type, bool predicates) {
  bool floating = isFloat(type), bits = type == Type::B16 || type == Type::B32 || type == Type::B64;
  if (name == "eq")
    return forType<Eq>(type, predicates);
  if (name == "ne")
    return forType<Ne>(type, predicates);
  if (!bits) {
    if (name == "lt" || (name == "lo" && !floating))
      return forType<Lt>(type, predicates);
    if (name == "le" || (name == "ls" && !floating))
      return forType<Le>(type, predicates);
    if (name == "gt" || (name == "hi" && !floating))
      return forType<Gt>(type, predicates);
    if (name == "ge" || (name == "hs" && !floating))
      return forType<Ge>(type, predicates);
  }
  if (floating) {
    if (name == "equ")
      return forType<Unless<Ne>>(type, predicates);
    if (name == "neu")
      return forType<Unless<Eq>>(type, predicates);
    if (name == "ltu")
      return forType<Unless<Ge>>(type, predicates);
    if (name == "leu")
      return forType<Unless<Gt>>(type, predicates);
    if (name == "gtu")
      return forType<Unless<Le>>(type, predicates);
    if (name == "geu")
      return forType<Unless<Lt>>(type, predicates);
    if (name == "num")
      return forType<Num>(type, predicates);
    if (name == "nan")
      return forType<Unless<Num>>(type, predicates);
  }
  b.fail("comparison '." + name + "' does not exist for this type");
}

/// setp.cmp{.bool}{.ftz}.type p|q, a, b{, c}; set.cmp{.bool}{.ftz}.dtype.type d, a, b{, c}
void decodeSet(Builder &b) {
  bool predicates = b.opcode() == "setp";
  std::string name = b.nextModifier();
  b.take(name);
  if (auto combine = b.takeAny({"and", "or", "xor"}))
    b.instruction.immediate = *combine + 1;
  b.instruction.mode.ftz = b.take("ftz");
  if (predicates)
    b.predicatePair();
  else {
    Type result = b.takeType({Type::U32, Type::S32, Type::F32});
    b.instruction.mode.integral = result == Type::F32; // a result of 1.0, not of all ones
    b.destination(result);
  }
  Type type =
      b.takeType({Type::B16, Type::B32, Type::B64, Type::U16, Type::U32, Type::U64, Type::S16,
                  Type::S32, Type::S64, Type::F16, Type::BF16, Type::F32, Type::F64});
  if (b.instruction.mode.ftz && type != Type::F32)
    b.fail("modifier '.ftz' is supported for .f32 only");
  b.source(type);
  b.source(type);
  if (b.instruction.immediate != Alone)
    b.predicateSource();
  b.instruction.run = forComparison(b, name, type, predicates);
}

template <class T> void select(Warp &warp, const Instruction &in, uint32_t mask) {
  const T *a = warp.row<T>(in.operands[1]), *b = warp.row<T>(in.operands[2]);
  uint32_t chosen = warp.predicateSource(in, 2);
  writeLanes(warp.row<T>(in.operands[0]), mask,
             [=](uint32_t i) { return chosen >> i & 1 ? a[i] : b[i]; });
}
template <class T, class C> void selectBySign(Warp &warp, const Instruction &in, uint32_t mask) {
  const T *a = warp.row<T>(in.operands[1]), *b = warp.row<T>(in.operands[2]);
  const C *c = warp.row<C>(in.operands[3]);
  bool ftz = in.mode.ftz;
  writeLanes(warp.row<T>(in.operands[0]), mask,
             [=](uint32_t i) { return value(c[i], ftz) >= 0 ? a[i] : b[i]; });
}

constexpr std::initializer_list<Type> selectable = {
    Type::B16, Type::B32, Type::B64, Type::U16,  Type::U32, Type::U64, Type::S16,
    Type::S32, Type::S64, Type::F16, Type::BF16, Type::F32, Type::F64};

template <class F> Handler forWidth(Type type, F f) {
  switch (sizeOf(type)) {
  case 2:
    return f(uint16_t());
  case 4:
    return f(uint32_t());
  default:
    return f(uint64_t());
  }
}

void decodeSelect(Builder &b) {
  Type type = b.takeType(selectable);
  b.instruction.run = forWidth(type, [](auto t) -> Handler { return select<decltype(t)>; });
  b.destination(type);
  b.source(type);
  b.source(type);
  b.predicateSource();
}
void decodeSelectBySign(Builder &b) {
  b.instruction.mode.ftz = b.take("ftz");
  Type type = b.takeType(selectable);
  Type by = b.takeType({Type::S32, Type::F32});
  b.instruction.run = forWidth(type, [&](auto t) -> Handler {
    return by == Type::S32 ? selectBySign<decltype(t), int32_t> : selectBySign<decltype(t), float>;
  });
  b.destination(type);
  b.source(type);
  b.source(type);
  b.source(by);
}

} // namespace

Decode gc::emulator::ptx::comparisonDecoder(std::string_view opcode) {
  if (opcode == "setp" || opcode == "set")
    return decodeSet;
  if (opcode == "selp")
    return decodeSelect;
  if (opcode == "slct")
    return decodeSelectBySign;
  return nullptr;
}
