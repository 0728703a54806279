//===- Expand.cpp - compound ops into their parts -------------------------===//
//
// Before:
//   %y, %mean, %rstd = gc.batch_norm %x, %w, %b {epsilon = 1.0e-5}
//   %t = gc.patch_embed %image, %filter, %bias
// After:
//   %mean, %rstd = gc.batch_stats %x {epsilon = 1.0e-5}
//   %y = gc.normalize %x, %mean, %rstd, %w, %b
//   %c = gc.conv2d %image, %filter bias %bias {strides = <kernel>, padding = 0}
//   %t = gc.reshape %c
// and parts that are joined become chains of gc.put_rows (JoinRows.cpp).
//
// Autodiff sees the whole ops, because adjoints of the parts would be longer and save more values.
// Fusion, which runs later, sees the parts: gc.normalize joins the ReLU and the addition behind it.
//
//===----------------------------------------------------------------------===//
#include "passes/Expand.h"
#include "passes/JoinRows.h"
#include "passes/Passes.h"

namespace gc {
#define GEN_PASS_DEF_EXPANDPASS
#include "passes/Passes.h.inc"
} // namespace gc

using namespace mlir;

namespace gc {
namespace {

void expandBatchNorm(BatchNormOp op) {
  OpBuilder builder(op);
  auto stats = BatchStatsOp::create(builder, op.getLoc(), op.getMean().getType(),
                                    op.getRstd().getType(), op.getInput(), op.getEpsilonAttr());
  Value normalized =
      NormalizeOp::create(builder, op.getLoc(), op.getOutput().getType(), op.getInput(),
                          stats.getMean(), stats.getRstd(), op.getWeight(), op.getBias());
  op->replaceAllUsesWith(ValueRange{normalized, stats.getMean(), stats.getRstd()});
  op.erase();
}

void expandPatchEmbed(PatchEmbedOp op) {
  OpBuilder builder(op);
  auto input = cast<RankedTensorType>(op.getInput().getType());
  auto filter = cast<RankedTensorType>(op.getFilter().getType());
  int64_t kernel[] = {filter.getDimSize(1), filter.getDimSize(2)};
  Type image = input.clone({input.getDimSize(0), input.getDimSize(1) / kernel[0],
                            input.getDimSize(2) / kernel[1], filter.getDimSize(0)});
  Value product =
      Conv2dOp::create(builder, op.getLoc(), image, op.getInput(), op.getFilter(), op.getBias(),
                       /*residual=*/Value(), ArrayRef<int64_t>(kernel), ArrayRef<int64_t>({0, 0}));
  Value tokens = ReshapeOp::create(builder, op.getLoc(), op.getOutput().getType(), product);
  op->replaceAllUsesWith(ValueRange{tokens});
  op.erase();
}

struct ExpandPass : impl::ExpandPassBase<ExpandPass> {
  void runOnOperation() override { expand(getOperation()); }
};

} // namespace

void expand(ModuleOp module) {
  module.walk([](Operation *op) {
    if (auto norm = dyn_cast<BatchNormOp>(op))
      expandBatchNorm(norm);
    else if (auto embed = dyn_cast<PatchEmbedOp>(op))
      expandPatchEmbed(embed);
  });
  for (auto function : module.getOps<func::FuncOp>())
    joinRows(function);
}

} // namespace gc
