#include "runtime/data/NpyFiles.h"
#include "runtime/data/OpenData.h"
#include "runtime/data/TarShards.h"
#include "test/runtime/io/ImageFiles.h"
#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>

#include <cstdio>

using namespace gc::runtime;

namespace {

std::vector<float> readWhole(const Dataset &data, const ModelInput &input, int64_t index) {
  std::vector<float> sample(static_cast<size_t>(input.sampleElements()));
  std::vector<float> scratch(data.scratchElements());
  EXPECT_TRUE(data.read(index, 0, data.rows(), sample.data(), scratch.data()).ok());
  return sample;
}

Result<DataSource> openPlain(const std::string &spec, const ModelInput &input) {
  DataOptions options;
  options.data = spec;
  options.normalize = "none";
  return openData(options, input, 0);
}

std::string npy(const std::string &type, const std::string &shape, const std::string &values,
                const std::string &order = "False") {
  std::string header =
      "{'descr': '" + type + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }\n";
  std::string length = {static_cast<char>(header.size()), '\0'};
  return std::string("\x93NUMPY\1\0", 8) + length + header + values;
}

std::string tarMember(const std::string &name, const std::string &bytes, char kind = '0',
                      const std::string &prefix = "") {
  std::string header(512, '\0');
  auto put = [&](size_t place, const std::string &text) {
    header.replace(place, text.size(), text);
  };
  char digits[13];
  put(0, name.substr(0, 100));
  std::snprintf(digits, sizeof digits, "%011zo", bytes.size());
  put(124, digits);
  header[156] = kind;
  put(257, std::string("ustar\0", 6) + "00");
  put(345, prefix);
  unsigned sum = 8 * ' ';
  for (unsigned char c : header)
    sum += c;
  std::snprintf(digits, sizeof digits, "%06o", sum);
  put(148, std::string(digits) + std::string("\0 ", 2));
  std::string padding((512 - bytes.size() % 512) % 512, '\0');
  return header + bytes + padding;
}
const std::string tarEnd(1024, '\0');

} // namespace

TEST(Cifar100, FineLabelsAreTaken) {
  TestDirectory directory;
  std::string record(2 + 3072, '\0');
  record[0] = 19;
  record[1] = 99;
  record[2 + 1024] = static_cast<char>(255); // green of pixel 0
  directory.write("train.bin", record + record);
  directory.write("test.bin", record);
  ModelInput input{{32, 32, 3}, 100};
  auto data = openPlain("cifar100:" + directory.path, input);
  ASSERT_TRUE(data.ok()) << data.error().message;
  EXPECT_EQ(data->train->size(), 2);
  EXPECT_EQ(data->test->label(0), 99);
  EXPECT_EQ(readWhole(*data->train, input, 1)[1], 1);
  directory.write("train.bin", record + "x");
  EXPECT_BAD_INPUT(openPlain("cifar100:" + directory.path, input), "no multiple of 3074");
  std::filesystem::remove(directory.file("test.bin"));
  directory.write("train.bin", record);
  EXPECT_BAD_INPUT(openPlain("cifar100:" + directory.path, input), "has no test.bin");
}

TEST(Npy, BytesAreImagesInAnyOrderOfChannels) {
  TestDirectory directory;
  ModelInput input{{1, 2, 3}, 10};
  std::string labels = directory.write("l.npy", npy("<i8", "(2,)", bytesOf<int64_t>({3, 4})));
  auto open = [&](const std::string &images) {
    return openPlain("npy:" + directory.write("i.npy", images) + "," + labels, input);
  };
  std::vector<float> expected;
  for (int value : {7, 8, 9, 10, 11, 12})
    expected.push_back(static_cast<float>(value) / 255);
  auto last = open(npy("|u1", "(2, 1, 2, 3)", "\1\2\3\4\5\6\7\x8\x9\xa\xb\xc"));
  ASSERT_TRUE(last.ok()) << last.error().message;
  EXPECT_EQ(last->train->label(1), 4);
  EXPECT_EQ(readWhole(*last->train, input, 1), expected);
  auto first = open(npy("|u1", "(2, 3, 1, 2)", "\1\2\3\4\5\6\7\xa\x8\xb\x9\xc"));
  ASSERT_TRUE(first.ok()) << first.error().message;
  EXPECT_EQ(readWhole(*first->train, input, 1), expected);
  auto grey = open(npy("|u1", "(2, 1, 2)", "\1\2\3\4"));
  ASSERT_TRUE(grey.ok()) << grey.error().message;
  EXPECT_EQ(readWhole(*grey->train, input, 0)[5], 2.0f / 255);
  EXPECT_NE(*last->train->fingerprint(), *first->train->fingerprint());
}

