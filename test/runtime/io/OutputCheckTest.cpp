// Files that are written whole or not at all, and what is asked about them before. The command
// lines are tested in test/tools/outputs.test.
#include "runtime/process/OutputCheck.h"

#include "runtime/process/AtomicFile.h"
#include "runtime/process/TemporaryNames.h"
#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>

#include <unistd.h>

using namespace gc::runtime;
using Naming = AtomicFile::Naming;

TEST(OutputCheck, LeavesNothingBehind) {
  TestDirectory directory;
  std::vector<NamedPath> outputs = {
      {"--save", directory.file("w")},
      {"--checkpoint", directory.file("a/b/c"), NamedPath::Kind::Directory, {"state", "position"}}};
  EXPECT_TRUE(checkOutputs(outputs, {}).ok());
  EXPECT_EQ(directory.entries(), 0u);
  outputs.push_back({"--report", directory.file("a/b/c/d/state")});
  EXPECT_BAD_INPUT(checkOutputs(outputs, {}), "--report");
  EXPECT_EQ(directory.entries(), 0u);
}

TEST(OutputCheck, OnePlaceByManyNames) {
  TestDirectory directory;
  std::string file = directory.write("f", "x");
  ASSERT_EQ(::link(file.c_str(), directory.file("hard").c_str()), 0);
  ASSERT_EQ(::symlink("f", directory.file("soft").c_str()), 0);
  EXPECT_TRUE(isSamePlace(file, directory.file("./f")));
  EXPECT_TRUE(isSamePlace(file, directory.file("hard")));
  EXPECT_TRUE(isSamePlace(file, directory.file("soft")));
  EXPECT_TRUE(isSamePlace(directory.file("new"), directory.path + "//new"));
  EXPECT_TRUE(isSamePlace(directory.file("new"), directory.file("new/")));
  EXPECT_FALSE(isSamePlace(file, directory.file("new")));
  EXPECT_FALSE(isSamePlace(directory.file("new"), directory.file("newer")));
}

TEST(AtomicFile, FollowsALink) {
  TestDirectory directory;
  directory.write("f", "old");
  ASSERT_EQ(::symlink("f", directory.file("soft").c_str()), 0);
  ASSERT_TRUE(writeFileAtomically(directory.file("soft"), "new").ok());
  EXPECT_EQ(directory.read("f"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(directory.file("soft")));
}

TEST(AtomicFile, LongNames) {
  TestDirectory directory;
  std::string name(255, 'n');
  for (const char *text : {"first", "second"}) { // new, and in the place of the first
    ASSERT_TRUE(writeFileAtomically(directory.file(name), text).ok());
    EXPECT_EQ(directory.read(name), text);
  }
  EXPECT_BAD_INPUT(AtomicFile::create(directory.file(name + "n")), "too long");
  EXPECT_EQ(directory.entries(), 1u);
}

/// Where the file system has no nameless files.
TEST(AtomicFile, NamedOnesAreTakenOverWhenStale) {
  TestDirectory directory;
  directory.write(".a.gc-partial", "left behind by a kill");
  {
    auto first = AtomicFile::create(directory.file("a"), Naming::AlwaysNamed);
    auto second = AtomicFile::create(directory.file("a"), Naming::AlwaysNamed);
    ASSERT_TRUE(first.ok() && second.ok());
    EXPECT_EQ(directory.entries(), 2u) << "the stale one and one more for the second writer";
    ASSERT_TRUE(first->write("1").ok() && second->write("2").ok());
    ASSERT_TRUE(first->commit().ok());
    EXPECT_EQ(directory.read("a"), "1");
    ASSERT_TRUE(second->commit().ok());
  }
  EXPECT_EQ(directory.read("a"), "2");
  EXPECT_EQ(directory.entries(), 1u);
}

TEST(AtomicFile, NamedOnesGoWithASignal) {
  TestDirectory directory;
  auto file = AtomicFile::create(directory.file("a"), Naming::AlwaysNamed);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(directory.entries(), 1u);
  removeTemporaries(); // what the handler calls
  EXPECT_EQ(directory.entries(), 0u);
}
