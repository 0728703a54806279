#include "runtime/process/Nearest.h"
#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

using namespace gc::runtime;

TEST(Nearest, DistanceCountsWhatMustChange) {
  EXPECT_EQ(editDistance("", ""), 0u);
  EXPECT_EQ(editDistance("", "abc"), 3u);
  EXPECT_EQ(editDistance("budget", "budget"), 0u);
  EXPECT_EQ(editDistance("budgt", "budget"), 1u) << "put in";
  EXPECT_EQ(editDistance("budgeet", "budget"), 1u) << "left out";
  EXPECT_EQ(editDistance("bugget", "budget"), 1u) << "replaced";
  EXPECT_EQ(editDistance("bugdet", "budget"), 1u) << "swapped";
  EXPECT_EQ(editDistance("kitten", "sitting"), 3u);
}

TEST(Nearest, NamesOnlyWhatIsNear) {
  const std::vector<std::string> flags = {"--budget", "--batch", "--lr", "--epochs"};
  EXPECT_EQ(nearestName("--bugdet", flags), "--budget");
  EXPECT_EQ(nearestName("--BUDGET", flags), "--budget") << "case is the same";
  EXPECT_EQ(nearestName("--epoch", flags), "--epochs");
  EXPECT_EQ(nearestName("--workers", flags), "");
  EXPECT_EQ(nearestName("vti", {"vgg", "vit"}), "vit");
  EXPECT_EQ(nearestName("x", {"y"}), "") << "nothing of it is the same";
  EXPECT_EQ(nearestName("adm", {}), "");
  EXPECT_EQ(didYouMean(""), "");
  EXPECT_EQ(didYouMean("vit"), "; did you mean 'vit'?");
}

TEST(Nearest, FilesOfTheSameDirectory) {
  std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "gc-nearest-test";
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "resnet50.plan") << "x";
  std::ofstream(folder / "notes.txt") << "x";
  EXPECT_EQ(nearestFile((folder / "resnet5O.plan").string()), (folder / "resnet50.plan").string());
  EXPECT_EQ(nearestFile((folder / "weights.safetensors").string()), "");
  EXPECT_EQ(nearestFile((folder / "nowhere" / "resnet50.plan").string()), "");
  EXPECT_EQ(nearestFile(""), "");
  std::filesystem::remove_all(folder);
}
