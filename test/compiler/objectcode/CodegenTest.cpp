//===- CodegenTest.cpp - Kernels from MLIR text to running code -----------===//
#include "compiler/cpu/objectcode/CompileObjectCode.h"
#include "compiler/cpu/objectcode/LowerToHost.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "test/compiler/objectcode/LoadedKernels.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace gc::cpu;
using namespace gc::test;

namespace {

class CodegenTest : public testing::Test {
protected:
  CodegenTest() {
    registerKernelDialects(context);
    context.getDiagEngine().registerHandler(
        [&](Diagnostic &diagnostic) { messages += diagnostic.str() + "\n"; });
  }
  FailureOr<KernelLibrary> compile(const std::string &text, const CodegenOptions &options = {}) {
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return failure();
    return compileKernels(*module, options);
  }
  MLIRContext context;
  std::string messages;
};

const char *addText = R"(
  func.func @add(%x: memref<37xf32>, %y: memref<37xf32>, %begin: index, %end: index) {
    %size = arith.subi %end, %begin : index
    %a = memref.subview %x[%begin] [%size] [1] : memref<37xf32> to memref<?xf32, strided<[1], offset: ?>>
    %b = memref.subview %y[%begin] [%size] [1] : memref<37xf32> to memref<?xf32, strided<[1], offset: ?>>
    linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
        ins(%a : memref<?xf32, strided<[1], offset: ?>>) outs(%b : memref<?xf32, strided<[1], offset: ?>>) {
      ^bb0(%u: f32, %v: f32):
        %s = arith.addf %u, %v : f32
        linalg.yield %s : f32
    }
    return
  })";

TEST_F(CodegenTest, ComputesOnlyTheItemsOfItsRange) {
  FailureOr<KernelLibrary> library = compile(addText);
  ASSERT_TRUE(succeeded(library)) << messages;
  EXPECT_EQ(library->symbols, std::vector<std::string>{"add"});
  EXPECT_FALSE(library->cpu.empty());
  LoadedKernels kernels(*library);
  ASSERT_EQ(kernels.error(), "");
  Buffer<float> x(37, 2), y(37, 1);
  void *buffers[] = {x.data(), y.data()};
  kernels["add"](buffers, 3, 36);
  for (int i = 0; i < 37; ++i)
    EXPECT_EQ(y[i], i >= 3 && i < 36 ? 3 : 1) << i;
  EXPECT_TRUE(y.guardIsIntact());
}

TEST_F(CodegenTest, ObjectDoesNotDependOnThreads) {
  std::string text;
  for (int i = 0; i < 9; ++i) {
    std::string function = addText;
    function.replace(function.find("@add"), 4, "@add" + std::to_string(i));
    text += function;
  }
  FailureOr<KernelLibrary> one = compile(text, {.threads = 1, .dumpDirectory = ""});
  FailureOr<KernelLibrary> four = compile(text, {.threads = 4, .dumpDirectory = ""});
  ASSERT_TRUE(succeeded(one) && succeeded(four)) << messages;
  EXPECT_EQ(one->symbols.size(), 9u);
  EXPECT_EQ(one->object, four->object);
}

TEST_F(CodegenTest, ProductsAreNotContracted) {
  // 4097 * 4097 needs 25 bits: fused, the difference to the rounded product shows; unfused it is 0.
  FailureOr<KernelLibrary> library = compile(R"(
    func.func @difference(%x: memref<1xf32>, %y: memref<2xf32>, %begin: index, %end: index) {
      %0 = arith.constant 0 : index
      %1 = arith.constant 1 : index
      %v = memref.load %x[%0] : memref<1xf32>
      %n = arith.negf %v : f32
      %p = arith.mulf %v, %v : f32
      %q = arith.mulf %n, %v : f32
      %unfused = arith.addf %q, %p : f32
      %fused = math.fma %n, %v, %p : f32
      memref.store %unfused, %y[%0] : memref<2xf32>
      memref.store %fused, %y[%1] : memref<2xf32>
      return
    })");
  ASSERT_TRUE(succeeded(library)) << messages;
  LoadedKernels kernels(*library);
  Buffer<float> x(1, 4097), y(2, 7);
  void *buffers[] = {x.data(), y.data()};
  kernels["difference"](buffers, 0, 1);
  EXPECT_EQ(y[0], 0.0f);
  EXPECT_EQ(y[1], std::fma(-4097.0f, 4097.0f, 4097.0f * 4097.0f));
  EXPECT_NE(y[1], 0.0f);
}

TEST_F(CodegenTest, DumpsWhatItMade) {
  llvm::SmallString<128> directory;
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("gc-dump", directory));
  FailureOr<KernelLibrary> library =
      compile(addText, {.threads = 1, .dumpDirectory = directory.str().str()});
  ASSERT_TRUE(succeeded(library)) << messages;
  for (const char *name : {"kernels.mlir", "kernels.0.ll", "kernels.0.s", "kernels.so"}) {
    auto file = llvm::MemoryBuffer::getFile(directory + "/" + name);
    ASSERT_TRUE(bool(file)) << name;
    EXPECT_GT((*file)->getBufferSize(), 0u) << name;
  }
  auto code = llvm::MemoryBuffer::getFile(directory + "/kernels.0.ll");
  EXPECT_NE((*code)->getBuffer().find("<"), llvm::StringRef::npos) << "no vectors";
  llvm::sys::fs::remove_directories(directory);
}

TEST_F(CodegenTest, RejectsWrongSignatures) {
  EXPECT_TRUE(failed(compile("func.func @k(%x: memref<?xf32>, %b: index, %e: index) { return }")));
  EXPECT_NE(messages.find("static shape"), std::string::npos) << messages;
  messages.clear();
  EXPECT_TRUE(failed(compile("func.func @k(%x: memref<2xf32>) { return }")));
  EXPECT_NE(messages.find("two index arguments"), std::string::npos) << messages;
}

TEST_F(CodegenTest, NamesTheFunctionItCannotExpand) {
  EXPECT_TRUE(failed(compile(R"(
    func.func @k(%x: memref<1xf32>, %b: index, %e: index) {
      %v = memref.load %x[%b] : memref<1xf32>
      %s = math.asin %v : f32
      memref.store %s, %x[%b] : memref<1xf32>
      return
    })")));
  EXPECT_NE(messages.find("has no expansion"), std::string::npos) << messages;
}

} // namespace
