//===- GroupNorm.cpp - Normalization of groups of channels ----------------===//
//
// Samples are split into chunks of rows (positions), so that one large image feeds all threads as
// well as many small ones. Statistics: moments of each channel over each chunk, combined for each
// sample and group; then one elementwise pass. Chunk j of sample i is chunk i * perSample + j.
//
//===----------------------------------------------------------------------===//
#include "compiler/cpu/loops/Moments.h"
#include "compiler/cpu/loops/Streaming.h"
#include "compiler/language/GroupShape.h"

#include <numeric>

using namespace mlir;

namespace gc::cpu {
namespace {

struct Shape : GroupShape {
  Shape(Value input, int64_t groups)
      : GroupShape(input, groups), chunks(chunkRows(rows, channels)) {}
  RowChunks chunks; // how the rows of a sample are cut
  int64_t items() const { return batch * chunks.count; }
};

/// The rows of a chunk among those of the whole batch.
Range rowsOf(KernelBuilder &k, const Shape &shape, Expr sample, Expr chunk) {
  Range range = itemRange(k, chunk, chunk + 1, shape.chunks.rows, shape.rows);
  Expr first = sample * shape.rows;
  return {first + range.begin, first + range.end};
}

/// Chunks start at multiples of this many rows of the batch.
int64_t rowsOfRange(const Shape &shape) {
  return shape.chunks.count == 1 ? shape.rows : std::gcd(shape.rows, shape.chunks.rows);
}

void forChannels(KernelBuilder &k, const Shape &shape, llvm::function_ref<void(Expr)> body) {
  k.loop(k.index(0), k.index(shape.channels), body);
}

/// array[c] = table[sample][group of c], so that loops over channels need no division.
void spread(KernelBuilder &k, const Shape &shape, Value table, Expr sample, Value array) {
  k.loop(k.index(0), k.index(shape.groups), [&](Expr group) {
    Expr value = k.load(table, {sample, group});
    k.loop(k.index(0), k.index(shape.groupSize),
           [&](Expr c) { k.store(value, array, {group * shape.groupSize + c}); });
  });
}

} // namespace

// y = (x - mean) * rstd * weight + bias, mean and rstd of the sample's group.
LogicalResult emitGroupNorm(GroupNormOp op, OpKernels &kernels) {
  Shape shape(op.getInput(), op.getGroups());
  double epsilon = op.getEpsilon().convertToFloat();
  int64_t allRows = shape.batch * shape.rows, perSample = shape.chunks.count;
  int64_t grain = grainOf(shape.chunks.rows * shape.channels);
  BufferUse input = kernels.operand(0, {allRows, shape.channels});
  BufferUse partials = kernels.scratch({2, shape.items(), shape.channels});
  kernels.add("chunks", {input, partials}, shape.items(), grain,
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                Value block = k.stackArray({shape.channels});
                k.loop(begin, end, [&](Expr item) {
                  Range rows = rowsOf(k, shape, item / perSample, item % perSample);
                  addMomentsOfRows(k, buffers[0], buffers[1], block, item, rows, shape.channels);
                });
              });

  // An item is a group of a sample. Every chunk has the same number of rows but the last.
  int64_t lastRows = shape.rows - (perSample - 1) * shape.chunks.rows;
  kernels.add(
      "statistics", {partials, kernels.result(1), kernels.result(2)}, shape.batch * shape.groups,
      grainOf(2 * perSample * shape.groupSize),
      [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
        k.loop(begin, end, [&](Expr item) {
          Expr sample = item / shape.groups, group = item % shape.groups;
          auto sumParts = [&](llvm::function_ref<Expr(Expr chunk, Expr channel, Expr rows)> part) {
            return k.loop(k.index(0), k.index(perSample), 1, {k.f32(0)},
                          [&](Expr chunk, ArrayRef<Expr> outer) {
                            Expr rows = k.select(chunk == perSample - 1, k.f32(lastRows),
                                                 k.f32(shape.chunks.rows));
                            Expr at = sample * perSample + chunk;
                            Expr inner = k.loop(k.index(0), k.index(shape.groupSize), 1, {k.f32(0)},
                                                [&](Expr c, ArrayRef<Expr> carried) {
                                                  Expr channel = group * shape.groupSize + c;
                                                  return SmallVector<Expr>{carried[0] +
                                                                           part(at, channel, rows)};
                                                })[0];
                            return SmallVector<Expr>{outer[0] + inner};
                          })[0];
          };
          Expr zero = k.index(0), one = k.index(1);
          Expr mean = sumParts([&](Expr chunk, Expr c, Expr rows) {
            return k.load(buffers[0], {zero, chunk, c}) * (rows / shape.groupElements());
          });
          Expr squares = sumParts([&](Expr chunk, Expr c, Expr rows) {
            Expr shift = k.load(buffers[0], {zero, chunk, c}) - mean;
            return k.load(buffers[0], {one, chunk, c}) + shift * shift * rows;
          });
          Expr rstd = k.f32(1) / k.sqrt(squares / shape.groupElements() + epsilon);
          k.store(mean, buffers[1], {sample, group});
          k.store(rstd, buffers[2], {sample, group});
        });
      });

