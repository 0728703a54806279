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

// Convolutions compute whole blocks of 16 channels of what they write or sum over: a block that is
// not full costs as much as a full one.
static double withIdleLanes(double flops, Type type) {
  auto channels = static_cast<double>(cast<ShapedType>(type).getShape().back());
  return flops * std::ceil(channels / 16) * 16 / channels;
}

LogicalResult requireCosts(func::FuncOp function) {
  for (Operation &op : function.getBody().front().without_terminator())
    if (!isa<CostOpInterface>(op) || !isa<RecomputableOpInterface>(op))
      return op.emitError("'") << op.getName() << "' does not say what it costs and whether it may "
                               << "be repeated (CostOpInterface, RecomputableOpInterface)";
  return success();
}

LogicalResult requireCosts(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (function->hasAttr("gc.list") && failed(requireCosts(function)))
      return failure();
  return success();
}

Amounts workOf(Operation *op) {
  Amounts work = {};
  auto cost = dyn_cast<CostOpInterface>(op);
  if (!cost)
    llvm::report_fatal_error("an op without costs in a step; requireCosts comes first");
  double flops = cost.getFlops(), bytes = cost.getBytesMoved();
  auto use = [&](Resource resource, double amount) {
    work[static_cast<size_t>(resource)] = amount;
  };
  use(Resource::Start, 1);
  auto product = [&](Resource resource, double amount) {
    use(resource, amount);
    use(Resource::ProductBytes, bytes);
  };
  switch (cost.getWorkKind()) {
  case WorkKind::ConvForward:
    product(Resource::ConvForward, withIdleLanes(flops, op->getResult(0).getType()));
    break;
  case WorkKind::ConvData:
    product(Resource::ConvData, withIdleLanes(flops, op->getResult(0).getType()));
    break;
  // The second operand is the gradient of the output.
  case WorkKind::ConvWeights:
    product(Resource::ConvWeights, withIdleLanes(flops, op->getOperand(1).getType()));
    break;
  case WorkKind::ConvWeightsStrided:
    product(Resource::ConvWeightsStrided, withIdleLanes(flops, op->getOperand(1).getType()));
    break;
  case WorkKind::MatMul:
    product(Resource::MatMul, flops);
    break;
  case WorkKind::Attention:
    product(Resource::Attention, flops);
    break;
  case WorkKind::Stream:
  case WorkKind::Rows:
    use(Resource::Arithmetic, flops);
    use(cost.getWorkKind() == WorkKind::Stream ? Resource::StreamBytes : Resource::RowBytes, bytes);
    break;
  }
  return work;
}

double secondsOf(const Amounts &work, const Roofline &roofline) {
  double seconds = 0;
  for (size_t i = 0; i < resourceCount; ++i)
    seconds += work[i] / roofline.perSecond[i];
  return seconds;
}

double OpCosts::seconds(Operation *op) const {
  if (auto known = op->getAttrOfType<FloatAttr>("gc.seconds"))
    return known.getValueAsDouble();
  return secondsOf(workOf(op), Roofline::of(op));
}

} // namespace gc
