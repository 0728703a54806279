#include "runtime/data/ImageFolder.h"
#include "runtime/data/ImageDataset.h"
#include "runtime/data/OpenData.h"
#include "test/runtime/io/ImageFiles.h"
#include "test/runtime/io/LoadedEpochs.h"
#include "test/runtime/io/TestFiles.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace gc::runtime;

namespace {

const std::string redPng = pngBytes(plainImage(2, 2, {255, 0, 0}));
const ModelInput colour2{{2, 2, 3}, 0};

Result<DataSource> openImages(const TestDirectory &directory, const ModelInput &input,
                              const std::string &normalize = "none") {
  DataOptions options;
  options.data = "images:" + directory.path;
  options.normalize = normalize;
  return openData(options, input, 0);
}

/// A sample as it goes to the model, or why it does not.
Result<std::vector<float>> readSample(const Dataset &data, const ModelInput &input,
                                      int64_t index = 0) {
  std::vector<float> sample(static_cast<size_t>(input.sampleElements()), -9);
  std::vector<float> scratch(data.scratchElements());
  EXPECT_EQ(data.rows(), 1);
  if (Status done = data.read(index, 0, 1, sample.data(), scratch.data()); !done)
    return done.error();
  return sample;
}

/// The only image of a folder.
Result<std::vector<float>> readImage(const std::string &name, const std::string &bytes,
                                     const ModelInput &input = colour2,
                                     const std::string &normalize = "none") {
  TestDirectory directory;
  writeBelow(directory, "class/" + name, bytes);
  Result<DataSource> data = openImages(directory, input, normalize);
  if (!data)
    return data.error();
  EXPECT_TRUE(data->train->mayHaveBadSamples());
  return readSample(*data->train, input);
}

void expectColour(const Result<std::vector<float>> &sample, std::vector<float> colour,
                  float tolerance = 0) {
  ASSERT_TRUE(sample.ok()) << sample.error().message;
  for (size_t i = 0; i < (*sample).size(); ++i)
    ASSERT_NEAR((*sample)[i], colour[i % colour.size()], tolerance) << i;
}

} // namespace

TEST(ImageFolder, ClassesAndFilesAreInTorchvisionsOrder) {
  TestDirectory directory;
  for (const char *name : {"b/2.png", "b/10.PNG", "b/sub/1.jpeg", "B/x.jpg", "a/y.png", "b/1.png"})
    writeBelow(directory, name, redPng);
  writeBelow(directory, "b/notes.txt", "not an image");
  writeBelow(directory, "readme.md", "not a class");
  Result<ImageFolder> folder = openImageFolder(directory.path);
  ASSERT_TRUE(folder.ok()) << folder.error().message;
  EXPECT_EQ(folder->classes, (std::vector<std::string>{"B", "a", "b"}));
  EXPECT_EQ(folder->others, 1u);
  std::vector<std::string> names;
  std::vector<int64_t> labels;
  for (int64_t i = 0; i < folder->images->size(); ++i) {
    names.push_back(folder->images->sampleName(i));
    labels.push_back(folder->images->label(i));
  }
  std::vector<std::string> expected;
  for (const char *name : {"B/x.jpg", "a/y.png", "b/1.png", "b/10.PNG", "b/2.png", "b/sub/1.jpeg"})
    expected.push_back("'" + directory.file(name) + "'");
  EXPECT_EQ(names, expected);
  EXPECT_EQ(labels, (std::vector<int64_t>{0, 1, 2, 2, 2, 2}));
}

