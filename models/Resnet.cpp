//===- Resnet.cpp - ResNet as torchvision has it --------------------------===//
//
// Version 1.5: in a bottleneck the 3x3 convolution has the stride, not the first 1x1.
//
//===----------------------------------------------------------------------===//
#include "models/CheckSizes.h"
#include "models/ModelBuilder.h"

using namespace mlir;

namespace gc::models {
namespace {

struct Depth {
  int64_t blocks[4];
  bool bottleneck;
};

Depth depthOf(int64_t depth) {
  switch (depth) {
  case 18:
    return {{2, 2, 2, 2}, false};
  case 34:
    return {{3, 4, 6, 3}, false};
  case 50:
    return {{3, 4, 6, 3}, true};
  case 101:
    return {{3, 4, 23, 3}, true};
  default:
    return {{3, 8, 36, 3}, true};
  }
}

/// A convolution without bias and its batch norm.
Value convNorm(ModelBuilder &model, const std::string &conv, const std::string &norm, Value x,
               ConvShape shape) {
  LayerInit init{kaimingNormal(shape.outputs * shape.kernel * shape.kernel), std::nullopt};
  return model.batchNorm(norm, model.conv(conv, x, shape, init));
}

/// One residual block; `width` is that of the 3x3 convolutions.
Value residualBlock(ModelBuilder &model, const std::string &block, Value x, int64_t width,
                    int64_t stride, bool bottleneck) {
  int64_t outputs = bottleneck ? 4 * width : width;
  auto layer = [&](Value from, int64_t index, ConvShape shape) {
    std::string number = std::to_string(index);
    return convNorm(model, block + ".conv" + number, block + ".bn" + number, from, shape);
  };
  Value y;
  if (bottleneck) {
    y = model.relu(block + ".relu1", layer(x, 1, {.outputs = width, .kernel = 1}));
    y = layer(y, 2, {.outputs = width, .kernel = 3, .stride = stride, .padding = 1});
    y = model.relu(block + ".relu2", y);
    y = layer(y, 3, {.outputs = outputs, .kernel = 1});
  } else {
    y = layer(x, 1, {.outputs = width, .kernel = 3, .stride = stride, .padding = 1});
    y = model.relu(block + ".relu1", y);
    y = layer(y, 2, {.outputs = width, .kernel = 3, .padding = 1});
  }
  if (stride != 1 || channels(x) != outputs)
    x = convNorm(model, block + ".downsample.0", block + ".downsample.1", x,
                 {.outputs = outputs, .kernel = 1, .stride = stride});
  return model.relu(block + ".relu", model.add(block + ".add", y, x));
}

} // namespace

Network buildResnet(MLIRContext &context, const ResnetOptions &options) {
  if (auto error = checkOneOf("depth", options.depth, {18, 34, 50, 101, 152}))
    return error;
  if (auto error = checkSizes(
          {{"image", options.image}, {"batch", options.batch}, {"classes", options.classes}}))
    return error;
  // Five strides of two, each rounding up.
  if (auto error = checkBatchNorm(options.batch, (options.image + 31) / 32))
    return error;

  ModelBuilder model(context, "resnet" + std::to_string(options.depth), options.classes,
                     {options.batch, options.image, options.image, 3});
  Value x = convNorm(model, "conv1", "bn1", model.input(),
                     {.outputs = 64, .kernel = 7, .stride = 2, .padding = 3});
  x = model.relu("relu", x);
  x = model.maxPool("maxpool", x, {.kernel = 3, .stride = 2, .padding = 1});
  Depth depth = depthOf(options.depth);
  for (int64_t stage = 0; stage < 4; ++stage)
    for (int64_t i = 0; i < depth.blocks[stage]; ++i) {
      std::string block = "layer" + std::to_string(stage + 1) + "." + std::to_string(i);
      int64_t stride = stage > 0 && i == 0 ? 2 : 1;
      x = residualBlock(model, block, x, int64_t(64) << stage, stride, depth.bottleneck);
    }
  x = model.globalAvgPool("avgpool", x);
  return model.finish(model.linear("fc", x, options.classes));
}

} // namespace gc::models
