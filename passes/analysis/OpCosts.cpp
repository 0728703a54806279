//===- OpCosts.cpp - how long ops take ------------------------------------===//
#include "passes/analysis/OpCosts.h"
#include "dialects/Gc.h"
#include "dialects/OpName.h"

using namespace mlir;

namespace gc {

double OpCosts::seconds(Operation *op) const {
  if (auto it = measured.find(displayName(op)); it != measured.end())
    return it->second;
  auto cost = dyn_cast<CostOpInterface>(op);
  if (!cost)
    return 0;
  return roofline.startSeconds + std::max(cost.getFlops() / roofline.flopsPerSecond,
                                          cost.getBytesMoved() / roofline.bytesPerSecond);
}

} // namespace gc
