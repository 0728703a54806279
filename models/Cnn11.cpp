//===- Cnn11.cpp - eleven convolutions at full resolution -----------------===//
//
// Every block is [conv 5x5, ReLU, max-pool]; the pools are 1x1, which is nothing, but for the last.
// The weight file is flattened in H, W, C order like our tensors.
//
//===----------------------------------------------------------------------===//
#include "models/CheckSizes.h"
#include "models/ModelBuilder.h"

using namespace mlir;

namespace gc::models {

Network buildCnn11(MLIRContext &context, const Cnn11Options &options) {
  if (auto error = checkSizes(
          {{"image", options.image, 2}, {"batch", options.batch}, {"classes", options.classes}}))
    return error;
  if (options.image % 2 != 0)
    return badSize("--image=" + llvm::Twine(options.image) +
                   " is odd, and the last pool halves it: use an even size");

  ModelBuilder model(context, "cnn11", options.classes,
                     {options.batch, options.image, options.image, 1});
  Value x = model.input();
  int64_t i = 0;
  for (int64_t outputs : {10, 20, 40, 60, 40, 40, 40, 40, 40, 20, 20}) {
    std::string block = "blocks." + std::to_string(i++);
    x = model.conv(block + ".conv", x, {.outputs = outputs, .kernel = 5, .padding = 2});
    x = model.relu(block + ".relu", x);
  }
  x = model.maxPool("blocks.10.pool", x, {.kernel = 2, .stride = 2});
  x = model.flatten("flatten", x);
  x = model.relu("relu", model.linear("fc1", x, 32));
  return model.finish(model.linear("fc2", x, options.classes));
}

} // namespace gc::models