  BufferUse output = kernels.result(0, {allRows, shape.channels});
  kernels.add(
      "normalize",
      {input, kernels.operand(1), kernels.operand(2), output, kernels.result(1), kernels.result(2)},
      shape.items(), grain, [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
        Value mean = k.stackArray({shape.channels}), scale = k.stackArray({shape.channels});
        RowWriter writer(k, kernels, output, buffers[3], shape.channels, rowsOfRange(shape));
        k.loop(begin, end, [&](Expr item) {
          Expr sample = item / perSample;
          spread(k, shape, buffers[4], sample, mean);
          spread(k, shape, buffers[5], sample, scale);
          forChannels(k, shape, [&](Expr c) {
            k.store(k.load(scale, {c}) * k.load(buffers[1], {c}), scale, {c});
          });
          Range rows = rowsOf(k, shape, sample, item % perSample);
          writer.forRows(rows, [&](Expr row, RowWriter::Store store) {
            forChannels(k, shape, [&](Expr c) {
              Expr centred = k.load(buffers[0], {row, c}) - k.load(mean, {c});
              store(0, row, c, centred * k.load(scale, {c}) + k.load(buffers[2], {c}));
            });
          });
        });
        writer.finish();
      });
  return success();
}

// With h = (x - mean) * rstd, g = dy * weight and averages over a group of a sample:
// dx = rstd * (g - avg g - h * avg(g h)); dw = sum dy h, db = sum dy over samples and positions.
namespace {

/// The kernels of the gradient, in their order.
class GroupNormGradient {
public:
  GroupNormGradient(GroupNormGradOp op, OpKernels &kernels)
      : kernels(kernels),
        shape(op.getInput(), op.getGroups()), full{shape.batch * shape.rows, shape.channels},
        gradient(kernels.operand(0, full)), input(kernels.operand(1, full)),
        partials(kernels.scratch({2, shape.items(), shape.channels})) {}

  /// partials[0] = sum dy h, partials[1] = sum dy of each channel over each chunk.
  void sumChunks();
  /// Adds a sample's chunks up into its first.
  void sumSamples();
  /// dw and db: sums over the samples.
  void writeParameters();
  void writeInput();

private:
  OpKernels &kernels;
  Shape shape;
  SmallVector<int64_t> full;
  BufferUse gradient, input, partials;
  int64_t perSample = shape.chunks.count;
  int64_t grain = grainOf(shape.chunks.rows * shape.channels);
};

void GroupNormGradient::sumChunks() {
  kernels.add(
      "chunks", {gradient, input, kernels.operand(2), kernels.operand(3), partials}, shape.items(),
      grain, [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
        Value mean = k.stackArray({shape.channels}), rstd = k.stackArray({shape.channels});
        Value block = k.stackArray({2, shape.channels});
        Expr zero = k.index(0), one = k.index(1);
        k.loop(begin, end, [&](Expr item) {
          Expr sample = item / perSample;
          spread(k, shape, buffers[2], sample, mean);
          spread(k, shape, buffers[3], sample, rstd);
          Range rows = rowsOf(k, shape, sample, item % perSample);
          for (Expr sum : {zero, one})
            forChannels(k, shape, [&](Expr c) { k.store(k.f32(0), buffers[4], {sum, item, c}); });
          k.loop(rows.begin, rows.end, momentsBlockRows, [&](Expr first) {
            for (Expr sum : {zero, one})
              forChannels(k, shape, [&](Expr c) { k.store(k.f32(0), block, {sum, c}); });
            Expr last = k.minimum(first + momentsBlockRows, rows.end);
            k.loop(first, last, [&](Expr row) {
              forChannels(k, shape, [&](Expr c) {
                Expr dy = k.load(buffers[0], {row, c});
                Expr h = (k.load(buffers[1], {row, c}) - k.load(mean, {c})) * k.load(rstd, {c});
                k.store(k.load(block, {zero, c}) + dy * h, block, {zero, c});
                k.store(k.load(block, {one, c}) + dy, block, {one, c});
              });
            });
            for (Expr sum : {zero, one})
              forChannels(k, shape, [&](Expr c) {
                k.store(k.load(buffers[4], {sum, item, c}) + k.load(block, {sum, c}), buffers[4],
                        {sum, item, c});
              });
          });
        });
      });
}

void GroupNormGradient::sumSamples() {
  kernels.add("samples", {partials}, shape.batch, grainOf(2 * perSample * shape.channels),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                k.loop(begin, end, [&](Expr sample) {
                  Expr first = sample * perSample;
                  for (int64_t sum = 0; sum < 2; ++sum)
                    k.loop(k.index(1), k.index(perSample), [&](Expr chunk) {
                      forChannels(k, shape, [&](Expr c) {
                        Expr total = k.load(buffers[0], {k.index(sum), first, c}) +
                                     k.load(buffers[0], {k.index(sum), first + chunk, c});
                        k.store(total, buffers[0], {k.index(sum), first, c});
                      });
                    });
                });
              });
}

