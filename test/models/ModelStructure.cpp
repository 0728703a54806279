//===- ModelStructure.cpp - what must hold of every generated network ------===//
#include "dialects/Gc.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "models/Networks.h"
#include "llvm/ADT/StringSet.h"
#include "gtest/gtest.h"

using namespace gc::models;
using namespace mlir;

namespace {

// Small sizes of every network and variant.
const NetworkOptions everyNetwork[] = {
    MnistOptions{.batch = 2},
    MnistOptions{.image = 224, .batch = 1, .norm = "group"},
    Cnn11Options{.image = 16, .batch = 2},
    VggOptions{.image = 32, .batch = 2, .classes = 10},
    VggOptions{.depth = 11, .image = 96, .batch = 2, .classes = 10, .dropout = 0},
    ResnetOptions{.depth = 18, .image = 32, .batch = 2, .classes = 10},
    ResnetOptions{.depth = 50, .image = 40, .batch = 2, .classes = 10},
    VitOptions{.patch = 8, .image = 32, .batch = 2, .classes = 10},
    EncoderOptions{.layers = 2, .width = 16, .heads = 4, .ffn = 32, .sequence = 5, .batch = 2},
};

OwningOpRef<ModuleOp> build(MLIRContext &context, const NetworkOptions &options) {
  Network network = buildNetwork(context, options);
  if (!network) {
    ADD_FAILURE() << llvm::toString(network.takeError());
    return nullptr;
  }
  return std::move(*network);
}

std::string errorOf(const NetworkOptions &options) {
  MLIRContext context;
  Network network = buildNetwork(context, options);
  return network ? "" : llvm::toString(network.takeError());
}

} // namespace

TEST(ModelStructure, EveryParameterIsReadOnce) {
  for (const NetworkOptions &options : everyNetwork) {
    MLIRContext context;
    OwningOpRef<ModuleOp> module = build(context, options);
    ASSERT_TRUE(module);
    llvm::StringMap<int> uses;
    module->walk([&](gc::ReadOp op) { ++uses[op.getVariable()]; });
    module->walk(
        [&](gc::ParameterOp op) { EXPECT_EQ(uses[op.getSymName()], 1) << op.getSymName().str(); });
  }
}

TEST(ModelStructure, BatchNormCountsItsElements) {
  MLIRContext context;
  OwningOpRef<ModuleOp> module = build(context, ResnetOptions{.image = 64, .batch = 3});
  ASSERT_TRUE(module);
  int norms = 0;
  module->walk([&](gc::RunningStatsOp op) {
    auto norm = op.getMean().getDefiningOp<gc::BatchNormOp>();
    ASSERT_TRUE(norm);
    auto shape = cast<ShapedType>(norm.getInput().getType()).getShape();
    EXPECT_EQ(static_cast<int64_t>(op.getCount()), shape[0] * shape[1] * shape[2]);
    ++norms;
  });
  EXPECT_EQ(norms, 20); // one a convolution: 1 + 2 * 8 + 3 downsamples
}

// The file's tensor, split and permuted, must be the parameter with its last axes merged.
TEST(ModelStructure, FileLayoutsReachTheInsideShape) {
  for (const NetworkOptions &options : everyNetwork) {
    MLIRContext context;
    OwningOpRef<ModuleOp> module = build(context, options);
    ASSERT_TRUE(module);
    module->walk([&](gc::ParameterOp op) {
      if (!op.getFilePermutation())
        return;
      SCOPED_TRACE(op.getSymName().str());
      ArrayRef<int64_t> inside = cast<ShapedType>(op.getType()).getShape();
      ArrayRef<int64_t> split = *op.getFileSplit(), permutation = *op.getFilePermutation();
      SmallVector<int64_t> permuted;
      for (int64_t axis : permutation)
        permuted.push_back(split[axis]);
      ASSERT_GE(permuted.size(), inside.size());
      while (permuted.size() > inside.size()) {
        int64_t last = permuted.pop_back_val();
        permuted.back() *= last;
      }
      EXPECT_TRUE(ArrayRef<int64_t>(permuted) == inside);
      EXPECT_EQ(ShapedType::getNumElements(*op.getFileShape()), ShapedType::getNumElements(split));
    });
  }
}

TEST(ModelStructure, OpsAreNamedAfterLayers) {
  MLIRContext context;
  OwningOpRef<ModuleOp> module = build(context, ResnetOptions{.image = 32, .batch = 2});
  ASSERT_TRUE(module);
  llvm::StringSet<> names;
  module->walk([&](gc::Conv2dOp op) { names.insert(cast<NameLoc>(op.getLoc()).getName()); });
  EXPECT_EQ(names.size(), 20u);
  EXPECT_TRUE(names.contains("layer2.0.downsample.0"));
}

TEST(ModelStructure, HandWrittenFilesVerify) {
  DialectRegistry registry;
  gc::registerGcDialects(registry);
  MLIRContext context(registry);
  for (const char *file : {"mlp.mlir", "convnet.mlir"}) {
    auto module = parseSourceFile<ModuleOp>(std::string(GC_MODELS_DIR "/") + file, &context);
    ASSERT_TRUE(module) << file;
    EXPECT_TRUE(module->lookupSymbol<func::FuncOp>("model")) << file;
  }
}

TEST(ModelStructure, ImpossibleSizesAreErrors) {
  EXPECT_EQ(errorOf(MnistOptions{.image = 100}),
            "--image=100 is not possible: use 112, 224, 448, 896, 1792 or 3584");
  EXPECT_EQ(errorOf(MnistOptions{.norm = "layer"}),
            "--norm=layer is not possible: use batch or group");
  EXPECT_NE(errorOf(MnistOptions{.batch = 1}).find("use --batch=2 or more"), std::string::npos);
  EXPECT_EQ(errorOf(MnistOptions{.batch = 1, .norm = "group"}), "");
  EXPECT_NE(errorOf(Cnn11Options{.image = 15}).find("use an even size"), std::string::npos);
  EXPECT_EQ(errorOf(VggOptions{.image = 31}), "--image=31 is out of range: use 32 to 65536");
  EXPECT_NE(errorOf(VggOptions{.dropout = 1.0}).find("probability"), std::string::npos);
  EXPECT_EQ(errorOf(ResnetOptions{.depth = 20}),
            "--depth=20 is not possible: use 18, 34, 50, 101 or 152");
  EXPECT_NE(errorOf(ResnetOptions{.image = 32, .batch = 1}).find("--batch=1"), std::string::npos);
  EXPECT_EQ(errorOf(ResnetOptions{.image = 33, .batch = 1}), "");
  EXPECT_EQ(errorOf(ResnetOptions{.batch = -1}), "--batch=-1 is out of range: use 1 to 65536");
  EXPECT_NE(errorOf(VitOptions{.image = 100}).find("not a multiple of --patch=16"),
            std::string::npos);
  EXPECT_NE(errorOf(VitOptions{.patch = 1, .image = 512}).find("use larger patches"),
            std::string::npos);
  EXPECT_NE(errorOf(EncoderOptions{.width = 10, .heads = 3}).find("--heads=3"), std::string::npos);
}
