//===- GpuKernels.cpp - The kernels of one op, while they are built -------===//
#include "compiler/cuda/grids/GpuKernels.h"

#include "compiler/cuda/grids/Columns.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace gc::cuda {

GpuKernels::GpuKernels(Operation *op, ArrayRef<int> aliases, KernelModule &built)
    : OpUses(op, aliases), name(op->getName().stripDialect().str()), built(built) {}

GpuKernels::GpuKernels(MLIRContext *context, StringRef name, KernelModule &built)
    : OpUses(context), name(name.str()), built(built) {}

// A grid that CUDA cannot launch would be cut to 32 bits without a word.
static std::string whyNoGrid(const Extent &grid) {
  constexpr int64_t most[] = {0x7fffffff, 65535, 65535};
  if (grid.x <= most[0] && grid.y <= most[1] && grid.z <= most[2])
    return "";
  return llvm::formatv("needs a grid of {0} x {1} x {2} blocks, and CUDA launches at most {3} x "
                       "{4} x {5}; use more micro-batches or smaller layers",
                       grid.x, grid.y, grid.z, most[0], most[1], most[2]);
}

void GpuKernels::add(StringRef suffix, ArrayRef<BufferUse> uses, Extent grid, Extent block,
                     Body body, double flops) {
  for (const BufferUse &use : uses)
    if (use.buffer == workspace)
      workspaceBytes = std::max(workspaceBytes, use.bytes());
  if (grid.x == 0 || grid.y == 0 || grid.z == 0)
    return;
  if (std::string why = whyNoGrid(grid); !why.empty()) {
    whyImpossible = why;
    return;
  }
  auto arguments = argumentsOf(uses);
  KernelLaunch launch;
  SmallVector<Type> inputs;
  for (auto [buffer, type] : arguments) {
    inputs.push_back(type);
    launch.buffers.push_back(buffer);
    launch.bytes += double(type.getNumElements()) * (type.getElementTypeBitWidth() / 8);
  }
  ++costs.launches;
  costs.bytes += launch.bytes;
  if (!built.module)
    return;

  OpBuilder builder = OpBuilder::atBlockEnd(built.kernels.getBody());
  auto function =
      gpu::GPUFuncOp::create(builder, location(), "kernel", builder.getFunctionType(inputs, {}));
  function->setAttr(gpu::GPUDialect::getKernelFuncAttrName(), builder.getUnitAttr());
  auto extent = [&](const Extent &e) {
    return builder.getDenseI32ArrayAttr({int32_t(e.x), int32_t(e.y), int32_t(e.z)});
  };
  function.setKnownBlockSizeAttr(extent(block));
  function.setKnownGridSizeAttr(extent(grid));
  Block &entry = function.getFunctionBody().front();
  builder.setInsertionPointToStart(&entry);
  GpuBuilder kernel(builder, function, block);
  body(kernel, viewsOf(uses, arguments, entry, builder));
  gpu::ReturnOp::create(builder, location());
  launch.access = argumentAccess(function, arguments.size());

  // Different ops often need the same kernel, for instance to combine partial sums.
  std::string text;
  llvm::raw_string_ostream stream(text);
  function.print(stream, OpPrintingFlags().useLocalScope().elideLargeElementsAttrs(1 << 20));
  auto [found, isNew] = built.bodies.try_emplace(text, built.count);
  if (isNew) {
    std::string symbol = "k" + std::to_string(built.count++) + "_" + name;
    if (!suffix.empty())
      symbol += "_" + suffix.str();
    function.setName(symbol);
  } else {
    function.erase();
  }
  launch.kernel = found->second;
  launch.grid = grid;
  launch.block = block;
  launch.flops = flops;
  launches.push_back(std::move(launch));
}

void forItems(GpuBuilder &k, int64_t items, llvm::function_ref<void(Expr item)> body) {
  int64_t threads = k.blockShape().x;
  Expr item = k.block() * threads + k.thread();
  if (items % threads == 0)
    body(item);
  else
    k.when(item < items, [&] { body(item); });
}

RowChunks chunkRows(int64_t rows, int64_t channels, int64_t matrices) {
  // There are enough blocks for a large GPU, but each has at least 16 thousand elements (as far as
  // there are that many), so that combining their partial sums costs little.
  ColumnTile tile = columnTile(channels, rows);
  int64_t chunks = std::max<int64_t>(1, 1024 / (tile.tiles * matrices));
  int64_t perChunk = std::max(ceilDiv(rows, chunks), ceilDiv(16384, channels));
  perChunk = std::min(rows, ceilDiv(perChunk, tile.height) * tile.height);
  return {perChunk, ceilDiv(rows, perChunk)};
}

ColumnTile columnTile(int64_t channels, int64_t rows, int64_t threads) {
  int64_t width = std::min<int64_t>(warpSize, llvm::PowerOf2Ceil(channels));
  int64_t height = std::min<int64_t>(threads / width, llvm::PowerOf2Ceil(rows));
  return {width, height, ceilDiv(channels, width)};
}

void reduceOverHeight(GpuBuilder &k, const ColumnTile &tile, ArrayRef<Expr> values, bool isMaximum,
                      llvm::function_ref<void(ArrayRef<Expr> totals)> store) {
  if (tile.height == 1)
    return store(values);
  auto count = int64_t(values.size());
  Value parts = k.shared({count, tile.height, tile.width});
  Expr x = k.thread(), y = k.thread(GpuBuilder::Dimension::y);
  for (int64_t i = 0; i < count; ++i)
    k.store(values[i], parts, {k.index(i), y, x});
  for (int64_t half = tile.height / 2; half > 0; half /= 2) {
    k.barrier();
    k.when(y < half, [&] {
      SmallVector<Expr> totals;
      for (int64_t i = 0; i < count; ++i)
        totals.push_back(k.combine(k.load(parts, {k.index(i), y, x}),
                                   k.load(parts, {k.index(i), y + half, x}), isMaximum));
      if (half == 1)
        return store(totals);
      for (int64_t i = 0; i < count; ++i)
        k.store(totals[i], parts, {k.index(i), y, x});
    });
  }
}

void addCombineSums(GpuKernels &kernels, ArrayRef<BufferUse> results, int64_t chunks,
                    int64_t channels, double scale, bool accumulate) {
  auto count = int64_t(results.size());
  SmallVector<BufferUse> uses{kernels.scratch({count, chunks, channels})};
  uses.append(results.begin(), results.end());
  addColumnReduction(
      kernels, "combine", uses, ColumnBlocks::whole(count, chunks, channels), {},
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &at, Expr chunk) {
        return SmallVector<Expr>{k.load(buffers[0], {at.matrix, chunk, at.channel})};
      },
      [&](GpuBuilder &k, ArrayRef<Value> buffers, const ColumnThread &at, ArrayRef<Expr> totals) {
        Expr total = scale == 1 ? totals[0] : totals[0] * k.f32(scale);
        for (int64_t s = 0; s < count; ++s)
          k.when(at.matrix == s, [&] {
            Expr before = accumulate ? k.load(buffers[1 + s], {at.channel}) : Expr();
            k.store(accumulate ? before + total : total, buffers[1 + s], {at.channel});
          });
      });
}

} // namespace gc::cuda