TEST(Npy, FloatsAreTakenAsTheyAre) {
  TestDirectory directory;
  std::string images = directory.write(
      "i.npy", npy("<f4", "(2, 2, 1, 2)", bytesOf<float>({0, 1, 2, 3, 4, 5, 6, 7})));
  std::string labels = directory.write("l.npy", npy("<i4", "(2,)", bytesOf<int32_t>({0, 1})));
  ModelInput input{{1, 2, 2}, 2};
  auto data = openData("npy:" + images + "," + labels, input, 0);
  ASSERT_TRUE(data.ok()) << data.error().message;
  EXPECT_EQ(readWhole(*data->train, input, 1), (std::vector<float>{4, 6, 5, 7}));
  EXPECT_BAD_INPUT(openPlain("npy:" + images + "," + labels, input), "--normalize has no effect");
  EXPECT_BAD_INPUT(openData("npy:" + images + "," + labels, {{2, 2, 2}, 2}, 0),
                   "the model takes F32 [2, 2, 2, 2]");
}

TEST(Npy, RefusesWhatItCannotTake) {
  TestDirectory directory;
  auto opening = [&](const std::string &bytes) { return openNpy(directory.write("a.npy", bytes)); };
  EXPECT_BAD_INPUT(opening("no array"), "is not an array of NumPy");
  EXPECT_BAD_INPUT(opening(npy("<f8", "(1,)", "12345678")), "has values of type '<f8'");
  EXPECT_BAD_INPUT(opening(npy(">i4", "(1,)", "1234")), "has values of type '>i4'");
  EXPECT_BAD_INPUT(opening(npy("|u1", "(2, 2)", "1234", "True")), "is in Fortran order");
  EXPECT_BAD_INPUT(opening(npy("|u1", "(2, 2)", "123")), "has 3 bytes of values, its shape [2, 2]");
  EXPECT_BAD_INPUT(opening(npy("|u1", "(-2, 2)", "1234")), "has no shape");
  EXPECT_BAD_INPUT(opening(npy("<i8", "(4611686018427387904, 4)", "")), "an impossible shape");
  std::string whole = npy("|u1", "(4,)", "1234");
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_FALSE(opening(whole.substr(0, length)).ok()) << length;
  auto pair = [&](const std::string &images, const std::string &labels) {
    return openNpyPair(directory.write("i.npy", images), directory.write("l.npy", labels));
  };
  std::string images = npy("|u1", "(2, 1, 2)", "1234");
  EXPECT_BAD_INPUT(pair(images, npy("|u1", "(3,)", "123")), "expected integers [2]");
  EXPECT_BAD_INPUT(pair(images, npy("<f4", "(2,)", "12345678")), "is float32 [2]");
  EXPECT_BAD_INPUT(pair(npy("<i4", "(1,)", "1234"), images), "holds integers; images are uint8");
  EXPECT_BAD_INPUT(openData("npy:one.npy", {{1, 2, 1}, 2}, 0), "expected npy:IMAGES.npy,LABELS");
  directory.write("i.npy", npy("|u1", "(2, 5, 2, 2)", std::string(40, 'x')));
  directory.write("l.npy", npy("|u1", "(2,)", "12"));
  EXPECT_BAD_INPUT(openData("npy:" + directory.file("i.npy") + "," + directory.file("l.npy"),
                            {{2, 2, 1}, 99}, 0),
                   "is [2, 5, 2, 2]; images of bytes are");
}

