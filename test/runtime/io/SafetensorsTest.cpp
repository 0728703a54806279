#include "runtime/weights/Safetensors.h"
#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>

using namespace gc::runtime;

/// What Python's safetensors 0.x writes for {'a': f32 [[1,2,3],[4,5,6]], 'b.c': i64 [7]} with the
/// metadata {'format': 'pt'}.
static const std::string pythonHeader =
    R"({"__metadata__":{"format":"pt"},"b.c":{"dtype":"I64","shape":[1],"data_offsets":[0,8]},)"
    R"("a":{"dtype":"F32","shape":[2,3],"data_offsets":[8,32]}} )";

static std::string pythonFile() {
  return safetensorsBytes(pythonHeader, bytesOf<int64_t>({7}) + bytesOf<float>({1, 2, 3, 4, 5, 6}));
}

TEST(Safetensors, ReadsWhatPythonWrites) {
  TestDirectory directory;
  auto file = SafetensorsFile::open(directory.write("p", pythonFile()));
  ASSERT_TRUE(file.ok()) << file.error().message;
  EXPECT_EQ(file->tensors().size(), 2u);
  EXPECT_EQ(file->metadata().at("format"), "pt");
  const SafetensorsEntry *a = file->find("a");
  ASSERT_TRUE(a);
  EXPECT_EQ(a->shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(a->elements(), 6u);
  float values[4];
  ASSERT_TRUE(file->readFloats(*a, 2, values, 4).ok());
  EXPECT_EQ(values[0], 3);
  EXPECT_EQ(values[3], 6);
  EXPECT_FALSE(file->readFloats(*a, 3, values, 4).ok());
  EXPECT_EQ(file->find("none"), nullptr);
}

TEST(Safetensors, WritesTheSameBytesAsPython) {
  TestDirectory directory;
  auto writer = SafetensorsWriter::create(
      directory.file("w"), {{"a", "F32", {2, 3}}, {"b.c", "I64", {1}}}, {{"format", "pt"}});
  ASSERT_TRUE(writer.ok());
  EXPECT_EQ(writer->order()[0].name, "b.c");
  int64_t seven = 7;
  float values[] = {1, 2, 3, 4, 5, 6};
  ASSERT_TRUE(writer->append(&seven, 8).ok());
  ASSERT_TRUE(writer->append(values, 24).ok());
  EXPECT_FALSE(std::filesystem::exists(directory.file("w"))) << "visible before it is whole";
  ASSERT_TRUE(writer->finish().ok());
  EXPECT_EQ(directory.read("w"), pythonFile());
}

TEST(Safetensors, DoublesAreRounded) {
  TestDirectory directory;
  auto file = SafetensorsFile::open(directory.write(
      "d", safetensorsBytes(R"({"x":{"dtype":"F64","shape":[2],"data_offsets":[0,16]}})",
                            bytesOf<double>({0.1, -3}))));
  ASSERT_TRUE(file.ok());
  float values[2];
  ASSERT_TRUE(file->readFloats(*file->find("x"), 0, values, 2).ok());
  EXPECT_EQ(values[0], 0.1f);
  EXPECT_EQ(values[1], -3);
}

TEST(Safetensors, WriterCountsItsBytes) {
  TestDirectory directory;
  auto writer = SafetensorsWriter::create(directory.file("w"), {{"a", "F32", {2}}});
  ASSERT_TRUE(writer.ok());
  EXPECT_FALSE(writer->finish().ok());
  EXPECT_FALSE(
      SafetensorsWriter::create(directory.file("x"), {{"a", "F32", {2}}, {"a", "F32", {1}}}).ok());
}

TEST(Safetensors, RefusesEveryTruncation) {
  TestDirectory directory;
  std::string whole = pythonFile();
  for (size_t length = 0; length < whole.size(); ++length) {
    auto file = SafetensorsFile::open(directory.write("t", whole.substr(0, length)));
    ASSERT_FALSE(file.ok()) << "cut to " << length;
    EXPECT_EQ(file.error().exitCode(), 2);
  }
}

struct BadHeader {
  const char *header, *message;
};
class SafetensorsBadHeader : public testing::TestWithParam<BadHeader> {};

TEST_P(SafetensorsBadHeader, IsRefused) { // each with 8 bytes of data
  TestDirectory directory;
  EXPECT_BAD_INPUT(SafetensorsFile::open(directory.write(
                       "b", safetensorsBytes(GetParam().header, std::string(8, '\0')))),
                   GetParam().message);
}

INSTANTIATE_TEST_SUITE_P(
    All, SafetensorsBadHeader,
    testing::Values(
        BadHeader{"{", "not a JSON object"}, BadHeader{"[1]", "not a JSON object"},
        BadHeader{R"({"a":1})", "lacks a dtype"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[2]}})", "lacks a dtype"},
        BadHeader{R"({"a":{"dtype":"Q7","shape":[2],"data_offsets":[0,8]}})", "unknown dtype 'Q7'"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", "does not fit"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", "natural number"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,8]}})",
                  "does not fit"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[4],"data_offsets":[0,16]}})", "only 8"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", "before it begins"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
                  R"("b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                  "overlap"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", "4 unused bytes"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})",
                  "4 bytes after the last"},
        BadHeader{R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
                  R"("a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
                  "'a' appears twice"},
        BadHeader{R"({"__metadata__":{"x":1}})", "metadata 'x' is not a string"}));

TEST(Safetensors, RefusesHugeHeadersAndOtherThings) {
  TestDirectory directory;
  EXPECT_BAD_INPUT(SafetensorsFile::open(directory.write("h", std::string(64, '\xff'))),
                   "at most 100000000");
  EXPECT_BAD_INPUT(SafetensorsFile::open(directory.file("none")), "cannot open");
  EXPECT_BAD_INPUT(SafetensorsFile::open(directory.path), "not a regular file");
}
