//===- Dropout.cpp - Random zeros that can be drawn again -----------------===//
#include "compiler/cpu/loops/OpKernels.h"
#include "compiler/language/Philox.h"

using namespace mlir;

namespace gc::cpu {

LogicalResult emitDropout(DropoutOp op, OpKernels &kernels) {
  DropoutDraw dropout(op, kernels);
  constexpr int64_t itemQuads = 256;
  int64_t items = (dropout.quads + itemQuads - 1) / itemQuads;
  int64_t wholeQuads = dropout.elements / 4;
  kernels.add("", dropout.uses, items, grainOf(8 * 4 * itemQuads),
              [&](KernelBuilder &k, ArrayRef<Value> buffers, Expr begin, Expr end) {
                dropout.start(k, buffers);
                auto write = [&](Expr at, Expr word) {
                  k.store(dropout.apply(k, k.load(buffers[0], {at}), word), buffers[2], {at});
                };
                Range range = itemRange(k, begin, end, itemQuads, wholeQuads);
                k.loop(range.begin, range.end, [&](Expr quad) {
                  for (auto [i, word] : llvm::enumerate(dropout.draw(k, quad)))
                    write(quad * 4 + i, word);
                });
                // The last item also has the elements behind the last group of four.
                if (dropout.elements % 4 != 0) {
                  Expr isLast = (end == k.index(items)) & (begin < end);
                  k.when(isLast, [&] {
                    SmallVector<Expr> words = dropout.draw(k, k.index(wholeQuads));
                    for (int64_t i = wholeQuads * 4; i < dropout.elements; ++i)
                      write(k.index(i), words[i % 4]);
                  });
                }
              });
  return success();
}

} // namespace gc::cpu
