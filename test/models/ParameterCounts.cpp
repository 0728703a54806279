//===- ParameterCounts.cpp - published sizes, to the last parameter --------===//
#include "models/Networks.h"
#include "models/VariableListing.h"
#include "gtest/gtest.h"

using namespace gc::models;

static int64_t parametersOf(const NetworkOptions &options) {
  mlir::MLIRContext context;
  Network network = buildNetwork(context, options);
  if (!network) {
    ADD_FAILURE() << llvm::toString(network.takeError());
    return -1;
  }
  return countParameters(**network);
}

TEST(ParameterCounts, Resnet) {
  EXPECT_EQ(parametersOf(ResnetOptions{.depth = 18}), 11'689'512);
  EXPECT_EQ(parametersOf(ResnetOptions{.depth = 34}), 21'797'672);
  EXPECT_EQ(parametersOf(ResnetOptions{.depth = 50}), 25'557'032);
  EXPECT_EQ(parametersOf(ResnetOptions{.depth = 101}), 44'549'160);
  EXPECT_EQ(parametersOf(ResnetOptions{.depth = 152}), 60'192'808);
}

TEST(ParameterCounts, Vgg) { EXPECT_EQ(parametersOf(VggOptions{.depth = 16}), 138'357'544); }

TEST(ParameterCounts, Vit) {
  EXPECT_EQ(parametersOf(VitOptions{.size = "tiny"}), 5'717'416);
  EXPECT_EQ(parametersOf(VitOptions{.size = "small"}), 22'050'664);
  EXPECT_EQ(parametersOf(VitOptions{.size = "base"}), 86'567'656);
  EXPECT_EQ(parametersOf(VitOptions{.size = "base", .classes = 10}), 85'806'346);
}

TEST(ParameterCounts, Cnn11) { EXPECT_EQ(parametersOf(Cnn11Options{}), 10'821'742); }

TEST(ParameterCounts, Encoder) { EXPECT_EQ(parametersOf(EncoderOptions{}), 18'919'434); }

TEST(ParameterCounts, Mnist) {
  EXPECT_EQ(parametersOf(MnistOptions{.image = 112}), 133'650);
  EXPECT_EQ(parametersOf(MnistOptions{.image = 3584}), 151'770);
  // Both norms have a weight and a bias a channel.
  EXPECT_EQ(parametersOf(MnistOptions{.image = 112, .norm = "group"}), 133'650);
}

// Weights do not depend on the batch, nor on the image where the head sees a pooled one.
TEST(ParameterCounts, DoNotDependOnBatchOrPooledImage) {
  EXPECT_EQ(parametersOf(ResnetOptions{.depth = 18, .image = 64, .batch = 2}), 11'689'512);
  for (int64_t image : {32, 64, 96, 448})
    EXPECT_EQ(parametersOf(VggOptions{.depth = 16, .image = image, .batch = 1}), 138'357'544);
}
