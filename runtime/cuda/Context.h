// One GPU in use: its primary context, two streams, and owners of what the driver hands out.
#ifndef GC_RUNTIME_CUDA_CONTEXT_H
#define GC_RUNTIME_CUDA_CONTEXT_H

#include "runtime/cuda/Driver.h"
#include "runtime/monitor/DeviceSampler.h"

#include <memory>
#include <utility>

namespace gc::runtime::cuda {

class Context;

/// Owns one object of the driver and gives it back with `Release`. A context that is broken cannot
/// take it back any more; that is not an error here. The context must outlive it.
template <typename T, auto Release> class Handle {
public:
  Handle() = default;
  explicit Handle(Context &context) : context_(&context) {}
  Handle(Handle &&other) noexcept
      : context_(other.context_), value_(std::exchange(other.value_, T{})) {}
  Handle &operator=(Handle &&other) noexcept {
    std::swap(context_, other.context_);
    std::swap(value_, other.value_);
    return *this;
  }
  ~Handle();

  T get() const { return value_; }
  /// The address of the handle, for the driver to write to; the handle must be empty.
  T *out() { return &value_; }
  explicit operator bool() const { return value_ != T{}; }

private:
  Context *context_ = nullptr;
  T value_{};
};

using Stream = Handle<CUstream, &Driver::cuStreamDestroy>;
using EventHandle = Handle<CUevent, &Driver::cuEventDestroy>;
using Module = Handle<CUmodule, &Driver::cuModuleUnload>;
using Graph = Handle<CUgraph, &Driver::cuGraphDestroy>;
using GraphExecutable = Handle<CUgraphExec, &Driver::cuGraphExecDestroy>;
using DeviceAllocation = Handle<CUdeviceptr, &Driver::cuMemFree>;
using HostAllocation = Handle<void *, &Driver::cuMemFreeHost>;

class Context {
public:
  /// Device error when there is no driver, no GPU, or none with this number.
  static Result<std::unique_ptr<Context>> create(int ordinal);
  ~Context();
  Context(const Context &) = delete;
  Context &operator=(const Context &) = delete;

  const Driver &driver() const { return *driver_; }
  CUdevice device() const { return device_; }
  int ordinal() const { return ordinal_; }
  const std::string &name() const { return name_; }
  /// By which names NVML finds this GPU.
  const WatchedDevice &watched() const { return watched_; }
  /// By how much NVML's count of used bytes grew when the context came; nothing where it does not
  /// say, or others freed more meanwhile.
  std::optional<uint64_t> contextBytes() const { return contextBytes_; }
  /// 86 for compute capability 8.6.
  int architecture() const { return architecture_; }
  /// The newest CUDA that the installed driver serves: 12020 for 12.2.
  int driverVersion() const { return driverVersion_; }
  int multiprocessors() const { return multiprocessors_; }
  /// Shared memory that a block may have when asked for.
  int sharedPerBlock() const { return sharedPerBlock_; }

  /// Commands run on this one, in order; uploads on the other.
  CUstream compute() const { return compute_.get(); }
  CUstream copy() const { return copy_.get(); }

  /// Makes the context the calling thread's. Every call from outside does so first.
  Status enter() const;
  /// Waits for everything, whatever its outcome: before memory goes away.
  void drain() const;
  struct Memory {
    size_t free = 0, total = 0;
    size_t used() const { return total - free; }
  };
  Result<Memory> memory() const;
  /// For messages where memory was too short: what is free, and who holds the rest.
  std::string memoryText() const;

private:
  Context() = default;
  Status open(int ordinal);

  const Driver *driver_ = nullptr;
  CUdevice device_ = 0;
  int ordinal_ = 0, architecture_ = 0, driverVersion_ = 0, multiprocessors_ = 0,
      sharedPerBlock_ = 0;
  std::string name_;
  WatchedDevice watched_;
  std::optional<uint64_t> contextBytes_;
  CUcontext context_ = nullptr;
  Stream compute_, copy_;
};

template <typename T, auto Release> Handle<T, Release>::~Handle() {
  if (value_ == T{})
    return;
  (void)context_->enter();
  (void)(context_->driver().*Release)(value_);
}

} // namespace gc::runtime::cuda

#endif // GC_RUNTIME_CUDA_CONTEXT_H
