//===- Attention.cpp - Attention without the matrix of scores -------------===//
//
//   S = q k^T / sqrt(d)   P = softmax(S)   O = P v   logsumexp = log(sum(exp(S)))
//
// A block has a tile of queries of one head and goes through the keys tile by tile. It keeps the
// largest score and the sum of each query's exponentials so far, and what it has of the output,
// which are rescaled where a larger score turns up: scores live in registers and shared memory
// only.
//
// Backward recomputes P = exp(S - logsumexp). dQ takes tiles of queries and goes through the keys,
// dK and dV take tiles of keys and go through the queries: every sum has one owner and one order.
//   dP = dO v^T   dS = P * (dP - rowsum(dO * O)) / sqrt(d)   dQ = dS k   dK = dS^T q   dV = P^T dO
//
// A bias is added to scores where they are computed, and a causal query leaves out the tiles of
// keys behind it. The gradient of a bias has its tiles in registers, and goes through the samples
// and heads that share it.
//
//===----------------------------------------------------------------------===//
#include "compiler/cuda/grids/GpuKernels.h"
#include "compiler/cuda/grids/TileProduct.h"
#include "compiler/target/Products.h"
#include <cmath>

using namespace mlir;

namespace gc::cuda {
namespace {

/// How one head is cut. Rows are what a block has, columns what it goes through; both are queries
/// or keys. A thread's registers hold `scoreTiles` of the former at a time, and what it has of the
/// output.
struct HeadCut {
  TileShape scores; // [rows, columns], one warp across: a row is in eight neighbouring lanes
  TileShape output; // [rows, head size], or a slice of large heads; the scores are the same in each
  int64_t rowTiles, slices;

  HeadCut(const AttentionShape &s, int64_t scoreTiles) {
    // One by one, fetches take more registers: then slices, tiles and steps are smaller.
    bool inVectors = s.headSize % 4 == 0;
    // Fewer rows a block where the blocks would be too few for a large GPU.
    int64_t heads = s.batch * s.heads;
    int64_t rows = s.sequence > 32 && heads * ceilDiv(s.sequence, 64) >= 132 ? 64 : 32;
    slices = ceilDiv(s.headSize, inVectors ? 128 : 64);
    int64_t width = ceilDiv(ceilDiv(s.headSize, slices), 32) * 32;
    scores = {rows, 64, 8, 4, 8};
    if (s.sequence <= 32 || (scoreTiles > 1 && (s.headSize > 64 || !inVectors)))
      scores = {rows, 32, inVectors ? 16 : 8, 4, 4};
    output = {rows, width, inVectors ? 16 : 8, 4, width / 8};
    // One tile of columns is no loop, and the assembler then unrolls those within: smaller steps
    // leave it less to have in flight.
    if (scoreTiles > 1 && s.sequence <= 32)
      scores.depth = output.depth = 8;
    rowTiles = ceilDiv(s.sequence, rows);
  }
  int64_t registers() const { return output.threadRows * output.threadColumns; }
  Extent block() const { return {scores.threads(), 1, 1}; }
};

/// One head of one sample: where its matrices are, and the tile of it that a block has.
class Head {
public:
  Head(GpuBuilder &k, const AttentionShape &s, const HeadCut &cut)
      : k(k), s(s), cut(cut), mine(k, cut.scores),
        staging(k.shared({std::max(stagingSize(cut.scores), stagingSize(cut.output, true))})),
        kept(k.shared({cut.scores.rows, cut.scores.columns + 4})) {
    Expr number = k.block();
    firstRow = number % cut.rowTiles * cut.scores.rows;
    number = number / cut.rowTiles;
    firstOut = number % cut.slices * cut.output.columns;
    number = number / cut.slices;
    head = number % s.heads;
    sample = number / s.heads;
  }
  static Extent grid(const AttentionShape &s, const HeadCut &cut) {
    return {cut.rowTiles * cut.slices * s.heads * s.batch, 1, 1};
  }

