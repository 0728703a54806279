// Floating-point instructions against references that do not round themselves: a result is right if
// the exact value, known in 113 bits, lies on the proper side of it and of its neighbours.
#include "test/emulator/ptx/TestKernel.h"

#include <cmath>
#include <random>

using namespace gc::emulator::ptx;

namespace {

using Exact = __float128;

/// Numbers with exponents in a range small enough for sums and products to be exact in Exact.
template <class T> std::vector<T> numbers(size_t count, uint32_t seed, int exponents = 12) {
  std::mt19937_64 random(seed);
  std::vector<T> result;
  while (result.size() < count) {
    T mantissa = T(1) + std::ldexp(T(random() >> (random() % 60)), -64);
    T value = std::ldexp(mantissa, int(random() % (2 * exponents + 1)) - exponents);
    result.push_back(random() & 1 ? -value : value);
  }
  return result;
}

/// `against(x)` says whether x is less than (-1), equal to (0) or greater than (1) the exact value.
template <class T, class F> bool rounded(T result, const std::string &mode, F against) {
  int side = against(Exact(result));
  T infinity = std::numeric_limits<T>::infinity();
  T above = std::nextafter(result, infinity), below = std::nextafter(result, -infinity);
  if (side == 0)
    return true;
  bool positive = against(Exact(0)) < 0;
  if (mode == "rm" || (mode == "rz" && positive))
    return side < 0 && against(Exact(above)) > 0;
  if (mode == "rp" || mode == "rz")
    return side > 0 && against(Exact(below)) < 0;
  Exact middle = (Exact(result) + Exact(side < 0 ? above : below)) / 2;
  int half = against(middle);
  uint64_t bits = 0;
  std::memcpy(&bits, &result, sizeof(T));
  return half == 0 ? bits % 2 == 0 : half != side;
}
int sign(Exact x) { return (x > 0) - (x < 0); }

template <class T> class RoundingTest : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(RoundingTest, Types);

TYPED_TEST(RoundingTest, AllModes) {
  using T = TypeParam;
  std::string type = sizeof(T) == 4 ? ".f32" : ".f64";
  constexpr size_t count = 500;
  // Exponents are near each other, so that even the sums of f64 products fit 113 bits.
  auto a = numbers<T>(count, 1, 1), b = numbers<T>(count, 2, 1), c = numbers<T>(count, 3, 1);
  for (std::string mode : {"rn", "rz", "rm", "rp"}) {
    auto sum = evaluate<T>("add." + mode + type + " $0, $1, $2;", a, b);
    auto difference = evaluate<T>("sub." + mode + type + " $0, $1, $2;", a, b);
    auto product = evaluate<T>("mul." + mode + type + " $0, $1, $2;", a, b);
    auto fused = evaluate<T>("fma." + mode + type + " $0, $1, $2, $3;", a, b, c);
    auto quotient = evaluate<T>("div." + mode + type + " $0, $1, $2;", a, b);
    auto inverse = evaluate<T>("rcp." + mode + type + " $0, $1;", b);
    auto root = evaluate<T>("abs" + type + " $1, $1;\nsqrt." + mode + type + " $0, $1;", a);
    for (size_t i = 0; i < count; ++i) {
      Exact x = a[i], y = b[i], z = c[i], magnitude = x < 0 ? -x : x;
      int flip = sign(y);
      EXPECT_TRUE(rounded(sum[i], mode, [&](Exact r) { return sign(r - (x + y)); })) << mode;
      EXPECT_TRUE(rounded(difference[i], mode, [&](Exact r) { return sign(r - (x - y)); })) << mode;
      EXPECT_TRUE(rounded(product[i], mode, [&](Exact r) { return sign(r - x * y); })) << mode;
      EXPECT_TRUE(rounded(quotient[i], mode, [&](Exact r) { return flip * sign(r * y - x); }))
          << mode;
      EXPECT_TRUE(rounded(inverse[i], mode, [&](Exact r) { return flip * sign(r * y - 1); }))
          << mode;
      EXPECT_TRUE(rounded(root[i], mode, [&](Exact r) {
        return r < 0 ? -1 : sign(r * r - magnitude);
      })) << mode;
      // The product takes 106 bits at most and the sum's exponents are near: exact as well.
      EXPECT_TRUE(rounded(fused[i], mode, [&](Exact r) { return sign(r - (x * y + z)); })) << mode;
    }
  }
}

TEST(FloatOps, ProductAndSumAreNotFused) {
  // 1 + 2^-23, squared: the last bit is lost by mul and kept by fma.
  std::vector<float> a = {1 + 0x1p-23f}, c = {-(1 + 0x1p-22f)};
  EXPECT_EQ(evaluate<float>("mul.f32 $0, $1, $1;\nadd.f32 $0, $0, $2;", a, c)[0], 0.0f);
  EXPECT_EQ(evaluate<float>("fma.rn.f32 $0, $1, $1, $2;", a, c)[0], 0x1p-46f);
}

TEST(FloatOps, FlushAndSaturate) {
  float tiny = 0x1p-130f;
  std::vector<float> a = {tiny, -tiny, 2.0f, -3.0f, NAN, 0.25f};
  auto plain = evaluate<float>("mul.f32 $0, $1, 0f3F800000;", a);
  auto flushed = evaluate<float>("mul.ftz.f32 $0, $1, 0f3F800000;", a);
  auto clamped = evaluate<float>("add.sat.f32 $0, $1, 0f00000000;", a);
  EXPECT_EQ(plain[0], tiny);
  EXPECT_EQ(flushed[0], 0.0f);
  EXPECT_TRUE(std::signbit(flushed[1]) && flushed[1] == 0);
  EXPECT_EQ(clamped[2], 1.0f);
  EXPECT_EQ(clamped[3], 0.0f);
  EXPECT_EQ(clamped[4], 0.0f);
  EXPECT_EQ(clamped[5], 0.25f);
  // A result that becomes subnormal is flushed too.
  EXPECT_EQ(evaluate<float>("mul.ftz.f32 $0, $1, $2;", std::vector<float>{0x1p-100f},
                            std::vector<float>{0x1p-30f})[0],
            0.0f);
}

TEST(FloatOps, NanIsCanonical) {
  std::vector<float> a = {INFINITY}, b = {-INFINITY};
  EXPECT_EQ(evaluate<uint32_t>("add.f32 $0, $1, $2;", a, b)[0], 0x7FFFFFFFu);
  EXPECT_EQ(evaluate<uint32_t>("sqrt.rn.f32 $0, $2;", a, b)[0], 0x7FFFFFFFu);
}

TEST(FloatOps, MinimumAndMaximum) {
  float values[] = {0.0f, -0.0f, 1.0f, -2.0f, INFINITY, -INFINITY, NAN};
  std::vector<float> a, b;
  for (float x : values)
    for (float y : values) {
      a.push_back(x);
      b.push_back(y);
    }
  auto least = evaluate<float>("min.f32 $0, $1, $2;", a, b);
  auto most = evaluate<float>("max.f32 $0, $1, $2;", a, b);
  auto strict = evaluate<float>("max.NaN.f32 $0, $1, $2;", a, b);
  auto three = evaluate<float>("min.f32 $0, $1, $2, 0fBF800000;", a, b);
  for (size_t i = 0; i < a.size(); ++i) {
    // Order by sign first, so that -0 < +0.
    auto key = [](float x) { return std::pair(x, !std::signbit(x)); };
    bool anyNan = std::isnan(a[i]) || std::isnan(b[i]);
    float low = std::isnan(a[i]) ? b[i]
                : std::isnan(b[i])
                    ? a[i]
                    : std::min(a[i], b[i], [&](float x, float y) { return key(x) < key(y); });
    float high = std::isnan(a[i]) ? b[i]
                 : std::isnan(b[i])
                     ? a[i]
                     : std::max(a[i], b[i], [&](float x, float y) { return key(x) < key(y); });
    if (std::isnan(low)) {
      EXPECT_TRUE(std::isnan(least[i]) && std::isnan(most[i]));
      EXPECT_EQ(three[i], -1.0f);
    } else {
      EXPECT_EQ(least[i], low);
      EXPECT_EQ(std::signbit(least[i]), std::signbit(low));
      EXPECT_EQ(most[i], high);
      EXPECT_EQ(std::signbit(most[i]), std::signbit(high));
      EXPECT_EQ(three[i], std::min(low, -1.0f));
    }
    EXPECT_EQ(std::isnan(strict[i]), anyNan);
  }
}

TEST(FloatOps, SignsAndProperties) {
  std::vector<float> a = {-1.5f, 0x1p-140f, INFINITY, NAN, 0.0f}, b = {2, -2, 2, 2, -2};
  auto negated = evaluate<float>("neg.f32 $0, $1;", a);
  auto copied = evaluate<float>("copysign.f32 $0, $1, $2;", a, b); // the sign of a, the size of b
  EXPECT_EQ(negated[0], 1.5f);
  EXPECT_TRUE(std::signbit(negated[4]));
  EXPECT_EQ(copied, (std::vector<float>{-2, 2, 2, 2, 2}));
  auto test = [&](const std::string &property) {
    return evaluate<uint32_t>("testp." + property + ".f32 %p1, $1;\nselp.u32 $0, 1, 0, %p1;", a);
  };
  using V = std::vector<uint32_t>;
  EXPECT_EQ(test("finite"), (V{1, 1, 0, 0, 1}));
  EXPECT_EQ(test("infinite"), (V{0, 0, 1, 0, 0}));
  EXPECT_EQ(test("number"), (V{1, 1, 1, 0, 1}));
  EXPECT_EQ(test("notanumber"), (V{0, 0, 0, 1, 0}));
  EXPECT_EQ(test("normal"), (V{1, 0, 0, 0, 0}));
  EXPECT_EQ(test("subnormal"), (V{0, 1, 0, 0, 0}));
}

TEST(FloatOps, ApproximationsAreWithinTheIsaError) {
  auto a = numbers<float>(2000, 7, 6);
  for (float &x : a)
    x = std::fabs(x);
  auto close = [&](const std::string &op, auto host, double relative, double absolute = 0) {
    auto got = evaluate<float>(op + " $0, $1;", a);
    for (size_t i = 0; i < a.size(); ++i) {
      double want = host(double(a[i]));
      ASSERT_NEAR(got[i], want, std::fabs(want) * relative + absolute) << op << " " << a[i];
    }
  };
  close(
      "ex2.approx.f32", [](double x) { return std::exp2(x); }, 0x1p-22);
  close(
      "lg2.approx.f32", [](double x) { return std::log2(x); }, 0x1p-22, 0x1p-22);
  close(
      "rcp.approx.ftz.f32", [](double x) { return 1 / x; }, 0x1p-23);
  close(
      "rsqrt.approx.f32", [](double x) { return 1 / std::sqrt(x); }, 0x1p-22);
  close(
      "sqrt.approx.f32", [](double x) { return std::sqrt(x); }, 0x1p-23);
  close(
      "tanh.approx.f32", [](double x) { return std::tanh(x); }, 0x1p-11);
  close(
      "sin.approx.f32", [](double x) { return std::sin(x); }, 0, 0x1p-20);
  close(
      "cos.approx.f32", [](double x) { return std::cos(x); }, 0, 0x1p-20);
  std::vector<float> x = {3, 0x1p127f, INFINITY}, y = {7, 0x1p127f, 0x1p127f};
  EXPECT_NEAR(evaluate<float>("div.full.f32 $0, $1, $2;", x, y)[0], 3.0f / 7, 1e-7);
  auto divided = evaluate<float>("div.approx.f32 $0, $1, $2;", x, y);
  EXPECT_NEAR(divided[0], 3.0f / 7, 1e-7);
  EXPECT_EQ(divided[1], 0.0f); // as documented for divisors above 2^126
  EXPECT_TRUE(std::isnan(divided[2]));
}

/// All finite halves or bfloats in order, decoded by their definition.
std::vector<std::pair<double, uint16_t>> narrowNumbers(int mantissa, int exponent) {
  std::vector<std::pair<double, uint16_t>> result;
  int bias = (1 << (exponent - 1)) - 1;
  for (uint32_t bits = 0; bits < 0x10000; ++bits) {
    int field = bits >> mantissa & ((1 << exponent) - 1), fraction = bits & ((1 << mantissa) - 1);
    if (field == (1 << exponent) - 1 || bits == 0x8000)
      continue;
    double value = field ? std::ldexp((1 << mantissa) + fraction, field - bias - mantissa)
                         : std::ldexp(fraction, 1 - bias - mantissa);
    result.push_back({bits & 0x8000 ? -value : value, uint16_t(bits)});
  }
  std::sort(result.begin(), result.end());
  return result;
}
uint16_t nearest(const std::vector<std::pair<double, uint16_t>> &table, Exact value) {
  auto above = std::lower_bound(table.begin(), table.end(), value,
                                [](auto &e, Exact v) { return e.first < v; });
  if (above == table.begin())
    return above->second;
  auto below = above - 1;
  Exact up = Exact(above->first) - value, down = value - Exact(below->first);
  return up < down || (up == down && !(above->second & 1)) ? above->second : below->second;
}

TEST(FloatOps, HalfAndBfloatRoundCorrectly) {
  for (bool brain : {false, true}) {
    auto table = narrowNumbers(brain ? 7 : 10, brain ? 8 : 5);
    std::string type = brain ? ".bf16" : ".f16";
    std::mt19937 random(5);
    std::vector<uint16_t> a, b, c;
    std::vector<double> x, y, z;
    auto take = [&](std::vector<uint16_t> &bits, std::vector<double> &values) {
      // Sizes between 2^-12 and 2^6, so that nothing overflows and some results are subnormal.
      for (;;) {
        auto &[value, code] = table[random() % table.size()];
        if (std::fabs(value) >= 0x1p-12 && std::fabs(value) < 64) {
          bits.push_back(code);
          values.push_back(value);
          return;
        }
      }
    };
    for (int i = 0; i < 3000; ++i) {
      take(a, x);
      take(b, y);
      take(c, z);
    }
    auto sum = evaluate<uint16_t>("add" + type + " $0, $1, $2;", a, b);
    auto product = evaluate<uint16_t>("mul" + type + " $0, $1, $2;", a, b);
    auto fused = evaluate<uint16_t>("fma.rn" + type + " $0, $1, $2, $3;", a, b, c);
    for (size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(sum[i], nearest(table, Exact(x[i]) + Exact(y[i])));
      ASSERT_EQ(product[i] & 0x7FFF, nearest(table, Exact(x[i]) * Exact(y[i])) & 0x7FFF);
      ASSERT_EQ(fused[i], nearest(table, Exact(x[i]) * Exact(y[i]) + Exact(z[i])));
    }
  }
}

TEST(FloatOps, PackedPairs) {
  std::vector<uint32_t> a = {0x3C004000}, b = {0xC0003C00}; // (2, 1), (1, -2), low half first
  EXPECT_EQ(evaluate<uint32_t>("add.f16x2 $0, $1, $2;", a, b)[0], 0xBC004200u);
  EXPECT_EQ(evaluate<uint32_t>("fma.rn.f16x2 $0, $1, $2, $1;", a, b)[0], 0xBC004400u);
  EXPECT_EQ(evaluate<uint32_t>("neg.f16x2 $0, $1;", a)[0], 0xBC00C000u);
  std::vector<uint64_t> p = {0x400000003F800000}, q = {0x3F80000040000000}; // (1, 2), (2, 1)
  EXPECT_EQ(evaluate<uint64_t>("fma.rn.f32x2 $0, $1, $2, $1;", p, q)[0], 0x4080000040400000u);
}

} // namespace
