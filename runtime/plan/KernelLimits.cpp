#include "runtime/plan/KernelLimits.h"

#include <algorithm>

namespace gc::runtime {

using namespace gc::plan;

uint64_t blocksOf(const Extent &grid) { // no overflow: the extents have 31, 16 and 16 bits
  return uint64_t(grid.x()) * grid.y() * grid.z();
}

static void widen(PlanT &plan, uint32_t kernel, uint64_t items,
                  const std::vector<uint32_t> &operands) {
  if (kernel >= plan.kernels->limits.size())
    return; // the verifier finds what is wrong here
  KernelLimitsT &limits = *plan.kernels->limits[kernel];
  limits.items = std::max(limits.items, items);
  for (size_t i = 0; i < operands.size(); ++i) {
    uint64_t bytes = operands[i] < plan.buffers.size() ? plan.buffers[operands[i]]->bytes : 0;
    if (i == limits.bytes.size())
      limits.bytes.push_back(bytes);
    limits.bytes[i] = std::min(limits.bytes[i], bytes);
  }
}

void setKernelLimits(PlanT &plan) {
  if (!plan.kernels)
    return;
  plan.kernels->limits.clear();
  for (size_t i = 0; i < plan.kernels->symbols.size(); ++i)
    plan.kernels->limits.push_back(std::make_unique<KernelLimitsT>());
  for (const auto *list : {&plan.once, &plan.micro_batch, &plan.step, &plan.evaluate})
    for (size_t i = 0; *list && i < (*list)->commands.size(); ++i) {
      const OperationUnion &operation = (*list)->commands[i]->operation;
      if (const DispatchT *dispatch = operation.AsDispatch())
        widen(plan, dispatch->kernel, dispatch->items, dispatch->buffers);
      if (const LaunchT *launch = operation.AsLaunch())
        widen(plan, launch->kernel, blocksOf(*launch->grid), launch->buffers);
      if (const GraphCallT *call = operation.AsGraphCall())
        for (const auto &launch : call->twin)
          widen(plan, launch->kernel, blocksOf(*launch->grid), launch->buffers);
    }
}

} // namespace gc::runtime
