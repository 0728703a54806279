//===- GroupNorm.cpp - Normalization of groups of channels ----------------===//
//
// Samples are split into chunks of rows (positions), so that one large image feeds all
// multiprocessors as well as many small ones. Statistics: moments of each channel over each chunk,
// combined for each sample and group; then one elementwise pass.
//
//===----------------------------------------------------------------------===//
#include "compiler/cuda/grids/Columns.h"
#include "compiler/language/GroupShape.h"

using namespace mlir;

namespace gc::cuda {
namespace {

/// Runs `formula` for every element, given the sample, the channel, its group and the values of
/// `inputs` there, and writes what it gives to `output`.
void addElementwise(GpuKernels &kernels, StringRef suffix, const GroupShape &shape,
                    ArrayRef<BufferUse> uses, unsigned inputs, unsigned output,
                    llvm::function_ref<Expr(GpuBuilder &k, ArrayRef<Value> buffers, Expr sample,
                                            Expr channel, Expr group, ArrayRef<Expr> values)>
                        formula) {
  int64_t width = vectorWidth({shape.channels});
  int64_t items = shape.batch * shape.rows * shape.channels / width;
  kernels.add(suffix, uses, itemGrid(items), itemBlock,
              [&](GpuBuilder &k, ArrayRef<Value> buffers) {
                forItems(k, items, [&](Expr item) {
                  Expr first = item * width;
                  Expr row = first / shape.channels, channel = first % shape.channels;
                  Expr sample = row / shape.rows;
                  SmallVector<Elements> values;
                  for (unsigned i = 0; i < inputs; ++i)
                    values.push_back(k.loadElements(buffers[i], {row, channel}, width));
                  Elements results;
                  for (int64_t lane = 0; lane < width; ++lane) {
                    Expr at = channel + lane;
                    SmallVector<Expr> here;
                    for (const Elements &input : values)
                      here.push_back(input[lane]);
                    results.push_back(formula(k, buffers, sample, at, at / shape.groupSize, here));
                  }
                  k.storeElements(results, buffers[output], {row, channel});
                });
              });
}

} // namespace

// y = (x - mean) * rstd * weight + bias, mean and rstd of the sample's group.
LogicalResult emitGroupNorm(GroupNormOp op, GpuKernels &kernels) {
  GroupShape shape(op.getInput(), op.getGroups());
  double epsilon = op.getEpsilon().convertToFloat();
  ColumnBlocks blocks = ColumnBlocks::inChunks(shape.batch, shape.rows, shape.channels);
  int64_t perSample = blocks.chunks.count;
  BufferUse partials = kernels.scratch({2, blocks.allChunks(), shape.channels});
  addMomentsOfChunks(kernels, kernels.operand(0), partials, blocks);

  // A matrix is a group of a sample; its rows are the channels of all chunks.
  int64_t lastRows = shape.rows - (perSample - 1) * blocks.chunks.rows;
  addCombineMoments(
      kernels, {partials, kernels.result(1), kernels.result(2)},
      ColumnBlocks::whole(shape.batch * shape.groups, perSample * shape.groupSize, 1),
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &at, Expr part) {
        Expr sample = at.matrix / shape.groups, group = at.matrix % shape.groups;
        Expr chunk = part / shape.groupSize;
        Expr channel = group * shape.groupSize + part % shape.groupSize;
        Expr count = k.select(chunk == perSample - 1, k.f32(lastRows), k.f32(blocks.chunks.rows));
        Expr row = sample * perSample + chunk;
        return Moments{count, k.load(buffers[0], {k.index(0), row, channel}),
                       k.load(buffers[0], {k.index(1), row, channel})};
      },
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &at, const Moments &total) {
        SmallVector<Expr> to{at.matrix / shape.groups, at.matrix % shape.groups};
        k.store(total.mean, buffers[1], to);
        Expr variance = total.squares / shape.groupElements();
        k.store(k.f32(1) / k.sqrt(variance + epsilon), buffers[2], to);
      });

  SmallVector<BufferUse> uses{kernels.operand(0, shape.matrix()),
                              kernels.operand(1),
                              kernels.operand(2),
                              kernels.result(1),
                              kernels.result(2),
                              kernels.result(0, shape.matrix())};
  addElementwise(kernels, "normalize", shape, uses, /*inputs=*/1, /*output=*/5,
                 [&](GpuBuilder &k, ArrayRef<Value> buffers, Expr sample, Expr channel, Expr group,
                     ArrayRef<Expr> x) {
                   Expr centred = x[0] - k.load(buffers[3], {sample, group});
                   Expr scale = k.load(buffers[4], {sample, group}) * k.load(buffers[1], {channel});
                   return centred * scale + k.load(buffers[2], {channel});
                 });
  return success();
}

// With h = (x - mean) * rstd, g = dy * weight and averages over a group of a sample:
// dx = rstd * (g - avg g - h * avg(g h)); dw = sum dy h, db = sum dy over samples and positions.
namespace {

/// The kernels of the gradient, in their order.
class GroupNormGradient {
public:
  GroupNormGradient(GroupNormGradOp op, GpuKernels &kernels)
      : kernels(kernels), shape(op.getInput(), op.getGroups()),
        blocks(ColumnBlocks::inChunks(shape.batch, shape.rows, shape.channels)),
        scratch(kernels.scratch({sumsSize + 2 * shape.batch * shape.groups})),
        gradient(kernels.operand(0, shape.matrix())), input(kernels.operand(1, shape.matrix())),
        mean(kernels.operand(2)), rstd(kernels.operand(3)), weight(kernels.operand(4)) {}

