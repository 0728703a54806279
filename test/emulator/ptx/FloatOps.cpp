// Floating-point arithmetic. add, sub, mul, fma, div, rcp and sqrt round correctly in all modes;
// the approximations are computed by the C library (at most 1 ulp off), well within what PTX
// allows.
#include "test/emulator/ptx/Builder.h"
#include "test/emulator/ptx/FloatFormats.h"
#include "test/emulator/ptx/LaneLoops.h"

#include <cfenv>
#include <type_traits>

using namespace gc::emulator::ptx;

namespace {

constexpr std::initializer_list<Type> allTypes = {Type::F16,   Type::BF16,   Type::F32,  Type::F64,
                                                  Type::F16x2, Type::BF16x2, Type::F32x2};

// On float or double. f16 and bf16 are computed in float, whose 24 bits make the second rounding
// harmless for one operation; fma needs more care.
struct Add {
  template <class C> static C apply(C a, C b) { return a + b; }
};
struct Subtract {
  template <class C> static C apply(C a, C b) { return a - b; }
};
struct Multiply {
  template <class C> static C apply(C a, C b) { return a * b; }
};
struct Divide {
  template <class C> static C apply(C a, C b) { return a / b; }
};
struct DivideApproximately {
  static float apply(float a, float b) {
    if (std::fabs(b) > 0x1p126f && std::isfinite(b)) // the reciprocal is flushed
      return std::isfinite(a) ? std::copysign(0.0f, a) * std::copysign(1.0f, b) : NAN;
    return a / b;
  }
};
struct Fma {
  template <class C> static C apply(C a, C b, C c) { return std::fma(a, b, c); }
};
struct Reciprocal {
  template <class C> static C apply(C a) { return C(1) / a; }
};
struct SquareRoot {
  template <class C> static C apply(C a) { return std::sqrt(a); }
};
struct ReciprocalRoot {
  template <class C> static C apply(C a) {
    return static_cast<C>(1 / std::sqrt(static_cast<double>(a)));
  }
};
/// The f64 approximations fill the upper half of the result.
struct CoarseReciprocal {
  static double apply(double a) {
    return std::bit_cast<double>(std::bit_cast<uint64_t>(1 / a) & 0xFFFFFFFF00000000);
  }
};
struct CoarseReciprocalRoot {
  static double apply(double a) {
    return std::bit_cast<double>(std::bit_cast<uint64_t>(1 / std::sqrt(a)) & 0xFFFFFFFF00000000);
  }
};
struct Exp2 {
  static float apply(float a) { return std::exp2(a); }
};
struct Log2 {
  static float apply(float a) { return std::log2(a); }
};
struct Sine {
  static float apply(float a) { return std::sin(a); }
};
struct Cosine {
  static float apply(float a) { return std::cos(a); }
};
struct Tanh {
  static float apply(float a) { return std::tanh(a); }
};
/// A number beats a NaN, and -0 is less than +0.
struct Minimum {
  template <class C> static C apply(C a, C b) {
    C result = a < b || (a == b && std::signbit(a)) ? a : b;
    result = a != a ? b : result;
    return b != b ? a : result;
  }
  template <class C> static C apply(C a, C b, C c) { return apply(apply(a, b), c); }
};
struct Maximum {
  template <class C> static C apply(C a, C b) {
    C result = a > b || (a == b && !std::signbit(a)) ? a : b;
    result = a != a ? b : result;
    return b != b ? a : result;
  }
  template <class C> static C apply(C a, C b, C c) { return apply(apply(a, b), c); }
};

/// One element of type T, rounded to nearest.
template <class Op, class T> struct Element {
  template <class... Xs> static T apply(Xs... xs) {
    if constexpr (std::is_same_v<T, float>) {
      float result = Op::apply(xs...);
      return result == result ? result : std::bit_cast<float>(canonicalNan);
    } else if constexpr (std::is_same_v<T, double>)
      return Op::apply(xs...);
    else if constexpr (std::is_same_v<Op, Fma>)
      return fma(widen(xs)...);
    else
      return narrowTo<T>(Op::apply(widen(xs)...));
  }
  static T fma(double a, double b, double c) { return narrowTo<T>(addToOdd(a * b, c)); }
};

/// All modes: rounding, .ftz, .sat, .NaN, .relu.
template <class Op, class T, uint32_t Arity, uint32_t PerLane>
void withMode(Warp &warp, const Instruction &in, uint32_t mask) {
  const T *a = warp.row<T>(in.operands[1]), *b = warp.row<T>(in.operands[Arity > 1 ? 2 : 1]),
          *c = warp.row<T>(in.operands[Arity > 2 ? 3 : 1]);
  T *out = warp.row<T>(in.operands[0]);
  const FloatMode mode = in.mode;
  auto read = [&](T x) {
    if constexpr (std::is_same_v<T, float>)
      return mode.ftz ? flush(x) : x;
    else if constexpr (std::is_same_v<T, Half>) {
      if (mode.ftz && (x.bits & 0x7C00) == 0)
        x.bits &= 0x8000;
      return x;
    } else
      return x;
  };
  // Rows live in memory that fesetround might read or write for all the compiler knows, so that the
  // arithmetic stays between the two calls.
  static constexpr int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  int before = std::fegetround();
  if (mode.rounding != Rounding::Nearest)
    std::fesetround(modes[static_cast<int>(mode.rounding)]);
  forLanes(mask, [&](uint32_t lane) {
    for (uint32_t i = lane * PerLane; i < (lane + 1) * PerLane; ++i) {
      T x = read(a[i]), y = read(b[i]), z = read(c[i]), result;
      if constexpr (Arity == 1)
        result = Element<Op, T>::apply(x);
      else if constexpr (Arity == 2)
        result = Element<Op, T>::apply(x, y);
      else
        result = Element<Op, T>::apply(x, y, z);
      auto value = widen(result);
      bool anyNan = std::isnan(widen(x)) || (Arity > 1 && std::isnan(widen(y))) ||
                    (Arity > 2 && std::isnan(widen(z)));
      if (mode.nan && anyNan)
        value = std::numeric_limits<decltype(value)>::quiet_NaN();
      if (mode.saturate)
        value = value > 0 ? std::min<decltype(value)>(value, 1) : 0; // NaN becomes 0
      if (mode.relu && value < 0)
        value = 0;
      if constexpr (std::is_same_v<T, float>) {
        value = mode.ftz ? flush(value) : value;
        out[i] = value == value ? value : std::bit_cast<float>(canonicalNan);
      } else if constexpr (std::is_same_v<T, double>)
        out[i] = value;
      else {
        out[i] = narrowTo<T>(value);
        out[i] = read(out[i]);
      }
    }
  });
  if (mode.rounding != Rounding::Nearest)
    std::fesetround(before);
}

template <class Op, class T, uint32_t Arity, uint32_t PerLane>
Handler forMode(const FloatMode &mode) {
  if (mode.rounding != Rounding::Nearest || mode.ftz || mode.saturate || mode.nan || mode.relu)
    return withMode<Op, T, Arity, PerLane>;
  if constexpr (Arity == 1)
    return unary<T, Element<Op, T>, PerLane>;
  else if constexpr (Arity == 2)
    return binary<T, Element<Op, T>, PerLane>;
  else
    return ternary<T, Element<Op, T>, PerLane>;
}

template <class Op, uint32_t Arity> Handler forType(Type type, const FloatMode &mode) {
  switch (type) {
  case Type::F32:
    return forMode<Op, float, Arity, 1>(mode);
  case Type::F64:
    return forMode<Op, double, Arity, 1>(mode);
  case Type::F16:
    return forMode<Op, Half, Arity, 1>(mode);
  case Type::BF16:
    return forMode<Op, Bfloat, Arity, 1>(mode);
  case Type::F16x2:
    return forMode<Op, Half, Arity, 2>(mode);
  case Type::BF16x2:
    return forMode<Op, Bfloat, Arity, 2>(mode);
  case Type::F32x2:
    return forMode<Op, float, Arity, 2>(mode);
  default:
    return nullptr;
  }
}

void operands(Builder &b, Type type, uint32_t sources) {
  b.destination(type);
  for (uint32_t i = 0; i < sources; ++i)
    b.source(type);
}

bool isNarrow(Type type) {
  return type == Type::F16 || type == Type::BF16 || type == Type::F16x2 || type == Type::BF16x2;
}

/// add{.rnd}{.ftz}{.sat}.type; fma.rnd…; f16 and bf16 round to nearest only.
template <class Op, uint32_t Arity> void decodeArithmetic(Builder &b) {
  bool rounded = b.takeRounding();
  FloatMode &mode = b.instruction.mode;
  mode.ftz = b.take("ftz");
  mode.saturate = b.take("sat");
  mode.relu = Arity == 3 && b.take("relu");
  Type type = b.takeType(allTypes);
  bool narrow = isNarrow(type), brain = type == Type::BF16 || type == Type::BF16x2;
  if (Arity == 3 && !rounded)
    b.fail("a rounding modifier is missing");
  if ((narrow && mode.rounding != Rounding::Nearest) || (mode.relu && !narrow) ||
      (mode.ftz && (type == Type::F64 || brain)) ||
      (mode.saturate && (type == Type::F64 || type == Type::F32x2 || brain)))
    b.fail("this combination of modifiers does not exist");
  b.instruction.run = forType<Op, Arity>(type, mode);
  operands(b, type, Arity);
}

template <class Op> void decodeExtremum(Builder &b) {
  b.instruction.mode.ftz = b.take("ftz");
  b.instruction.mode.nan = b.take("NaN");
  Type type = b.takeType({Type::F16, Type::BF16, Type::F32, Type::F64, Type::F16x2, Type::BF16x2});
  bool three = b.operandsLeft() == 4;
  b.instruction.run =
      three ? forType<Op, 3>(type, b.instruction.mode) : forType<Op, 2>(type, b.instruction.mode);
  operands(b, type, three ? 3 : 2);
}

void decodeDivide(Builder &b) {
  auto approximate = b.takeAny({"approx", "full"});
  if (!approximate && !b.takeRounding())
    b.fail("expected .approx, .full or a rounding modifier");
  b.instruction.mode.ftz = b.take("ftz");
  Type type = approximate || b.instruction.mode.ftz ? b.takeType({Type::F32})
                                                    : b.takeType({Type::F32, Type::F64});
  if (approximate && *approximate == 0)
    b.instruction.run = forMode<DivideApproximately, float, 2, 1>(b.instruction.mode);
  else
    b.instruction.run = forType<Divide, 2>(type, b.instruction.mode);
  operands(b, type, 2);
}

/// rcp, sqrt: correctly rounded, or .approx.
template <class Op, class Coarse> void decodeRoot(Builder &b) {
  bool approximate = b.take("approx");
  if (!approximate && !b.takeRounding())
    b.fail("expected .approx or a rounding modifier");
  b.instruction.mode.ftz = b.take("ftz");
  Type type = b.takeType({Type::F32, Type::F64});
  if (type == Type::F64 && (approximate || b.instruction.mode.ftz)) {
    if constexpr (std::is_same_v<Coarse, void>)
      b.fail("this combination of modifiers does not exist");
    else if (!approximate)
      b.fail("this combination of modifiers does not exist");
    else
      b.instruction.run = unary<double, Coarse>;
  } else
    b.instruction.run = forType<Op, 1>(type, b.instruction.mode);
  operands(b, type, 1);
}

template <class Op, bool Narrow> void decodeApproximation(Builder &b) {
  if (!b.take("approx"))
    b.fail("expected .approx");
  b.instruction.mode.ftz = b.take("ftz");
  Type type = Narrow ? b.takeType({Type::F32, Type::F16, Type::BF16, Type::F16x2, Type::BF16x2})
                     : b.takeType({Type::F32});
  if (type != Type::F32 && type != Type::BF16 && type != Type::BF16x2 && b.instruction.mode.ftz)
    b.fail("this combination of modifiers does not exist");
  if (type == Type::BF16 || type == Type::BF16x2)
    b.instruction.mode.ftz = false; // bf16 is as wide in range as f32: the flush concerns f32 alone
  switch (type) {
  case Type::F16:
    b.instruction.run = unary<Half, Element<Op, Half>>;
    break;
  case Type::F16x2:
    b.instruction.run = unary<Half, Element<Op, Half>, 2>;
    break;
  case Type::BF16:
    b.instruction.run = unary<Bfloat, Element<Op, Bfloat>>;
    break;
  case Type::BF16x2:
    b.instruction.run = unary<Bfloat, Element<Op, Bfloat>, 2>;
    break;
  default:
    b.instruction.run = forMode<Op, float, 1, 1>(b.instruction.mode);
  }
  operands(b, type, 1);
}

void decodeReciprocalRoot(Builder &b) {
  if (!b.take("approx"))
    b.fail("expected .approx");
  b.instruction.mode.ftz = b.take("ftz");
  Type type = b.takeType({Type::F32, Type::F64});
  b.instruction.run = type == Type::F32 ? forMode<ReciprocalRoot, float, 1, 1>(b.instruction.mode)
                                        : unary<double, CoarseReciprocalRoot>;
  operands(b, type, 1);
}

// neg, abs and copysign work on bits.
template <class T> constexpr T signBit = T(T(1) << (8 * sizeof(T) - 1));
struct NegateBits {
  template <class T> static T apply(T a) { return a ^ signBit<T>; }
};
struct AbsoluteBits {
  template <class T> static T apply(T a) { return a & T(~signBit<T>); }
};
struct CopySign {
  template <class T> static T apply(T a, T b) { return T(a & signBit<T>) | T(b & T(~signBit<T>)); }
};
template <class Bits> struct FlushThen {
  static uint32_t apply(uint32_t a) {
    return Bits::apply(std::bit_cast<uint32_t>(flush(std::bit_cast<float>(a))));
  }
};

template <class Bits> void decodeSign(Builder &b) {
  bool ftz = b.take("ftz");
  Type type =
      ftz ? b.takeType({Type::F32})
          : b.takeType({Type::F16, Type::BF16, Type::F32, Type::F64, Type::F16x2, Type::BF16x2});
  switch (type) {
  case Type::F64:
    b.instruction.run = unary<uint64_t, Bits>;
    break;
  case Type::F32:
    b.instruction.run = ftz ? unary<uint32_t, FlushThen<Bits>> : unary<uint32_t, Bits>;
    break;
  case Type::F16:
  case Type::BF16:
    b.instruction.run = unary<uint16_t, Bits>;
    break;
  default:
    b.instruction.run = unary<uint16_t, Bits, 2>;
  }
  operands(b, type, 1);
}

void decodeCopySign(Builder &b) {
  Type type = b.takeType({Type::F32, Type::F64});
  b.instruction.run = type == Type::F32 ? binary<uint32_t, CopySign> : binary<uint64_t, CopySign>;
  operands(b, type, 2);
}

template <class T> void testProperty(Warp &warp, const Instruction &in, uint32_t mask) {
  const T *a = warp.row<T>(in.operands[1]);
  writePredicate(warp.predicate(in.operands[0]), mask, lanesWhere([&](uint32_t i) {
                   int kind = std::fpclassify(a[i]);
                   switch (in.immediate) {
                   case 0:
                     return kind != FP_INFINITE && kind != FP_NAN;
                   case 1:
                     return kind == FP_INFINITE;
                   case 2:
                     return kind != FP_NAN;
                   case 3:
                     return kind == FP_NAN;
                   case 4:
                     return kind == FP_NORMAL;
                   default:
                     return kind == FP_SUBNORMAL;
                   }
                 }));
}
void decodeTest(Builder &b) {
  auto property = b.takeAny({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  if (!property)
    b.fail("unknown property");
  b.instruction.immediate = *property;
  Type type = b.takeType({Type::F32, Type::F64});
  b.instruction.run = type == Type::F32 ? testProperty<float> : testProperty<double>;
  b.destination(Type::Pred);
  b.source(type);
}

} // namespace

bool gc::emulator::ptx::decodeFloatArithmetic(Builder &b) {
  if (!b.isFloatingPoint())
    return false;
  static const std::map<std::string_view, Decode> table = {{"add", decodeArithmetic<Add, 2>},
                                                           {"sub", decodeArithmetic<Subtract, 2>},
                                                           {"mul", decodeArithmetic<Multiply, 2>},
                                                           {"mad", decodeArithmetic<Fma, 3>},
                                                           {"div", decodeDivide},
                                                           {"min", decodeExtremum<Minimum>},
                                                           {"max", decodeExtremum<Maximum>},
                                                           {"neg", decodeSign<NegateBits>},
                                                           {"abs", decodeSign<AbsoluteBits>}};
  auto found = table.find(b.opcode());
  if (found == table.end())
    return false;
  found->second(b);
  return true;
}

Decode gc::emulator::ptx::floatDecoder(std::string_view opcode) {
  static const std::map<std::string_view, Decode> table = {
      {"fma", decodeArithmetic<Fma, 3>},
      {"rcp", decodeRoot<Reciprocal, CoarseReciprocal>},
      {"sqrt", decodeRoot<SquareRoot, void>},
      {"rsqrt", decodeReciprocalRoot},
      {"ex2", decodeApproximation<Exp2, true>},
      {"lg2", decodeApproximation<Log2, false>},
      {"sin", decodeApproximation<Sine, false>},
      {"cos", decodeApproximation<Cosine, false>},
      {"tanh", decodeApproximation<Tanh, true>},
      {"copysign", decodeCopySign},
      {"testp", decodeTest}};
  auto found = table.find(opcode);
  return found == table.end() ? nullptr : found->second;
}
