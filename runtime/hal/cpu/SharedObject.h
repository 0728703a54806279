// Kernels as a shared object in memory.
#ifndef GC_RUNTIME_HAL_CPU_SHAREDOBJECT_H
#define GC_RUNTIME_HAL_CPU_SHAREDOBJECT_H

#include "runtime/hal/Device.h"

namespace gc::runtime::hal {

/// The signature of every generated kernel (see Dispatch in Plan.fbs).
using Kernel = void (*)(void *const *buffers, int64_t begin, int64_t end);

/// Loads an object with dlopen from an anonymous file, so that nothing is written to disk.
class SharedObject final : public Executable {
public:
  /// Device error when the loader refuses the object, BadInput when a symbol is missing from it.
  static Result<std::unique_ptr<SharedObject>> load(const gc::plan::Kernels *kernels);
  ~SharedObject() override;
  size_t kernelCount() const override { return kernels_.size(); }
  Kernel kernel(size_t index) const { return kernels_[index]; }
  const std::string &kernelName(size_t index) const { return names_[index]; }

private:
  SharedObject() = default;
  void *handle_ = nullptr;
  std::vector<Kernel> kernels_;
  std::vector<std::string> names_;
};

} // namespace gc::runtime::hal

#endif // GC_RUNTIME_HAL_CPU_SHAREDOBJECT_H
