//===- OpTimes.cpp - how long an op's launches take -----------------------===//
#include "compiler/cuda/OpTimes.h"
#include "compiler/target/Products.h"

using namespace mlir;

namespace gc::cuda {
namespace {

double &amount(Amounts &work, Resource resource) { return work[static_cast<size_t>(resource)]; }

/// The first of these of which the op uses any.
Resource usedOf(Amounts &work, std::initializer_list<Resource> resources) {
  for (Resource resource : resources)
    if (amount(work, resource) > 0)
      return resource;
  return *resources.begin();
}
Resource bytesOf(Amounts &work) {
  return usedOf(work, {Resource::RowBytes, Resource::StreamBytes, Resource::ProductBytes});
}
Resource flopsOf(Amounts &work) {
  return usedOf(work, {Resource::MatMul, Resource::ConvForward, Resource::ConvData,
                       Resource::ConvWeights, Resource::ConvWeightsStrided, Resource::Attention});
}

} // namespace

bool knowsCommandsOf(Operation *op) {
  return convolutionSpec(op) || matMulSpec(op) ||
         isa<AttentionOp, AttentionGradOp, LayerNormOp, LayerNormGradOp, AvgPoolOp, AvgPoolGradOp>(
             op);
}

Amounts generatedWork(Operation *op, const LaunchCosts &costs) {
  Amounts work = workOf(op);
  amount(work, Resource::Start) = double(costs.launches);
  amount(work, bytesOf(work)) = costs.bytes;
  if (costs.productFlops > 0)
    amount(work, flopsOf(work)) = costs.productFlops;
  return work;
}

} // namespace gc::cuda
