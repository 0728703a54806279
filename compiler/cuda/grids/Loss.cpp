//===- Loss.cpp - Cross entropy and accuracy ------------------------------===//
//
// A sample with a label outside [0, classes) is padding: the runtime checks labels when it loads
// them, so that only the negative ones of a short last batch are left. Samples are counted in
// floats, exactly up to 2^24.
//
//===----------------------------------------------------------------------===//
#include "compiler/cuda/grids/Columns.h"
#include "compiler/cuda/grids/Rows.h"
#include "compiler/language/Formulas.h"

using namespace mlir;

namespace gc::cuda {
namespace {

/// Adds one block over [rows] that sums what `values` gives for a row.
void addTotals(
    GpuKernels &kernels, StringRef suffix, ArrayRef<BufferUse> uses, int64_t rows, unsigned count,
    llvm::function_ref<SmallVector<Expr>(GpuBuilder &, ArrayRef<Value>, Expr row)> values,
    llvm::function_ref<void(GpuBuilder &, ArrayRef<Value>, ArrayRef<Expr>)> store) {
  addColumnReduction(
      kernels, suffix, uses, ColumnBlocks::whole(1, rows, 1), {.count = count},
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &, Expr row) {
        return values(k, buffers, row);
      },
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &, ArrayRef<Expr> totals) {
        store(k, buffers, totals);
      });
}

/// 1 for a sample, 0 for padding.
Expr countOf(GpuBuilder &k, Expr label, int64_t classes) {
  return k.select(isSample(k, label, classes), k.f32(1), k.f32(0));
}

/// At least 1, so that an empty batch divides by something.
Expr atLeastOne(GpuBuilder &k, Expr count) { return k.larger(count, k.f32(1)); }

} // namespace

// loss = mean over samples of (logsumexp(logits) - logits[label]); with smoothing e, of
// (1 - e) (logsumexp(logits) - logits[label]) + e (logsumexp(logits) - mean(logits)).
LogicalResult emitCrossEntropy(CrossEntropyOp op, GpuKernels &kernels) {
  auto shape = cast<RankedTensorType>(op.getLogits().getType()).getShape();
  int64_t rows = shape[0], classes = shape[1];
  double smoothing = op.getLabelSmoothing().convertToFloat();
  RowLayout layout(rows, classes);
  BufferUse losses = kernels.scratch({rows});
  kernels.add("rows", {kernels.operand(0), kernels.operand(1, {rows}), kernels.result(1), losses},
              layout.grid(), layout.block(), [&](GpuBuilder &k, ArrayRef<Value> buffers) {
                RowThreads t(k, layout);
                RowValues x = t.keep(t.rowOf(buffers[0]));
                Expr largest = t.maximum(x);
                Expr sum = t.sum(t.map([&](Expr x) { return k.exp(x - largest); }, x));
                Expr average = largest; // used with smoothing alone
                if (smoothing != 0)
                  average = t.sum(x) * (1 / double(classes));
                t.once([&] {
                  Expr logsumexp = largest + k.log(sum);
                  k.store(logsumexp, buffers[2], {t.row});
                  Expr label = k.load(buffers[1], {t.row});
                  Expr loss = logsumexp - k.load(buffers[0], {t.row, classOf(k, label, classes)});
                  if (smoothing != 0)
                    loss = loss * (1 - smoothing) + (logsumexp - average) * smoothing;
                  k.store(k.select(isSample(k, label, classes), loss, k.f32(0)), buffers[3],
                          {t.row});
                });
              });
  addTotals(
      kernels, "mean", {kernels.operand(1, {rows}), losses, kernels.result(0)}, rows, 2,
      [&](GpuBuilder &k, ArrayRef<Value> buffers, Expr row) {
        return SmallVector<Expr>{k.load(buffers[1], {row}),
                                 countOf(k, k.load(buffers[0], {row}), classes)};
      },
      [&](GpuBuilder &k, ArrayRef<Value> buffers, ArrayRef<Expr> totals) {
        k.store(totals[0] / atLeastOne(k, totals[1]), buffers[2], {});
      });
  return success();
}

