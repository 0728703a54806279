// What a checkpoint may claim, and by what data is known again.
#include "runtime/trainer/Resume.h"
#include "runtime/data/OpenData.h"

#include "runtime/data/Dataset.h"
#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>

using namespace gc::runtime;

TEST(Resume, ImpossiblePositions) {
  // Epochs of 10 steps: step 25 is the fifth of the third.
  EXPECT_TRUE(checkPosition({25, 2, 5, 0}, 10, 100).ok());
  EXPECT_TRUE(checkPosition({0, 0, 0, 0}, 10, 100).ok());
  EXPECT_TRUE(checkPosition({100, 10, 0, 0}, 10, 100).ok());
  EXPECT_BAD_INPUT(checkPosition({25, 2, 6, 0}, 10, 100), "cannot be");
  EXPECT_BAD_INPUT(checkPosition({25, 1, 15, 0}, 10, 100), "cannot be");
  EXPECT_BAD_INPUT(checkPosition({25, 3, 5, 0}, 10, 100), "cannot be");
  EXPECT_BAD_INPUT(checkPosition({0, UINT64_MAX, 0, 0}, 10, 100), "cannot be");
  // Twice that many steps would wrap around to 0.
  EXPECT_BAD_INPUT(checkPosition({1, UINT64_MAX / 2 + 1, 1, 0}, 2, 100), "cannot be");
  EXPECT_BAD_INPUT(checkPosition({101, 10, 1, 0}, 10, 100), "beyond the 100");
}

static std::string batchFile(float last) {
  return safetensorsBytes(R"({"label":{"dtype":"I64","shape":[2],"data_offsets":[0,16]},)"
                          R"("image":{"dtype":"F32","shape":[2,1,1,1],"data_offsets":[16,24]}})",
                          bytesOf<int64_t>({0, 1}) + bytesOf<float>({1, last}));
}

TEST(Resume, DataIsKnownByItsContent) {
  TestDirectory directory;
  auto print = [&](const std::string &spec, uint64_t seed = 0) {
    Result<DataSource> data = openData(spec, {{1, 1, 1}, 3}, seed);
    EXPECT_TRUE(data.ok()) << data.error().message;
    Result<uint64_t> value = data->train->fingerprint();
    EXPECT_TRUE(value.ok());
    return *value;
  };
  uint64_t first = print(directory.write("a.safetensors", batchFile(2)));
  EXPECT_EQ(print(directory.write("b.safetensors", batchFile(2))), first) << "moved, but the same";
  EXPECT_NE(print(directory.write("a.safetensors", batchFile(3))), first);
  EXPECT_EQ(print("synthetic", 1), print("synthetic", 1));
  EXPECT_NE(print("synthetic", 1), print("synthetic", 2));
}
