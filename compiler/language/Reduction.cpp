//===- Reduction.cpp - Reductions over dimensions -------------------------===//
#include "compiler/language/Reduction.h"

#include "mlir/IR/BuiltinTypes.h"
#include <limits>

using namespace mlir;

namespace gc::kernels {

Reduction::Reduction(ArrayRef<int64_t> shape, ArrayRef<int64_t> dimensions) {
  for (auto [d, size] : llvm::enumerate(shape)) {
    bool reduced = llvm::is_contained(dimensions, int64_t(d));
    if (size == 1)
      continue;
    if (!sizes.empty() && isReduced.back() == reduced) {
      sizes.back() *= size;
    } else {
      sizes.push_back(size);
      isReduced.push_back(reduced);
    }
  }
  if (sizes.empty()) {
    sizes.push_back(1);
    isReduced.push_back(false);
  }
}

void Reduction::endWithColumns() {
  if (!innerIsReduced())
    return;
  sizes.push_back(1);
  isReduced.push_back(false);
}

int64_t Reduction::kept() const {
  int64_t product = 1;
  for (auto [size, isOut] :
       llvm::zip_equal(ArrayRef(sizes).drop_back(), ArrayRef(isReduced).drop_back()))
    product *= isOut ? 1 : size;
  return product;
}

int64_t Reduction::reduced() const {
  int64_t product = 1;
  for (auto [size, isOut] : llvm::zip_equal(sizes, isReduced))
    product *= isOut ? size : 1;
  return product;
}

Expr Reduction::combine(KernelBuilder &k, Expr total, Expr part) const {
  return isMaximum ? k.larger(part, total) : total + part;
}

double Reduction::neutral() const {
  return isMaximum ? -std::numeric_limits<double>::infinity() : 0;
}

SmallVector<int64_t> middleDimensions(Value tensor) {
  int64_t rank = cast<RankedTensorType>(tensor.getType()).getRank();
  return llvm::to_vector(llvm::seq<int64_t>(1, rank - 1));
}

} // namespace gc::kernels