TEST(ImageFolder, SplitsHaveTheLabelsOfTheTrainingSplit) {
  TestDirectory directory;
  for (const char *name : {"train/a/1.png", "train/b/1.png", "train/c/1.png", "test/c/1.png"})
    writeBelow(directory, name, redPng);
  auto data = openImages(directory, {{2, 2, 3}, 3});
  ASSERT_TRUE(data.ok()) << data.error().message;
  EXPECT_CONTAINS(data->description, "3 train, 1 test samples of 3 classes");
  EXPECT_EQ(data->classes, (std::vector<std::string>{"a", "b", "c"}));
  ASSERT_TRUE(data->test);
  EXPECT_EQ(data->test->label(0), 2);
  writeBelow(directory, "val/b/1.png", redPng); // comes before test
  data = openImages(directory, {{2, 2, 3}, 3});
  ASSERT_TRUE(data.ok());
  EXPECT_EQ(data->test->label(0), 1);
  writeBelow(directory, "val/d/1.png", redPng);
  EXPECT_BAD_INPUT(openImages(directory, {{2, 2, 3}, 3}),
                   "has a class 'd', which is none of the 3 of the training split");
}

TEST(ImageFolder, HasAValidationSplitOfItsOwn) {
  TestDirectory directory;
  for (const char *name :
       {"train/a/1.png", "train/b/1.png", "val/a/1.png", "val/b/1.png", "test/b/1.png"})
    writeBelow(directory, name, redPng);
  DataOptions options;
  options.data = "images:" + directory.path;
  options.validation = "own";
  auto data = openData(options, {{2, 2, 3}, 2}, 0);
  ASSERT_TRUE(data.ok()) << data.error().message;
  EXPECT_EQ(data->validation->size(), 2);
  EXPECT_EQ(data->test->size(), 1);
  EXPECT_CONTAINS(data->description, "2 train, 2 validation, 1 test samples of 2 classes");
  options.validation = "1";
  data = openData(options, {{2, 2, 3}, 2}, 0);
  ASSERT_TRUE(data.ok()) << data.error().message;
  EXPECT_EQ(data->train->size(), 1);
  EXPECT_EQ(data->validation->size(), 1);
  EXPECT_EQ(data->test->size(), 2) << "DIR/val, as without --validation";
  std::filesystem::remove_all(directory.file("val"));
  options.validation = "own";
  EXPECT_BAD_INPUT(openData(options, {{2, 2, 3}, 2}, 0), "has no validation split of its own");
}

TEST(ImageFolder, RefusesWhatIsNoDataSet) {
  TestDirectory directory;
  EXPECT_BAD_INPUT(openImages(directory, colour2), "has no folders; --data=images:DIR needs one");
  writeBelow(directory, "a/1.png", redPng);
  writeBelow(directory, "b/1.txt", "");
  EXPECT_BAD_INPUT(openImages(directory, colour2), "class 'b' has no image");
  writeBelow(directory, "b/1.png", redPng);
  EXPECT_BAD_INPUT(openImages(directory, {{2, 2, 3}, 10}),
                   "has 2 classes (a, b …), the model has 10; generate it with gc-gen --classes=2");
  EXPECT_BAD_INPUT(openImages(directory, {{2, 2, 4}, 2}), "3 channels, the model takes 4");
  EXPECT_BAD_INPUT(openImages(directory, {{8, 2}, 2}), "a sample of this model has the shape");
}

TEST(EncodedImage, EveryKindBecomesColour) {
  expectColour(readImage("x.png", redPng), {1, 0, 0});
  expectColour(readImage("x.jpg", redPng), {1, 0, 0}); // told by content
  expectColour(readImage("x.png", pngBytes(plainImage(2, 2, {51}))), {0.2f});
  expectColour(readImage("x.png", pngBytes(plainImage(2, 2, {51, 7}))), {0.2f});
  expectColour(readImage("x.png", pngBytes(plainImage(2, 2, {0, 51, 255, 9}))), {0, 0.2f, 1});
  expectColour(readImage("x.png", pngBytes(plainImage(2, 2, {0, 51, 255}), /*wide=*/true)),
               {0, 0.2f, 1});
  expectColour(readImage("x.png", palettePngBytes(plainImage(2, 2, {1}), {9, 9, 9, 255, 51, 0})),
               {1, 0.2f, 0});
  // JPEG rounds each channel of a plain colour by a few steps of 255.
  float steps = 3.0f / 255;
  expectColour(readImage("x.jpg", jpegBytes(plainImage(16, 16, {0, 51, 255}))), {0, 0.2f, 1},
               steps);
  expectColour(readImage("x.jpg", jpegBytes(plainImage(16, 16, {51}))), {0.2f}, steps);
  expectColour(readImage("x.jpg", jpegBytes(plainImage(16, 16, {0, 51, 255}), true)), {0, 0.2f, 1},
               steps);
  // Ink as Adobe writes it, inverted: light of 255 * 255 / 255, 51 * 255 / 255, 102 * 255 / 255.
  expectColour(readImage("x.jpg", jpegBytes(plainImage(16, 16, {255, 51, 102, 255}))),
               {1, 0.2f, 0.4f}, steps);
}

