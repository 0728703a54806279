//===- Loss.cpp - Cross entropy and accuracy ------------------------------===//
//
// A sample with a label outside [0, classes) is padding: the runtime checks labels when it loads
// them, so that only the negative ones of a short last batch are left.
//
//===----------------------------------------------------------------------===//
#include "compiler/cpu/loops/OpKernels.h"
#include "compiler/language/Formulas.h"

using namespace mlir;

namespace gc::cpu {
namespace {

/// How many samples are not padding, but at least `least`.
Expr countSamples(KernelBuilder &k, Value labels, int64_t rows, int64_t classes, int least) {
  SmallVector<Expr> count =
      k.loop(k.index(0), k.index(rows), 1, {k.i32(0)}, [&](Expr row, ArrayRef<Expr> carried) {
        Expr counts = isSample(k, k.load(labels, {row}), classes);
        return SmallVector<Expr>{carried[0] + k.widen(counts, k.builder.getI32Type())};
      });
  return k.toFloat(k.maximum(count[0], k.i32(least)));
}

/// The same to divide by, also where a batch is empty.
Expr divisor(KernelBuilder &k, Value labels, int64_t rows, int64_t classes) {
  return countSamples(k, labels, rows, classes, 1);
}

/// The sum of an array in its order.
Expr sumInOrder(KernelBuilder &k, Value array, int64_t size) {
  return k.loop(k.index(0), k.index(size), 1, {k.f32(0)}, [&](Expr i, ArrayRef<Expr> carried) {
    return SmallVector<Expr>{carried[0] + k.load(array, {i})};
  })[0];
}

} // namespace

// loss = mean over samples of (logsumexp(logits) - logits[label]); with smoothing e, of
// (1 - e) (logsumexp(logits) - logits[label]) + e (logsumexp(logits) - mean(logits)).
LogicalResult emitCrossEntropy(CrossEntropyOp op, OpKernels &kernels) {
  auto shape = cast<RankedTensorType>(op.getLogits().getType()).getShape();
  int64_t rows = shape[0], classes = shape[1];
  double smoothing = op.getLabelSmoothing().convertToFloat();
  kernels.add(
      "rows",
      {kernels.operand(0), kernels.operand(1, {rows}), kernels.result(1), kernels.scratch({rows})},
      rows, grainOf(4 * classes),
      [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
        k.loop(begin, end, [&](Expr row) {
          Expr largest = k.maximumOfColumns(classes, [&](const Columns &columns) {
            return k.load(buffers[0], {row}, columns, -std::numeric_limits<double>::infinity());
          });
          Expr shift = k.splat(largest);
          Expr sum = k.sumColumns(classes, [&](const Columns &columns) {
            return k.exp(k.load(buffers[0], {row}, columns) - shift);
          });
          Expr logsumexp = largest + k.log(sum);
          k.store(logsumexp, buffers[2], {row});
          Expr label = k.load(buffers[1], {row});
          Expr loss = logsumexp - k.load(buffers[0], {row, classOf(k, label, classes)});
          if (smoothing != 0) {
            Expr total = k.sumColumns(classes, [&](const Columns &columns) {
              return k.load(buffers[0], {row}, columns);
            });
            Expr average = total * (1 / double(classes));
            loss = loss * (1 - smoothing) + (logsumexp - average) * smoothing;
          }
          k.store(k.select(isSample(k, label, classes), loss, k.f32(0)), buffers[3], {row});
        });
      });
  kernels.add("mean", {kernels.operand(1, {rows}), kernels.scratch({rows}), kernels.result(0)}, 1,
              1, [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                k.loop(begin, end, [&](Expr) {
                  Expr count = divisor(k, buffers[0], rows, classes);
                  k.store(sumInOrder(k, buffers[1], rows) / count, buffers[2], {});
                });
              });
  return success();
}

// dlogits = dloss / samples * (exp(logits - logsumexp) - (1 - e) onehot(label) - e / classes), 0
// for padding.
LogicalResult emitCrossEntropyGrad(CrossEntropyGradOp op, OpKernels &kernels) {
  auto shape = cast<RankedTensorType>(op.getLogits().getType()).getShape();
  int64_t rows = shape[0], classes = shape[1];
  double smoothing = op.getLabelSmoothing().convertToFloat();
  kernels.add("",
              {kernels.operand(0), kernels.operand(1, {rows}), kernels.operand(2),
               kernels.operand(3), kernels.result(0)},
              rows, grainOf(4 * classes),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                Expr scale = k.load(buffers[3], {}) / divisor(k, buffers[1], rows, classes);
                k.loop(begin, end, [&](Expr row) {
                  Expr label = k.load(buffers[1], {row});
                  Expr counts = isSample(k, label, classes);
                  Expr factor = k.splat(k.select(counts, scale, k.f32(0)));
                  Expr shift = k.splat(k.load(buffers[2], {row}));
                  auto gradientOf = [&](Expr logit, Expr logsumexp, Expr factor) {
                    Expr probability = k.exp(logit - logsumexp);
                    if (smoothing != 0)
                      probability = probability - smoothing / double(classes);
                    return factor * probability;
                  };
                  // The label's logit may lie where its gradient goes, and has to be read before.
                  Expr at = classOf(k, label, classes);
                  Expr ofLabel =
                      gradientOf(k.load(buffers[0], {row, at}), k.load(buffers[2], {row}), scale);
                  k.forColumns(classes, [&](const Columns &columns) {
                    k.store(gradientOf(k.load(buffers[0], {row}, columns), shift, factor),
                            buffers[4], {row}, columns);
                  });
                  k.when(counts, [&] {
                    Expr target = smoothing != 0 ? scale * (1 - smoothing) : scale;
                    k.store(ofLabel - target, buffers[4], {row, at});
                  });
                });
              });
  return success();
}

