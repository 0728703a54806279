//===- Dropout.cpp - Random zeros that can be drawn again -----------------===//
//
// Philox4x32-10 (Salmon et al. 2011): ten rounds of multiplication and exclusive or turn a counter
// and a key into four random words. Counter: (i / 4, step) as two 64-bit numbers, i counted through
// the micro-batches of a step; key: the seed, its high half mixed with the op's id. Any element can
// be drawn at any time, in any order.
//
//===----------------------------------------------------------------------===//
#include "compiler/cpu/kernels/OpKernels.h"

using namespace mlir;

namespace gc::cpu {
namespace {

struct Words {
  Expr low, high;
};

/// The words of a 64-bit product of two 32-bit words.
Words multiply(KernelBuilder &k, Expr word, int64_t constant) {
  Type i32 = k.builder.getI32Type(), i64 = k.builder.getI64Type();
  Expr product = k.widen(word, i64) * k.i64(constant);
  return {k.narrow(product, i32), k.narrow(product >> 32, i32)};
}

SmallVector<Expr> philox(KernelBuilder &k, SmallVector<Expr> counter, Words key) {
  for (int round = 0; round < 10; ++round) {
    Words a = multiply(k, counter[0], 0xD2511F53), b = multiply(k, counter[2], 0xCD9E8D57);
    counter = {b.high ^ counter[1] ^ key.low, b.low, a.high ^ counter[3] ^ key.high, a.low};
    key = {key.low + k.i32(int32_t(0x9E3779B9)), key.high + k.i32(int32_t(0xBB67AE85))};
  }
  return counter;
}

} // namespace

LogicalResult emitDropout(DropoutOp op, OpKernels &kernels) {
  int64_t elements = elementCount(op.getInput().getType());
  double probability = op.getProbability().convertToFloat();
  auto threshold = int32_t(uint32_t(std::min(probability * 4294967296.0, 4294967295.0)));
  float scale = float(1 / (1 - probability));
  auto id = int32_t(op.getId());
  constexpr int64_t itemQuads = 256;
  int64_t quads = (elements + 3) / 4;
  SmallVector<BufferUse> uses{kernels.operand(0, {elements}), kernels.operand(1),
                              kernels.result(0, {elements})};
  if (op.getMicroBatch())
    uses.push_back(kernels.operand(2));
  kernels.add("", uses, (quads + itemQuads - 1) / itemQuads, grainOf(8 * 4 * itemQuads),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                Type i32 = k.builder.getI32Type(), i64 = k.builder.getI64Type();
                auto split = [&](Expr number) {
                  return Words{k.narrow(number, i32), k.narrow(number >> 32, i32)};
                };
                Words key = split(k.load(buffers[1], {k.index(0)}));
                key.high = key.high ^ k.i32(id);
                Words step = split(k.load(buffers[1], {k.index(1)}));
                // A micro-batch draws where the one before it ended.
                Expr start =
                    op.getMicroBatch() ? k.load(buffers[3], {k.index(0)}) * k.i64(quads) : k.i64(0);
                auto draw = [&](Expr quad) {
                  Words position = split(start + k.fromIndex(quad, i64));
                  return philox(k, {position.low, position.high, step.low, step.high}, key);
                };
                auto write = [&](Expr at, Expr word) {
                  Expr keep = k.wrap(arith::CmpIOp::create(
                      k.builder, k.location, arith::CmpIPredicate::uge, word, k.i32(threshold)));
                  Expr kept = k.load(buffers[0], {at}) * k.f32(scale);
                  k.store(k.select(keep, kept, k.f32(0)), buffers[2], {at});
                };
                Range range = itemRange(k, begin, end, itemQuads, elements / 4);
                k.loop(range.begin, range.end, [&](Expr quad) {
                  for (auto [i, word] : llvm::enumerate(draw(quad)))
                    write(quad * 4 + double(i), word);
                });
                // Who has the last item also has the elements after the last whole four.
                if (elements % 4 != 0) {
                  Expr isLast =
                      (end == k.index((quads + itemQuads - 1) / itemQuads)) & (begin < end);
                  k.when(isLast, [&] {
                    SmallVector<Expr> words = draw(k.index(elements / 4));
                    for (int64_t i = elements / 4 * 4; i < elements; ++i)
                      write(k.index(i), words[i % 4]);
                  });
                }
              });
  return success();
}

} // namespace gc::cpu