  /// Part 0, 1 or 2 (queries, keys, values) of the packed operand, [sequence, head size], as a
  /// factor whose rows are the sequence (for scores), or whose depth is.
  TileOperand packed(Value buffer, int64_t part, bool isForScores) const {
    return operand(buffer, packedOffset(part), 3 * s.width(), isForScores);
  }
  /// The same of the output or its gradient.
  TileOperand unpacked(Value buffer, bool isForScores) const {
    return operand(buffer, offset(s.width()), s.width(), isForScores);
  }
  Expr packedOffset(int64_t part) const { return offset(3 * s.width()) + part * s.width(); }
  Expr offset(int64_t width) const { return sample * (s.sequence * width) + head * s.headSize; }
  /// Where a query is in [batch, heads, sequence].
  Expr rowIndex(Expr query) const { return (sample * s.heads + head) * s.sequence + query; }
  /// Row i of this thread, which may be beyond the last.
  Expr row(int64_t i) const { return firstRow + mine.row(i); }
  /// A score as the softmax sees it: scaled, with the bias, and lowest where it is hidden.
  Expr masked(Expr score, Value bias, Expr query, Expr key) const {
    score = score * k.f32(1 / std::sqrt(double(s.headSize)));
    if (s.hasBias()) {
      Expr index = lastOr(key);
      int64_t stride = s.bias[3];
      Expr place[] = {lastOr(query), head, sample};
      for (int i = 2; i >= 0; stride *= s.bias[i--])
        if (s.bias[i] != 1)
          index = index + place[2 - i] * stride;
      score = score + k.load(bias, {index});
    }
    return s.causal ? k.select(key <= query, score, k.f32(lowestScore)) : score;
  }
  static constexpr float lowestScore = -std::numeric_limits<float>::infinity();

  Expr lastOr(Expr at) const { return k.minimum(at, k.index(s.sequence - 1)); }

  /// left right^T of the block's rows and the columns from `firstColumn` on.
  SmallVector<Expr> products(const TileOperand &left, const TileOperand &right,
                             Expr firstColumn) const {
    return sumProducts(k, cut.scores, left, firstRow, right, firstColumn, k.index(0),
                       k.index(s.headSize), staging);
  }

  /// Adds values right to `sums`, where `values` are what the block's threads have of [rows,
  /// columns], and columns from `first` to `end` are right's depth. They pass through shared
  /// memory.
  SmallVector<Expr> addProduct(ArrayRef<Expr> values, const TileOperand &right, Expr first,
                               Expr end, ArrayRef<Expr> sums) const {
    int64_t columns = cut.scores.threadColumns;
    for (int64_t i = 0; i < cut.scores.threadRows; ++i)
      for (int64_t j = 0; j < columns; j += 4)
        k.storeVector(k.vectorOf(values.slice(i * columns + j, 4)), kept,
                      {mine.row(i), mine.column(j)});
    return addProducts(k, cut.output, kept, right, firstOut, first, end, sums, staging);
  }

  /// Stores this thread's part of [rows, head size] at `offset` with `width` between rows.
  void store(ArrayRef<Expr> values, Value buffer, Expr offset, int64_t width) const {
    ThreadTile out(k, cut.output);
    bool inVectors = s.headSize % 4 == 0;
    int64_t step = inVectors ? 4 : 1, columns = cut.output.threadColumns;
    for (int64_t i = 0; i < cut.output.threadRows; ++i)
      k.when(row(i) < s.sequence, [&] {
        for (int64_t j = 0; j < columns; j += step) {
          Expr column = firstOut + out.column(j);
          Expr index = offset + row(i) * width + column;
          ArrayRef<Expr> some = values.slice(i * columns + j, step);
          auto write = [&] {
            if (inVectors)
              k.storeVector(k.vectorOf(some), buffer, {index});
            else
              k.store(some[0], buffer, {index});
          };
          if (s.headSize == cut.slices * cut.output.columns)
            write();
          else
            k.when(column < s.headSize, write);
        }
      });
  }

  /// Goes through the tiles of columns: of keys, where the block has queries, or of queries. Those
  /// where everything is hidden are left out.
  SmallVector<Expr>
  forColumns(bool areKeys, ArrayRef<Expr> initial,
             function_ref<SmallVector<Expr>(Expr first, Expr end, ArrayRef<Expr>)> body) const {
    int64_t step = cut.scores.columns;
    Expr from = k.index(0), to = k.index(s.sequence);
    if (s.causal && areKeys)
      to = k.minimum(to, firstRow + cut.scores.rows);
    else if (s.causal)
      from = firstRow / step * step;
    return k.loop(from, to, step, initial, [&](Expr first, ArrayRef<Expr> carried) {
      return body(first, k.minimum(first + step, k.index(s.sequence)), carried);
    });
  }

