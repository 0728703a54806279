// The search for the largest batch that fits, on made-up needs: it ends at a border, in few
// questions.
#include "tools/gc-compile/BatchSearch.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace {

constexpr int64_t kMost = INT32_MAX;
using Needs = std::function<int64_t(int64_t batch)>; // 0: unknown, and does not fit

struct Found {
  int64_t largest = 0;
  int questions = 0;
};

Found search(int64_t room, int64_t start, const Needs &needs, int64_t most = kMost) {
  BatchSearch search(room, start, most);
  Found found;
  while (std::optional<int64_t> batch = search.next()) {
    EXPECT_GE(*batch, 1);
    EXPECT_LE(*batch, most);
    int64_t bytes = needs(*batch);
    search.learn(*batch, bytes > 0 && bytes <= room, bytes);
    if (++found.questions > 200) {
      ADD_FAILURE() << "does not end";
      break;
    }
  }
  found.largest = search.largest();
  return found;
}

bool fits(int64_t room, int64_t bytes) { return bytes > 0 && bytes <= room; }

} // namespace

// 1000 + 30 N <= 10,000 up to N = 300.
TEST(BatchSearch, FollowsALine) {
  for (int64_t start : {1, 16, 299, 300, 301, 5000}) {
    Found found = search(10000, start, [](int64_t n) { return 1000 + 30 * n; });
    EXPECT_EQ(found.largest, 300) << start;
    EXPECT_LE(found.questions, 7) << start;
  }
}

TEST(BatchSearch, FindsThatNothingFits) {
  Found found = search(10, 64, [](int64_t n) { return 1000 + 30 * n; });
  EXPECT_EQ(found.largest, 0);
  EXPECT_LE(found.questions, 12);
}

TEST(BatchSearch, EndsAtTheLargestDimension) {
  Found found = search(INT64_MAX, 32, [](int64_t n) { return 1000 + n; });
  EXPECT_EQ(found.largest, kMost);
  EXPECT_LE(found.questions, 40);
  EXPECT_EQ(search(
                1000, 32, [](int64_t) { return 7; }, 100)
                .largest,
            100);
  EXPECT_EQ(search(
                1000, 32, [](int64_t) { return 7; }, 1)
                .largest,
            1);
}

// A model that cannot have a batch above 70, or of one sample, tells no bytes there.
TEST(BatchSearch, TakesUnknownNeedsForTooLarge) {
  auto needs = [](int64_t n) { return n == 1 || n > 70 ? 0 : 10 * n; };
  EXPECT_EQ(search(100000, 16, needs).largest, 70);
  EXPECT_EQ(search(15, 16, needs).largest, 0);
}

// Needs of many forms, steps and noise included: the answer fits, what follows does not.
TEST(BatchSearch, EndsAtABorder) {
  uint64_t state = 1;
  auto random = [&] { return (state = state * 6364136223846793005u + 1442695040888963407u) >> 33; };
  for (int round = 0; round < 2000; ++round) {
    int64_t base = random() % 100000, slope = 1 + random() % 5000, step = 1 + random() % 9,
            jump = random() % 20000, noise = 1 + random() % 3000;
    double bend = 1 + static_cast<double>(random() % 100) / 100;
    auto needs = [&](int64_t n) {
      int64_t jitter = (n * 2654435761u) % noise;
      return base + 1 + jitter + n / step % 2 * jump +
             static_cast<int64_t>(static_cast<double>(slope) * std::pow(n, bend));
    };
    int64_t room = 1 + random() % 10000000, start = 1 + random() % 500;
    Found found = search(room, start, needs);
    EXPECT_LE(found.questions, 60) << round;
    EXPECT_TRUE(found.largest == 0 || fits(room, needs(found.largest))) << round;
    EXPECT_FALSE(fits(room, needs(found.largest + 1))) << round;
  }
}

// What turns out later goes before what was learned first.
TEST(BatchSearch, LearnsAnew) {
  BatchSearch search(100, 4, 1000);
  search.learn(10, true, 100);
  search.learn(11, false, 110);
  EXPECT_EQ(search.next(), std::nullopt);
  search.learn(11, true, 100);
  EXPECT_EQ(search.largest(), 11);
  EXPECT_TRUE(search.next());
  search.learn(12, false, 120);
  search.learn(11, false, 110);
  EXPECT_EQ(search.largest(), 10);
  EXPECT_EQ(search.next(), std::nullopt);
}
