// A command list on the CPU: recorded into library calls and kernel addresses, then bound to
// offsets.
#ifndef GC_RUNTIME_HAL_CPU_CPUCOMMANDBUFFER_H
#define GC_RUNTIME_HAL_CPU_CPUCOMMANDBUFFER_H

#include "runtime/hal/Arena.h"
#include "runtime/hal/cpu/SharedObject.h"
#include "runtime/hal/cpu/library/Library.h"

#include <map>

namespace gc::runtime::hal {

/// Library calls by spec. Commands with equal specs share one: calls hold no data and run one at a
/// time, and repeated blocks of a network would otherwise each build and keep the same code.
class CallCache {
public:
  Result<cpu::ConvolutionCall *> convolution(const cpu::ConvolutionSpec &spec);
  Result<cpu::MatMulCall *> matmul(const cpu::MatMulSpec &spec);

private:
  std::map<std::string, std::unique_ptr<cpu::ConvolutionCall>> convolutions_;
  std::map<std::string, std::unique_ptr<cpu::MatMulCall>> matmuls_;
};

class CpuCommandBuffer final : public CommandBuffer {
public:
  static Result<std::unique_ptr<CpuCommandBuffer>> record(const Recording &recording,
                                                          CallCache &calls);
  Status bind(Arena &arena) override;
  size_t size() const override { return steps_.size(); }
  std::string describe(size_t index) const override;
  std::string implementation(size_t index) const override;

  bool bound() const { return arena_ != nullptr; }
  HostArena &arena() { return *arena_; }
  /// Runs every command in order; stops at the first that fails.
  Status execute(int threads, std::span<CommandTime> times);

private:
  /// One command, ready: pointers are set by bind.
  struct Step {
    const gc::plan::Command *command = nullptr;
    // Dispatch
    Kernel kernel = nullptr;
    size_t kernelIndex = 0;
    size_t firstPointer = 0; // in pointers_
    int64_t items = 0, grain = 1;
    // Library calls
    cpu::ConvolutionCall *convolution = nullptr;
    cpu::ConvolutionPointers convolutionPointers;
    cpu::MatMulCall *matmul = nullptr;
    cpu::MatMulPointers matmulPointers;
    // Fill and Copy
    std::byte *target = nullptr;
    const std::byte *source = nullptr;
    size_t bytes = 0;
    int value = 0;
  };

  CpuCommandBuffer() = default;
  Status recordCommand(const gc::plan::Command &command, const Recording &recording,
                       CallCache &calls);
  void bindStep(Step &step, std::byte *base);
  Status executeStep(Step &step, int threads);

  const gc::plan::Plan *plan_ = nullptr;
  SharedObject *executable_ = nullptr;
  std::unique_ptr<SlotMap> slots_;
  std::vector<Step> steps_;
  std::vector<void *> pointers_; // operands of all dispatches
  HostArena *arena_ = nullptr;
};

} // namespace gc::runtime::hal

#endif // GC_RUNTIME_HAL_CPU_CPUCOMMANDBUFFER_H
