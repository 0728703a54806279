//===- OpUnderTest.h - An op parsed from its text -------------------------===//
#ifndef GC_TEST_COMPILER_EMITTERS_OPUNDERTEST_H
#define GC_TEST_COMPILER_EMITTERS_OPUNDERTEST_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "test/compiler/emitters/KernelRunner.h"

namespace gc::test {

struct OpUnderTest {
  OpUnderTest(); // no op
  /// As for `run`. A text that cannot be parsed fails the test; `op` is null then.
  OpUnderTest(const std::string &text, const std::vector<Tensor> &operands,
              const std::string &symbols);

  /// Tensors for the results, every byte 0xff: NaN, -1.
  std::vector<Tensor> emptyResults() const;

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::Operation *op = nullptr;
  std::string messages; // diagnostics so far
};

} // namespace gc::test

#endif // GC_TEST_COMPILER_EMITTERS_OPUNDERTEST_H
