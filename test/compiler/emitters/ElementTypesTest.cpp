//===- ElementTypesTest.cpp - Buffers of other elements than kernels compute in ===//
//
// Sums of narrow elements are carried in f32, f32 takes no conversion, and what was loaded is not
// rounded again.
//
//===----------------------------------------------------------------------===//
#include "compiler/language/KernelBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace gc::kernels;

namespace {

constexpr int64_t columns = 37; // two vectors and a rest

/// y = x * 2 element by element, then in rows; y[0] = sum of x. Or a copy.
std::string kernelText(StringRef element, bool copies = false) {
  MLIRContext context;
  context.loadDialect<arith::ArithDialect, func::FuncDialect, memref::MemRefDialect,
                      scf::SCFDialect, vector::VectorDialect>();
  OpBuilder builder(&context);
  Location loc = builder.getUnknownLoc();
  Type type = element == "bf16" ? Type(builder.getBF16Type()) : Type(builder.getF32Type());
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToStart(module->getBody());
  auto row = MemRefType::get({columns}, type);
  auto function = func::FuncOp::create(builder, loc, "kernel",
                                       builder.getFunctionType({row, row}, TypeRange()));
  Block *block = function.addEntryBlock();
  builder.setInsertionPointToStart(block);
  KernelBuilder k(builder, loc);
  Value x = block->getArgument(0), y = block->getArgument(1);
  if (copies) {
    k.forColumns(columns, [&](const Columns &c) { k.store(k.load(x, {}, c), y, {}, c); });
  } else {
    k.loop(k.index(0), k.index(columns), [&](Expr c) { k.store(k.load(x, {c}) * 2, y, {c}); });
    k.forColumns(columns, [&](const Columns &c) { k.store(k.load(x, {}, c) * 2, y, {}, c); });
    k.store(k.sumColumns(columns, [&](const Columns &c) { return k.load(x, {}, c); }), y,
            {k.index(0)});
  }
  func::ReturnOp::create(builder, loc);
  EXPECT_TRUE(succeeded(verify(*module)));
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream);
  return text;
}

TEST(ElementTypes, NarrowFloatsAreComputedInTheAccumulatorsType) {
  std::string text = kernelText("bf16");
  EXPECT_NE(text.find(": bf16 to f32"), std::string::npos) << text;
  EXPECT_NE(text.find(": vector<16xbf16> to vector<16xf32>"), std::string::npos) << text;
  EXPECT_NE(text.find(": vector<16xf32> to vector<16xbf16>"), std::string::npos) << text;
  EXPECT_NE(text.find(": f32 to bf16"), std::string::npos) << text;
  // No arithmetic in bf16.
  for (const char *op : {"arith.mulf", "arith.addf"})
    for (size_t at = text.find(op); at != std::string::npos; at = text.find(op, at + 1))
      EXPECT_EQ(text.substr(at, text.find('\n', at) - at).find("bf16"), std::string::npos) << text;
}

TEST(ElementTypes, CopiesAreNotRounded) {
  EXPECT_EQ(kernelText("bf16", /*copies=*/true).find("truncf"), std::string::npos);
}

TEST(ElementTypes, AccumulatorsTypeTakesNoConversion) {
  std::string text = kernelText("f32");
  EXPECT_EQ(text.find("extf"), std::string::npos) << text;
  EXPECT_EQ(text.find("truncf"), std::string::npos) << text;
}

} // namespace
