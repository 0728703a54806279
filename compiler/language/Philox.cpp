//===- Philox.cpp - Random words that can be drawn again ------------------===//
#include "compiler/language/Philox.h"

using namespace mlir;

namespace gc::kernels {

DropoutDraw::DropoutDraw(DropoutOp op, const OpUses &buffers)
    : elements(elementCount(op.getInput().getType())), quads((elements + 3) / 4),
      id(int32_t(op.getId())) {
  double probability = op.getProbability().convertToFloat();
  threshold = int32_t(uint32_t(std::min(probability * 4294967296.0, 4294967295.0)));
  scale = float(1 / (1 - probability));
  uses = {buffers.operand(0, {elements}), buffers.operand(1), buffers.result(0, {elements})};
  if (op.getMicroBatch())
    uses.push_back(buffers.operand(2));
}

DropoutDraw::Words DropoutDraw::split(KernelBuilder &k, Expr number) {
  Type i32 = k.builder.getI32Type();
  return {k.narrow(number, i32), k.narrow(number >> 32, i32)};
}

/// The words of a 64-bit product of two 32-bit words.
DropoutDraw::Words DropoutDraw::multiply(KernelBuilder &k, Expr word, int64_t constant) {
  return split(k, k.widen(word, k.builder.getI64Type()) * k.i64(constant));
}

void DropoutDraw::start(KernelBuilder &k, ArrayRef<Value> buffers) {
  key = split(k, k.load(buffers[1], {k.index(0)}));
  key.high = key.high ^ k.i32(id);
  step = split(k, k.load(buffers[1], {k.index(1)}));
  // A micro-batch draws where the one before it ended.
  bool inMicroBatches = buffers.size() > 3;
  first = inMicroBatches ? k.load(buffers[3], {k.index(0)}) * k.i64(quads) : k.i64(0);
}

SmallVector<Expr> DropoutDraw::draw(KernelBuilder &k, Expr quad) const {
  Words position = split(k, first + k.fromIndex(quad, k.builder.getI64Type()));
  SmallVector<Expr> counter{position.low, position.high, step.low, step.high};
  Words mix = key;
  for (int round = 0; round < 10; ++round) {
    Words a = multiply(k, counter[0], 0xD2511F53), b = multiply(k, counter[2], 0xCD9E8D57);
    counter = {b.high ^ counter[1] ^ mix.low, b.low, a.high ^ counter[3] ^ mix.high, a.low};
    mix = {mix.low + k.i32(int32_t(0x9E3779B9)), mix.high + k.i32(int32_t(0xBB67AE85))};
  }
  return counter;
}

Expr DropoutDraw::apply(KernelBuilder &k, Expr input, Expr word) const {
  Expr keep = k.wrap(arith::CmpIOp::create(k.builder, k.location, arith::CmpIPredicate::uge, word,
                                           k.i32(threshold)));
  return k.select(keep, input * k.f32(scale), k.f32(0));
}

} // namespace gc::kernels