TEST(EncodedImage, InterlacedIsTheSameAsPlain) {
  TestImage image = waveImage(37, 23, 3, 1);
  ModelInput input{{11, 13, 3}, 0};
  auto plain = readImage("x.png", pngBytes(image), input);
  auto interlaced = readImage("x.png", pngBytes(image, false, true), input);
  ASSERT_TRUE(plain.ok() && interlaced.ok());
  EXPECT_EQ(*plain, *interlaced);
}

TEST(EncodedImage, BecomesGreyForAGreyModel) {
  // (19595 * 255 + 38470 * 51 + 32768) >> 16 = 106
  expectColour(readImage("x.png", pngBytes(plainImage(2, 2, {255, 51, 0})), {{2, 2, 1}, 0}),
               {106.0f / 255});
}

TEST(EncodedImage, OnePixelFillsTheModel) {
  expectColour(readImage("x.png", pngBytes(plainImage(1, 1, {255, 51, 0})), {{5, 7, 3}, 0}),
               {1, 0.2f, 0});
  expectColour(readImage("x.jpg", jpegBytes(plainImage(1, 1, {102})), {{5, 7, 3}, 0}), {0.4f},
               3.0f / 255);
}

TEST(EncodedImage, IsResizedAsImagesInMemoryAre) {
  TestImage image = waveImage(40, 30, 3, 2);
  ModelInput input{{17, 50, 3}, 0};
  auto decoded = readImage("x.png", pngBytes(image), input, "imagenet");
  ASSERT_TRUE(decoded.ok());
  ByteImages bytes;
  bytes.count = 1;
  bytes.height = 40;
  bytes.width = 30;
  bytes.channels = 3;
  bytes.pixels = image.pixels;
  bytes.labels = {0};
  auto memory = makeImageDataset(bytes, input, {*parseNormalization("imagenet")});
  ASSERT_TRUE(memory.ok());
  std::vector<float> sample(decoded->size()), scratch((*memory)->scratchElements());
  ASSERT_TRUE((*memory)->read(0, 0, 17, sample.data(), scratch.data()).ok());
  EXPECT_EQ(sample, *decoded);
}

TEST(EncodedImage, LargeJpegsAreDecodedSmaller) {
  // Smooth, so that the mean of a block is near the value at its centre.
  TestImage image = waveImage(160, 320, 3, 3);
  ModelInput input{{40, 40, 3}, 0}; // 2/8 of the rows
  auto jpeg = readImage("x.jpg", jpegBytes(image), input);
  auto png = readImage("x.png", pngBytes(image), input);
  ASSERT_TRUE(jpeg.ok() && png.ok());
  double difference = 0;
  for (size_t i = 0; i < jpeg->size(); ++i)
    difference += std::abs((*jpeg)[i] - (*png)[i]) / static_cast<double>(jpeg->size());
  EXPECT_LT(difference, 0.01);
  EXPECT_GT(difference, 0);
}

