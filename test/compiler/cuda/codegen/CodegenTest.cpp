//===- CodegenTest.cpp - GPU kernels from MLIR text to PTX and cubins -----===//
#include "compiler/cuda/codegen/AssemblePtx.h"
#include "compiler/cuda/codegen/CompileKernels.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <gtest/gtest.h>
#include <regex>

using namespace mlir;
using namespace gc::cuda;

namespace {

/// Attributes of a launch.
std::string launch(int block, int grid, const std::string &more = "") {
  auto extent = [](int x) { return "array<i32: " + std::to_string(x) + ", 1, 1>"; };
  return " kernel attributes {known_block_size = " + extent(block) +
         ", known_grid_size = " + extent(grid) + more + "} ";
}

int count(const std::string &text, const std::string &pattern) {
  std::regex regex(pattern);
  return int(std::distance(std::sregex_iterator(text.begin(), text.end(), regex), {}));
}

class CudaCodegenTest : public testing::Test {
protected:
  CudaCodegenTest() {
    registerKernelDialects(context);
    context.getDiagEngine().registerHandler(
        [&](Diagnostic &diagnostic) { messages += diagnostic.str() + "\n"; });
  }
  FailureOr<KernelImages> compile(const std::string &kernels, CodegenOptions options = {}) {
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>("gpu.module @kernels {" + kernels + "}", &context);
    if (!module)
      return failure();
    if (!options.device)
      options.device = findDeviceModel("sm_80");
    return compileKernels(*module, options);
  }
  /// The PTX of kernels that fit one image; empty after a failure.
  std::string ptxOf(const std::string &kernels) {
    FailureOr<KernelImages> images = compile(kernels, {.assemble = false});
    EXPECT_TRUE(succeeded(images)) << messages;
    return succeeded(images) && images->images.size() == 1 ? images->images[0].ptx : "";
  }
  MLIRContext context;
  std::string messages;
};

// y = x * x + x on rows of 256, four elements a thread.
const std::string elementwise = R"(
  gpu.func @elementwise(%x: memref<60x256xf32>, %y: memref<60x256xf32>))" +
                                launch(64, 60) + R"({
    %t = gpu.thread_id x
    %b = gpu.block_id x
    %c4 = arith.constant 4 : index
    %j = arith.muli %t, %c4 : index
    %v = vector.load %x[%b, %j] : memref<60x256xf32>, vector<4xf32>
    %p = arith.mulf %v, %v : vector<4xf32>
    %s = arith.addf %p, %v : vector<4xf32>
    vector.store %s, %y[%b, %j] : memref<60x256xf32>, vector<4xf32>
    gpu.return
  })";

TEST_F(CudaCodegenTest, First) {
  FailureOr<KernelImages> images = compile(elementwise);
  ASSERT_TRUE(succeeded(images)) << messages;
  EXPECT_NE(images->images[0].ptx.find("ld.global.nc.v4.b32"), std::string::npos);
}

} // namespace