// A sample is right when no earlier logit is as large as the label's and no later one larger.
LogicalResult emitAccuracy(AccuracyOp op, OpKernels &kernels) {
  auto shape = cast<RankedTensorType>(op.getLogits().getType()).getShape();
  int64_t rows = shape[0], classes = shape[1];
  kernels.add(
      "rows", {kernels.operand(0), kernels.operand(1, {rows}), kernels.scratch({rows})}, rows,
      grainOf(classes), [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
        k.loop(begin, end, [&](Expr row) {
          Expr label = k.load(buffers[1], {row});
          Expr at = classOf(k, label, classes);
          Expr logit = k.load(buffers[0], {row, at});
          auto countFrom = [&](Expr first, Expr last, Expr count,
                               llvm::function_ref<Expr(Expr)> beats) {
            return k.loop(first, last, 1, {count}, [&](Expr c, ArrayRef<Expr> carried) {
              Expr beaten = beats(k.load(buffers[0], {row, c}));
              return SmallVector<Expr>{carried[0] + k.widen(beaten, k.builder.getI32Type())};
            })[0];
          };
          Expr beaten =
              countFrom(k.index(0), at, k.i32(0), [&](Expr other) { return other >= logit; });
          beaten = countFrom(at + 1, k.index(classes), beaten,
                             [&](Expr other) { return other > logit; });
          // Comparisons with NaN are false, so a sample whose logit is NaN must be ruled out here.
          Expr isRight = (beaten == k.i32(0)) & isSample(k, label, classes) & (logit == logit);
          k.store(k.select(isRight, k.f32(1), k.f32(0)), buffers[2], {row});
        });
      });
  kernels.add("sum", {kernels.scratch({rows}), kernels.result(0)}, 1, 1,
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                k.loop(begin, end,
                       [&](Expr) { k.store(sumInOrder(k, buffers[0], rows), buffers[1], {}); });
              });
  return success();
}

LogicalResult emitLabelCount(LabelCountOp op, OpKernels &kernels) {
  int64_t rows = elementCount(op.getLabels().getType());
  int64_t classes = static_cast<int64_t>(op.getClasses());
  kernels.add("", {kernels.operand(0, {rows}), kernels.result(0)}, 1, 1,
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                k.loop(begin, end, [&](Expr) {
                  k.store(countSamples(k, buffers[0], rows, classes, 0), buffers[1], {});
                });
              });
  return success();
}

} // namespace gc::cpu
