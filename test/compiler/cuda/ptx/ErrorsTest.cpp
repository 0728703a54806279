//===- ErrorsTest.cpp - Kernels that cannot be compiled -------------------===//
#include "compiler/cuda/ptx/AssemblePtx.h"
#include "test/compiler/cuda/ptx/KernelTest.h"
#include "llvm/Support/FileSystem.h"

using namespace gc::cuda;
using namespace gc::test;

namespace {

class CudaCodegenErrorsTest : public KernelTest {};

std::string withBlock(const std::string &extents) {
  return replace(elementwise, "known_block_size = array<i32: 64, 1, 1>",
                 "known_block_size = array<i32: " + extents + ">");
}

void expectIn(const std::string &message, const std::string &part) {
  EXPECT_NE(message.find(part), std::string::npos) << message;
}

TEST_F(CudaCodegenErrorsTest, LaunchesThatNoDeviceTakes) {
  expectIn(errorOf(withBlock("1, 1, 65")), "known_block_size [1, 1, 65], beyond the limits");
  expectIn(errorOf(withBlock("0, 1, 1")), "beyond the limits");
  expectIn(errorOf(withBlock("64, 32, 1")), "blocks of 2048 threads, more than 1024");
  expectIn(errorOf(replace(elementwise, "known_grid_size", "known_cluster_size")),
           "'elementwise' has no known_grid_size");
}

TEST_F(CudaCodegenErrorsTest, WrongArguments) {
  expectIn(errorOf(replace(elementwise, "60x256", "?x256")), "of static shape and identity layout");
  expectIn(errorOf(replace(elementwise, "%x: memref<60x256xf32>,",
                           "%x: memref<60x256xf32>, %n: index,")),
           "got 'index'");
  expectIn(errorOf(replace(elementwise, ") kernel", ") ")), "expected only gpu.func kernels");
}

TEST_F(CudaCodegenErrorsTest, TooMuchSharedMemory) {
  // 132 x 33 x 4 bytes fit 48 KiB, 400 x 33 x 4 do not.
  expectIn(errorOf(replace(transpose, "32x33xf32", "400x33xf32")),
           "52800 bytes of static shared memory, more than 49152");
  std::string most = replace(dynamicShared, "65536", "166912");
  EXPECT_TRUE(succeeded(compile(most))) << messages; // 163 KiB on sm_80
  expectIn(errorOf(most, "sm_86"),
           "'dynamic_shared' needs 166912 bytes of shared memory, but a block has 101376 on sm_86");
  expectIn(errorOf(replace(dynamicShared, "gc.dynamic_shared = 65536 : i64,", "")),
           "gc.dynamic_shared does not say how many bytes");
  expectIn(errorOf(replace(dynamicShared, "65536 : i64", "-1 : i64")), "an integer >= 0, got -1");
}

TEST_F(CudaCodegenErrorsTest, UndefinedSymbolIsNamed) {
  expectIn(errorOf(replace(elementwise, "%c4 =",
                           "%heap = memref.alloc() : memref<64xf32>\n"
                           "%one = arith.constant 1.0 : f32\n"
                           "memref.store %one, %heap[%t] : memref<64xf32>\n"
                           "%back = memref.load %heap[%b] : memref<64xf32>\n"
                           "memref.store %back, %y[%b, %t] : memref<60x256xf32>\n%c4 =")),
           "kernel 'elementwise' calls 'malloc', which does not exist on the device");
}

TEST_F(CudaCodegenErrorsTest, UnknownMathFunction) {
  expectIn(errorOf(replace(mathFunctions, "math.tanh", "math.asin")), "has no expansion");
}

TEST_F(CudaCodegenErrorsTest, LoopThatCannotBeUnrolled) {
  expectIn(errorOf(replace(dynamicShared, "memref.store %v, %y[%i] : memref<16384xf32>\n    }",
                           "memref.store %v, %y[%i] : memref<16384xf32>\n    } {gc.unroll}")),
           "bounds are not constant");
}

TEST_F(CudaCodegenErrorsTest, AssemblerErrorsNameTheKernel) {
  Assembler assembler = Assembler::find();
  if (assembler.path.empty())
    GTEST_SKIP() << assembler.version;
  const char *ptx = ".version 8.0\n.target sm_80\n.address_size 64\n"
                    ".visible .entry good()\n{\n  ret;\n}\n"
                    ".visible .entry bad()\n{\n  frobnicate.f32 %f1;\n  ret;\n}\n";
  auto assembled = assemblePtx(assembler, ptx, "sm_80");
  ASSERT_FALSE(bool(assembled));
  std::string message = llvm::toString(assembled.takeError());
  expectIn(message, assembler.version + " fails for sm_80: kernel 'bad': ");
  expectIn(message, "line 10");
}

TEST_F(CudaCodegenErrorsTest, TemporaryDirectoryIsRemoved) {
  if (Assembler::find().path.empty())
    GTEST_SKIP() << Assembler::find().version;
  llvm::SmallString<128> directory;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("gc-test", directory));
  const char *old = getenv("TMPDIR");
  std::string restored = old ? old : "";
  setenv("TMPDIR", directory.c_str(), 1);
  Assembler assembler = Assembler::find();
  EXPECT_TRUE(succeeded(compile(elementwise))) << messages;
  auto failed = assemblePtx(assembler, "nonsense", "sm_80");
  EXPECT_FALSE(bool(failed));
  llvm::consumeError(failed.takeError());
  old ? setenv("TMPDIR", restored.c_str(), 1) : unsetenv("TMPDIR");
  std::error_code code;
  EXPECT_EQ(llvm::sys::fs::directory_iterator(directory, code),
            llvm::sys::fs::directory_iterator());
  llvm::sys::fs::remove_directories(directory);
}

TEST(AssemblerReport, IsRead) {
  auto kernels = parseAssemblerReport(
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'a' for 'sm_80'\n"
      "ptxas info    : Function properties for a\n"
      "    72 bytes stack frame, 20 bytes spill stores, 24 bytes spill loads\n"
      "ptxas info    : Used 40 registers, used 1 barriers, 72 bytes cumulative stack size, 8448 "
      "bytes smem, 384 bytes cmem[0], 8 bytes cmem[2]\n"
      "ptxas info    : Compiling entry function 'b' for 'sm_80'\n"
      "ptxas info    : Function properties for b\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 8 registers, used 0 barriers\n");
  ASSERT_EQ(kernels.size(), 2u);
  EXPECT_EQ(kernels["a"].registers, 40);
  EXPECT_EQ(kernels["a"].stackBytes, 72);
  EXPECT_EQ(kernels["a"].spillBytes, 44);
  EXPECT_EQ(kernels["a"].staticSharedBytes, 8448);
  EXPECT_EQ(kernels["a"].constantBytes, 392);
  EXPECT_EQ(kernels["b"].registers, 8);
  EXPECT_EQ(kernels["b"].staticSharedBytes, 0);
}

} // namespace
