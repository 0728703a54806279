#include "runtime/data/BatchFile.h"
#include "runtime/data/ByteImages.h"
#include "runtime/data/Dataset.h"
#include "runtime/data/ImageDataset.h"
#include "runtime/data/OpenData.h"
#include "runtime/data/Resize.h"
#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace gc::runtime;

static std::string bigEndian(uint32_t value) {
  return {static_cast<char>(value >> 24), static_cast<char>(value >> 16),
          static_cast<char>(value >> 8), static_cast<char>(value)};
}

static std::string idxImages(uint32_t count, uint32_t height, uint32_t width) {
  std::string pixels;
  for (uint32_t i = 0; i < count * height * width; ++i)
    pixels += static_cast<char>(i * 7);
  return std::string("\0\0\x08\x03", 4) + bigEndian(count) + bigEndian(height) + bigEndian(width) +
         pixels;
}
static std::string idxLabels(const std::string &labels) {
  return std::string("\0\0\x08\x01", 4) + bigEndian(static_cast<uint32_t>(labels.size())) + labels;
}

/// Three images of 2 x 2 in both splits.
static void writeMnist(const TestDirectory &directory, bool compressed = false) {
  auto put = [&](const std::string &name, const std::string &bytes) {
    directory.write(name + (compressed ? ".gz" : ""), compressed ? gzipped(bytes) : bytes);
  };
  for (const char *split : {"train", "t10k"}) {
    put(std::string(split) + "-images-idx3-ubyte", idxImages(3, 2, 2));
    put(std::string(split) + "-labels-idx1-ubyte", idxLabels(std::string("\0\x02\x01", 3)));
  }
}

static const ModelInput grey2{{2, 2, 1}, 10};

TEST(Idx, PlainAndGzippedAreTheSame) {
  TestDirectory plain, compressed;
  writeMnist(plain);
  writeMnist(compressed, true);
  auto a = readIdxSplit(plain.path, "train"), b = readIdxSplit(compressed.path, "train");
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a->count, 3);
  EXPECT_EQ(a->height, 2);
  EXPECT_EQ(a->pixels[5], 35);
  EXPECT_EQ(a->labels, (std::vector<uint8_t>{0, 2, 1}));
  EXPECT_EQ(a->pixels, b->pixels);
  EXPECT_EQ(a->labels, b->labels);
}

TEST(Idx, DeliversNormalizedSamples) {
  TestDirectory directory;
  writeMnist(directory);
  auto data = openData("mnist:" + directory.path, grey2, 0);
  ASSERT_TRUE(data.ok()) << data.error().message;
  ASSERT_TRUE(data->test);
  EXPECT_EQ(data->train->size(), 3);
  EXPECT_EQ(data->train->label(1), 2);
  std::vector<float> sample(4), scratch(data->train->scratchElements());
  ASSERT_TRUE(data->train->read(1, 0, 2, sample.data(), scratch.data()).ok());
  for (int i = 0; i < 4; ++i)
    EXPECT_FLOAT_EQ(sample[i], (static_cast<float>((4 + i) * 7) / 255 - 0.5f) / 0.5f);
}

class IdxTruncation : public testing::TestWithParam<bool> {};
TEST_P(IdxTruncation, IsAlwaysFound) {
  TestDirectory directory;
  writeMnist(directory);
  std::filesystem::remove(directory.file("train-images-idx3-ubyte"));
  std::string whole = idxImages(3, 2, 2);
  if (GetParam())
    whole = gzipped(whole);
  for (size_t length = 0; length < whole.size(); ++length) {
    directory.write("train-images-idx3-ubyte", whole.substr(0, length));
    auto images = readIdxSplit(directory.path, "train");
    ASSERT_FALSE(images.ok()) << "cut to " << length;
    EXPECT_EQ(images.error().exitCode(), 2);
    EXPECT_CONTAINS(images.error().message, "train-images-idx3-ubyte");
  }
}
INSTANTIATE_TEST_SUITE_P(PlainAndGzipped, IdxTruncation, testing::Bool());

