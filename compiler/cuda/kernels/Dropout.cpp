//===- Dropout.cpp - Random zeros that can be drawn again -----------------===//
#include "compiler/cuda/kernels/GpuKernels.h"
#include "compiler/kernels/Philox.h"

using namespace mlir;

namespace gc::cuda {

// A thread draws for four elements.
LogicalResult emitDropout(DropoutOp op, GpuKernels &kernels) {
  DropoutDraw dropout(op, kernels);
  kernels.add("", dropout.uses, itemGrid(dropout.quads), itemBlock,
              [&](GpuBuilder &k, ArrayRef<Value> buffers) {
    forItems(k, dropout.quads, [&](Expr quad) {
      dropout.start(k, buffers);
      SmallVector<Expr> words = dropout.draw(k, quad);
      Expr first = quad * 4;
      if (dropout.elements % 4 == 0) {
        Elements elements = k.loadElements(buffers[0], {first}, 4);
        for (auto [element, word] : llvm::zip_equal(elements, words))
          element = dropout.apply(k, element, word);
        return k.storeElements(elements, buffers[2], {first});
      }
      for (int64_t i = 0; i < 4; ++i) {
        Expr at = first + double(i);
        k.when(at < double(dropout.elements), [&] {
          k.store(dropout.apply(k, k.load(buffers[0], {at}), words[i]), buffers[2], {at});
        });
      }
    });
  });
  return success();
}

} // namespace gc::cuda
