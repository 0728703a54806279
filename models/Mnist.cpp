//===- Mnist.cpp - a chain of halving convolutions ------------------------===//
//
// Channels 1, 8, 16, ..., 96 in steps of eight. An image of 3584 pixels a side walks through all
// twelve blocks; each halving of the image leaves out one block at the start, so that the last
// block always gives one pixel of 96 channels.
//
//===----------------------------------------------------------------------===//
#include "models/CheckSizes.h"
#include "models/ModelBuilder.h"

using namespace mlir;

namespace gc::models {

Network buildMnist(MLIRContext &context, const MnistOptions &options) {
  if (auto error = checkOneOf("image", options.image, {112, 224, 448, 896, 1792, 3584}))
    return error;
  if (auto error = checkSizes({{"batch", options.batch}, {"classes", options.classes}}))
    return error;
  bool grouped = options.norm == "group";
  if (!grouped && options.norm != "batch")
    return badSize("--norm=" + options.norm + " is not possible: use batch or group");
  if (!grouped)
    if (auto error = checkBatchNorm(options.batch, 1))
      return error;

  ModelBuilder model(context, "mnist", options.classes,
                     {options.batch, options.image, options.image, 1});
  Value x = model.input();
  int64_t blocks = 7;
  for (int64_t side = 112; side < options.image; side *= 2)
    ++blocks;
  for (int64_t i = 0; i < blocks; ++i) {
    std::string block = "blocks." + std::to_string(i);
    // Seven pixels do not halve: one more on each side makes nine, of which eight are used.
    int64_t padding = dimension(x, 1) == 7 ? 1 : 0;
    int64_t outputs = 8 * (12 - blocks + i + 1);
    x = model.conv(block + ".conv", x,
                   {.outputs = outputs, .kernel = 2, .stride = 2, .padding = padding});
    x = grouped ? model.groupNorm(block + ".norm", x, outputs / 8)
                : model.batchNorm(block + ".norm", x);
    x = model.relu(block + ".relu", x);
  }
  x = model.flatten("flatten", x);
  x = model.relu("relu", model.linear("fc1", x, 32));
  return model.finish(model.linear("fc2", x, options.classes));
}

} // namespace gc::models