TEST(TarShards, NamesHaveRanges) {
  auto names = expandBraces("a-{08..11}.tar,b.tar");
  ASSERT_TRUE(names.ok());
  EXPECT_EQ(*names,
            (std::vector<std::string>{"a-08.tar", "a-09.tar", "a-10.tar", "a-11.tar", "b.tar"}));
  EXPECT_EQ(expandBraces("{0..1}{0..2}")->size(), 6u);
  for (const char *bad : {"a-{1..}.tar", "a-{2..1}.tar", "a-{1,2}.tar", "a-{1..2.tar", "{a..b}"})
    EXPECT_BAD_INPUT(expandBraces(bad), "has a range that is none");
  EXPECT_BAD_INPUT(expandBraces("{0..99999999}"), "are more than");
}

TEST(TarShards, SamplesAreInOrderOfTheArchives) {
  TestDirectory directory;
  auto png = [](uint8_t value) { return pngBytes(plainImage(2, 2, {value, 0, 0})); };
  std::string longName = std::string(150, 'k') + "/0003";
  std::string pax = "24 path=elsewhere/4.png\n";
  directory.write("s-0.tar", tarMember("0001.cls", "2\n") + tarMember("0001.png", png(51)) +
                                 tarMember("0001.json", "{}") + tarMember("0002.jpg", png(102)) +
                                 tarMember("0002.cls", "0") + tarEnd);
  directory.write("s-1.tar",
                  tarMember("././@LongLink", longName + ".png", 'L') + tarMember("cut", png(153)) +
                      tarMember("././@LongLink", longName + ".cls", 'L') + tarMember("cut", "1") +
                      tarMember("x", pax, 'x') + tarMember("cut.png", png(204)) +
                      tarMember("4.cls", "3", '0', "elsewhere") + tarEnd);
  ModelInput input{{2, 2, 3}, 4};
  auto data = openPlain("tar:" + directory.file("s-{0..1}.tar"), input);
  ASSERT_TRUE(data.ok()) << data.error().message;
  EXPECT_CONTAINS(data->description, "4 train samples in 2 shards; 1 file in them left out");
  for (int64_t i = 0; i < 4; ++i) {
    EXPECT_EQ(data->train->label(i), (std::vector<int64_t>{2, 0, 1, 3}[static_cast<size_t>(i)]));
    EXPECT_EQ(readWhole(*data->train, input, i)[0], static_cast<float>(51 * (i + 1)) / 255);
  }
  EXPECT_FALSE(data->test);
  EXPECT_BAD_INPUT(openPlain("tar:" + directory.file("s-{0..1}.tar"), {{2, 2, 3}, 3}),
                   "has label 3, the model has classes 0 to 2");
}

TEST(TarShards, RefusesWhatIsNoShard) {
  TestDirectory directory;
  std::string image = tarMember("1.png", pngBytes(plainImage(2, 2, {9})));
  std::string whole = image + tarMember("1.cls", "0") + tarEnd;
  auto opening = [&](const std::string &bytes) {
    return openTarShards(directory.write("s.tar", bytes));
  };
  EXPECT_TRUE(opening(whole).ok());
  EXPECT_BAD_INPUT(opening(""), "has no samples");
  EXPECT_BAD_INPUT(opening(gzipped(whole)), "is ");
  EXPECT_BAD_INPUT(opening(image + tarEnd), "has an image but no class (.cls) for '1'");
  EXPECT_BAD_INPUT(opening(tarMember("1.cls", "0") + tarEnd), "has a class but no image");
  EXPECT_BAD_INPUT(opening(image + tarMember("1.cls", "dog") + tarEnd),
                   "'1.cls' is not the number of a class");
  EXPECT_BAD_INPUT(opening(image + image + tarEnd), "has two images for '1'");
  std::string damaged = whole;
  damaged[3] ^= 1;
  EXPECT_BAD_INPUT(opening(damaged), "the header at byte 0 is wrong");
  for (size_t length : {size_t{100}, size_t{512}, size_t{600}, size_t{1100}, size_t{1500}})
    EXPECT_FALSE(opening(whole.substr(0, length)).ok()) << length;
  EXPECT_BAD_INPUT(opening(whole.substr(0, 540)), "is truncated");
  EXPECT_BAD_INPUT(openTarShards(directory.file("none.tar")), "cannot open");
}
