//===- Streaming.cpp - Results that are written past the cache ------------===//
#include "compiler/cpu/loops/Streaming.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace gc::cpu {

RowWriter::RowWriter(KernelBuilder &k, const OpKernels &kernels, ArrayRef<BufferUse> uses,
                     ArrayRef<Value> targets, int64_t channels, int64_t rowsOfRange)
    : k(k), uses(uses), targets(targets), channels(channels),
      tileRows(std::max<int64_t>(1, 1024 / channels)) {
  // A tile must start at a multiple of the vector size, and must fit on the stack.
  bool fits =
      rowsOfRange * channels % lanes == 0 && tileRows * channels % lanes == 0 && channels <= 8192;
  for (const BufferUse &use : uses) {
    bool streams = fits && kernels.isStreamed(use);
    staging.push_back(streams ? k.stackArray({tileRows * channels}, use.element) : Value());
    streamsAny |= streams;
  }
}

void RowWriter::forRows(Range rows, llvm::function_ref<void(Expr row, Store store)> body) {
  auto storeDirectly = [&](unsigned result, Expr row, Expr channel, Expr value) {
    if (uses[result].shape.size() == 1)
      k.store(value, targets[result], {row});
    else
      k.store(value, targets[result], {row, channel});
  };
  if (!streamsAny) {
    k.loop(rows.begin, rows.end, [&](Expr row) { body(row, storeDirectly); });
    return;
  }
  k.loop(rows.begin, rows.end, tileRows, [&](Expr first) {
    Expr last = k.minimum(first + tileRows, rows.end);
    k.loop(first, last, [&](Expr row) {
      auto store = [&](unsigned result, Expr at, Expr channel, Expr value) {
        if (!staging[result])
          return storeDirectly(result, at, channel, value);
        Expr slot = (at - first) * channels;
        k.store(value, staging[result], {channels == 1 ? slot : slot + channel});
      };
      body(row, store);
    });
    for (unsigned result = 0; result < staging.size(); ++result)
      if (staging[result])
        copyOut(result, first, last);
  });
}

void RowWriter::copyOut(unsigned result, Expr firstRow, Expr endRow) {
  int64_t elements = 1;
  for (int64_t size : uses[result].shape)
    elements *= size;
  Type element = uses[result].element;
  Value flat = targets[result];
  if (uses[result].shape.size() != 1)
    flat = memref::ReinterpretCastOp::create(
        k.builder, k.location, MemRefType::get({elements}, element), flat, /*offset=*/0,
        ArrayRef<int64_t>{elements}, ArrayRef<int64_t>{1});
  Expr begin = firstRow * channels, count = (endRow - firstRow) * channels;
  Expr whole = count / lanes * lanes;
  k.loop(k.index(0), whole, lanes, [&](Expr i) {
    Expr vector = k.load(staging[result], {}, Columns{i, lanes, {}});
    vector::StoreOp::create(k.builder, k.location, Value(k.asStored(vector, flat)), flat,
                            ValueRange{begin + i}, /*nontemporal=*/true,
                            llvm::MaybeAlign(lanes * element.getIntOrFloatBitWidth() / 8));
  });
  // Only the last tile of a tensor has elements behind its last whole vector.
  k.loop(whole, count, [&](Expr i) { k.store(k.load(staging[result], {i}), flat, {begin + i}); });
}

void RowWriter::finish() {
  if (streamsAny)
    LLVM::FenceOp::create(k.builder, k.location, LLVM::AtomicOrdering::seq_cst, StringRef());
}

} // namespace gc::cpu