  /// Sums of dy h and of dy of each channel over each chunk.
  void sumChunks();
  /// Adds a sample's chunks up into its first. A matrix is a sum of a sample.
  void sumSamples();
  /// dw and db: sums over the samples.
  void writeParameters();
  /// Averages of g h and of g over each group of a sample.
  void average();
  void writeInput();

private:
  // The workspace: sums [2, all chunks, channels], then averages [2, batch, groups].
  Expr sumAt(Expr sum, Expr chunk, Expr channel) const {
    return (sum * blocks.allChunks() + chunk) * channels + channel;
  }
  Expr averageAt(Expr sum, Expr matrix) const {
    return sum * (shape.batch * shape.groups) + matrix + sumsSize;
  }
  static Expr normalized(GpuBuilder &k, ArrayRef<Value> buffers, Expr x, Expr sample, Expr group) {
    return (x - k.load(buffers[2], {sample, group})) * k.load(buffers[3], {sample, group});
  }

  GpuKernels &kernels;
  GroupShape shape;
  ColumnBlocks blocks;
  int64_t perSample = blocks.chunks.count, channels = shape.channels;
  int64_t sumsSize = 2 * blocks.allChunks() * channels;
  BufferUse scratch, gradient, input, mean, rstd, weight;
};

void GroupNormGradient::sumChunks() {
  addColumnReduction(
      kernels, "chunks", {gradient, input, mean, rstd, scratch}, blocks, {.count = 2},
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &at, Expr position) {
        Expr row = at.matrix * shape.rows + position;
        Expr dy = k.load(buffers[0], {row, at.channel}), x = k.load(buffers[1], {row, at.channel});
        Expr group = at.channel / shape.groupSize;
        return SmallVector<Expr>{dy * normalized(k, buffers, x, at.matrix, group), dy};
      },
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &at, ArrayRef<Expr> totals) {
        for (auto [sum, total] : llvm::enumerate(totals))
          k.store(total, buffers[4], {sumAt(k.index(sum), at.chunk, at.channel)});
      });
}

void GroupNormGradient::sumSamples() {
  if (perSample == 1)
    return;
  addColumnReduction(
      kernels, "samples", {scratch}, ColumnBlocks::whole(2 * shape.batch, perSample, channels), {},
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &at, Expr chunk) {
        Expr at0 = (at.matrix * perSample + chunk) * channels + at.channel;
        return SmallVector<Expr>{k.load(buffers[0], {at0})};
      },
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &at, ArrayRef<Expr> totals) {
        k.store(totals[0], buffers[0], {at.matrix * (perSample * channels) + at.channel});
      });
}

void GroupNormGradient::writeParameters() {
  addColumnReduction(
      kernels, "parameters", {scratch, kernels.result(1), kernels.result(2)},
      ColumnBlocks::whole(1, shape.batch, channels), {.count = 2},
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &at, Expr sample) {
        Expr chunk = sample * perSample;
        return SmallVector<Expr>{k.load(buffers[0], {sumAt(k.index(0), chunk, at.channel)}),
                                 k.load(buffers[0], {sumAt(k.index(1), chunk, at.channel)})};
      },
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &at, ArrayRef<Expr> totals) {
        for (auto [sum, total] : llvm::enumerate(totals))
          k.store(total, buffers[1 + sum], {at.channel});
      });
}

void GroupNormGradient::average() {
  // A matrix is a group of a sample; its rows are the channels.
  addColumnReduction(
      kernels, "averages", {scratch, weight},
      ColumnBlocks::whole(shape.batch * shape.groups, shape.groupSize, 1), {.count = 2},
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &at, Expr part) {
        Expr chunk = at.matrix / shape.groups * perSample;
        Expr channel = at.matrix % shape.groups * shape.groupSize + part;
        Expr w = k.load(buffers[1], {channel});
        return SmallVector<Expr>{k.load(buffers[0], {sumAt(k.index(0), chunk, channel)}) * w,
                                 k.load(buffers[0], {sumAt(k.index(1), chunk, channel)}) * w};
      },
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &at, ArrayRef<Expr> totals) {
        for (auto [sum, total] : llvm::enumerate(totals))
          k.store(total / shape.groupElements(), buffers[0], {averageAt(k.index(sum), at.matrix)});
      });
}

void GroupNormGradient::writeInput() {
  SmallVector<BufferUse> uses{
      gradient, input, mean, rstd, weight, scratch, kernels.result(0, shape.matrix())};
  addElementwise(kernels, "input", shape, uses, /*inputs=*/2, /*output=*/6,
                 [&](GpuBuilder &k, ArrayRef<Value> buffers, Expr sample, Expr channel, Expr group,
                     ArrayRef<Expr> values) {
                   Expr g = values[0] * k.load(buffers[4], {channel});
                   Expr h = normalized(k, buffers, values[1], sample, group);
                   Expr matrix = sample * shape.groups + group;
                   Expr product = k.load(buffers[5], {averageAt(k.index(0), matrix)});
                   Expr average = k.load(buffers[5], {averageAt(k.index(1), matrix)});
                   return k.load(buffers[3], {sample, group}) * (g - average - h * product);
                 });
}

} // namespace

LogicalResult emitGroupNormGrad(GroupNormGradOp op, GpuKernels &kernels) {
  GroupNormGradient gradient(op, kernels);
  gradient.sumChunks();
  gradient.sumSamples();
  gradient.writeParameters();
  gradient.average();
  gradient.writeInput();
  return success();
}

} // namespace gc::cuda