TEST(EncodedImage, DamageIsFoundAndNamed) {
  for (bool isJpeg : {true, false}) {
    std::string whole =
        isJpeg ? jpegBytes(waveImage(64, 64, 3, 1)) : pngBytes(waveImage(64, 64, 3, 1));
    ModelInput input{{64, 64, 3}, 0};
    for (size_t length = 0; length + 60 < whole.size(); length += 37) {
      auto sample = readImage("broken.jpg", whole.substr(0, length), input);
      EXPECT_BAD_INPUT(sample, "class/broken.jpg' cannot be used: it is");
      EXPECT_CONTAINS(sample.error().message, length == 0  ? "it is empty"
                                              : length < 8 ? "it is "
                                                           : "it is truncated");
    }
  }
  EXPECT_BAD_INPUT(readImage("a.png", "GIF89a......"),
                   "it is neither JPEG nor PNG: it begins with 474946383961");
  // JPEGs of 12 and of 16 bits, by the byte behind the marker of their frame.
  for (char bits : {12, 16}) {
    std::string deep = jpegBytes(waveImage(64, 64, 3, 1));
    deep[deep.find("\xff\xc0") + 4] = bits;
    auto sample = readImage("deep.jpg", deep, {{64, 64, 3}, 0});
    EXPECT_BAD_INPUT(sample, "class/deep.jpg' cannot be used");
    EXPECT_CONTAINS(sample.error().message, "precision " + std::to_string(bits));
  }
  std::string flipped = pngBytes(waveImage(64, 64, 3, 1));
  flipped[flipped.size() / 2] ^= 1;
  EXPECT_BAD_INPUT(readImage("a.png", flipped, {{64, 64, 3}, 0}), "it is damaged");
  std::string huge = pngBytes(plainImage(1, 1, {7}));
  huge[16 + 2] = huge[16 + 3] = '\xff'; // its width; the header's checksum is wrong then, too
  EXPECT_BAD_INPUT(readImage("a.png", huge), "it is damaged");
}

TEST(EncodedImage, RandomDamageNeverCrashes) {
  for (std::string whole :
       {jpegBytes(waveImage(24, 24, 3, 1)), jpegBytes(waveImage(24, 24, 1, 1), true),
        pngBytes(waveImage(24, 24, 3, 1))}) {
    TestDirectory directory;
    writeBelow(directory, "c/x.jpg", whole);
    auto data = openImages(directory, {{24, 24, 3}, 0});
    ASSERT_TRUE(data.ok());
    for (size_t i = 0; i < 400; ++i) {
      std::string damaged = whole;
      for (size_t k = 0; k < 1 + i % 3; ++k)
        damaged[(i * 7919 + k * 104729) % damaged.size()] ^= static_cast<char>(1 + i % 255);
      writeBelow(directory, "c/x.jpg", damaged);
      auto sample = readSample(*data->train, {{24, 24, 3}, 0});
      EXPECT_TRUE(sample.ok() || sample.error().exitCode() == 2);
    }
  }
}

TEST(ImageFolder, FingerprintSeesNamesAndContentButNotThePlace) {
  auto print = [](const std::string &name, const std::string &bytes,
                  const std::string &normalize = "") {
    TestDirectory directory;
    writeBelow(directory, name, bytes);
    return *openImages(directory, colour2, normalize)->train->fingerprint();
  };
  std::string other = pngBytes(plainImage(2, 2, {254, 0, 0}));
  EXPECT_EQ(print("a/1.png", redPng), print("a/1.png", redPng));
  EXPECT_NE(print("a/1.png", redPng), print("a/2.png", redPng));
  EXPECT_NE(print("a/1.png", redPng), print("a/1.png", other));
  EXPECT_NE(print("a/1.png", redPng), print("a/1.png", redPng, "imagenet"));
  EXPECT_EQ(print("a/1.png", redPng), print("a/1.png", redPng, "0.5:0.5"));
}

