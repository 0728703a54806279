//===- Softmax.cpp - Softmax of rows, alone and inside attention ----------===//
#include "compiler/cpu/loops/OpKernels.h"

using namespace mlir;

namespace gc::cpu {
namespace {

/// Writes softmax(input[row]) to output[row], which may be the same; returns the logsumexp, where
/// asked for.
Expr addSoftmaxRow(KernelBuilder &k, Value input, Value output, Expr row, int64_t columns,
                   bool withLogsumexp) {
  Expr largest = k.maximumOfColumns(columns, [&](const Columns &columns) {
    return k.load(input, {row}, columns, -std::numeric_limits<double>::infinity());
  });
  Expr shift = k.splat(largest);
  auto powerOf = [&](const Columns &columns) {
    return k.exp(k.load(input, {row}, columns) - shift);
  };
  // Powers stay in the output until their sum is known, unless it would round them.
  bool keeps = k.holdsComputed(output);
  Expr sum = k.sumColumns(columns, [&](const Columns &columns) {
    Expr power = powerOf(columns);
    if (keeps)
      k.store(power, output, {row}, columns);
    return power;
  });
  Expr scale = k.splat(k.f32(1) / sum);
  k.forColumns(columns, [&](const Columns &columns) {
    Expr power = keeps ? k.load(output, {row}, columns) : powerOf(columns);
    k.store(power * scale, output, {row}, columns);
  });
  return withLogsumexp ? largest + k.log(sum) : Expr();
}

} // namespace

LogicalResult emitSoftmax(SoftmaxOp op, OpKernels &kernels) {
  auto type = cast<RankedTensorType>(op.getInput().getType());
  int64_t columns = type.getShape().back(), rows = type.getNumElements() / columns;
  kernels.add("", {kernels.operand(0, {rows, columns}), kernels.result(0, {rows, columns})}, rows,
              grainOf(4 * columns),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                k.loop(begin, end, [&](Expr row) {
                  addSoftmaxRow(k, buffers[0], buffers[1], row, columns, false);
                });
              });
  return success();
}

// dx = y * (dy - sum(y * dy))
LogicalResult emitSoftmaxGrad(SoftmaxGradOp op, OpKernels &kernels) {
  auto type = cast<RankedTensorType>(op.getOutput().getType());
  int64_t columns = type.getShape().back(), rows = type.getNumElements() / columns;
  SmallVector<int64_t> shape{rows, columns};
  kernels.add(
      "", {kernels.operand(0, shape), kernels.operand(1, shape), kernels.result(0, shape)}, rows,
      grainOf(columns), [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
        k.loop(begin, end, [&](Expr row) {
          Expr sum = k.splat(k.sumColumns(columns, [&](const Columns &columns) {
            return k.load(buffers[0], {row}, columns) * k.load(buffers[1], {row}, columns);
          }));
          k.forColumns(columns, [&](const Columns &columns) {
            Expr dy = k.load(buffers[1], {row}, columns);
            k.store(k.load(buffers[0], {row}, columns) * (dy - sum), buffers[2], {row}, columns);
          });
        });
      });
  return success();
}

// Scores and the logsumexp of their rows are accumulators whatever the operands hold.
static SmallVector<BufferUse> scoresAndStatistics(OpKernels &kernels, int64_t rows,
                                                  int64_t sequence) {
  Type accumulator = accumulatorType(kernels.getContext());
  return {kernels.plain(0, {rows, sequence}, accumulator), kernels.plain(1, {rows}, accumulator)};
}

void addAttentionSoftmax(OpKernels &kernels, int64_t rows, int64_t sequence) {
  kernels.add("", scoresAndStatistics(kernels, rows, sequence), rows, grainOf(4 * sequence),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                k.loop(begin, end, [&](Expr row) {
                  Expr logsumexp = addSoftmaxRow(k, buffers[0], buffers[0], row, sequence, true);
                  k.store(logsumexp, buffers[1], {row});
                });
              });
}

void addAttentionProbabilities(OpKernels &kernels, int64_t rows, int64_t sequence) {
  kernels.add("", scoresAndStatistics(kernels, rows, sequence), rows, grainOf(4 * sequence),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                k.loop(begin, end, [&](Expr row) {
                  Expr shift = k.splat(k.load(buffers[1], {row}));
                  k.forColumns(sequence, [&](const Columns &columns) {
                    k.store(k.exp(k.load(buffers[0], {row}, columns) - shift), buffers[0], {row},
                            columns);
                  });
                });
              });
}

void addAttentionScoreGradient(OpKernels &kernels, int64_t batch, int64_t heads, int64_t sequence,
                               int64_t headSize, Type element) {
  int64_t rows = batch * heads * sequence;
  SmallVector<int64_t> scores{rows, sequence}, outputs{batch, sequence, heads, headSize};
  Type accumulator = accumulatorType(kernels.getContext());
  kernels.add("",
              {kernels.plain(0, scores, accumulator), kernels.plain(1, scores, accumulator),
               kernels.plain(2, outputs, element), kernels.plain(3, outputs, element)},
              rows, grainOf(2 * sequence),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                k.loop(begin, end, [&](Expr row) {
                  Expr position = row % sequence;
                  Expr head = row / sequence % heads;
                  Expr sample = row / (sequence * heads);
                  Expr product = k.splat(k.sumColumns(headSize, [&](const Columns &columns) {
                    return k.load(buffers[2], {sample, position, head}, columns) *
                           k.load(buffers[3], {sample, position, head}, columns);
                  }));
                  k.forColumns(sequence, [&](const Columns &columns) {
                    Expr gradient = k.load(buffers[1], {row}, columns) - product;
                    k.store(k.load(buffers[0], {row}, columns) * gradient, buffers[1], {row},
                            columns);
                  });
                });
              });
}

} // namespace gc::cpu
