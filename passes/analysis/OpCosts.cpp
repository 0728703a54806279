//===- OpCosts.cpp - how long ops take ------------------------------------===//
#include "passes/analysis/OpCosts.h"
#include "dialects/Gc.h"
#include <cmath>

using namespace mlir;

namespace gc {

const char *rateName(size_t resource) {
  static constexpr std::array<const char *, resourceCount> names = {
      "starts_per_second",
      "conv_forward_flops_per_second",
      "conv_data_flops_per_second",
      "conv_weights_flops_per_second",
      "conv_strided_weights_flops_per_second",
      "matmul_flops_per_second",
      "attention_flops_per_second",
      "product_bytes_per_second",
      "stream_bytes_per_second",
      "row_bytes_per_second",
      "arithmetic_flops_per_second"};
  return names[resource];
}

Roofline Roofline::of(Operation *op) {
  while (Operation *parent = op->getParentOp())
    op = parent;
  Roofline roofline;
  if (auto measured = op->getAttrOfType<DenseF64ArrayAttr>("gc.roofline"))
    llvm::copy(measured.asArrayRef().take_front(resourceCount), roofline.perSecond.begin());
  return roofline;
}

void Roofline::set(Operation *module) const {
  module->setAttr("gc.roofline", DenseF64ArrayAttr::get(module->getContext(), perSecond));
}

// Convolutions compute blocks of 16 output channels; those that are not there cost the same.
static int64_t lastDim(Value value) { return cast<ShapedType>(value.getType()).getShape().back(); }
static double withIdleLanes(double flops, Value output) {
  double channels = static_cast<double>(lastDim(output));
  return flops * std::ceil(channels / 16) * 16 / channels;
}

// Point by point over whole tensors, read and written in order.
static bool streams(Operation *op) {
  if (isa<FusedOp, UpdateOpInterface>(op))
    return true;
  auto fusible = dyn_cast<FusibleOpInterface>(op);
  return fusible && fusible.getFusionKind() == FusionKind::Elementwise;
}

Amounts workOf(Operation *op) {
  Amounts work = {};
  auto cost = dyn_cast<CostOpInterface>(op);
  if (!cost)
    return work;
  double flops = cost.getFlops(), bytes = cost.getBytesMoved();
  auto use = [&](Resource resource, double amount) {
    work[static_cast<size_t>(resource)] = amount;
  };
  use(Resource::Start, 1);
  std::optional<Resource> product;
  if (auto conv = dyn_cast<Conv2dOp>(op)) {
    product = Resource::ConvForward;
    flops = withIdleLanes(flops, conv.getOutput());
  } else if (auto data = dyn_cast<Conv2dGradInputOp>(op)) {
    product = Resource::ConvData;
    flops = withIdleLanes(flops, data.getInputGradient());
  } else if (auto weights = dyn_cast<Conv2dGradFilterOp>(op)) {
    bool oneTap = elementCount(weights.getFilterGradient().getType()) ==
                  lastDim(weights.getInput()) * lastDim(weights.getGradient());
    bool strided = llvm::any_of(weights.getStrides(), [](int64_t stride) { return stride > 1; });
    product = strided && !oneTap ? Resource::ConvWeightsStrided : Resource::ConvWeights;
    flops = withIdleLanes(flops, weights.getGradient());
  } else if (isa<AttentionOp, AttentionGradOp>(op)) {
    product = Resource::Attention;
  } else if (isa<LinearOp, LinearGradInputOp, LinearGradWeightOp, MatmulOp, PatchEmbedOp>(op)) {
    product = Resource::MatMul;
  }
  if (product) {
    use(*product, flops);
    use(Resource::ProductBytes, bytes);
    return work;
  }
  use(Resource::Arithmetic, flops);
  use(streams(op) ? Resource::StreamBytes : Resource::RowBytes, bytes);
  return work;
}

double OpCosts::seconds(Operation *op) const {
  if (auto measured = op->getAttrOfType<FloatAttr>("gc.seconds"))
    return measured.getValueAsDouble();
  Roofline roofline = Roofline::of(op);
  Amounts work = workOf(op);
  double seconds = 0;
  for (size_t i = 0; i < resourceCount; ++i)
    seconds += work[i] / roofline.perSecond[i];
  return seconds;
}

} // namespace gc
