#include "tools/calibration/CalibrationNetworks.h"

#include "models/ModelBuilder.h"
#include "llvm/Support/raw_ostream.h"

using namespace gc::models;
using mlir::Value;

/// ResNet-50 with one block a stage: convolutions 7x7, 1x1, 3x3 and strided, batch norm, max-pool,
/// residual additions. Blocks that repeat would tell nothing new.
static Network bottlenecks(mlir::MLIRContext &context) {
  ModelBuilder model(context, "bottlenecks", /*classes=*/1000, {4, 224, 224, 3});
  auto convNorm = [&](const std::string &name, Value x, ConvShape shape) {
    LayerInit init{kaimingNormal(shape.outputs * shape.kernel * shape.kernel), std::nullopt};
    return model.batchNorm(name + ".bn", model.conv(name, x, shape, init));
  };
  Value x =
      convNorm("stem", model.input(), {.outputs = 64, .kernel = 7, .stride = 2, .padding = 3});
  x = model.maxPool("pool", model.relu("relu", x), {.kernel = 3, .stride = 2, .padding = 1});
  for (int64_t stage = 0; stage < 4; ++stage) {
    std::string block = "block" + std::to_string(stage);
    int64_t width = int64_t(64) << stage, stride = stage ? 2 : 1;
    Value y = convNorm(block + ".conv1", x, {.outputs = width, .kernel = 1});
    y = convNorm(block + ".conv2", model.relu(block + ".relu1", y),
                 {.outputs = width, .kernel = 3, .stride = stride, .padding = 1});
    y = convNorm(block + ".conv3", model.relu(block + ".relu2", y),
                 {.outputs = 4 * width, .kernel = 1});
    x = convNorm(block + ".short", x, {.outputs = 4 * width, .kernel = 1, .stride = stride});
    x = model.relu(block + ".relu", model.add(block + ".add", y, x));
  }
  return model.finish(model.linear("fc", model.globalAvgPool("mean", x), 1000));
}

/// One layer of ViT-S, with dropout: matrix products, attention, GELU, layer norm.
static Network transformer(mlir::MLIRContext &context) {
  constexpr int64_t width = 384;
  constexpr double epsilon = 1e-6;
  ModelBuilder model(context, "transformer", /*classes=*/1000, {8, 224, 224, 3});
  Value x = model.patchEmbed("patches", model.input(), 16, width);
  Value y = model.linear("qkv", model.layerNorm("norm1", x, epsilon), 3 * width);
  y = model.linear("projection", model.attention("attention", y, /*heads=*/6), width);
  x = model.add("add1", x, model.dropout("dropout", y, 0.1));
  y = model.linear("up", model.layerNorm("norm2", x, epsilon), 4 * width);
  x = model.add("add2", x, model.linear("down", model.gelu("gelu", y), width));
  x = model.globalAvgPool("mean", model.layerNorm("norm3", x, epsilon));
  return model.finish(model.linear("head", x, 1000));
}

std::vector<std::string> calibrationNetworks() {
  auto print = [](const auto &build) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    Network network = build(context);
    std::string text;
    llvm::raw_string_ostream out(text);
    (*llvm::cantFail(std::move(network)))->print(out, mlir::OpPrintingFlags().enableDebugInfo());
    return text;
  };
  auto large = [](auto &context) { return buildMnist(context, {.image = 224, .batch = 32}); };
  auto idleLanes = [](auto &context) { return buildCnn11(context, {.image = 32, .batch = 8}); };
  // Large images with few channels come third; last, channels that leave vector lanes idle.
  return {print(bottlenecks), print(transformer), print(large), print(idleLanes)};
}