// dlogits = dloss / samples * (exp(logits - logsumexp) - (1 - e) onehot(label) - e / classes), 0
// for padding.
LogicalResult emitCrossEntropyGrad(CrossEntropyGradOp op, GpuKernels &kernels) {
  auto shape = cast<RankedTensorType>(op.getLogits().getType()).getShape();
  int64_t rows = shape[0], classes = shape[1];
  BufferUse scale = kernels.scratch({1});
  addTotals(
      kernels, "scale", {kernels.operand(1, {rows}), kernels.operand(3), scale}, rows, 1,
      [&](GpuBuilder &k, ArrayRef<Value> buffers, Expr row) {
        return SmallVector<Expr>{countOf(k, k.load(buffers[0], {row}), classes)};
      },
      [&](GpuBuilder &k, ArrayRef<Value> buffers, ArrayRef<Expr> totals) {
        Expr share = k.load(buffers[1], {}) / atLeastOne(k, totals[0]);
        k.store(share, buffers[2], {k.index(0)});
      });

  double smoothing = op.getLabelSmoothing().convertToFloat();
  int64_t width = vectorWidth({classes}), items = rows * classes / width;
  kernels.add(
      "",
      {kernels.operand(0), kernels.operand(1, {rows}), kernels.operand(2), scale,
       kernels.result(0)},
      itemGrid(items), itemBlock, [&](GpuBuilder &k, ArrayRef<Value> buffers) {
        forItems(k, items, [&](Expr item) {
          Expr first = item * width;
          Expr row = first / classes, column = first % classes;
          Expr label = k.load(buffers[1], {row}), scale = k.load(buffers[3], {k.index(0)});
          Expr counts = isSample(k, label, classes), shift = k.load(buffers[2], {row});
          Expr factor = k.select(counts, scale, k.f32(0)), target = classOf(k, label, classes);
          Elements gradients;
          for (auto [i, x] : llvm::enumerate(k.loadElements(buffers[0], {row, column}, width))) {
            Expr probability = k.exp(x - shift);
            if (smoothing != 0)
              probability = probability - smoothing / double(classes);
            Expr gradient = factor * probability;
            Expr isTarget = counts & (column + i == target);
            Expr share = smoothing != 0 ? scale * (1 - smoothing) : scale;
            gradients.push_back(k.select(isTarget, gradient - share, gradient));
          }
          k.storeElements(gradients, buffers[4], {row, column});
        });
      });
  return success();
}

// A sample is right when no earlier logit is as large as the label's and no later one larger.
LogicalResult emitAccuracy(AccuracyOp op, GpuKernels &kernels) {
  auto shape = cast<RankedTensorType>(op.getLogits().getType()).getShape();
  int64_t rows = shape[0], classes = shape[1];
  RowLayout layout(rows, classes);
  BufferUse right = kernels.scratch({rows});
  kernels.add(
      "rows", {kernels.operand(0), kernels.operand(1, {rows}), right}, layout.grid(),
      layout.block(), [&](GpuBuilder &k, ArrayRef<Value> buffers) {
        RowThreads t(k, layout);
        Expr label = k.load(buffers[1], {t.row});
        Expr at = classOf(k, label, classes), logit = k.load(buffers[0], {t.row, at});
        auto beats = [&](Expr other, Expr column) {
          Expr wins = (other > logit) | ((other == logit) & (column < at));
          return k.select(wins, k.f32(1), k.f32(0));
        };
        Expr beaten = t.maximum(t.map(beats, t.rowOf(buffers[0]), t.columns()));
        // A NaN beats nothing and is beaten by nothing: it is never right.
        Expr isRight = (beaten == k.f32(0)) & isSample(k, label, classes) & (logit == logit);
        t.once([&] { k.store(k.select(isRight, k.f32(1), k.f32(0)), buffers[2], {t.row}); });
      });
  addTotals(
      kernels, "sum", {right, kernels.result(0)}, rows, 1,
      [&](GpuBuilder &k, ArrayRef<Value> buffers, Expr row) {
        return SmallVector<Expr>{k.load(buffers[0], {row})};
      },
      [&](GpuBuilder &k, ArrayRef<Value> buffers, ArrayRef<Expr> totals) {
        k.store(totals[0], buffers[1], {});
      });
  return success();
}

LogicalResult emitLabelCount(LabelCountOp op, GpuKernels &kernels) {
  int64_t rows = elementCount(op.getLabels().getType());
  int64_t classes = static_cast<int64_t>(op.getClasses());
  addTotals(
      kernels, "", {kernels.operand(0, {rows}), kernels.result(0)}, rows, 1,
      [&](GpuBuilder &k, ArrayRef<Value> buffers, Expr row) {
        return SmallVector<Expr>{countOf(k, k.load(buffers[0], {row}), classes)};
      },
      [&](GpuBuilder &k, ArrayRef<Value> buffers, ArrayRef<Expr> totals) {
        k.store(totals[0], buffers[1], {});
      });
  return success();
}

} // namespace gc::cuda
