// How tensors lie: permuting and reshaping move nothing while elements stay side by side.
#include "tools/gc-import/Layout.h"

#include <gtest/gtest.h>

namespace {

using namespace gc::importer;
using Dims = std::vector<std::vector<int>>;

// A convolution's output [2, 64, 7, 7], as NHWC.
Layout image() { return Layout::ordered({2, 64, 7, 7}, {0, 2, 3, 1}); }

TEST(Layout, NamesTheAxesOfEachDimension) {
  Layout layout = image();
  EXPECT_EQ(layout.sizes, (Shape{2, 7, 7, 64}));
  EXPECT_EQ(layout.dims, (Dims{{0}, {3}, {1}, {2}}));
  EXPECT_EQ(layout.shape(), (Shape{2, 64, 7, 7}));
  EXPECT_FALSE(layout.isPlain());
}

TEST(Layout, HasNoAxesOfOneElement) {
  Layout layout = Layout::plain({3, 1, 5});
  EXPECT_EQ(layout.sizes, (Shape{3, 5}));
  EXPECT_EQ(layout.dims, (Dims{{0}, {}, {1}}));
  EXPECT_EQ(layout.resized(0, 1).dims, (Dims{{}, {}, {0}}));
}

TEST(Layout, FlattensWithoutMoving) {
  // [2, 64 * 7 * 7]: the column's digits are C, H, W, which lie as H, W, C.
  std::optional<Layout> flat = image().reshaped({2, 3136});
  ASSERT_TRUE(flat);
  EXPECT_EQ(flat->sizes, (Shape{2, 7, 7, 64}));
  EXPECT_EQ(flat->dims, (Dims{{0}, {3, 1, 2}}));
}

TEST(Layout, FlattensSpaceAndTurnsToTokens) {
  // A patch embedding: flatten(2).transpose(1, 2) is as it lies.
  Layout tokens = image().reshaped({2, 64, 49})->permuted({0, 2, 1});
  EXPECT_EQ(tokens.shape(), (Shape{2, 49, 64}));
  EXPECT_TRUE(tokens.isPlain());
}

TEST(Layout, SplitsHeads) {
  // [2, 5, 3 * 4 * 8] to [3, 2, 4, 5, 8].
  Layout heads = Layout::plain({2, 5, 96}).reshaped({2, 5, 3, 4, 8})->permuted({2, 0, 3, 1, 4});
  EXPECT_EQ(heads.sizes, (Shape{2, 5, 3, 4, 8}));
  EXPECT_EQ(heads.shape(), (Shape{3, 2, 4, 5, 8}));
  EXPECT_EQ(heads.axes({1, 3, 0, 2, 4}), (std::vector<int>{0, 1, 2, 3, 4}));
}

TEST(Layout, KeepsTheAxesOfOtherDimensionsWhenOneIsSplit) {
  Layout layout = image().reshaped({2, 8, 8, 7, 7}).value();
  EXPECT_EQ(layout.sizes, (Shape{2, 7, 7, 8, 8}));
  EXPECT_EQ(layout.dims, (Dims{{0}, {3}, {4}, {1}, {2}}));
}

TEST(Layout, SaysWhereElementsWouldHaveToMove) {
  // Six of memory's digits 2, 3 are not 3, 2.
  EXPECT_FALSE(Layout::ordered({2, 3}, {1, 0}).reshaped({3, 2}));
  EXPECT_FALSE(Layout::plain({2, 3}).reshaped({3, 2}));
  EXPECT_FALSE(Layout::plain({6}).reshaped({4, 2}));
}

TEST(Layout, ReordersAxes) {
  Layout plain = image().reordered({0, 3, 1, 2});
  EXPECT_TRUE(plain.isPlain());
  EXPECT_EQ(plain.sizes, (Shape{2, 64, 7, 7}));
}

TEST(Layout, RefinesTwoToTheSameAxes) {
  Layout a = image().reshaped({2, 3136}).value(), b = Layout::plain({2, 3136});
  ASSERT_TRUE(refineTogether(a, b));
  EXPECT_EQ(b.sizes, (Shape{2, 64, 7, 7}));
  Layout c = Layout::plain({2, 3}).reshaped({6}).value_or(Layout::plain({6}));
  Layout crossing = Layout::ordered({3, 2}, {0, 1}).reshaped({6}).value();
  Layout old = c;
  EXPECT_FALSE(refineTogether(c, crossing));
  EXPECT_EQ(c.sizes, old.sizes);
}

TEST(Layout, LeavesBroadcastDimensionsAloneWhenRefining) {
  Layout large = image(), small = Layout::plain({1, 64, 1, 1});
  ASSERT_TRUE(refineTogether(large, small));
  EXPECT_EQ(small.sizes, (Shape{64}));
}

} // namespace
