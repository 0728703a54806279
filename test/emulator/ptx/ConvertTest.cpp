// cvt, setp, set, selp and slct against the host.
#include "test/emulator/ptx/TestKernel.h"

#include <bit>
#include <cmath>
#include <functional>
#include <random>

using namespace gc::emulator::ptx;

namespace {

const std::vector<float> awkward = {
    0.0f,     -0.0f,    0.5f,  -0.5f, 1.5f,        2.5f,    -2.5f,  0.49f,    127.6f,    -128.7f,
    255.5f,   3e9f,     -3e9f, 5e9f,  1e20f,       -1e20f,  NAN,    INFINITY, -INFINITY, 1e-40f,
    65519.0f, 65520.0f, 1e-8f, 0.1f,  16777217.0f, 3.4e38f, -0.75f, 7.0f};

template <class T> void floatToInteger(const std::string &type) {
  struct Mode {
    const char *name;
    double (*round)(double);
  };
  for (Mode mode : {Mode{"rni", std::nearbyint}, Mode{"rzi", std::trunc}, Mode{"rmi", std::floor},
                    Mode{"rpi", std::ceil}}) {
    auto got = evaluate<T>("cvt." + std::string(mode.name) + "." + type + ".f32 $0, $1;", awkward);
    for (size_t i = 0; i < awkward.size(); ++i) {
      long double whole = mode.round(awkward[i]), low = std::numeric_limits<T>::min(),
                  high = std::numeric_limits<T>::max();
      T want = std::isnan(awkward[i]) ? (sizeof(T) == 8 ? T(uint64_t(1) << 63) : T(0))
               : whole <= low         ? std::numeric_limits<T>::min()
               : whole >= high        ? std::numeric_limits<T>::max()
                                      : T(whole);
      EXPECT_EQ(got[i], want) << mode.name << " " << type << " of " << awkward[i];
    }
  }
}

TEST(Convert, FloatToInteger) {
  floatToInteger<int32_t>("s32");
  floatToInteger<uint32_t>("u32");
  floatToInteger<int64_t>("s64");
  floatToInteger<uint64_t>("u64");
  floatToInteger<int16_t>("s16");
  floatToInteger<uint16_t>("u16");
  // Bytes live in wider registers, extended by their sign.
  std::vector<float> x = {-200.0f, 77.7f, 300.0f};
  EXPECT_EQ(evaluate<int32_t>("cvt.rzi.s8.f32 $0, $1;", x), (std::vector<int32_t>{-128, 77, 127}));
  EXPECT_EQ(evaluate<uint32_t>("cvt.rzi.u8.f32 $0, $1;", x), (std::vector<uint32_t>{0, 77, 255}));
}

TEST(Convert, IntegerToFloatInAllModes) {
  // 2^24 + 1 lies between two floats, 2^53 + 1 between two doubles, and 2^64 - 1 below the next
  // power.
  std::vector<int32_t> a = {16777217, -16777217, 16777219, 5};
  EXPECT_EQ(evaluate<float>("cvt.rn.f32.s32 $0, $1;", a),
            (std::vector<float>{16777216, -16777216, 16777220, 5}));
  EXPECT_EQ(evaluate<float>("cvt.rz.f32.s32 $0, $1;", a),
            (std::vector<float>{16777216, -16777216, 16777218, 5}));
  EXPECT_EQ(evaluate<float>("cvt.rm.f32.s32 $0, $1;", a),
            (std::vector<float>{16777216, -16777218, 16777218, 5}));
  EXPECT_EQ(evaluate<float>("cvt.rp.f32.s32 $0, $1;", a),
            (std::vector<float>{16777218, -16777216, 16777220, 5}));
  std::vector<uint64_t> b = {(uint64_t(1) << 53) + 1, UINT64_MAX};
  EXPECT_EQ(evaluate<double>("cvt.rn.f64.u64 $0, $1;", b), (std::vector<double>{0x1p53, 0x1p64}));
  EXPECT_EQ(evaluate<double>("cvt.rp.f64.u64 $0, $1;", b),
            (std::vector<double>{0x1p53 + 2, 0x1p64}));
  EXPECT_EQ(evaluate<float>("cvt.rz.f32.u64 $0, $1;", b),
            (std::vector<float>{0x1p53f, 0x1.fffffep63f}));
  EXPECT_EQ(
      evaluate<uint16_t>("cvt.rn.f16.s32 $0, $1;", std::vector<int32_t>{2049, -2051, 65519, 65520}),
      (std::vector<uint16_t>{0x6800, 0xE802, 0x7BFF, 0x7C00}));
}

TEST(Convert, BetweenIntegers) {
  std::vector<uint32_t> a = {0x80, 0xFFFF8001, 0x12345678};
  EXPECT_EQ(evaluate<uint64_t>("cvt.s64.s32 $0, $1;", a),
            (std::vector<uint64_t>{0x80, 0xFFFFFFFFFFFF8001, 0x12345678}));
  EXPECT_EQ(evaluate<uint64_t>("cvt.u64.u32 $0, $1;", a),
            (std::vector<uint64_t>{0x80, 0xFFFF8001, 0x12345678}));
  EXPECT_EQ(evaluate<uint32_t>("cvt.s32.s8 $0, $1;", a),
            (std::vector<uint32_t>{0xFFFFFF80, 1, 0x78}));
  EXPECT_EQ(evaluate<uint32_t>("cvt.s32.s16 $0, $1;", a),
            (std::vector<uint32_t>{0x80, 0xFFFF8001, 0x5678}));
  EXPECT_EQ(evaluate<uint32_t>("cvt.u32.u8 $0, $1;", a), (std::vector<uint32_t>{0x80, 1, 0x78}));
  EXPECT_EQ(evaluate<uint16_t>("cvt.u16.u32 $0, $1;", a),
            (std::vector<uint16_t>{0x80, 0x8001, 0x5678}));
  EXPECT_EQ(evaluate<uint16_t>("cvt.sat.s16.s32 $0, $1;", a),
            (std::vector<uint16_t>{0x80, 0x8001, 0x7FFF}));
  EXPECT_EQ(evaluate<uint16_t>("cvt.sat.u16.s32 $0, $1;", a),
            (std::vector<uint16_t>{0x80, 0, 0xFFFF}));
}

TEST(Convert, BetweenFloats) {
  std::vector<double> d = {1 + 0x1p-30, -1 - 0x1p-30, 0x1p-150, 1e300, 0.1};
  EXPECT_EQ(evaluate<float>("cvt.rn.f32.f64 $0, $1;", d),
            (std::vector<float>{1, -1, 0, INFINITY, 0.1f}));
  EXPECT_EQ(evaluate<float>("cvt.rp.f32.f64 $0, $1;", d)[0], 1 + 0x1p-23f);
  EXPECT_EQ(evaluate<float>("cvt.rm.f32.f64 $0, $1;", d)[1], -1 - 0x1p-23f);
  EXPECT_EQ(evaluate<float>("cvt.rp.f32.f64 $0, $1;", d)[2], 0x1p-149f);
  EXPECT_EQ(evaluate<float>("cvt.rz.f32.f64 $0, $1;", d)[3], std::numeric_limits<float>::max());
  // To f16: ties to even, overflow at 65520, subnormals, and not through f32 on the way from f64.
  std::vector<float> f = {65519, 65520, 1 + 0x1p-11f, 1 + 0x3p-11f, 0x1p-25f, 0x1.8p-25f, NAN};
  EXPECT_EQ(evaluate<uint16_t>("cvt.rn.f16.f32 $0, $1;", f),
            (std::vector<uint16_t>{0x7BFF, 0x7C00, 0x3C00, 0x3C02, 0, 1, 0x7FFF}));
  EXPECT_EQ(evaluate<uint16_t>("cvt.rz.f16.f32 $0, $1;", f)[1], 0x7BFF);
  EXPECT_EQ(
      evaluate<uint16_t>("cvt.rn.f16.f64 $0, $1;", std::vector<double>{1 + 0x1p-11 + 0x1p-40})[0],
      0x3C01);
  EXPECT_EQ(evaluate<uint16_t>("cvt.rn.bf16.f32 $0, $1;",
                               std::vector<float>{1 + 0x1p-8f, 1 + 0x3p-8f, 3.4e38f}),
            (std::vector<uint16_t>{0x3F80, 0x3F82, 0x7F80}));
  EXPECT_EQ(evaluate<uint32_t>("cvt.rn.f16x2.f32 $0, $1, $2;", std::vector<float>{2},
                               std::vector<float>{1})[0],
            0x40003C00u);
  // Widening is exact for all of them: there and back gives the same bits.
  std::vector<uint16_t> all;
  for (uint32_t bits = 0; bits < 0x10000; ++bits)
    if ((bits & 0x7FFF) <= 0x7C00)
      all.push_back(bits);
  EXPECT_EQ(evaluate<uint16_t>("cvt.f32.f16 %f1, $1;\ncvt.rn.f16.f32 $0, %f1;", all), all);
  EXPECT_EQ(evaluate<uint16_t>("cvt.f64.f16 %e1, $1;\ncvt.rz.f16.f64 $0, %e1;", all), all);
}

TEST(Convert, FloatToWholeFloatAndModifiers) {
  std::vector<float> x = {2.5f, -2.5f, 3.7f, 1e-40f, -1e-40f, 9.0f, NAN};
  auto same = [](const std::vector<float> &got, std::vector<float> want) {
    for (size_t i = 0; i < want.size(); ++i)
      EXPECT_TRUE(got[i] == want[i] || (std::isnan(got[i]) && std::isnan(want[i])))
          << i << ": " << got[i];
  };
  same(evaluate<float>("cvt.rni.f32.f32 $0, $1;", x), {2, -2, 4, 0, -0.0f, 9, NAN});
  same(evaluate<float>("cvt.rmi.f32.f32 $0, $1;", x), {2, -3, 3, 0, -1, 9, NAN});
  same(evaluate<float>("cvt.rmi.ftz.f32.f32 $0, $1;", x), {2, -3, 3, 0, 0, 9, NAN});
  same(evaluate<float>("cvt.sat.f32.f32 $0, $1;", x), {1, 0, 1, 1e-40f, 0, 1, 0});
}

struct Comparison {
  const char *name;
  std::function<bool(double, double)> ordered;
};
const Comparison comparisons[] = {
    {"eq", std::equal_to<double>()}, {"ne", std::not_equal_to<double>()},
    {"lt", std::less<double>()},     {"le", std::less_equal<double>()},
    {"gt", std::greater<double>()},  {"ge", std::greater_equal<double>()}};

TEST(Compare, FloatsWithNaN) {
  std::vector<float> a, b;
  for (float x : {1.0f, 2.0f, -0.0f, 0.0f, NAN, INFINITY})
    for (float y : {1.0f, 2.0f, -0.0f, 0.0f, NAN, INFINITY}) {
      a.push_back(x);
      b.push_back(y);
    }
  auto holds = [&](const std::string &name) {
    return evaluate<uint32_t>("setp." + name +
                                  ".f32 %p1|%p2, $1, $2;\nselp.u32 %r9, 1, 0, %p1;\n"
                                  "selp.u32 %r10, 2, 0, %p2;\nor.b32 $0, %r9, %r10;",
                              a, b);
  };
  for (const Comparison &each : comparisons) {
    auto ordered = holds(each.name), unordered = holds(each.name + std::string("u"));
    for (size_t i = 0; i < a.size(); ++i) {
      bool nan = std::isnan(a[i]) || std::isnan(b[i]), yes = each.ordered(a[i], b[i]);
      EXPECT_EQ(ordered[i], (!nan && yes) ? 1u : 2u) << each.name << " " << a[i] << " " << b[i];
      EXPECT_EQ(unordered[i], (nan || yes) ? 1u : 2u) << each.name << "u " << a[i] << " " << b[i];
    }
  }
  auto number = holds("num"), nan = holds("nan");
  for (size_t i = 0; i < a.size(); ++i) {
    bool isNan = std::isnan(a[i]) || std::isnan(b[i]);
    EXPECT_EQ(number[i], isNan ? 2u : 1u);
    EXPECT_EQ(nan[i], isNan ? 1u : 2u);
  }
}

TEST(Convert, Tf32RoundsToTenBitsAndHalvesAwayFromZero) {
  std::pair<float, float> cases[] = {{1, 1},
                                     {-1, -1},
                                     {0, 0},
                                     {1 + 0x1p-11f, 1 + 0x1p-10f},
                                     {-1 - 0x1p-11f, -1 - 0x1p-10f},
                                     {1 + 0x1p-11f - 0x1p-23f, 1},
                                     {1 + 3 * 0x1p-11f, 1 + 2 * 0x1p-10f},
                                     {0x1p-137f, 0x1p-136f},
                                     {0x1p-138f, 0},
                                     {INFINITY, INFINITY},
                                     {-INFINITY, -INFINITY},
                                     {0x1.fffffep127f, INFINITY}};
  std::vector<float> a, want;
  for (auto [from, to] : cases) {
    a.push_back(from);
    want.push_back(to);
  }
  auto got = evaluate<float>("cvt.rna.tf32.f32 $0, $1;", a);
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_EQ(got[i], want[i]) << a[i];
  EXPECT_TRUE(std::isnan(evaluate<float>("cvt.rna.tf32.f32 $0, $1;", std::vector<float>{NAN})[0]));
  // Whatever is left has its lower 13 bits clear.
  std::mt19937 random(1);
  std::vector<float> many(1000);
  for (float &value : many)
    value = std::uniform_real_distribution<float>(-100, 100)(random);
  auto rounded = evaluate<uint32_t>("cvt.rna.tf32.f32 $0, $1;", many);
  for (size_t i = 0; i < many.size(); ++i) {
    EXPECT_EQ(rounded[i] & 0x1FFF, 0u);
    EXPECT_LE(std::abs(std::bit_cast<float>(rounded[i]) - many[i]), 0x1p-11 * std::abs(many[i]));
  }
}

TEST(Compare, IntegersAndCombinations) {
  std::vector<int32_t> a = {1, -1, 5, INT32_MIN}, b = {2, 1, 5, INT32_MAX};
  auto test = [&](const std::string &setp) {
    return evaluate<uint32_t>("setp.eq.s32 %p3, $1, 5;\n" + setp + "\nselp.u32 $0, 1, 0, %p1;", a,
                              b);
  };
  using V = std::vector<uint32_t>;
  EXPECT_EQ(test("setp.lt.s32 %p1, $1, $2;"), (V{1, 1, 0, 1}));
  EXPECT_EQ(test("setp.lt.u32 %p1, $1, $2;"), (V{1, 0, 0, 0}));
  EXPECT_EQ(test("setp.lo.u32 %p1, $1, $2;"), (V{1, 0, 0, 0}));
  EXPECT_EQ(test("setp.hs.u32 %p1, $1, $2;"), (V{0, 1, 1, 1}));
  EXPECT_EQ(test("setp.ne.b32 %p1, $1, $2;"), (V{1, 1, 0, 1}));
  EXPECT_EQ(test("setp.lt.or.s32 %p1, $1, $2, %p3;"), (V{1, 1, 1, 1}));
  EXPECT_EQ(test("setp.le.and.s32 %p1, $1, $2, !%p3;"), (V{1, 1, 0, 1}));
  EXPECT_EQ(test("setp.le.xor.s32 %p1, $1, $2, %p3;"), (V{1, 1, 0, 1}));
  EXPECT_EQ(test("setp.le.and.s32 _|%p1, $1, $2, %p3;"), (V{0, 0, 0, 0}));
  EXPECT_EQ(test("setp.lt.s32 %p2, $1, $2;\nand.pred %p1, %p2, %p3;"), (V{0, 0, 0, 0}));
  EXPECT_EQ(test("not.pred %p1, %p3;"), (V{1, 1, 0, 1}));
  EXPECT_EQ(test("mov.pred %p1, -1;\n@%p3 mov.pred %p1, 0;"), (V{1, 1, 0, 1}));
  EXPECT_EQ(test("xor.pred %p1, %p3, %p3;\n@!%p3 or.pred %p1, %p3, !%p3;"), (V{1, 1, 0, 1}));
  EXPECT_EQ(evaluate<uint32_t>("set.lt.u32.s32 $0, $1, $2;", a, b), (V{~0u, ~0u, 0, ~0u}));
  EXPECT_EQ(evaluate<float>("set.lt.f32.s32 $0, $1, $2;", a, b), (std::vector<float>{1, 1, 0, 1}));
  EXPECT_EQ(evaluate<int32_t>("slct.s32.s32 $0, $1, $2, $1;", a, b),
            (std::vector<int32_t>{1, 1, 5, INT32_MAX}));
}

} // namespace