TEST(Idx, RefusesCorruptFiles) {
  TestDirectory directory;
  writeMnist(directory);
  const std::string name = "train-images-idx3-ubyte";
  auto reading = [&](const std::string &bytes) {
    directory.write(name, bytes);
    return readIdxSplit(directory.path, "train");
  };
  std::string good = idxImages(3, 2, 2);
  EXPECT_BAD_INPUT(reading(good + "x"), "after the end");
  EXPECT_BAD_INPUT(reading(gzipped(good) + "x"), "after the end");
  EXPECT_BAD_INPUT(reading(gzipped(good + "x")), "after the end");
  EXPECT_BAD_INPUT(reading(idxLabels("abc")), "expected 00000803");
  EXPECT_BAD_INPUT(reading("not an IDX file at all"), "is not an IDX file");
  // Dimensions that ask for more memory than the file can fill must not be believed.
  EXPECT_BAD_INPUT(reading(good.substr(0, 4) + std::string(12, '\x7f')), "size does not allow");
  std::string flipped = gzipped(good);
  flipped[flipped.size() - 6] ^= 1; // in the checksum
  EXPECT_BAD_INPUT(reading(flipped), "corrupt");
  EXPECT_BAD_INPUT(reading(idxImages(4, 2, 2)), "has 4 images");
  EXPECT_TRUE(reading(good).ok());
}

TEST(Idx, LabelOutOfRange) {
  TestDirectory directory;
  writeMnist(directory);
  EXPECT_BAD_INPUT(openData("mnist:" + directory.path, {{2, 2, 1}, 2}, 0),
                   "sample 1 has label 2, the model has classes 0 to 1");
}

TEST(OpenData, MissingSetsSayWhatToDo) {
  TestDirectory directory;
  ::setenv("GC_DATASETS", directory.path.c_str(), 1);
  EXPECT_BAD_INPUT(openData("fashion-mnist", grey2, 0), "dataset-fashion-mnist");
  EXPECT_BAD_INPUT(openData("fashion-mnist", grey2, 0), "--data=mnist:DIR");
  std::filesystem::create_directory(directory.file("fashion-mnist"));
  EXPECT_BAD_INPUT(openData("fashion-mnist", grey2, 0), "has no train-images-idx3-ubyte");
  ::unsetenv("GC_DATASETS");
  EXPECT_BAD_INPUT(openData("images:" + directory.file("none"), grey2, 0), "cannot open");
  EXPECT_BAD_INPUT(openData("nonsense", grey2, 0), "unknown data set 'nonsense'");
  EXPECT_BAD_INPUT(openData("cifar10:" + directory.path, grey2, 0), "has no data_batch_1.bin");
}

TEST(OpenData, GreyBecomesColourAndColourBecomesGrey) {
  TestDirectory directory;
  writeMnist(directory);
  auto data = openData("mnist:" + directory.path, {{2, 2, 3}, 10}, 0);
  ASSERT_TRUE(data.ok());
  std::vector<float> sample(12), scratch(data->train->scratchElements());
  ASSERT_TRUE(data->train->read(0, 0, 2, sample.data(), scratch.data()).ok());
  for (int pixel = 0; pixel < 4; ++pixel) {
    EXPECT_EQ(sample[3 * pixel], sample[3 * pixel + 1]);
    EXPECT_EQ(sample[3 * pixel], sample[3 * pixel + 2]);
  }
  EXPECT_NE(sample[0], sample[3]);
  ByteImages colour;
  colour.name = "colour";
  colour.count = colour.height = colour.width = 1;
  colour.channels = 3;
  colour.pixels = {1, 2, 3};
  colour.labels = {0};
  auto grey = makeImageDataset(colour, {{1, 1, 1}, 10}, {Normalization{{0}, {1}}});
  ASSERT_TRUE(grey.ok());
  scratch.resize((*grey)->scratchElements());
  ASSERT_TRUE((*grey)->read(0, 0, 1, sample.data(), scratch.data()).ok());
  EXPECT_EQ(sample[0], 2.0f / 255); // (19595 * 1 + 38470 * 2 + 7471 * 3 + 32768) >> 16
  EXPECT_BAD_INPUT(makeImageDataset(colour, {{1, 1, 4}, 10}), "3 channels, the model takes 4");
  EXPECT_BAD_INPUT(makeImageDataset(colour, {{8, 16}, 10}), "shape [8, 16]");
}

