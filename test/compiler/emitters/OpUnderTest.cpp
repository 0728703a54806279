//===- OpUnderTest.cpp - An op parsed from its text -----------------------===//
#include "test/compiler/emitters/OpUnderTest.h"

#include "dialects/Gc.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

namespace gc::test {

OpUnderTest::OpUnderTest() {
  mlir::DialectRegistry registry;
  registerGcDialects(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
  context.getDiagEngine().registerHandler(
      [this](mlir::Diagnostic &diagnostic) { messages += diagnostic.str() + "\n"; });
}

OpUnderTest::OpUnderTest(const std::string &text, const std::vector<Tensor> &operands,
                         const std::string &symbols)
    : OpUnderTest() {
  // The op stands in a function whose arguments are its operands.
  std::string body = text;
  std::string function = symbols + "\nfunc.func @f(";
  for (size_t i = 0; i < operands.size(); ++i) {
    function += (i ? ", %a" : "%a") + std::to_string(i) + ": " + operands[i].type();
    std::string from = "%" + std::to_string(i), to = "%a" + std::to_string(i);
    for (size_t at = body.find(from); at != std::string::npos; at = body.find(from, at + to.size()))
      body.replace(at, from.size(), to);
  }
  function += ") {\n" + body + "\nreturn\n}";
  module = mlir::parseSourceString<mlir::ModuleOp>(function, &context);
  if (!module) {
    ADD_FAILURE() << "cannot parse: " << function << "\n" << messages;
    return;
  }
  module->walk([&](mlir::func::FuncOp f) { op = &f.getBody().front().front(); });
}

std::vector<Tensor> OpUnderTest::emptyResults() const {
  std::vector<Tensor> empty;
  for (mlir::Type type : op->getResultTypes()) {
    auto tensor = mlir::cast<mlir::RankedTensorType>(type);
    std::string element = tensor.getElementType().isF32()
                              ? "f32"
                              : "i" + std::to_string(tensor.getElementTypeBitWidth());
    empty.emplace_back(tensor.getShape().vec(), element);
    std::fill(empty.back().bytes.begin(), empty.back().bytes.end(), 0xff);
  }
  return empty;
}

} // namespace gc::test