void GroupNormGradient::writeParameters() {
  kernels.add("parameters", {partials, kernels.result(1), kernels.result(2)},
              (shape.channels + lanes - 1) / lanes, grainOf(2 * shape.batch * lanes),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                Range range = itemRange(k, begin, end, lanes, shape.channels);
                for (int64_t sum = 0; sum < 2; ++sum) {
                  Value result = buffers[1 + sum];
                  k.loop(range.begin, range.end, [&](Expr c) { k.store(k.f32(0), result, {c}); });
                  k.loop(k.index(0), k.index(shape.batch), [&](Expr sample) {
                    k.loop(range.begin, range.end, [&](Expr c) {
                      Expr part = k.load(buffers[0], {k.index(sum), sample * perSample, c});
                      k.store(k.load(result, {c}) + part, result, {c});
                    });
                  });
                }
              });
}

void GroupNormGradient::writeInput() {
  BufferUse output = kernels.result(0, full);
  kernels.add(
      "input",
      {gradient, input, kernels.operand(2), kernels.operand(3), kernels.operand(4), partials,
       output},
      shape.items(), grain, [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
        Value mean = k.stackArray({shape.channels}), rstd = k.stackArray({shape.channels});
        // Of g h and of g, in the channel's group.
        Value average = k.stackArray({2, shape.channels});
        RowWriter writer(k, kernels, output, buffers[6], shape.channels, rowsOfRange(shape));
        k.loop(begin, end, [&](Expr item) {
          Expr sample = item / perSample, first = sample * perSample;
          spread(k, shape, buffers[2], sample, mean);
          spread(k, shape, buffers[3], sample, rstd);
          k.loop(k.index(0), k.index(shape.groups), [&](Expr group) {
            Expr offset = group * shape.groupSize;
            for (int64_t sum = 0; sum < 2; ++sum) {
              Expr total = k.loop(
                  k.index(0), k.index(shape.groupSize), 1, {k.f32(0)},
                  [&](Expr c, ArrayRef<Expr> carried) {
                    Expr part = k.load(buffers[5], {k.index(sum), first, offset + c});
                    return SmallVector<Expr>{carried[0] + part * k.load(buffers[4], {offset + c})};
                  })[0];
              Expr mean = total / shape.groupElements();
              k.loop(k.index(0), k.index(shape.groupSize), [&](Expr c) {
                k.store(mean, average, {k.index(sum), offset + c});
              });
            }
          });
          Range rows = rowsOf(k, shape, sample, item % perSample);
          writer.forRows(rows, [&](Expr row, RowWriter::Store store) {
            forChannels(k, shape, [&](Expr c) {
              Expr deviation = k.load(rstd, {c});
              Expr h = (k.load(buffers[1], {row, c}) - k.load(mean, {c})) * deviation;
              Expr g = k.load(buffers[0], {row, c}) * k.load(buffers[4], {c});
              Expr inner =
                  g - k.load(average, {k.index(1), c}) - h * k.load(average, {k.index(0), c});
              store(0, row, c, deviation * inner);
            });
          });
        });
        writer.finish();
      });
}

} // namespace

LogicalResult emitGroupNormGrad(GroupNormGradOp op, OpKernels &kernels) {
  GroupNormGradient gradient(op, kernels);
  gradient.sumChunks();
  gradient.sumSamples();
  gradient.writeParameters();
  gradient.writeInput();
  return success();
}

} // namespace gc::cpu
