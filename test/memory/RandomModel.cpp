//===- RandomModel.cpp - random small networks ----------------------------===//
#include "test/memory/RandomModel.h"
#include "models/ModelBuilder.h"

using namespace mlir;
using gc::models::ModelBuilder;

namespace gc::test {
namespace {

constexpr int64_t batch = 8, classes = 10;

class ModelGenerator {
public:
  explicit ModelGenerator(std::mt19937 &random)
      : random(random), side(8 + 4 * draw(3)),
        model(context, "random", classes, {batch, side, side, 3}) {}
  ModelGenerator(std::mt19937 &random, int64_t side)
      : random(random), side(side), model(context, "random", classes, {batch, side, side, 3}) {}

  std::string run() {
    x = model.input();
    onImage();
    if (draw(2))
      onTokens();
    else
      x = model.globalAvgPool(name("pool"), x);
    onVectors();
    return text();
  }

  std::string runDeep(int64_t depth) {
    x = model.input();
    x = model.conv(name("stem"), x, {.outputs = width(), .kernel = 3, .stride = 1, .padding = 1});
    int64_t onImages = depth / 2 + draw(static_cast<unsigned>(depth / 2));
    for (int64_t made = 1; made < onImages;)
      made += draw(2) ? equalBlocks() : onImage(1 + draw(3));
    if (onImages < depth)
      onTokens((depth - onImages + 1) / 2);
    else
      x = model.globalAvgPool(name("pool"), x);
    return text();
  }

private:
  std::string text() {
    models::Network network = model.finish(model.linear(name("classes"), x, classes));
    if (!network)
      llvm::report_fatal_error(network.takeError());
    std::string text;
    llvm::raw_string_ostream out(text);
    (*network)->print(out, OpPrintingFlags().enableDebugInfo());
    return text;
  }

  int64_t draw(unsigned below) { return random() % below; }
  std::string name(const char *layer) { return layer + std::to_string(layers++); }
  int64_t width() { return 8 * (1 + draw(3)); }

  void activate() { x = draw(2) ? model.relu(name("relu"), x) : model.gelu(name("gelu"), x); }
  void perhapsDrop() {
    if (draw(6) == 0)
      x = model.dropout(name("dropout"), x, 0.25);
  }
  // Values of the present size from before, if there are any.
  void perhapsSkip() {
    SmallVector<Value> fitting;
    for (Value value : earlier)
      if (value != x && value.getType() == x.getType())
        fitting.push_back(value);
    if (!fitting.empty() && draw(2))
      x = model.add(name("add"), x, fitting[draw(fitting.size())]);
    earlier.push_back(x);
  }

  void onImage() { onImage(2 + draw(4)); }
  // Returns the number of blocks, each with a convolution.
  int64_t onImage(int64_t blocks) {
    for (int64_t i = 0; i < blocks; ++i) {
      int64_t outputs = i && draw(2) ? models::channels(x) : width();
      bool halved = models::dimension(x, 1) >= 8 && draw(3) == 0;
      x = draw(3)
              ? model.conv(name("conv"), x,
                           {.outputs = outputs, .kernel = 3, .stride = 1 + halved, .padding = 1})
              : model.conv(name("conv"), x, {.outputs = outputs, .kernel = 1});
      if (int64_t kind = draw(3); kind == 0)
        x = model.batchNorm(name("norm"), x);
      else if (kind == 1)
        x = model.groupNorm(name("norm"), x, 4);
      if (draw(4))
        activate();
      perhapsDrop();
      perhapsSkip();
      if (models::dimension(x, 1) >= 8 && draw(3) == 0)
        x = model.maxPool(name("pool"), x, {.kernel = 2, .stride = 2});
    }
    return blocks;
  }

  // Residual blocks of the same kind, of one to three convolutions each. Returns the number of
  // convolutions.
  int64_t equalBlocks() {
    int64_t blocks = 2 + draw(6), convolutions = 1 + draw(3), channels = models::channels(x);
    int64_t inner = draw(2) ? channels : width();
    bool hasBatchNorm = draw(2), hasGelu = draw(2);
    for (int64_t block = 0; block < blocks; ++block) {
      Value before = x;
      for (int64_t i = 0; i < convolutions; ++i) {
        bool isLast = i + 1 == convolutions;
        x = model.conv(
            name("conv"), x,
            {.outputs = isLast ? channels : inner, .kernel = 3, .stride = 1, .padding = 1});
        x = hasBatchNorm ? model.batchNorm(name("norm"), x) : model.groupNorm(name("norm"), x, 4);
        if (!isLast)
          x = hasGelu ? model.gelu(name("gelu"), x) : model.relu(name("relu"), x);
      }
      x = model.relu(name("relu"), model.add(name("add"), x, before));
    }
    return blocks * convolutions;
  }

  void onTokens() { onTokens(1 + draw(2)); }
  void onTokens(int64_t blocks) {
    int64_t tokens = models::dimension(x, 1) * models::dimension(x, 2);
    x = model.reshape(name("tokens"), x, {batch, tokens, models::channels(x)});
    for (int64_t i = 0; i < blocks; ++i) {
      int64_t width = models::channels(x);
      Value before = x;
      x = model.layerNorm(name("norm"), x, 1e-5);
      if (draw(2)) {
        x = model.linear(name("qkv"), x, 3 * width);
        x = model.attention(name("attention"), x, 2);
      } else {
        x = model.linear(name("up"), x, 2 * width);
        activate();
      }
      perhapsDrop();
      x = model.add(name("add"), model.linear(name("down"), x, width), before);
    }
    x = model.slice(name("first"), x, 1, 0, 1);
    x = model.reshape(name("vectors"), x, {batch, models::channels(x)});
  }

  void onVectors() {
    earlier.clear();
    for (int64_t i = 0, blocks = draw(3); i < blocks; ++i) {
      x = model.linear(name("linear"), x, draw(2) ? models::channels(x) : width());
      if (draw(2))
        x = model.layerNorm(name("norm"), x, 1e-5);
      activate();
      perhapsDrop();
      perhapsSkip();
    }
  }

  std::mt19937 &random;
  MLIRContext context{MLIRContext::Threading::DISABLED};
  int64_t side;
  ModelBuilder model;
  Value x;
  std::vector<Value> earlier;
  int layers = 0;
};

} // namespace

std::string randomModel(std::mt19937 &random) { return ModelGenerator(random).run(); }

std::string randomDeepModel(std::mt19937 &random, int64_t depth) {
  constexpr int64_t side = 32;
  return ModelGenerator(random, side).runDeep(depth);
}

} // namespace gc::test
