// A command list on a GPU: recorded into launches, captured into one CUDA graph when the addresses
// are known, replayed at every submission; or submitted command by command where it cannot be
// captured.
#ifndef GC_RUNTIME_CUDA_CUDACOMMANDBUFFER_H
#define GC_RUNTIME_CUDA_CUDACOMMANDBUFFER_H

#include "runtime/cuda/CudaMemory.h"
#include "runtime/cuda/KernelModules.h"

namespace gc::runtime::cuda {

class CudaCommandBuffer final : public hal::CommandBuffer {
public:
  static Result<std::unique_ptr<CudaCommandBuffer>> record(Context &context,
                                                           const hal::Recording &recording);
  /// The library takes back what it packed in this context, not in another GPU's.
  ~CudaCommandBuffer() override { (void)context_.enter(); }
  Status bind(hal::Arena &arena) override;
  size_t size() const override { return steps_.size(); }
  std::string describe(size_t index) const override;
  std::string implementation(size_t index) const override;

  bool bound() const { return arena_ != nullptr; }
  const CudaArena &arena() const { return *arena_; }
  /// The list and its range of ops, for messages about work that failed somewhere in it.
  const std::string &subject() const { return subject_; }

  /// Enqueues all commands, as one graph where there is one.
  Status launch();
  /// Executes one command after the other, waiting for each: an error names the command.
  Status launchEach(std::span<hal::CommandTime> times);

private:
  struct KernelCall {
    const gc::plan::Launch *launch = nullptr;
    size_t firstParameter = 0; // in addresses_
  };
  struct Step {
    const gc::plan::Command *command = nullptr;
    std::vector<KernelCall> launches;   // Launch, and GraphCall where its twin runs
    CUdeviceptr target = 0, source = 0; // Fill and Copy; source 0: Fill
    size_t bytes = 0;
    std::vector<float> scalars; // GraphCall
    CudnnDescriptor pack;
  };

  explicit CudaCommandBuffer(Context &context) : context_(context) {}
  Status recordCommand(const gc::plan::Command &command, const hal::Recording &recording);
  Status addLaunch(Step &step, const gc::plan::Launch &launch);
  Status bindStep(Step &step);
  /// Executes every graph of the library once, so that it loads its code now. One that fails gives
  /// way to its twin.
  Status warmUp();
  /// Launches the generated kernels of a graph instead of it; bound, if the list is.
  Status useTwin(Step &step, const gc::plan::GraphCall &call);
  /// Once all launches are known: `addresses_` has moved.
  void pointToAddresses();
  Status bindGraphCall(Step &step, const gc::plan::GraphCall &call);
  CUdeviceptr address(uint32_t buffer, uint64_t elements = 0) const;
  Status capture();
  /// After a capture that failed: the list has no graph. An error where the context is lost.
  Status goOnWithout(const Error &why);
  Status enqueue(const Step &step);
  Status enqueueCopy(const Step &step);
  /// "kernel K", or all of a twin's.
  std::string kernelNames(const Step &step) const;
  /// "NAME (kernel K)", as errors name a command.
  std::string subjectOf(const Step &step) const;

  Context &context_;
  const gc::plan::Plan *plan_ = nullptr;
  KernelModules *modules_ = nullptr;
  std::unique_ptr<hal::SlotMap> slots_;
  std::string subject_;
  std::vector<Step> steps_;
  std::vector<CUdeviceptr> addresses_; // the parameters of all launches
  std::vector<void *> parameters_;     // for each of them, its address, as the driver wants it
  CudaArena *arena_ = nullptr;
  GraphExecutable graph_;
  EventHandle begin_, end_; // around a command; made when times are first asked for
  EventHandle origin_;
};

} // namespace gc::runtime::cuda

#endif // GC_RUNTIME_CUDA_CUDACOMMANDBUFFER_H
