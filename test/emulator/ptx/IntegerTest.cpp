// Integer instructions against the host's arithmetic.
#include "test/emulator/ptx/TestKernel.h"

#include <random>

using namespace gc::emulator::ptx;

namespace {

template <class T> std::vector<T> values(size_t count, uint32_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> result = {
      0, 1, T(-1), std::numeric_limits<T>::min(), std::numeric_limits<T>::max(), 2, 7, T(-7)};
  while (result.size() < count) // all magnitudes
    result.push_back(T(random() >> (random() % (8 * sizeof(T)))));
  std::shuffle(result.begin(), result.end(), random);
  return result;
}

template <class Out, class T, class F> void check2(const std::string &op, F host) {
  auto a = values<T>(300, 1), b = values<T>(300, 2);
  auto got = evaluate<Out>(op + " $0, $1, $2;", a, b);
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_EQ(got[i], Out(host(a[i], b[i]))) << op << " of " << +a[i] << " and " << +b[i];
}
template <class Out, class T, class F> void check1(const std::string &op, F host) {
  auto a = values<T>(300, 3);
  auto got = evaluate<Out>(op + " $0, $1;", a);
  for (size_t i = 0; i < a.size(); ++i)
    ASSERT_EQ(got[i], Out(host(a[i]))) << op << " of " << +a[i];
}

template <class T> const char *nameOf() {
  constexpr bool isSigned = std::is_signed_v<T>;
  if (sizeof(T) == 2)
    return isSigned ? "s16" : "u16";
  if (sizeof(T) == 4)
    return isSigned ? "s32" : "u32";
  return isSigned ? "s64" : "u64";
}

template <class T> class IntegerTest : public testing::Test {};
using Types = testing::Types<int16_t, uint16_t, int32_t, uint32_t, int64_t, uint64_t>;
TYPED_TEST_SUITE(IntegerTest, Types);

TYPED_TEST(IntegerTest, Arithmetic) {
  using T = TypeParam;
  using Big = __int128;
  std::string t = std::string(".") + nameOf<T>();
  check2<T, T>("add" + t, [](Big a, Big b) { return a + b; });
  check2<T, T>("sub" + t, [](Big a, Big b) { return a - b; });
  check2<T, T>("mul.lo" + t,
               [](Big a, Big b) { return (unsigned __int128)a * (unsigned __int128)b; });
  check2<T, T>("mul.hi" + t, [](T a, T b) {
    if (std::is_signed_v<T>)
      return T(Big(a) * Big(b) >> (8 * sizeof(T)));
    return T((unsigned __int128)a * b >> (8 * sizeof(T)));
  });
  check2<T, T>("min" + t, [](T a, T b) { return std::min(a, b); });
  check2<T, T>("max" + t, [](T a, T b) { return std::max(a, b); });
  check2<T, T>("div" + t, [](Big a, Big b) { return b ? a / b : Big(-1); });
  check2<T, T>("rem" + t, [](Big a, Big b) {
    return b ? a % b : std::is_signed_v<T> ? Big(-1) : a;
  });
  if (std::is_signed_v<T>) {
    check1<T, T>("abs" + t, [](Big a) { return a < 0 ? -a : a; });
    check1<T, T>("neg" + t, [](Big a) { return -a; });
  }
}

TYPED_TEST(IntegerTest, ShiftsClampTheirAmount) {
  using T = TypeParam;
  auto a = values<T>(300, 4);
  std::vector<uint32_t> b;
  for (uint32_t i = 0; i < a.size(); ++i)
    b.push_back(i % 5 == 4 ? 0x80000000u + i : i % (8 * sizeof(T) + 4));
  auto right = evaluate<T>(std::string("shr.") + nameOf<T>() + " $0, $1, $2;", a, b);
  auto left = evaluate<T>("shl." + bitsName<T>() + " $0, $1, $2;", a, b);
  for (size_t i = 0; i < a.size(); ++i) {
    uint32_t n = std::min<uint32_t>(b[i], 8 * sizeof(T));
    __int128 wide = a[i];
    EXPECT_EQ(right[i], T(wide >> n)) << +a[i] << " by " << b[i];
    EXPECT_EQ(left[i], T((unsigned __int128)wide << n)) << +a[i] << " by " << b[i];
  }
}

TEST(IntegerOps, WideProducts) {
  check2<int64_t, int32_t>("mul.wide.s32", [](int64_t a, int64_t b) { return a * b; });
  check2<uint64_t, uint32_t>("mul.wide.u32", [](uint64_t a, uint64_t b) { return a * b; });
  check2<int32_t, int16_t>("mul.wide.s16", [](int a, int b) { return a * b; });
  auto a = values<uint32_t>(200, 5), b = values<uint32_t>(200, 6);
  auto c = values<uint64_t>(200, 7);
  auto got = evaluate<uint64_t>("mad.wide.u32 $0, $1, $2, $3;", a, b, c);
  auto low = evaluate<uint32_t>("mad.lo.s32 $0, $1, $2, $1;", a, b);
  auto high = evaluate<uint32_t>("mad.hi.u32 $0, $1, $2, $1;", a, b);
  for (size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(got[i], uint64_t(a[i]) * b[i] + c[i]);
    EXPECT_EQ(low[i], a[i] * b[i] + a[i]);
    EXPECT_EQ(high[i], uint32_t(uint64_t(a[i]) * b[i] >> 32) + a[i]);
  }
}

TEST(IntegerOps, SaturatingAndSad) {
  auto clamp = [](int64_t x) {
    return std::min<int64_t>(std::max<int64_t>(x, INT32_MIN), INT32_MAX);
  };
  check2<int32_t, int32_t>("add.sat.s32", [&](int64_t a, int64_t b) { return clamp(a + b); });
  check2<int32_t, int32_t>("sub.sat.s32", [&](int64_t a, int64_t b) { return clamp(a - b); });
  auto a = values<int32_t>(100, 8), b = values<int32_t>(100, 9), c = values<int32_t>(100, 10);
  auto got = evaluate<int32_t>("sad.s32 $0, $1, $2, $3;", a, b, c);
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_EQ(got[i], int32_t(c[i] + std::abs(int64_t(a[i]) - b[i])));
}

TEST(IntegerOps, Logic) {
  check2<uint32_t, uint32_t>("and.b32", [](uint32_t a, uint32_t b) { return a & b; });
  check2<uint64_t, uint64_t>("or.b64", [](uint64_t a, uint64_t b) { return a | b; });
  check2<uint16_t, uint16_t>("xor.b16", [](uint32_t a, uint32_t b) { return a ^ b; });
  check1<uint64_t, uint64_t>("not.b64", [](uint64_t a) { return ~a; });
  check1<uint32_t, uint32_t>("cnot.b32", [](uint32_t a) { return a == 0; });
  auto a = values<uint32_t>(100, 11), b = values<uint32_t>(100, 12), c = values<uint32_t>(100, 13);
  auto got = evaluate<uint32_t>("lop3.b32 $0, $1, $2, $3, 0xCA;", a, b, c); // a ? b : c
  for (size_t i = 0; i < a.size(); ++i)
    EXPECT_EQ(got[i], (a[i] & b[i]) | (~a[i] & c[i]));
}

TEST(IntegerOps, BitCounts) {
  check1<uint32_t, uint32_t>("popc.b32", [](uint32_t a) { return std::popcount(a); });
  check1<uint32_t, uint64_t>("popc.b64", [](uint64_t a) { return std::popcount(a); });
  check1<uint32_t, uint32_t>("clz.b32", [](uint32_t a) { return std::countl_zero(a); });
  check1<uint32_t, uint64_t>("clz.b64", [](uint64_t a) { return std::countl_zero(a); });
  check1<uint32_t, uint32_t>("bfind.u32",
                             [](uint32_t a) { return a ? 31 - std::countl_zero(a) : -1; });
  check1<uint32_t, int32_t>("bfind.s32", [](int32_t a) {
    uint32_t bits = a < 0 ? ~a : a;
    return bits ? 31 - std::countl_zero(bits) : -1;
  });
  check1<uint32_t, uint32_t>("bfind.shiftamt.u32",
                             [](uint32_t a) { return a ? std::countl_zero(a) : -1; });
  check1<uint32_t, uint32_t>("brev.b32", [](uint32_t a) {
    uint32_t result = 0;
    for (int i = 0; i < 32; ++i)
      result = result << 1 | (a >> i & 1);
    return result;
  });
}

TEST(IntegerOps, Fields) {
  // The field's bits, sign-extended from its last bit inside the number.
  std::vector<uint32_t> a = values<uint32_t>(400, 14), position(400), length(400);
  for (uint32_t i = 0; i < 400; ++i) {
    position[i] = i % 37;
    length[i] = i * 7 % 41;
  }
  auto plain = evaluate<uint32_t>("bfe.u32 $0, $1, $2, $3;", a, position, length);
  auto extended = evaluate<int32_t>("bfe.s32 $0, $1, $2, $3;", a, position, length);
  auto inserted = evaluate<uint32_t>("bfi.b32 $0, $1, 0x12345678, $2, $3;", a, position, length);
  for (size_t i = 0; i < a.size(); ++i) {
    uint64_t field = (uint64_t(1) << length[i]) - 1;
    uint32_t bits = uint32_t(uint64_t(a[i]) >> position[i] & field);
    EXPECT_EQ(plain[i], bits) << a[i] << " " << position[i] << " " << length[i];
    uint32_t top = std::min(position[i] + length[i] - 1, 31u);
    bool sign = length[i] && (a[i] >> top & 1);
    uint32_t kept = length[i] == 0 ? 0 : position[i] > 31 ? 0 : top - position[i] + 1;
    uint32_t above = kept >= 32 ? 0 : ~uint32_t((uint64_t(1) << kept) - 1);
    EXPECT_EQ(uint32_t(extended[i]), (bits & ~above) | (sign ? above : 0))
        << a[i] << " " << position[i] << " " << length[i];
    uint32_t hole = uint32_t(field << position[i]);
    EXPECT_EQ(inserted[i], (0x12345678 & ~hole) | (uint32_t(uint64_t(a[i]) << position[i]) & hole));
  }
}

TEST(IntegerOps, PermuteAndFunnelShift) {
  std::vector<uint32_t> a = {0x33221100}, b = {0xF7665544};
  EXPECT_EQ(evaluate<uint32_t>("prmt.b32 $0, $1, $2, 0x7410;", a, b)[0], 0xF7441100u);
  EXPECT_EQ(evaluate<uint32_t>("prmt.b32 $0, $1, $2, 0xF8BC;", a, b)[0], 0xFF000000u);
  EXPECT_EQ(evaluate<uint32_t>("shf.l.wrap.b32 $0, $1, $2, 36;", a, b)[0], 0x76655443u);
  EXPECT_EQ(evaluate<uint32_t>("shf.l.clamp.b32 $0, $1, $2, 36;", a, b)[0], 0x33221100u);
  EXPECT_EQ(evaluate<uint32_t>("shf.r.wrap.b32 $0, $1, $2, 36;", a, b)[0], 0x43322110u);
  EXPECT_EQ(evaluate<uint32_t>("shf.r.clamp.b32 $0, $1, $2, 36;", a, b)[0], 0xF7665544u);
}

TEST(IntegerOps, PackingAndUnpacking) {
  std::vector<uint32_t> a = {0x11112222}, b = {0x33334444};
  EXPECT_EQ(evaluate<uint64_t>("mov.b64 $0, {$1, $2};", a, b)[0], 0x3333444411112222u);
  EXPECT_EQ(evaluate<uint32_t>("mov.b64 %d9, {$1, $2};\nmov.b64 {_, $0}, %d9;", a, b)[0], b[0]);
  EXPECT_EQ(evaluate<uint32_t>("mov.b32 {%h1, %h2}, $1;\nmov.b32 $0, {%h2, %h1};", a)[0],
            0x22221111u);
  EXPECT_EQ(evaluate<uint64_t>("mov.b64 %d9, {$1, $2};\nmov.b64 {%h1, %h2, %h3, %h4}, %d9;\n"
                               "mov.b64 $0, {%h4, %h3, %h2, %h1};",
                               a, b)[0],
            0x2222111144443333u);
}

} // namespace
