//===- Vgg.cpp - VGG without batch norm, as torchvision has it ------------===//
//
// Names count the modules of torchvision's `features` and `classifier` sequences: a ReLU and a pool
// take a number too.
//
//===----------------------------------------------------------------------===//
#include "models/CheckSizes.h"
#include "models/ModelBuilder.h"

using namespace mlir;

namespace gc::models {

/// Convolutions in each of the five stages; a pool ends a stage.
static ArrayRef<int64_t> convolutions(int64_t depth) {
  static constexpr int64_t vgg11[] = {1, 1, 2, 2, 2}, vgg13[] = {2, 2, 2, 2, 2},
                           vgg16[] = {2, 2, 3, 3, 3}, vgg19[] = {2, 2, 4, 4, 4};
  switch (depth) {
  case 11:
    return vgg11;
  case 13:
    return vgg13;
  case 16:
    return vgg16;
  default:
    return vgg19;
  }
}

Network buildVgg(MLIRContext &context, const VggOptions &options) {
  if (auto error = checkOneOf("depth", options.depth, {11, 13, 16, 19}))
    return error;
  if (auto error = checkSizes(
          {{"image", options.image, 32}, {"batch", options.batch}, {"classes", options.classes}}))
    return error;
  if (!(options.dropout >= 0 && options.dropout < 1))
    return badSize("--dropout must be a probability, at least 0 and below 1");

  ModelBuilder model(context, "vgg" + std::to_string(options.depth), options.classes,
                     {options.batch, options.image, options.image, 3});
  Value x = model.input();
  int64_t index = 0;
  auto feature = [&] { return "features." + std::to_string(index++); };
  constexpr int64_t widths[] = {64, 128, 256, 512, 512};
  for (auto [width, count] : llvm::zip_equal(widths, convolutions(options.depth))) {
    for (int64_t i = 0; i < count; ++i) {
      x = model.conv(feature(), x, {.outputs = width, .kernel = 3, .padding = 1},
                     LayerInit{kaimingNormal(width * 9), constant(0.0)});
      x = model.relu(feature(), x);
    }
    x = model.maxPool(feature(), x, {.kernel = 2, .stride = 2});
  }

  constexpr int64_t side = 7, hidden = 4096;
  x = model.adaptiveAvgPool("avgpool", x, side);
  int64_t features = channels(x);
  x = model.flatten("flatten", x);
  LayerInit init{normal(0.01), constant(0.0)};
  // The file is flattened C, H, W; we are H, W, C.
  FileLayout layout{{hidden, features * side * side}, {hidden, features, side, side}, {0, 2, 3, 1}};
  x = model.relu("classifier.1", model.linear("classifier.0", x, hidden, init, &layout));
  x = model.dropout("classifier.2", x, options.dropout);
  x = model.relu("classifier.4", model.linear("classifier.3", x, hidden, init));
  x = model.dropout("classifier.5", x, options.dropout);
  return model.finish(model.linear("classifier.6", x, options.classes, init));
}

} // namespace gc::models
