//===- OpTimes.cpp - how long an op's launches take -----------------------===//
#include "compiler/cuda/OpTimes.h"
#include "compiler/target/Products.h"
#include "compiler/target/ShapeClass.h"

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

Amounts libraryWork(Operation *op, const LibraryOp &call, const LaunchCosts &following,
                    double tf32Speedup) {
  Amounts work = workOf(op);
  amount(work, Resource::Start) = 1 + double(following.launches);
  amount(work, bytesOf(work)) += 2. * double(call.plan.workspaceBytes) + following.bytes;
  // Channels are padded to blocks of sixteen by the CPU's library alone.
  if (convolutionSpec(op))
    amount(work, flopsOf(work)) = cast<CostOpInterface>(op).getFlops();
  if (call.plan.tensorCores)
    amount(work, flopsOf(work)) /= tf32Speedup;
  return work;
}

void MeasuredTimes::add(const std::string &kind, double flops, double bytes, Way way,
                        double seconds) {
  Sum &sum = sums[{kind, flops, bytes, way}];
  sum.seconds += seconds;
  ++sum.count;
}

std::optional<double> MeasuredTimes::find(Operation *op, Way way) const {
  if (sums.empty())
    return std::nullopt;
  auto cost = cast<CostOpInterface>(op);
  auto found =
      sums.find({op->getName().stripDialect().str(), cost.getFlops(), cost.getBytesMoved(), way});
  if (found == sums.end())
    return std::nullopt;
  return found->second.seconds / double(found->second.count);
}

std::optional<double> ClassSpeeds::find(Operation *op, Way way) const {
  if (speeds.empty())
    return std::nullopt;
  auto found = speeds.find({shapeClassOf(op), way});
  return found == speeds.end() ? std::nullopt : std::optional(found->second);
}

} // namespace gc::cuda
