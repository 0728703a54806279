//===- MemoryAtPeak.cpp - what the peak is made of ------------------------===//
#include "compiler/MemoryAtPeak.h"
#include <algorithm>
#include <numeric>
#include <vector>

namespace gc {

static uint64_t aligned(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

static bool livesAt(const plan::BufferT &buffer, int command) {
  return buffer.part_of < 0 && !buffer.evaluate && buffer.first_command <= command &&
         command <= buffer.last_command;
}

plan::MemoryT memoryAtPeak(const plan::PlanT &plan, uint64_t lowerBound) {
  size_t commands =
      plan.micro_batch->commands.size() + (plan.step ? plan.step->commands.size() : 0);
  // Differences of live bytes from one command to the next.
  std::vector<int64_t> change(commands + 1, 0);
  for (const auto &buffer : plan.buffers)
    if (buffer->part_of < 0 && !buffer->evaluate) {
      change[buffer->first_command] += aligned(buffer->bytes);
      change[buffer->last_command + 1] -= aligned(buffer->bytes);
    }
  std::partial_sum(change.begin(), change.end(), change.begin());
  int peak = static_cast<int>(std::max_element(change.begin(), change.end()) - change.begin());

  plan::MemoryT memory;
  for (const auto &buffer : plan.buffers) {
    if (!livesAt(*buffer, peak))
      continue;
    uint64_t bytes = aligned(buffer->bytes);
    switch (buffer->kind) {
    case plan::BufferKind_Parameter:
    case plan::BufferKind_State:
      memory.weights += bytes;
      break;
    case plan::BufferKind_OptimizerState:
      memory.optimizer += bytes;
      break;
    case plan::BufferKind_Gradient:
      memory.gradients += bytes;
      break;
    case plan::BufferKind_Activation:
    case plan::BufferKind_Metric:
      memory.activations += bytes;
      break;
    case plan::BufferKind_Workspace:
      memory.workspace += bytes;
      break;
    case plan::BufferKind_Input:
      memory.input += bytes;
      break;
    }
  }
  uint64_t sum = memory.weights + memory.optimizer + memory.gradients + memory.activations +
                 memory.workspace + memory.input;
  memory.fragmentation = plan.arena_bytes - std::min<uint64_t>(sum, plan.arena_bytes);
  memory.lower_bound = lowerBound;
  return memory;
}

} // namespace gc