TEST(Cifar10, PlanesBecomeChannels) {
  TestDirectory directory;
  std::string record(1 + 3072, '\0');
  record[0] = 6;
  record[1] = static_cast<char>(255);           // red of pixel 0
  record[1 + 1024 + 1] = static_cast<char>(51); // green of pixel 1
  for (const char *name : {"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin",
                           "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"})
    directory.write(name, record + record);
  auto data = openData("cifar10:" + directory.path, {{32, 32, 3}, 10}, 0);
  ASSERT_TRUE(data.ok()) << data.error().message;
  EXPECT_EQ(data->train->size(), 10);
  EXPECT_EQ(data->test->size(), 2);
  EXPECT_EQ(data->train->label(9), 6);
  std::vector<float> sample(3072), scratch(data->train->scratchElements());
  ASSERT_TRUE(data->train->read(9, 0, 32, sample.data(), scratch.data()).ok());
  EXPECT_FLOAT_EQ(sample[0], 1);
  EXPECT_FLOAT_EQ(sample[1], -1);
  EXPECT_FLOAT_EQ(sample[4], -0.6f);
  directory.write("data_batch_3.bin", record + "x");
  EXPECT_BAD_INPUT(readCifar(CifarKind::Cifar10, directory.path, true), "no multiple of 3073");
}

TEST(Resize, MatchesTorchInterpolate) {
  // torch.nn.functional.interpolate(x, size, mode="bilinear", align_corners=False) of
  // x = arange(12).reshape(3, 4) ** 2, computed once with PyTorch 2.
  struct Case {
    int64_t height, width;
    std::vector<double> expected;
  } cases[] = {{5, 7, {0,          0.357142895, 0.928571463, 2.50000048, 4.35714388, 7.2142868,
                       9,          6.40000057,  7.90000057,  10.3000011, 13.7000017, 17.3857174,
                       22.0714321, 25.0000019,  16,          19.2142868, 24.3571434, 30.5,
                       36.9285736, 44.3571434,  49,          44.8000069, 49.7285767, 57.614296,
                       66.5000076, 75.6714401,  85.842865,   92.2000122, 64,         70.0714188,
                       79.7857132, 90.5000076,  101.5,       113.5,      121.000008}},
               {2, 3, {4.5, 9.5, 17.833334, 54.5, 75.5, 99.8333359}},
               {3, 4, {0, 1, 4, 9, 16, 25, 36, 49, 64, 81, 100, 121}},
               {6, 2, {0.5, 6.5, 5.5, 15.5, 15.5, 33.5, 33.5, 59.5, 59.5, 93.5, 72.5, 110.5}}};
  std::vector<uint8_t> image;
  for (int i = 0; i < 12; ++i)
    image.push_back(static_cast<uint8_t>(i * i));
  for (const Case &c : cases) {
    Resize resize(c.height, c.width, 1, Normalization());
    std::vector<ResizeTap> rowTaps(c.height), columnTaps(c.width);
    placeTaps(rowTaps, 3, {0, 3});
    placeTaps(columnTaps, 4, {0, 4});
    std::vector<float> out(c.expected.size()), scratch(resize.scratchElements());
    auto run = [&](int64_t begin, int64_t end, float *target) {
      MemoryRows source(image.data(), {3, 4, 1});
      ASSERT_TRUE(resize.run(source, rowTaps, columnTaps, begin, end, target, scratch.data()).ok());
    };
    run(0, c.height, out.data());
    // Ours interpolates normalized values in [-1, 1]: a few roundings of 2^-24, times 127.5.
    for (size_t i = 0; i < out.size(); ++i)
      EXPECT_NEAR((out[i] * 0.5 + 0.5) * 255, c.expected[i], 6e-5) << c.height << " " << i;
    // Row by row must be the same bits as all at once.
    std::vector<float> rows(out.size());
    for (int64_t y = c.height; y-- > 0;)
      run(y, y + 1, rows.data());
    EXPECT_EQ(rows, out);
  }
}

