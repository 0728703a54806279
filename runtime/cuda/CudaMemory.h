// The arena in the GPU's memory, pinned staging beside it, and events between the streams.
#ifndef GC_RUNTIME_CUDA_CUDAMEMORY_H
#define GC_RUNTIME_CUDA_CUDAMEMORY_H

#include "runtime/cuda/Context.h"
#include "runtime/hal/Device.h"

namespace gc::runtime::cuda {

/// One allocation, zeroed.
class CudaArena final : public hal::Arena {
public:
  static Result<std::unique_ptr<CudaArena>> create(Context &context, size_t bytes);
  ~CudaArena() override { context_.drain(); }
  size_t size() const override { return bytes_; }
  std::byte *hostData() override { return nullptr; }
  Status write(size_t offset, std::span<const std::byte> source) override;
  Status read(size_t offset, std::span<std::byte> target) override;
  /// By how much the driver's free memory shrank, and not less than the arena's size.
  uint64_t residentBytes() const override { return charged_; }

  /// Zeros everywhere again; done when it returns.
  Status clear();

  CUdeviceptr address(size_t offset) const { return memory_.get() + offset; }

private:
  CudaArena(Context &context, size_t bytes) : context_(context), bytes_(bytes), memory_(context) {}
  Context &context_;
  size_t bytes_;
  uint64_t charged_ = 0;
  DeviceAllocation memory_;
};

/// Pinned: the GPU copies from it without the host's help.
class CudaStaging final : public hal::Staging {
public:
  static Result<std::unique_ptr<CudaStaging>> create(Context &context, size_t bytes);
  ~CudaStaging() override { context_.drain(); }
  std::span<std::byte> bytes() override {
    return {static_cast<std::byte *>(memory_.get()), bytes_};
  }

private:
  CudaStaging(Context &context, size_t bytes)
      : context_(context), bytes_(bytes), memory_(context) {}
  Context &context_;
  size_t bytes_;
  HostAllocation memory_;
};

class CudaEvent final : public hal::Event {
public:
  static Result<std::unique_ptr<CudaEvent>> create(Context &context);
  Status wait() override;

  /// Marks this point of a stream. `subject` says what came before it, `advice` what to do about an
  /// error there; both must outlive the wait.
  Status record(CUstream stream, const std::string &subject, const char *advice = "");
  /// Lets a stream wait for the mark.
  Status block(CUstream stream);

private:
  explicit CudaEvent(Context &context) : context_(context), event_(context) {}
  Context &context_;
  EventHandle event_;
  const std::string *subject_ = nullptr;
  const char *advice_ = "";
};

} // namespace gc::runtime::cuda

#endif // GC_RUNTIME_CUDA_CUDAMEMORY_H
