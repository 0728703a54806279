//===- AssemblyTest.cpp - What kernels take of every GPU ------------------===//
//
// Every kind of op, at sizes of real networks and at odd ones, is assembled for every target: no
// spills, no stack, and blocks that fit.
//
//===----------------------------------------------------------------------===//
#include "compiler/cuda/DeviceRates.h"
#include "compiler/cuda/grids/GridEmitter.h"
#include "compiler/cuda/ptx/CompileToPtx.h"
#include "dialects/Gc.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace gc;

namespace {

/// Ops in one function, each on arguments of its own.
class Program {
public:
  /// Shapes are written as in "16x10xf32".
  void add(const std::string &op, const std::vector<std::string> &operands,
           const std::vector<std::string> &results, const std::string &attributes = "") {
    std::string names, types;
    for (const std::string &shape : operands) {
      std::string name = "%a" + std::to_string(argumentCount++);
      arguments += (arguments.empty() ? "" : ", ") + name + ": tensor<" + shape + ">";
      names += (names.empty() ? "" : ", ") + name;
      types += (types.empty() ? "tensor<" : ", tensor<") + shape + ">";
    }
    std::string resultTypes;
    for (const std::string &shape : results)
      resultTypes += (resultTypes.empty() ? "tensor<" : ", tensor<") + shape + ">";
    body += "%r" + std::to_string(opCount++) + ":" + std::to_string(results.size()) + " = gc." +
            op + " " + names + " {" + attributes + "} : (" + types + ") -> (" + resultTypes + ")\n";
  }
  std::string text() const { return "func.func @f(" + arguments + ") {\n" + body + "return\n}"; }

private:
  std::string arguments, body;
  int argumentCount = 0, opCount = 0;
};

std::string sized(const std::string &shape, const std::string &last) {
  return shape + "x" + last + "xf32";
}

Program allOps() {
  Program p;
  const std::string epsilon = "epsilon = 1.0e-5 : f32";
  // resnet-50 at batch 16, its last stage, and what divides into nothing.
  for (std::string x : {"16x112x112x64xf32", "16x7x7x2048xf32", "3x5x7x13xf32"}) {
    std::string c = x.substr(x.rfind('x', x.size() - 5) + 1);
    p.add("batch_stats", {x}, {c, c}, epsilon);
  }
  // vit-small at batch 16, attention's rows, classes, and odd and long rows.
  for (auto [rows, columns] : {std::pair<std::string, std::string>{"16x197", "384"},
                               {"16x197", "768"},
                               {"3152", "1024"},
                               {"16", "1000"},
                               {"18912", "197"},
                               {"128", "10"},
                               {"7", "4099"},
                               {"3", "20000"},
                               {"3", "16411"}}) {
    std::string x = sized(rows, columns), r = rows + "xf32", c = columns + "xf32";
    p.add("layer_norm", {x, c, c}, {x, r, r}, epsilon);
    p.add("layer_norm_grad", {x, x, r, r, c}, {x, c, c});
    p.add("softmax", {x}, {x});
    p.add("softmax_grad", {x, x}, {x});
    if (rows.find('x') != std::string::npos)
      continue;
    std::string labels = rows + "xi32";
    p.add("cross_entropy", {x, labels}, {"f32", r});
    p.add("cross_entropy_grad", {x, labels, r, "f32"}, {x});
    p.add("accuracy", {x, labels}, {"f32"});
  }
  for (auto [x, c, g, groups] : {std::tuple<std::string, std::string, std::string, std::string>{
                                     "16x56x56x64xf32", "64xf32", "16x32xf32", "32"},
                                 {"1x101x67x24xf32", "24xf32", "1x3xf32", "3"},
                                 {"2x3x5x7xf32", "7xf32", "2x7xf32", "7"}}) {
    std::string count = "groups = " + groups + " : i64";
    p.add("group_norm", {x, c, c}, {x, g, g}, epsilon + ", " + count);
    p.add("group_norm_grad", {x, x, g, g, c}, {x, c, c}, count);
  }
  auto window = [](int size, int stride, int pad) {
    auto pair = [](int n) {
      return "array<i64: " + std::to_string(n) + ", " + std::to_string(n) + ">";
    };
    return "kernel = " + pair(size) + ", strides = " + pair(stride) + ", padding = " + pair(pad);
  };
  for (auto [image, pooled, how] : {std::tuple<std::string, std::string, std::string>{
                                        "16x112x112x64x", "16x56x56x64x", window(3, 2, 1)},
                                    {"2x11x13x7x", "2x5x6x7x", window(2, 2, 0)},
                                    {"16x7x7x512x", "16x1x1x512x", window(7, 7, 0)},
                                    {"1x20x20x6x", "1x12x12x6x", window(9, 1, 0)}}) {
    std::string x = image + "f32", y = pooled + "f32", index = pooled + "i8";
    p.add("max_pool", {x}, {y, index}, how);
    p.add("max_pool_grad", {index, y}, {x}, how);
    p.add("avg_pool", {x}, {y}, how);
    p.add("avg_pool_grad", {y}, {x}, how);
  }
  p.add("global_avg_pool", {"16x7x7x2048xf32"}, {"16x2048xf32"});
  p.add("global_avg_pool_grad", {"16x2048xf32"}, {"16x7x7x2048xf32"});
  for (auto [x, dimensions, y] :
       {std::tuple<std::string, std::string, std::string>{"16x197x384xf32", "1", "16x384xf32"},
        {"100000xf32", "0", "f32"},
        {"7x33x11x129xf32", "1, 3", "7x11xf32"},
        {"2x30000x3xf32", "1", "2x3xf32"},
        {"3152x1000xf32", "1", "3152xf32"}}) {
    std::string how = "dimensions = array<i64: " + dimensions + ">";
    p.add("reduce_mean", {x}, {y}, how);
    p.add("reduce_max", {x}, {y}, how);
    p.add("reduce_max_grad", {x, y, y}, {x}, how);
  }
  p.add("transpose", {"16x197x6x64xf32"}, {"16x6x197x64xf32"},
        "permutation = array<i64: 0, 2, 1, 3>");
  p.add("transpose", {"768x3072xf32"}, {"3072x768xf32"}, "permutation = array<i64: 1, 0>");
  p.add("transpose", {"16x3x224x224xf32"}, {"16x224x224x3xf32"},
        "permutation = array<i64: 0, 2, 3, 1>");
  p.add("concat", {"16x64x5xf32", "16x32x5xf32"}, {"16x96x5xf32"}, "axis = 1 : i64");
  p.add("slice", {"16x197x384xf32"}, {"16x1x384xf32"},
        "axis = 1 : i64, offset = 0 : i64, size = 1 : i64");
  p.add("pad", {"16x1x384xf32"}, {"16x197x384xf32"},
        "axis = 1 : i64, low = 0 : i64, high = 196 : i64");
  p.add("broadcast", {"384xf32"}, {"16x197x384xf32"}, "dimensions = array<i64: 2>");
  p.add("class_token", {"16x196x384xf32", "1x1x384xf32", "1x197x384xf32"}, {"16x197x384xf32"});
  p.add("embedding", {"8x128xi32", "30522x384xf32"}, {"8x128x384xf32"});
  p.add("embedding_grad", {"8x128xi32", "8x128x384xf32"}, {"30522x384xf32"});
  p.add("dropout", {"16x197x1536xf32", "2xi64"}, {"16x197x1536xf32"},
        "probability = 0.1 : f32, id = 7 : i64");
  return p;
}

class AssemblyTest : public testing::TestWithParam<const cuda::DeviceModel *> {};

TEST_P(AssemblyTest, NothingSpills) {
  mlir::MLIRContext context;
  mlir::DialectRegistry registry;
  registerGcDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  auto module = mlir::parseSourceString<mlir::ModuleOp>(allOps().text(), &context);
  ASSERT_TRUE(module);
  cuda::GridEmitter emitter(&context, cuda::gridDeviceOf(*GetParam()));
  auto function = *module->getOps<mlir::func::FuncOp>().begin();
  for (mlir::Operation &op : function.getBody().front().without_terminator())
    ASSERT_TRUE(mlir::succeeded(emitter.emit(&op)));
  cuda::CodegenOptions options;
  options.device = GetParam();
  auto images = cuda::compileKernels(emitter.module(), options);
  ASSERT_TRUE(mlir::succeeded(images));
  if (images->images[0].cubin.empty())
    GTEST_SKIP() << "no assembler: " << images->assembler;
  ASSERT_EQ(images->resources.size(), emitter.size());
  std::printf("%-34s threads registers shared occupancy\n", GetParam()->target.c_str());
  for (const cuda::KernelResources &kernel : images->resources) {
    std::printf("%-34s %7d %9d %6lld %8.0f %% %s\n", kernel.name.c_str(), kernel.threadsPerBlock,
                kernel.registers, static_cast<long long>(kernel.sharedBytes),
                100 * kernel.occupancy, kernel.limiter.c_str());
    EXPECT_EQ(kernel.spillBytes, 0) << kernel.name;
    EXPECT_EQ(kernel.stackBytes, 0) << kernel.name;
    EXPECT_GE(kernel.blocksPerMultiprocessor, 1) << kernel.name;
  }
}

std::vector<const cuda::DeviceModel *> devices() {
  std::vector<const cuda::DeviceModel *> all;
  for (const cuda::DeviceModel &device : cuda::deviceModels())
    all.push_back(&device);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Targets, AssemblyTest, testing::ValuesIn(devices()),
                         [](const auto &info) { return std::string(info.param->target); });

} // namespace
