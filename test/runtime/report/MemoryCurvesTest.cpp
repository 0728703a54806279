// The memory of two plans in one picture.
#include "runtime/report/MemoryCurves.h"

#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>

using namespace gc::runtime;

namespace {

constexpr uint64_t mebi = 1 << 20;

size_t count(const std::string &text, const std::string &part) {
  size_t found = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

} // namespace

TEST(MemoryCurves, EachPhaseIsAsWideForBoth) {
  // One of two commands is forward, two of four: half of the width is.
  MemoryCurve a{"A", {50 * mebi, 100 * mebi}, 1, {}};
  MemoryCurve b{"B", {25 * mebi, 25 * mebi, 50 * mebi, 25 * mebi}, 2, {}};
  std::string svg = memoryCurvesSvg(a, b);
  EXPECT_EQ(count(svg, "<svg"), 2u) << "a wide one and a narrow one";
  EXPECT_EQ(count(svg, "</svg>"), 2u);
  // The wide plot is 908 wide from x = 80, and 282 high from y = 296 upwards for 104 MiB: 50 MiB
  // are at 296 - 282 * 50 / 104 = 160.4. The phases meet at 80 + 908 / 2 = 534.
  EXPECT_CONTAINS(svg, "d=\"M80.0,160.4H534.0V24.8H988.0\"");
  EXPECT_CONTAINS(svg, "d=\"M80.0,228.2H307.0V228.2H534.0V160.4H761.0V228.2H988.0\"");
  EXPECT_CONTAINS(svg, ">forward</text>");
  EXPECT_CONTAINS(svg, "A: 104857600 bytes (100.0 MiB) at command 1 of 2");
}

TEST(MemoryCurves, WithoutALossThereIsOnePhase) {
  MemoryCurve a{"A", {mebi, 2 * mebi}, 0, {}}, b{"B", {mebi, 2 * mebi}, 1, {}};
  std::string svg = memoryCurvesSvg(a, b);
  EXPECT_EQ(svg.find(">forward</text>"), std::string::npos);
  EXPECT_EQ(count(svg, "H534.0V"), 3u) << "both, and the area below the first";
}

TEST(MemoryCurves, BudgetsNearThePeaksAreShown) {
  MemoryCurve a{"A", {100 * mebi}, 0, 110 * mebi}, b{"B", {90 * mebi}, 0, 900 * mebi};
  std::string svg = memoryCurvesSvg(a, b);
  EXPECT_EQ(count(svg, "budget of A"), 2u);
  EXPECT_EQ(count(svg, "budget of B"), 0u);
  EXPECT_EQ(memoryCurvesSvg({"A", {}, 0, {}}, b), "");
}

TEST(MemoryCurves, ManyCommandsAreDrawnByTheirHighest) {
  std::vector<uint64_t> live(100000, mebi);
  live[50000] = 9 * mebi;
  std::string svg = memoryCurvesSvg({"A", live, 0, {}}, {"B", live, 0, {}});
  EXPECT_LT(svg.size(), 200000u);
  EXPECT_CONTAINS(svg, "A: 9437184 bytes (9.0 MiB) at command 50000 of 100000");
  // 9 MiB of 9.36 are at 296 - 282 / 1.04 = 24.8.
  EXPECT_GE(count(svg, "V24.8H"), 3u);
}
