// Philox, initializers, layouts, atomic files.
#include "runtime/process/AtomicFile.h"
#include "runtime/weights/Initializer.h"
#include "runtime/weights/Layout.h"
#include "runtime/weights/Philox.h"
#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <csignal>
#include <sys/resource.h>
#include <vector>

using namespace gc::runtime;

TEST(Philox, KnownAnswers) { // the vectors published with the generator
  EXPECT_EQ(Philox(0)(Philox::Block{0, 0, 0, 0}),
            (Philox::Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox(~uint64_t{0})(Philox::Block{~0u, ~0u, ~0u, ~0u}),
            (Philox::Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(
      Philox(0x299f31d0a4093822)(Philox::Block{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}),
      (Philox::Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Philox, HashIsFnv1a) {
  EXPECT_EQ(hashName(""), 0xcbf29ce484222325u);
  EXPECT_EQ(hashName("a"), 0xaf63dc4c8601ec8cu);
}

static std::vector<float> draw(InitialValues values, uint64_t seed, const char *name,
                               size_t count) {
  std::vector<float> out(count);
  drawInitialValues(values, seed, name, 0, count, out.data());
  return out;
}

TEST(Initializer, PiecesEqualTheWhole) {
  for (auto kind : {InitialDistribution::Uniform, InitialDistribution::Normal,
                    InitialDistribution::TruncatedNormal}) {
    InitialValues values{kind, 0, 1, -0.5, 0.5};
    std::vector<float> whole = draw(values, 7, "w", 1001), pieces(1001);
    for (size_t first = 0; first < 1001; first += 13) // 13: pieces begin in every lane
      drawInitialValues(values, 7, "w", first, std::min<size_t>(13, 1001 - first),
                        pieces.data() + first);
    EXPECT_EQ(whole, pieces);
  }
}

TEST(Initializer, SeedsAndNamesDiffer) {
  InitialValues normal{InitialDistribution::Normal, 0, 1, 0, 0};
  EXPECT_EQ(draw(normal, 1, "a", 64), draw(normal, 1, "a", 64));
  EXPECT_NE(draw(normal, 1, "a", 64), draw(normal, 2, "a", 64));
  EXPECT_NE(draw(normal, 1, "a", 64), draw(normal, 1, "b", 64));
}

struct Moments {
  double mean = 0, deviation = 0, low = 1e9, high = -1e9;
};
static Moments moments(const std::vector<float> &values) {
  Moments m;
  for (float v : values) {
    m.mean += v;
    m.low = std::min<double>(m.low, v);
    m.high = std::max<double>(m.high, v);
  }
  m.mean /= values.size();
  for (float v : values)
    m.deviation += (v - m.mean) * (v - m.mean);
  m.deviation = std::sqrt(m.deviation / values.size());
  return m;
}

TEST(Initializer, Moments) {
  // With n = 2^18 the mean of a unit deviation has a standard error of 1/512 = 0.002, the deviation
  // one of 0.0014; five of those are allowed.
  const size_t n = 1 << 18;
  Moments uniform = moments(draw({InitialDistribution::Uniform, -2, 4, 0, 0}, 3, "u", n));
  EXPECT_NEAR(uniform.mean, 1, 5 * 1.7321 / 512);
  EXPECT_NEAR(uniform.deviation, std::sqrt(3.0), 0.01);
  EXPECT_GE(uniform.low, -2);
  EXPECT_LT(uniform.high, 4);
  Moments normal = moments(draw({InitialDistribution::Normal, 5, 2, 0, 0}, 3, "n", n));
  EXPECT_NEAR(normal.mean, 5, 5 * 2.0 / 512);
  EXPECT_NEAR(normal.deviation, 2, 0.014);
  EXPECT_GT(normal.high, 5 + 3.5 * 2); // tails are there
  // A standard normal cut to [-1, 1] has variance 1 - 2 phi(1) / (2 Phi(1) - 1) = 0.29112.
  Moments cut = moments(draw({InitialDistribution::TruncatedNormal, 0, 1, -1, 1}, 3, "t", n));
  EXPECT_NEAR(cut.mean, 0, 5 * 0.54 / 512);
  EXPECT_NEAR(cut.deviation, std::sqrt(0.29112), 0.004);
  EXPECT_GE(cut.low, -1);
  EXPECT_LE(cut.high, 1);
}

TEST(Initializer, RefusesImpossibleNumbers) {
  using D = InitialDistribution;
  EXPECT_TRUE(checkInitialValues({D::Uniform, -1, 1, 0, 0}, "w").ok());
  EXPECT_BAD_INPUT(checkInitialValues({D::Uniform, 1, -1, 0, 0}, "w"), "'w' has an empty range");
  EXPECT_BAD_INPUT(checkInitialValues({D::Normal, 0, -1, 0, 0}, "w"), "negative deviation");
  EXPECT_BAD_INPUT(checkInitialValues({D::Constant, NAN, 0, 0, 0}, "w"), "not finite");
  EXPECT_BAD_INPUT(checkInitialValues({D::TruncatedNormal, 0, 1, 8, 9}, "w"), "almost nothing");
  EXPECT_BAD_INPUT(checkInitialValues({static_cast<D>(9), 0, 1, 8, 9}, "w"), "unknown kind");
}

TEST(Layout, FiltersFromOihwToOhwi) {
  // O=2, I=3, H=1, W=2. Inside axes are O, H, W, I: split axes 0, 2, 3, 1.
  auto layout = FileLayout::create("w", 12, {2, 3, 1, 2}, {0, 2, 3, 1});
  ASSERT_TRUE(layout.ok());
  std::vector<float> file = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, inside(12), back(12);
  std::vector<float> expected = {0, 2, 4, 1, 3, 5, 6, 8, 10, 7, 9, 11};
  for (uint64_t piece : {12, 5, 1}) {
    std::fill(inside.begin(), inside.end(), -1);
    for (uint64_t first = 0; first < 12; first += piece)
      layout->toInside(first, std::min(piece, 12 - first), file.data() + first, inside.data());
    EXPECT_EQ(inside, expected);
    for (uint64_t first = 0; first < 12; first += piece)
      layout->toFile(first, std::min(piece, 12 - first), inside.data(), back.data() + first);
    EXPECT_EQ(back, file);
  }
}

TEST(Layout, FlattenedChannels) {
  // A linear layer 2 x (C=2, H=1, W=3) in the file; H, W, C inside.
  auto layout = FileLayout::create("fc", 12, {2, 2, 1, 3}, {0, 2, 3, 1});
  ASSERT_TRUE(layout.ok());
  std::vector<float> file = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, inside(12);
  layout->toInside(0, 12, file.data(), inside.data());
  EXPECT_EQ(inside, (std::vector<float>{0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11}));
}

TEST(Layout, RefusesContradictions) {
  EXPECT_BAD_INPUT(FileLayout::create("w", 12, {2, 3}, {0, 1}), "another number of elements");
  EXPECT_BAD_INPUT(FileLayout::create("w", 6, {2, 3}, {0, 0}), "permutation that is none");
  EXPECT_BAD_INPUT(FileLayout::create("w", 6, {2, 3}, {0, 2}), "permutation that is none");
  EXPECT_BAD_INPUT(FileLayout::create("w", 6, {2, 3}, {0}), "axes");
  EXPECT_BAD_INPUT(FileLayout::create("w", 6, {-2, -3}, {0, 1}), "impossible dimension");
}

/// No file may grow beyond this, as on a disk that is full.
struct FileSizeLimit {
  explicit FileSizeLimit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    ::getrlimit(RLIMIT_FSIZE, &former);
    rlimit limit = {bytes, former.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &former);
    std::signal(SIGXFSZ, SIG_DFL);
  }
  rlimit former;
};

TEST(AtomicFile, ReplacesTheOldFile) {
  TestDirectory directory;
  directory.write("a", "old");
  ASSERT_TRUE(writeFileAtomically(directory.file("a"), "new").ok());
  EXPECT_EQ(directory.read("a"), "new");
  EXPECT_EQ(directory.entries(), 1u);
}

TEST(AtomicFile, OldFileSurvivesAFullDisk) {
  TestDirectory directory;
  directory.write("a", "old");
  Status result;
  {
    FileSizeLimit limit(4096);
    result = writeFileAtomically(directory.file("a"), std::string(10000, 'x'));
  }
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.error().exitCode(), 1);
  EXPECT_CONTAINS(result.error().message, "unchanged");
  EXPECT_CONTAINS(result.error().message, "free some space");
  EXPECT_EQ(directory.read("a"), "old");
  EXPECT_EQ(directory.entries(), 1u) << "the temporary file stayed";
}

TEST(AtomicFile, AbandonedLeavesNothing) {
  TestDirectory directory;
  {
    auto file = AtomicFile::create(directory.file("a"));
    ASSERT_TRUE(file.ok());
    ASSERT_TRUE(file->write("half").ok());
  }
  EXPECT_EQ(directory.entries(), 0u);
}

TEST(AtomicFile, MissingDirectory) {
  TestDirectory directory;
  EXPECT_BAD_INPUT(writeFileAtomically(directory.file("no/such/a"), "x"), "directory");
  EXPECT_BAD_INPUT(writeFileAtomically(directory.path, "x"), "not a regular file");
}