/// A batch file of two samples, C=2, H=1, W=2, labels as given.
static std::string batchFile(const std::string &imageType = "F32", int64_t label = 1,
                             const std::string &shape = "[2,2,1,2]") {
  return safetensorsBytes(
      R"({"label":{"dtype":"I64","shape":[2],"data_offsets":[0,16]},"image":{"dtype":")" +
          imageType + R"(","shape":)" + shape + R"(,"data_offsets":[16,48]}})",
      bytesOf<int64_t>({0, label}) + bytesOf<float>({0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(BatchFile, ChannelsGoLast) {
  TestDirectory directory;
  auto data = openData(directory.write("b.safetensors", batchFile()), {{1, 2, 2}, 10}, 0);
  ASSERT_TRUE(data.ok()) << data.error().message;
  EXPECT_EQ(data->train->size(), 2);
  EXPECT_FALSE(data->test);
  EXPECT_EQ(data->train->label(1), 1);
  std::vector<float> sample(4), scratch(data->train->scratchElements());
  ASSERT_TRUE(data->train->read(1, 0, 1, sample.data(), scratch.data()).ok());
  EXPECT_EQ(sample, (std::vector<float>{4, 6, 5, 7}));
}

TEST(BatchFile, OtherShapesAreTakenAsTheyAre) {
  TestDirectory directory;
  auto data =
      openData(directory.write("b.safetensors", batchFile("F32", 1, "[2,2,2]")), {{2, 2}, 10}, 0);
  ASSERT_TRUE(data.ok()) << data.error().message;
  std::vector<float> sample(4);
  ASSERT_TRUE(data->train->read(1, 0, 1, sample.data(), nullptr).ok());
  EXPECT_EQ(sample, (std::vector<float>{4, 5, 6, 7}));
}

TEST(BatchFile, RefusesWhatDoesNotFit) {
  TestDirectory directory;
  auto open = [&](const std::string &bytes, ModelInput input = {{1, 2, 2}, 10}) {
    return openData(directory.write("b.safetensors", bytes), input, 0);
  };
  EXPECT_BAD_INPUT(open(batchFile(), {{4, 4, 3}, 10}),
                   "image is F32 [2, 2, 1, 2], the model takes F32 [2, 3, 4, 4]");
  EXPECT_BAD_INPUT(open(batchFile("I32")), "image is I32 [2, 2, 1, 2], the model takes F32");
  EXPECT_BAD_INPUT(open(batchFile("F32", 10)),
                   "sample 1 has label 10, the model has classes 0 to 9");
  EXPECT_BAD_INPUT(open(batchFile("F32", -1)), "sample 1 has label -1");
  EXPECT_BAD_INPUT(open(safetensorsBytes("{}")), "no tensor 'image'");
  EXPECT_BAD_INPUT(openData(directory.file("none.safetensors"), grey2, 0), "cannot open");
}

TEST(Synthetic, IsDeterministicAndNormal) {
  ModelInput input{{32, 32, 3}, 10};
  auto a = openData("synthetic", input, 1), b = openData("synthetic", input, 1),
       c = openData("synthetic", input, 2);
  ASSERT_TRUE(a.ok() && b.ok() && c.ok());
  std::vector<float> x(3072), y(3072), z(3072), w(3072);
  ASSERT_TRUE(a->train->read(5, 0, 32, x.data(), nullptr).ok());
  ASSERT_TRUE(b->train->read(5, 0, 32, y.data(), nullptr).ok());
  ASSERT_TRUE(c->train->read(5, 0, 32, z.data(), nullptr).ok());
  ASSERT_TRUE(a->train->read(6, 0, 32, w.data(), nullptr).ok());
  EXPECT_EQ(x, y);
  EXPECT_NE(x, z);
  EXPECT_NE(x, w);
  double mean = 0, square = 0;
  for (float value : x) {
    mean += value / 3072;
    square += value * value / 3072;
  }
  EXPECT_NEAR(mean, 0, 5 / std::sqrt(3072.0));
  EXPECT_NEAR(square, 1, 5 * std::sqrt(2 / 3072.0));
  std::vector<int> counts(10);
  for (int64_t i = 0; i < 10000; ++i)
    counts.at(a->train->label(i)) += 1;
  for (int count : counts)
    EXPECT_NEAR(count, 1000, 5 * 30); // five standard deviations of a binomial
}