TEST(BadSamples, AreNamedOrLeftOut) {
  TestDirectory directory;
  for (int i = 0; i < 10; ++i)
    writeBelow(directory, "a/" + std::to_string(i) + ".jpg", jpegBytes(waveImage(9, 9, 3, i)));
  writeBelow(directory, "b/3.jpg", "");
  writeBelow(directory, "b/4.jpg", jpegBytes(waveImage(9, 9, 3, 1)).substr(0, 400));
  ModelInput input{{8, 8, 3}, 2};
  auto data = openImages(directory, input);
  ASSERT_TRUE(data.ok());
  LoadedEpochs reference;
  for (int workers : {0, 1, 2, 4}) {
    EXPECT_CONTAINS(loadTwoEpochs(*data->train, input, 4, workers).failure,
                    "cannot be used: it is ");
    EXPECT_CONTAINS(loadTwoEpochs(*data->train, input, 4, workers).failure,
                    "leave such samples out with --on-bad-sample=skip");
    BadSamples bad;
    testing::internal::CaptureStderr();
    LoadedEpochs all = loadTwoEpochs(*data->train, input, 4, workers, &bad);
    std::string told = testing::internal::GetCapturedStderr();
    ASSERT_EQ(all.failure, "");
    EXPECT_EQ(bad.samples(), 2u);
    EXPECT_EQ(bad.times(), 4u); // two epochs
    EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 2) << told;
    EXPECT_CONTAINS(told, "b/3.jpg' cannot be used: it is empty");
    EXPECT_EQ(std::count(all.labels.begin(), all.labels.end(), -1), 4);
    EXPECT_EQ(std::count(all.labels.begin(), all.labels.end(), 0), 20);
    EXPECT_EQ(std::accumulate(all.valid.begin(), all.valid.end(), int64_t{0}), 20);
    for (size_t i = 0; i < all.labels.size(); ++i)
      if (all.labels[i] < 0) {
        auto begin = all.images.begin() + static_cast<long>(i * 192);
        ASSERT_EQ(std::count(begin, begin + 192, 0.0f), 192);
      }
    if (reference.labels.empty())
      reference = all;
    EXPECT_EQ(all.images, reference.images) << workers;
    EXPECT_EQ(all.labels, reference.labels) << workers;
  }
}

TEST(Normalization, IsParsedOrRefused) {
  EXPECT_EQ(parseNormalization("0.5:0.5").ok() && *parseNormalization("half") == Normalization(),
            true);
  EXPECT_EQ(*parseNormalization("0.485,0.456,0.406:0.229,0.224,0.225"),
            *parseNormalization("imagenet"));
  EXPECT_BAD_INPUT(parseNormalization("imagnet"), "did you mean 'imagenet'?");
  EXPECT_BAD_INPUT(parseNormalization("0.5:"), "'' is not a list of numbers");
  EXPECT_BAD_INPUT(parseNormalization("0.5:1x"), "'1x' is not a list of numbers");
  EXPECT_BAD_INPUT(parseNormalization("0.5:nan"), "'nan' is not a list of numbers");
  EXPECT_BAD_INPUT(parseNormalization("0.5,0.5:1"), "2 means and 1 deviations");
  EXPECT_BAD_INPUT(parseNormalization("0.5:0"), "a deviation of 0");
  EXPECT_BAD_INPUT(parseNormalization("1:2:3"), "more than one ':'");
  EXPECT_BAD_INPUT(readImage("x.png", redPng, {{2, 2, 1}, 0}, "imagenet"),
                   "values for 3 channels, the model takes 1");
  DataOptions options;
  options.normalize = "none";
  EXPECT_BAD_INPUT(openData(options, colour2, 0), "--normalize has no effect on 'synthetic'");
}

TEST(TestData, ComesFromAnotherPlace) {
  TestDirectory train, test;
  for (const char *name : {"a/1.png", "b/1.png"})
    writeBelow(train, name, redPng);
  writeBelow(test, "b/1.png", redPng);
  DataOptions options;
  options.data = "images:" + train.path;
  options.testData = "images:" + test.path;
  auto data = openData(options, {{2, 2, 3}, 2}, 0);
  ASSERT_TRUE(data.ok()) << data.error().message;
  ASSERT_TRUE(data->test);
  EXPECT_EQ(data->test->size(), 1);
  EXPECT_EQ(data->test->label(0), 1); // by the names of the training split
  EXPECT_CONTAINS(data->description, "tested on 1 samples of images:");
  writeBelow(test, "z/1.png", redPng);
  EXPECT_BAD_INPUT(openData(options, {{2, 2, 3}, 2}, 0), "--test-data: '");
  options.testData = "nonsense";
  EXPECT_BAD_INPUT(openData(options, {{2, 2, 3}, 2}, 0), "--test-data: unknown data set");
}
