//===- KernelTest.h - A context for kernels as text, with its messages ----===//
#ifndef GC_TEST_COMPILER_CUDA_PTX_KERNELTEST_H
#define GC_TEST_COMPILER_CUDA_PTX_KERNELTEST_H

#include "compiler/cuda/ptx/CompileToPtx.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "test/compiler/cuda/ptx/KernelTexts.h"
#include <gtest/gtest.h>

namespace gc::test {

class KernelTest : public testing::Test {
protected:
  KernelTest() {
    cuda::registerKernelDialects(context);
    context.getDiagEngine().registerHandler(
        [&](mlir::Diagnostic &diagnostic) { messages += diagnostic.str() + "\n"; });
  }
  mlir::OwningOpRef<mlir::ModuleOp> parse(const std::string &kernels) {
    return mlir::parseSourceString<mlir::ModuleOp>("gpu.module @kernels {" + kernels + "}",
                                                   &context);
  }
  /// For sm_80, if no device is given.
  mlir::FailureOr<cuda::KernelImages> compile(const std::string &kernels,
                                              cuda::CodegenOptions options = {}) {
    mlir::OwningOpRef<mlir::ModuleOp> module = parse(kernels);
    if (!module)
      return mlir::failure();
    if (!options.device)
      options.device = cuda::findDeviceModel("sm_80");
    return cuda::compileKernels(*module, options);
  }
  /// Compiles what has to fail, and returns the message.
  std::string errorOf(const std::string &kernels, const char *target = "sm_80") {
    cuda::CodegenOptions options;
    options.device = cuda::findDeviceModel(target);
    messages.clear();
    EXPECT_TRUE(mlir::failed(compile(kernels, options)));
    return messages;
  }

  mlir::MLIRContext context;
  std::string messages;
};

} // namespace gc::test

#endif // GC_TEST_COMPILER_CUDA_PTX_KERNELTEST_H
