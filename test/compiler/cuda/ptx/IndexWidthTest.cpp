//===- IndexWidthTest.cpp - Which kernels may have 32-bit indices ---------===//
#include "compiler/cuda/ptx/IndexWidth.h"
#include "compiler/cuda/ptx/LowerToNvvm.h"
#include "test/compiler/cuda/ptx/KernelTest.h"

using namespace mlir;
using namespace gc::cuda;
using namespace gc::test;

namespace {

class IndexWidthTest : public KernelTest {
protected:
  bool fitKernel(const std::string &text) {
    OwningOpRef<ModuleOp> module = parse(text);
    EXPECT_TRUE(module && succeeded(simplifyKernels(*module))) << messages;
    gpu::GPUFuncOp kernel;
    module->walk([&](gpu::GPUFuncOp op) { kernel = op; });
    return indicesFitIn32Bits(kernel);
  }
  /// With %t < 256, %b < 4096, and %c the number given; %i is kept alive by an access.
  bool fit(const std::string &body, const std::string &number = "1",
           const std::string &buffer = "1024xi8") {
    return fitKernel(R"(
      gpu.func @k(%x: memref<)" +
                     buffer + R"(>, %l: memref<8xi32>, %m: memref<8xi64>) kernel
          attributes {known_block_size = array<i32: 256, 1, 1>,
                      known_grid_size = array<i32: 4096, 1, 1>} {
        %t = gpu.thread_id x
        %b = gpu.block_id x
        %zero = arith.constant 0 : index
        %one = arith.constant 1 : index
        %two = arith.constant 2 : index
        %c = arith.constant )" +
                     number + " : index\n" + body + R"(
        %more = arith.addi %i, %one : index
        %kept = arith.index_cast %more : index to i64
        memref.store %kept, %m[%t] : memref<8xi64>
        %byte = arith.constant 1 : i8
        memref.store %byte, %x[%t] : memref<)" +
                     buffer + R"(>
        gpu.return
      })");
  }
};

TEST_F(IndexWidthTest, RealKernels) {
  for (const std::string &kernel : {elementwise, transpose, warpSum, dynamicShared, matmul, edge})
    EXPECT_TRUE(fitKernel(kernel)) << kernel;
}

TEST_F(IndexWidthTest, Buffers) {
  const char *body = "%i = arith.addi %t, %c : index";
  EXPECT_TRUE(fit(body, "1", "2147483647xi8"));
  EXPECT_FALSE(fit(body, "1", "2147483648xi8"));
}

TEST_F(IndexWidthTest, Products) {
  const char *body = "%i = arith.muli %b, %c : index"; // 4095 * c
  EXPECT_TRUE(fit(body, "524416"));                    // 2147483520
  EXPECT_FALSE(fit(body, "524417"));                   // 2147487615
}

TEST_F(IndexWidthTest, CountersGoOneStepFurther) {
  const char *ones = R"(%i = arith.addi %t, %one : index
    scf.for %k = %zero to %c step %one {
      %w = arith.index_cast %k : index to i64
      memref.store %w, %m[%zero] : memref<8xi64>
    })";
  EXPECT_TRUE(fit(ones, "2147483647"));
  // The last value is 2147483646; the counter then wraps and stays below the bound for ever.
  EXPECT_FALSE(fit(replace(ones, "step %one", "step %two"), "2147483647"));
  EXPECT_TRUE(fit(replace(ones, "step %one", "step %two"), "2147483646"));
}

TEST_F(IndexWidthTest, UnboundedValues) {
  EXPECT_FALSE(fit(R"(%v = memref.load %m[%t] : memref<8xi64>
                      %i = arith.index_cast %v : i64 to index)"));
  EXPECT_TRUE(fit(R"(%v = memref.load %l[%t] : memref<8xi32>
                     %j = arith.index_cast %v : i32 to index
                     %i = arith.shrsi %j, %one : index)"));
  EXPECT_FALSE(fit(R"(%i = scf.for %k = %zero to %b step %one iter_args(%s = %t) -> index {
                        %u = arith.addi %s, %b : index
                        scf.yield %u : index
                      })"));
}

TEST_F(IndexWidthTest, UnsignedOperations) {
  const std::string negative = "%d = arith.subi %t, %b : index\n";
  EXPECT_TRUE(fit(negative + "%i = arith.remsi %d, %c : index", "7"));
  EXPECT_FALSE(fit(negative + "%i = arith.remui %d, %c : index", "7"));
  EXPECT_TRUE(fit("%i = arith.remui %t, %c : index", "7"));
  EXPECT_FALSE(fit(negative + R"(%w = arith.index_castui %d : index to i64
                                 %i = arith.addi %t, %zero : index
                                 memref.store %w, %m[%t] : memref<8xi64>)"));
  // Only 64 bits have something left.
  EXPECT_FALSE(fit("%i = arith.shrsi %t, %c : index", "40"));
  EXPECT_TRUE(fit("%i = arith.shrsi %t, %c : index", "3"));
}

} // namespace
