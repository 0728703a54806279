//===- Softmax.cpp - Softmax of rows, alone and inside attention ----------===//
#include "compiler/cpu/loops/OpKernels.h"
#include "compiler/target/Products.h"

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

// The same, and what is added to the scores.
static SmallVector<BufferUse> scoresAndBias(OpKernels &kernels, const AttentionShape &s,
                                            Type element) {
  SmallVector<BufferUse> uses =
      scoresAndStatistics(kernels, s.batch * s.heads * s.sequence, s.sequence);
  if (s.hasBias())
    uses.push_back(kernels.plain(2, s.bias, element));
  return uses;
}

// Below every score, and far from what f32 cannot hold.
static constexpr double hidden = -1e30;

// Adds the bias to a row of scores, and hides the keys behind a causal query.
static void maskRow(KernelBuilder &k, ArrayRef<Value> buffers, const AttentionShape &s, Expr row) {
  if (!s.hasBias() && !s.causal)
    return;
  Expr place[] = {row / (s.sequence * s.heads), row / s.sequence % s.heads, row % s.sequence};
  SmallVector<Expr> ofBias;
  for (int i = 0; i < 3; ++i)
    ofBias.push_back(s.bias[i] == 1 ? k.index(0) : place[i]);
  Expr query = k.splat(k.toFloat(k.fromIndex(place[2], k.builder.getI32Type())));
  k.forColumns(s.sequence, [&](const Columns &columns) {
    Expr score = k.load(buffers[0], {row}, columns);
    if (s.hasBias())
      score = score + k.load(buffers[2], ofBias, columns);
    if (s.causal)
      score = k.select(k.numbers(columns) <= query, score, k.splat(k.f32(hidden)));
    k.store(score, buffers[0], {row}, columns);
  });
}

void addAttentionSoftmax(OpKernels &kernels, const AttentionShape &s, Type element) {
  int64_t rows = s.batch * s.heads * s.sequence, sequence = s.sequence;
  kernels.add("", scoresAndBias(kernels, s, element), rows, grainOf(4 * sequence),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                k.loop(begin, end, [&](Expr row) {
                  maskRow(k, buffers, s, row);
                  Expr logsumexp = addSoftmaxRow(k, buffers[0], buffers[0], row, sequence, true);
                  k.store(logsumexp, buffers[1], {row});
                });
              });
}

void addAttentionProbabilities(OpKernels &kernels, const AttentionShape &s, Type element) {
  int64_t rows = s.batch * s.heads * s.sequence, sequence = s.sequence;
  kernels.add("", scoresAndBias(kernels, s, element), rows, grainOf(4 * sequence),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                k.loop(begin, end, [&](Expr row) {
                  maskRow(k, buffers, s, row);
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

// An item is a row of the bias's gradient: samples and heads are added up in their order, chunk by
// chunk where the bias is the same for all samples.
void addAttentionBiasGradient(OpKernels &kernels, const AttentionShape &s, bool isFirst,
                              Type element) {
  bool addsSamples = s.bias[0] == 1, addsHeads = s.bias[1] == 1;
  int64_t samples = addsSamples ? 1 : s.batch, heads = addsHeads ? 1 : s.heads;
  SmallVector<int64_t> scores{s.batch, s.heads, s.sequence, s.sequence};
  int64_t terms = (addsSamples ? s.batch : 1) * (addsHeads ? s.heads : 1);
  kernels.add(
      "",
      {kernels.plain(0, scores, accumulatorType(kernels.getContext())),
       kernels.plain(1, {samples, heads, s.sequence, s.sequence}, element)},
      samples * heads * s.sequence, grainOf(s.sequence * terms),
      [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
        k.loop(begin, end, [&](Expr row) {
          Expr query = row % s.sequence, head = row / s.sequence % heads;
          Expr sample = row / (s.sequence * heads);
          k.forColumns(s.sequence, [&](const Columns &columns) {
            Expr first = k.splat(k.f32(0));
            if (!isFirst)
              first = k.load(buffers[1], {sample, head, query}, columns);
            Expr sum = k.loop(
                k.index(0), k.index(terms), 1, {first}, [&](Expr term, ArrayRef<Expr> carried) {
                  Expr b = addsSamples ? term / (addsHeads ? s.heads : 1) : sample;
                  Expr h = addsHeads ? term % s.heads : head;
                  return SmallVector<Expr>{carried[0] + k.load(buffers[0], {b, h, query}, columns)};
                })[0];
            k.store(sum, buffers[1], {sample, head, query}, columns);
          });
        });
      });
}

} // namespace gc::cpu
