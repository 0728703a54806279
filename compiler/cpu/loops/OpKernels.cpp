//===- OpKernels.cpp - The kernels of one op, while they are built --------===//
#include "compiler/cpu/loops/OpKernels.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;

namespace gc::cpu {

Range itemRange(KernelBuilder &k, Expr begin, Expr end, int64_t size, int64_t total) {
  return {begin * size, k.minimum(end * size, k.index(total))};
}

RowChunks chunkRows(int64_t rows, int64_t channels) {
  // There are enough chunks for many threads. A chunk has at most half a megabyte, so that a second
  // pass finds it in the cache, and is large enough that its partial sums cost little.
  int64_t elements = std::clamp<int64_t>(rows * channels / 48, 16384, 131072);
  int64_t perChunk = std::max<int64_t>(1, elements / channels);
  perChunk = std::min(perChunk, rows);
  return {perChunk, (rows + perChunk - 1) / perChunk};
}

OpKernels::OpKernels(Operation *op, ArrayRef<int> aliases, ModuleOp module,
                     llvm::StringMap<unsigned> &bodies, unsigned &count, int64_t streamBytes)
    : OpUses(op, aliases), name(op->getName().stripDialect().str()), module(module), bodies(bodies),
      count(count), streamBytes(streamBytes) {}

OpKernels::OpKernels(MLIRContext *context, StringRef name, ModuleOp module,
                     llvm::StringMap<unsigned> &bodies, unsigned &count)
    : OpUses(context), name(name.str()), module(module), bodies(bodies), count(count) {}

bool OpKernels::isStreamed(const BufferUse &use) const {
  if (!op || use.buffer < int(op->getNumOperands()))
    return false;
  return use.bytes() >= streamBytes &&
         !llvm::is_contained(aliases, use.buffer - int(op->getNumOperands()));
}

void OpKernels::add(StringRef suffix, ArrayRef<BufferUse> uses, int64_t items, int64_t grain,
                    Body body) {
  for (const BufferUse &use : uses)
    if (use.buffer == workspace)
      workspaceBytes = std::max(workspaceBytes, use.bytes());
  if (!module || items == 0)
    return;

  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  auto arguments = argumentsOf(uses);
  SmallVector<Type> inputs;
  for (auto [buffer, type] : arguments)
    inputs.push_back(type);
  inputs.append(2, builder.getIndexType());
  auto function =
      func::FuncOp::create(builder, location(), "kernel", builder.getFunctionType(inputs, {}));
  Block *block = function.addEntryBlock();
  builder.setInsertionPointToStart(block);
  KernelBuilder kernel(builder, location());
  SmallVector<Value> memrefs = viewsOf(uses, arguments, *block, builder);
  size_t last = block->getNumArguments();
  body(kernel, memrefs, kernel.wrap(block->getArgument(last - 2)),
       kernel.wrap(block->getArgument(last - 1)));
  func::ReturnOp::create(builder, location());

  KernelDispatch dispatch;
  dispatch.access = argumentAccess(function, arguments.size());

  // Different ops often need the same loop, for instance to combine partial sums.
  std::string text;
  llvm::raw_string_ostream stream(text);
  function.print(stream, OpPrintingFlags().useLocalScope().elideLargeElementsAttrs(1 << 20));
  auto [entry, isNew] = bodies.try_emplace(text, count);
  if (isNew) {
    std::string symbol = "k" + std::to_string(count++) + "_" + name;
    if (!suffix.empty())
      symbol += "_" + suffix.str();
    function.setName(symbol);
  } else {
    function.erase();
  }
  dispatch.kernel = entry->second;
  for (auto [buffer, type] : arguments)
    dispatch.buffers.push_back(buffer);
  dispatch.items = items;
  dispatch.grain = grain;
  dispatches.push_back(std::move(dispatch));
}

void addCombineSums(OpKernels &kernels, ArrayRef<BufferUse> results, int64_t chunks,
                    int64_t channels, double scale) {
  SmallVector<BufferUse> uses{kernels.scratch({int64_t(results.size()), chunks, channels})};
  uses.append(results.begin(), results.end());
  kernels.add("combine", uses, (channels + lanes - 1) / lanes, grainOf(chunks * lanes),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                Range range = itemRange(k, begin, end, lanes, channels);
                for (size_t s = 0; s < results.size(); ++s) {
                  Expr array = k.index(s);
                  Value sum = buffers[1 + s];
                  k.loop(range.begin, range.end, [&](Expr c) { k.store(k.f32(0), sum, {c}); });
                  k.loop(k.index(0), k.index(chunks), [&](Expr chunk) {
                    k.loop(range.begin, range.end, [&](Expr c) {
                      k.store(k.load(sum, {c}) + k.load(buffers[0], {array, chunk, c}), sum, {c});
                    });
                  });
                  if (scale != 1)
                    k.loop(range.begin, range.end,
                           [&](Expr c) { k.store(k.load(sum, {c}) * k.f32(scale), sum, {c}); });
                }
              });
}

} // namespace gc::cpu
