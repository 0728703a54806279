//===- ShapeClass.cpp - products that are alike ---------------------------===//
#include "compiler/target/ShapeClass.h"
#include "compiler/target/Products.h"

using namespace mlir;

namespace gc {

static std::string classOf(const plan::ConvolutionSpecT &c) {
  static constexpr const char *directions[] = {"forward", "data", "weights"};
  static_assert(plan::Direction_Forward == 0 && plan::Direction_BackwardData == 1 &&
                plan::Direction_BackwardWeights == 2);
  std::string kind;
  if (c.groups > 1)
    kind = c.groups == c.in_c ? "depthwise" : "grouped";
  else if (c.kernel_h == c.kernel_w && (c.kernel_h == 1 || c.kernel_h == 3))
    kind = c.kernel_h == 1 ? "1x1" : "3x3";
  else
    kind = "other";
  return kind + " convolution, " + directions[c.direction];
}

std::string shapeClassOf(Operation *op) {
  if (auto convolution = convolutionSpec(op))
    return classOf(*convolution);
  auto product = matMulSpec(op);
  if (!product)
    return "";
  constexpr int64_t thin = 128; // the side of a large tile
  auto accumulating = dyn_cast<AccumulateProductOp>(op);
  Operation *inner = accumulating ? accumulating.getProduct() : op;
  const char *direction = isa<LinearGradInputOp>(inner)    ? "data"
                          : isa<LinearGradWeightOp>(inner) ? "weights"
                                                           : "forward";
  bool isThin = std::min({product->m, product->n, product->k}) < thin;
  return std::string(isThin ? "thin" : "large") + " product, " + direction;
}

} // namespace gc
