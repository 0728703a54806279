//===- TensorCores.cpp - Products of f32 rounded to TF32 ------------------===//
#include "compiler/cuda/grids/TensorCores.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace gc::cuda {

void loadTensorCoreDialects(MLIRContext &context) {
  context.loadDialect<LLVM::LLVMDialect, NVVM::NVVMDialect>();
}

Expr roundToTf32(GpuBuilder &k, Expr value) {
  if (auto vector = dyn_cast<VectorType>(value.type())) {
    SmallVector<Expr> rounded;
    for (int64_t i = 0; i < vector.getNumElements(); ++i)
      rounded.push_back(roundToTf32(k, k.element(value, i)));
    return k.vectorOf(rounded);
  }
  Value bits = NVVM::ConvertFloatToTF32Op::create(k.builder, k.location, k.builder.getI32Type(),
                                                  value, NVVM::FPRoundingMode::RNA);
  return k.wrap(arith::BitcastOp::create(k.builder, k.location, value.type(), bits));
}

WarpPieces::WarpPieces(GpuBuilder &k, const TileShape &tile)
    : down(tile.threadRows / 4), across(tile.threadColumns) {
  Expr lane = k.thread() % warpSize, warp = k.thread() / warpSize;
  int64_t warpsAcross = tile.warpsAcross();
  group = lane / 4;
  pairs = lane % 4 * 2;
  depth = lane % 4 * 2;
  firstRow = warp / warpsAcross * (4 * tile.threadRows) + group;
  firstColumn = warp % warpsAcross * (8 * tile.threadColumns);
}

SmallVector<Expr> multiplyPiece(GpuBuilder &k, ArrayRef<Expr> left, ArrayRef<Expr> right,
                                ArrayRef<Expr> sums) {
  auto bitsOf = [&](ArrayRef<Expr> values) {
    SmallVector<Value> bits;
    for (Expr value : values)
      bits.push_back(
          arith::BitcastOp::create(k.builder, k.location, k.builder.getI32Type(), value));
    return bits;
  };
  Type f32 = k.builder.getF32Type();
  auto results = LLVM::LLVMStructType::getLiteral(k.builder.getContext(), {f32, f32, f32, f32});
  auto product =
      NVVM::MmaOp::create(k.builder, k.location, results, bitsOf(left), bitsOf(right),
                          SmallVector<Value>(sums.begin(), sums.end()), {16, 8, 8}, std::nullopt,
                          std::nullopt, std::array{NVVM::MMATypes::tf32, NVVM::MMATypes::tf32},
                          std::array{NVVM::MMALayout::row, NVVM::MMALayout::col});
  SmallVector<Expr> next;
  for (int64_t i = 0; i < 4; ++i)
    next.push_back(k.wrap(LLVM::ExtractValueOp::create(k.builder, k.location, product, i)));
  return next;
}

} // namespace gc::cuda