  GpuBuilder &k;
  const AttentionShape &s;
  const HeadCut &cut;
  ThreadTile mine;
  Value staging, kept; // shared memory
  Expr sample, head, firstRow, firstOut;

private:
  TileOperand operand(Value buffer, Expr offset, int64_t stride, bool isForScores) const {
    if (isForScores)
      return matrixOperand(k, cut.scores, buffer, offset, s.headSize, s.sequence, s.headSize,
                           stride, 1);
    return matrixOperand(k, cut.output, buffer, offset, s.headSize, s.headSize, s.sequence, 1,
                         stride);
  }
};

double scaleOf(const AttentionShape &s) { return 1 / std::sqrt(double(s.headSize)); }

/// Of one product of [sequence, head size] with its like, for all heads.
double productFlops(const AttentionShape &s) {
  return 2. * double(s.batch * s.heads * s.sequence) * double(s.sequence * s.headSize);
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

/// rowsum(dO * O) of every query of every head, a warp each.
void addRowSums(GpuKernels &kernels, const AttentionShape &s, const BufferUse &output,
                const BufferUse &gradient, const BufferUse &sums) {
  int64_t rows = s.batch * s.heads * s.sequence, perBlock = itemThreads / warpSize;
  kernels.add(
      "rows", {output, gradient, sums}, {ceilDiv(rows, perBlock), 1, 1}, itemBlock,
      [&](GpuBuilder &k, ArrayRef<Value> buffers) {
        Expr row = k.block() * perBlock + k.thread() / warpSize;
        Expr lane = k.thread() % warpSize;
        // Rows are counted as in the result, [batch, heads, sequence]. A warp is there as a whole.
        k.when(row < rows, [&] {
          Expr query = row % s.sequence, head = row / s.sequence;
          Expr sample = head / s.heads;
          Expr first = (sample * s.sequence + query) * s.width() + head % s.heads * s.headSize;
          Expr sum = k.loop(
              lane, k.index(s.headSize), warpSize, {k.f32(0)}, [&](Expr at, ArrayRef<Expr> sum) {
                return SmallVector<Expr>{k.fma(k.load(buffers[0], {first + at}),
                                               k.load(buffers[1], {first + at}), sum[0])};
              })[0];
          sum = k.reduceLanes(sum, /*isMaximum=*/false);
          k.when(lane == 0, [&] { k.store(sum, buffers[2], {row}); });
        });
      });
}

struct GradientUses {
  BufferUse qkv, logsumexp, gradient, sums, result;
  std::optional<BufferUse> bias;
  SmallVector<BufferUse> list() const {
    SmallVector<BufferUse> uses{qkv, logsumexp, gradient, sums, result};
    if (bias)
      uses.push_back(*bias);
    return uses;
  }
};

/// The bias among a kernel's buffers, which is the last one; null where there is none.
Value biasOf(const AttentionShape &s, ArrayRef<Value> buffers) {
  return s.hasBias() ? buffers.back() : Value();
}

std::optional<BufferUse> biasUse(GpuKernels &kernels, const AttentionShape &s, unsigned operand) {
  if (!s.hasBias())
    return std::nullopt;
  return kernels.operand(operand, {s.bias[0] * s.bias[1] * s.bias[2] * s.bias[3]});
}

void addQueryGradient(GpuKernels &kernels, const AttentionShape &s, const GradientUses &uses) {
  HeadCut cut(s, /*scoreTiles=*/2);
  kernels.add(
      "queries", uses.list(), Head::grid(s, cut), cut.block(),
      [&](GpuBuilder &k, ArrayRef<Value> buffers) {
        Value qkv = buffers[0], logsumexp = buffers[1], gradient = buffers[2], sums = buffers[3];
        Value bias = biasOf(s, buffers);
        k.atLeastBlocks(2);
        Head head(k, s, cut);
        TileOperand queries = head.packed(qkv, 0, true), keys = head.packed(qkv, 1, true);
        TileOperand values = head.packed(qkv, 2, true), keysDown = head.packed(qkv, 1, false);
        TileOperand gradients = head.unpacked(gradient, true);
        SmallVector<Expr> rowLogsumexp, rowSum;
        for (int64_t i = 0; i < cut.scores.threadRows; ++i) {
          Expr index = head.rowIndex(head.lastOr(head.row(i)));
          rowLogsumexp.push_back(k.load(logsumexp, {index}));
          rowSum.push_back(k.load(sums, {index}));
        }
        SmallVector<Expr> zeros(cut.registers(), k.f32(0));
        SmallVector<Expr> result =
            head.forColumns(true, zeros, [&](Expr first, Expr end, ArrayRef<Expr> carried) {
              SmallVector<Expr> scores = head.products(queries, keys, first);
              SmallVector<Expr> changes = head.products(gradients, values, first);
              int64_t columns = cut.scores.threadColumns;
              // Columns beyond the last key meet zeros of it in the product.
              for (int64_t i = 0; i < cut.scores.threadRows; ++i)
                for (int64_t j = 0; j < columns; ++j) {
                  Expr &score = scores[i * columns + j];
                  Expr seen = head.masked(score, bias, head.row(i), first + head.mine.column(j));
                  Expr probability = k.exp(seen - rowLogsumexp[i]);
                  score = probability * (changes[i * columns + j] - rowSum[i]) * k.f32(scaleOf(s));
                }
              return head.addProduct(scores, keysDown, first, end, carried);
            });
        head.store(result, buffers[4], head.packedOffset(0), 3 * s.width());
      },
      3 * productFlops(s));
}

/// dV, dK or both. Rows are keys, columns queries.
void addKeyGradients(GpuKernels &kernels, const AttentionShape &s, const GradientUses &uses,
                     bool wantsValues, bool wantsKeys) {
  HeadCut cut(s, wantsKeys ? 2 : 1);
  StringRef name = wantsValues && wantsKeys ? "keys_values" : wantsKeys ? "keys" : "values";
  double flops = productFlops(s) * (1 + (wantsValues ? 1 : 0) + (wantsKeys ? 2 : 0));
  kernels.add(
      name, uses.list(), Head::grid(s, cut), cut.block(),
      [&](GpuBuilder &k, ArrayRef<Value> buffers) {
        Value qkv = buffers[0], logsumexp = buffers[1], gradient = buffers[2], sums = buffers[3];
        Value bias = biasOf(s, buffers);
        k.atLeastBlocks(2);
        Head head(k, s, cut);
        TileOperand queries = head.packed(qkv, 0, true), queriesDown = head.packed(qkv, 0, false);
        TileOperand keys = head.packed(qkv, 1, true), values = head.packed(qkv, 2, true);
        TileOperand gradients = head.unpacked(gradient, true);
        TileOperand gradientsDown = head.unpacked(gradient, false);
        ThreadTile mine(k, cut.scores);
        int64_t columns = cut.scores.threadColumns, count = cut.registers();
        SmallVector<Expr> zeros(count * (wantsValues && wantsKeys ? 2 : 1), k.f32(0));
        SmallVector<Expr> result =
            head.forColumns(false, zeros, [&](Expr first, Expr end, ArrayRef<Expr> carried) {
              // What this thread's columns have; beyond the last query, what that has.
              auto ofColumns = [&](Value buffer) {
                SmallVector<Expr> loaded;
                for (int64_t j = 0; j < columns; ++j)
                  loaded.push_back(
                      k.load(buffer, {head.rowIndex(head.lastOr(first + mine.column(j)))}));
                return loaded;
              };
              SmallVector<Expr> next;
              SmallVector<Expr> scores = head.products(keys, queries, first);
              SmallVector<Expr> columnLogsumexp = ofColumns(logsumexp);
              for (int64_t i = 0; i < cut.scores.threadRows; ++i)
                for (int64_t j = 0; j < columns; ++j) {
                  Expr &score = scores[i * columns + j];
                  Expr seen = head.masked(score, bias, first + mine.column(j), head.row(i));
                  score = k.exp(seen - columnLogsumexp[j]);
                }
              if (wantsValues)
                next =
                    head.addProduct(scores, gradientsDown, first, end, carried.take_front(count));
              if (wantsKeys) {
                SmallVector<Expr> changes = head.products(values, gradients, first);
                SmallVector<Expr> columnSum = ofColumns(sums);
                for (int64_t i = 0; i < cut.scores.threadRows; ++i)
                  for (int64_t j = 0; j < columns; ++j) {
                    Expr &score = scores[i * columns + j];
                    score = score * (changes[i * columns + j] - columnSum[j]) * k.f32(scaleOf(s));
                  }
                next.append(
                    head.addProduct(scores, queriesDown, first, end, carried.take_back(count)));
              }
              return next;
            });
        ArrayRef<Expr> all = result;
        if (wantsValues)
          head.store(all.take_front(count), buffers[4], head.packedOffset(2), 3 * s.width());
        if (wantsKeys)
          head.store(all.take_back(count), buffers[4], head.packedOffset(1), 3 * s.width());
      },
      flops);
}

} // namespace

LogicalResult emitAttention(AttentionOp op, GpuKernels &kernels) {
  AttentionShape s = attentionShape(op);
  HeadCut cut(s, /*scoreTiles=*/1);
  int64_t tokens = s.batch * s.sequence;
  SmallVector<BufferUse> uses{kernels.operand(0, {tokens * 3 * s.width()}),
                              kernels.result(0, {tokens * s.width()}),
                              kernels.result(1, {tokens * s.heads})};
  if (std::optional<BufferUse> bias = biasUse(kernels, s, 1))
    uses.push_back(*bias);
  kernels.add(
      "", uses, Head::grid(s, cut), cut.block(),
      [&](GpuBuilder &k, ArrayRef<Value> buffers) {
        k.atLeastBlocks(2);
        Head head(k, s, cut);
        TileOperand queries = head.packed(buffers[0], 0, true);
        TileOperand keys = head.packed(buffers[0], 1, true);
        TileOperand values = head.packed(buffers[0], 2, false);
        ThreadTile mine(k, cut.scores);
        int64_t rows = cut.scores.threadRows, columns = cut.scores.threadColumns;
        Value bias = biasOf(s, buffers);
        Expr lowest = k.f32(Head::lowestScore);

        // Carried: largest score of each row, sum of its exponentials in this lane, output.
        SmallVector<Expr> initial(rows, lowest);
        initial.append(rows + cut.registers(), k.f32(0));
        SmallVector<Expr> result =
            head.forColumns(true, initial, [&](Expr first, Expr end, ArrayRef<Expr> carried) {
              SmallVector<Expr> scores = head.products(queries, keys, first);
              SmallVector<Expr> largest, sums, output(carried.drop_front(2 * rows));
              for (int64_t i = 0; i < rows; ++i) {
                MutableArrayRef<Expr> row = MutableArrayRef(scores).slice(i * columns, columns);
                for (int64_t j = 0; j < columns; ++j) {
                  row[j] = head.masked(row[j], bias, head.row(i), first + mine.column(j));
                  if (s.sequence % cut.scores.columns != 0)
                    row[j] = k.select(first + mine.column(j) < s.sequence, row[j], lowest);
                }
                Expr top = row[0];
                for (int64_t j = 1; j < columns; ++j)
                  top = k.larger(top, row[j]);
                top = k.larger(carried[i], k.reduceLanes(top, /*isMaximum=*/true, 8));
                Expr factor = k.exp(carried[i] - top), sum = carried[rows + i] * factor;
                for (Expr &score : row) {
                  score = k.exp(score - top);
                  sum = sum + score;
                }
                largest.push_back(top);
                sums.push_back(sum);
                int64_t width = cut.output.threadColumns;
                for (int64_t j = 0; j < width; ++j)
                  output[i * width + j] = output[i * width + j] * factor;
              }
              output = head.addProduct(scores, values, first, end, output);
              SmallVector<Expr> next = largest;
              next.append(sums);
              next.append(output);
              return next;
            });

        SmallVector<Expr> output(ArrayRef<Expr>(result).drop_front(2 * rows));
        for (int64_t i = 0; i < rows; ++i) {
          Expr sum = k.reduceLanes(result[rows + i], /*isMaximum=*/false, 8);
          int64_t width = cut.output.threadColumns;
          for (int64_t j = 0; j < width; ++j)
            output[i * width + j] = output[i * width + j] / sum;
          Expr isMine = (k.thread() % 8 == 0) & (head.firstOut == 0); // one lane, one slice
          k.when(isMine & (head.row(i) < s.sequence), [&] {
            k.store(result[i] + k.log(sum), buffers[2], {head.rowIndex(head.row(i))});
          });
        }
        head.store(output, buffers[1], head.offset(s.width()), s.width());
      },
      2 * productFlops(s));
  return success();
}

static GradientUses gradientUses(GpuKernels &kernels, const AttentionShape &s, BufferUse result) {
  int64_t tokens = s.batch * s.sequence;
  return {kernels.operand(0, {tokens * 3 * s.width()}),
          kernels.operand(2, {tokens * s.heads}),
          kernels.operand(3, {tokens * s.width()}),
          kernels.scratch({tokens * s.heads}),
          result,
          biasUse(kernels, s, 4)};
}

LogicalResult emitAttentionGrad(AttentionGradOp op, GpuKernels &kernels) {
  AttentionShape s = attentionShape(op);
  int64_t tokens = s.batch * s.sequence;
  BufferUse output = kernels.operand(1, {tokens * s.width()});
  GradientUses uses = gradientUses(kernels, s, kernels.result(0, {tokens * 3 * s.width()}));
  addRowSums(kernels, s, output, uses.gradient, uses.sums);
  addQueryGradient(kernels, s, uses);
  // Both at once have the scores once, where a thread's registers can hold both.
  if (s.headSize <= 64 && s.headSize % 4 == 0) {
    addKeyGradients(kernels, s, uses, /*wantsValues=*/true, /*wantsKeys=*/true);
  } else {
    addKeyGradients(kernels, s, uses, /*wantsValues=*/true, /*wantsKeys=*/false);
    addKeyGradients(kernels, s, uses, /*wantsValues=*/false, /*wantsKeys=*/true);
  }
  return success();
}

// A block has a tile of the gradient, and goes through the samples and heads that share the bias.
LogicalResult emitAttentionBiasGrad(AttentionBiasGradOp op, GpuKernels &kernels) {
  AttentionShape s = attentionShape(op);
  int64_t samples = s.bias[0], heads = s.bias[1], pairs = s.sequence * s.sequence;
  BufferUse output = kernels.operand(1, {s.batch * s.sequence * s.width()});
  GradientUses uses = gradientUses(kernels, s, kernels.result(0, {samples * heads * pairs}));
  addRowSums(kernels, s, output, uses.gradient, uses.sums);
  HeadCut cut(s, /*scoreTiles=*/2);
  int64_t columnTiles = ceilDiv(s.sequence, cut.scores.columns);
  int64_t shared = (s.batch / samples) * (s.heads / heads);
  kernels.add(
      "bias", uses.list(), {cut.rowTiles * columnTiles * heads * samples, 1, 1}, cut.block(),
      [&](GpuBuilder &k, ArrayRef<Value> buffers) {
        Value qkv = buffers[0], logsumexp = buffers[1], gradient = buffers[2], sums = buffers[3];
        Value bias = biasOf(s, buffers);
        k.atLeastBlocks(2);
        Head head(k, s, cut);
        Expr number = k.block();
        head.firstRow = number % cut.rowTiles * cut.scores.rows;
        number = number / cut.rowTiles;
        Expr firstColumn = number % columnTiles * cut.scores.columns;
        number = number / columnTiles;
        Expr ownHead = number % heads, ownSample = number / heads;
        int64_t rows = cut.scores.threadRows, columns = cut.scores.threadColumns;
        SmallVector<Expr> zeros(rows * columns, k.f32(0));
        SmallVector<Expr> result =
            k.loop(k.index(0), k.index(shared), 1, zeros, [&](Expr at, ArrayRef<Expr> carried) {
              head.head = heads == 1 ? at % s.heads : ownHead;
              head.sample = samples == 1 ? at / (heads == 1 ? s.heads : 1) : ownSample;
              SmallVector<Expr> scores =
                  head.products(head.packed(qkv, 0, true), head.packed(qkv, 1, true), firstColumn);
              SmallVector<Expr> changes = head.products(head.unpacked(gradient, true),
                                                        head.packed(qkv, 2, true), firstColumn);
              SmallVector<Expr> next(carried);
              for (int64_t i = 0; i < rows; ++i) {
                Expr row = head.rowIndex(head.lastOr(head.row(i)));
                Expr rowLogsumexp = k.load(logsumexp, {row}), rowSum = k.load(sums, {row});
                for (int64_t j = 0; j < columns; ++j) {
                  int64_t place = i * columns + j;
                  Expr seen = head.masked(scores[place], bias, head.row(i),
                                          firstColumn + head.mine.column(j));
                  Expr probability = k.exp(seen - rowLogsumexp);
                  next[place] = next[place] + probability * (changes[place] - rowSum);
                }
              }
              return next;
            });
        Expr first = (ownSample * heads + ownHead) * pairs;
        for (int64_t i = 0; i < rows; ++i)
          for (int64_t j = 0; j < columns; ++j) {
            Expr row = head.row(i), column = firstColumn + head.mine.column(j);
            k.when((row < s.sequence) & (column < s.sequence), [&] {
              k.store(result[i * columns + j], buffers[4], {first + row * s.sequence + column});
            });
          }
      },
      2 * productFlops(s));
  return success();
}

} // namespace gc::cuda
