//===- CodegenTest.cpp - GPU kernels from MLIR text to PTX and cubins -----===//
#include "test/compiler/cuda/ptx/KernelTest.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <regex>

using namespace mlir;
using namespace gc::cuda;
using namespace gc::test;

namespace {

int count(const std::string &text, const std::string &pattern) {
  std::regex regex(pattern);
  return int(std::distance(std::sregex_iterator(text.begin(), text.end(), regex), {}));
}

class CudaCodegenTest : public KernelTest {
protected:
  /// The PTX of kernels that fit one image; empty after a failure.
  std::string ptxOf(const std::string &kernels) {
    CodegenOptions options;
    options.assemble = false;
    FailureOr<KernelImages> images = compile(kernels, options);
    EXPECT_TRUE(succeeded(images)) << messages;
    return succeeded(images) && images->images.size() == 1 ? images->images[0].ptx : "";
  }
};

TEST_F(CudaCodegenTest, VectorsAreOneAccess) {
  std::string ptx = ptxOf(elementwise);
  EXPECT_EQ(count(ptx, R"(ld\.global\.nc\.v4\.b32)"), 1) << ptx;
  EXPECT_EQ(count(ptx, R"(st\.global\.v4\.b32)"), 1) << ptx;
  EXPECT_EQ(count(ptx, R"(ld\.global|st\.global)"), 2) << ptx;
  EXPECT_EQ(count(ptx, R"(\.reqntid 64, 1, 1)"), 1) << ptx;
  EXPECT_EQ(count(ptx, R"(\.param \.u64 \.ptr \.align 64)"), 2) << ptx;
}

TEST_F(CudaCodegenTest, AlignmentIsProvenOrGivenButNotAssumed) {
  std::string odd = replace(elementwise, "256xf32", "255xf32");
  std::string ptx = ptxOf(odd);
  EXPECT_EQ(count(ptx, R"(\.v[24]\.)"), 0) << ptx;
  EXPECT_EQ(count(ptx, R"(ld\.global)"), 4) << ptx;
  ptx = ptxOf(replace(odd, "%j] :", "%j] {alignment = 16 : i64} :"));
  EXPECT_EQ(count(ptx, R"(\.v4\.)"), 2) << ptx;
}

TEST_F(CudaCodegenTest, ProductsAreNotContracted) {
  std::string ptx = ptxOf(elementwise);
  EXPECT_EQ(count(ptx, R"(fma|mad)"), 0) << ptx;
  EXPECT_EQ(count(ptx, R"(mul\.rn\.f32)"), 4) << ptx;
  EXPECT_EQ(count(ptx, R"(add\.rn\.f32)"), 4) << ptx;
  // Where it is asked for, and nowhere else.
  ptx = ptxOf(replace(elementwise, "%s = arith.addf %p, %v", "%s = math.fma %p, %v, %v"));
  EXPECT_EQ(count(ptx, R"(fma\.rn\.f32)"), 4) << ptx;
  EXPECT_EQ(count(ptx, R"(mul\.rn\.f32)"), 4) << ptx;
}

TEST_F(CudaCodegenTest, MathIsExactArithmeticOnEveryTarget) {
  for (const DeviceModel &device : deviceModels()) {
    CodegenOptions options;
    options.device = &device;
    options.assemble = false;
    FailureOr<KernelImages> images = compile(mathFunctions, options);
    ASSERT_TRUE(succeeded(images)) << messages;
    const std::string &ptx = images->images[0].ptx;
    EXPECT_EQ(count(ptx, std::string(R"(\.target )") + device.target + "\n"), 1);
    EXPECT_GT(count(ptx, R"(sqrt\.rn\.f32)"), 0);
    EXPECT_GT(count(ptx, R"(div\.rn\.f32)"), 0);
    EXPECT_GT(count(ptx, R"(fma\.rn\.f32)"), 0);
    EXPECT_EQ(count(ptx, R"(\.approx|\.ftz|\.full|\.extern|\bcall\b)"), 0) << ptx;
    // Without a rounding mode the assembler may fuse.
    EXPECT_EQ(count(ptx, R"(\b(add|sub|mul|mad|fma)(\.sat)?\.f(16|32|64))"), 0) << ptx;
  }
}

TEST_F(CudaCodegenTest, SharedMemoryAndBarriers) {
  std::string ptx = ptxOf(transpose);
  EXPECT_EQ(count(ptx, R"(\.shared \.align 16 \.b8 \w+\[4224\])"), 1) << ptx;
  // Stored, waited for, and loaded again from where another thread has stored it.
  EXPECT_EQ(count(ptx, R"(st\.shared\.b32[^]*(bar|barrier)\.sync[^]*ld\.shared\.b32)"), 1) << ptx;
  EXPECT_EQ(count(ptx, R"(\.reqntid 32, 32, 1)"), 1) << ptx;
}

TEST_F(CudaCodegenTest, Shuffles) {
  std::string ptx = ptxOf(warpSum);
  EXPECT_EQ(count(ptx, R"(shfl\.sync\.bfly\.b32)"), 5) << ptx; // 16, 8, 4, 2, 1: unrolled
  EXPECT_EQ(count(ptx, R"(add\.rn\.f32)"), 5) << ptx;
}

TEST_F(CudaCodegenTest, DynamicSharedMemory) {
  FailureOr<KernelImages> images = compile(dynamicShared);
  ASSERT_TRUE(succeeded(images)) << messages;
  EXPECT_EQ(count(images->images[0].ptx, R"(\.extern \.shared \.align 16)"), 1);
  EXPECT_EQ(images->resources[0].dynamicSharedBytes, 65536);
  EXPECT_EQ(images->resources[0].sharedBytes, 65536);
  if (images->images[0].cubin.empty())
    GTEST_SKIP() << images->assembler;
  EXPECT_EQ(images->resources[0].blocksPerMultiprocessor, 2); // 167936 / (65536 + 1024)
  EXPECT_EQ(images->resources[0].limiter, "shared");
}

TEST_F(CudaCodegenTest, EveryTargetAssemblesWithoutSpills) {
  for (const DeviceModel &device : deviceModels()) {
    CodegenOptions options;
    options.device = &device;
    FailureOr<KernelImages> images = compile(
        elementwise + transpose + warpSum + dynamicShared + mathFunctions + matmul, options);
    ASSERT_TRUE(succeeded(images)) << messages;
    if (images->images[0].cubin.empty())
      GTEST_SKIP() << images->assembler;
    EXPECT_EQ(images->assembler.substr(0, 6), "ptxas ");
    const char *names[] = {"elementwise",    "transpose", "warp_sum",
                           "dynamic_shared", "math",      "matmul"};
    ASSERT_EQ(images->resources.size(), std::size(names));
    for (size_t i = 0; i < std::size(names); ++i) {
      const KernelResources &kernel = images->resources[i];
      EXPECT_EQ(kernel.name, names[i]);
      EXPECT_GT(kernel.registers, 0) << kernel.name << " " << device.target;
      EXPECT_EQ(kernel.spillBytes, 0) << kernel.name << " " << device.target;
      EXPECT_EQ(kernel.stackBytes, 0) << kernel.name << " " << device.target;
      EXPECT_EQ(kernel.constantBytes > 0, device.version < 90)
          << kernel.name << " " << device.target;
      EXPECT_GT(kernel.blocksPerMultiprocessor, 0) << kernel.name << " " << device.target;
    }
    EXPECT_EQ(images->resources[1].sharedBytes, 4224);
    EXPECT_EQ(images->resources[1].threadsPerBlock, 1024);
  }
}

TEST_F(CudaCodegenTest, AccumulatorsStayInRegisters) {
  std::string ptx = ptxOf(matmul);
  EXPECT_EQ(count(ptx, R"(\.local)"), 0) << ptx;
  EXPECT_GT(count(ptx, R"(ld\.shared\.v4)"), 0) << ptx;
}

TEST_F(CudaCodegenTest, TransfersBeyondTheEdgeAreMasked) {
  std::string ptx = ptxOf(edge);
  EXPECT_EQ(count(ptx, R"(\.local|\.extern)"), 0) << ptx;
  EXPECT_EQ(count(ptx, R"(ld\.global)"), 4) << ptx; // each with a condition of its own
  EXPECT_GE(count(ptx, R"(setp)"), 4) << ptx;
}

TEST_F(CudaCodegenTest, LoopsAreUnrolledOnRequest) {
  std::string ptx = ptxOf(matmul);
  EXPECT_EQ(count(ptx, R"(fma\.rn\.f32)"), 16) << ptx;
  ptx = ptxOf(replace(matmul, "scf.yield %m : vector<4x4xf32>\n      }",
                      "scf.yield %m : vector<4x4xf32>\n      } {gc.unroll}"));
  EXPECT_EQ(count(ptx, R"(fma\.rn\.f32)"), 16 * 16) << ptx;
}

TEST_F(CudaCodegenTest, MinBlocksBoundRegisters) {
  std::string ptx = ptxOf(replace(elementwise, "known_grid", "gc.min_blocks = 8, known_grid"));
  EXPECT_EQ(count(ptx, R"(\.minnctapersm 8)"), 1) << ptx;
}

TEST_F(CudaCodegenTest, ResultDoesNotDependOnThreads) {
  std::string text;
  for (int i = 0; i < 20; ++i)
    text +=
        replace(i % 2 ? transpose : elementwise, "gpu.func @", "gpu.func @k" + std::to_string(i));
  std::vector<KernelImages> results;
  for (int threads : {1, 3, 1}) {
    CodegenOptions options;
    options.threads = threads;
    FailureOr<KernelImages> images = compile(text, options);
    ASSERT_TRUE(succeeded(images)) << messages;
    results.push_back(std::move(*images));
  }
  ASSERT_EQ(results[0].images.size(), 3u);
  EXPECT_EQ(results[0].images[2].symbols.size(), 4u);
  EXPECT_EQ(results[0].resources.size(), 20u);
  for (size_t other : {1, 2})
    for (size_t i = 0; i < 3; ++i) {
      EXPECT_EQ(results[0].images[i].ptx, results[other].images[i].ptx);
      EXPECT_EQ(results[0].images[i].cubin, results[other].images[i].cubin);
      EXPECT_EQ(results[0].images[i].symbols, results[other].images[i].symbols);
    }
}

TEST_F(CudaCodegenTest, LargeBuffersGetLargeIndices) {
  // 2^22 rows of 1 KiB are 4 GiB. An image has indices of one width.
  std::string large =
      replace(replace(elementwise, "@elementwise", "@large"), "60x256", "4194304x256");
  FailureOr<KernelImages> images = compile(large + elementwise);
  ASSERT_TRUE(succeeded(images)) << messages;
  ASSERT_EQ(images->images.size(), 2u);
  EXPECT_EQ(images->images[0].symbols, std::vector<std::string>{"large"});
  EXPECT_EQ(images->images[1].symbols, std::vector<std::string>{"elementwise"});
  EXPECT_EQ(images->resources[0].name, "large");
  EXPECT_EQ(images->resources[1].name, "elementwise");
}

TEST_F(CudaCodegenTest, WithoutAnAssemblerThereIsPtxAlone) {
  std::string path = getenv("PATH"), home = getenv("CUDA_HOME") ? getenv("CUDA_HOME") : "";
  setenv("PATH", "/nowhere", 1);
  setenv("CUDA_HOME", "/nowhere", 1);
  FailureOr<KernelImages> images = compile(transpose);
  setenv("PATH", path.c_str(), 1);
  home.empty() ? unsetenv("CUDA_HOME") : setenv("CUDA_HOME", home.c_str(), 1);
  ASSERT_TRUE(succeeded(images)) << messages;
  EXPECT_NE(images->assembler.find("no ptxas"), std::string::npos);
  EXPECT_NE(images->images[0].ptx, "");
  EXPECT_TRUE(images->images[0].cubin.empty());
  const KernelResources &kernel = images->resources[0];
  EXPECT_EQ(kernel.registers, -1);
  EXPECT_EQ(kernel.spillBytes, -1);
  EXPECT_EQ(kernel.blocksPerMultiprocessor, -1);
  EXPECT_EQ(kernel.sharedBytes, 4224);
}

TEST_F(CudaCodegenTest, DumpsWhatItMade) {
  llvm::SmallString<128> directory;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("gc-dump", directory));
  CodegenOptions options;
  options.dumpDirectory = (directory + "/inner").str();
  FailureOr<KernelImages> images = compile(elementwise, options);
  ASSERT_TRUE(succeeded(images)) << messages;
  std::vector<const char *> names = {"kernels.mlir", "kernels.0.ll", "kernels.0.ptx"};
  if (!images->images[0].cubin.empty())
    names.push_back("kernels.0.cubin");
  for (const char *name : names) {
    auto file = llvm::MemoryBuffer::getFile(options.dumpDirectory + "/" + name);
    ASSERT_TRUE(bool(file)) << name;
    EXPECT_GT((*file)->getBufferSize(), 0u) << name;
  }
  llvm::sys::fs::remove_directories(directory);
}

} // namespace
