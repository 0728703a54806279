//===- Dropout.cpp - Random zeros that can be drawn again -----------------===//
#include "compiler/cuda/grids/GpuKernels.h"
#include "compiler/language/Philox.h"

using namespace mlir;

namespace gc::cuda {

// A thread draws for four elements; where they do not divide into fours every thread for one, with
// three words unused.
LogicalResult emitDropout(DropoutOp op, GpuKernels &kernels) {
  DropoutDraw dropout(op, kernels);
  int64_t width = vectorWidth({dropout.elements}), items = dropout.elements / width;
  kernels.add("", dropout.uses, itemGrid(items), itemBlock,
              [&](GpuBuilder &k, ArrayRef<Value> buffers) {
                forItems(k, items, [&](Expr item) {
                  dropout.start(k, buffers);
                  Expr first = item * width;
                  SmallVector<Expr> words = dropout.draw(k, first / 4);
                  if (width == 1) {
                    Expr which = item % 4;
                    for (int64_t i = 1; i < 4; ++i)
                      words[0] = k.select(which == i, words[i], words[0]);
                  }
                  Elements elements = k.loadElements(buffers[0], {first}, width);
                  for (auto [i, element] : llvm::enumerate(elements))
                    element = dropout.apply(k, element, words[i]);
                  k.storeElements(elements, buffers[2], {first});
                });
              });
  return success();
}

} // namespace gc::cuda
