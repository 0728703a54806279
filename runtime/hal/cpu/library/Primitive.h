// oneDNN as this folder uses it: one engine, one stream, and primitives whose arguments are set up
// once. Private to the library.
#ifndef GC_RUNTIME_HAL_CPU_LIBRARY_PRIMITIVE_H
#define GC_RUNTIME_HAL_CPU_LIBRARY_PRIMITIVE_H

#include "runtime/hal/cpu/library/Library.h"

#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <utility>
#include <vector>

namespace gc::runtime::cpu {

const dnnl::engine &engine();

/// A primitive and its arguments. Executing goes through the C interface: the C++ one copies the
/// arguments into a fresh vector each time.
class Primitive {
public:
  Primitive() = default;
  Primitive(dnnl::primitive primitive, std::string implementation);

  explicit operator bool() const { return static_cast<bool>(primitive_); }
  const std::string &implementation() const { return implementation_; }

  /// Adds an argument; returns its place for `set`.
  size_t argument(int id, const dnnl::memory::desc &desc);
  void set(size_t place, const void *data);
  /// Device error where OpenMP would not give the team that the primitive was built for.
  Status execute();

private:
  dnnl::primitive primitive_;
  std::string implementation_;
  int threads_ = 1;
  std::vector<dnnl::memory> memories_;
  std::vector<const void *> data_;
  std::vector<dnnl_exec_arg_t> arguments_;
};

/// True for implementations that are far from the machine's speed.
bool isReference(const std::string &implementation);

/// An attribute with the scratchpad in the caller's hands.
dnnl::primitive_attr userScratchpad();

/// Parts of a workspace, one after the other, each on its own cache lines.
class WorkspaceLayout {
public:
  size_t take(size_t bytes) {
    size_t at = size_;
    size_ += (bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
    return at;
  }
  size_t size() const { return size_; }

private:
  size_t size_ = 0;
};

inline char *at(void *workspace, size_t offset) { return static_cast<char *>(workspace) + offset; }

/// Bad input unless there are kernels for these types.
Status checkTypes(plan::DType type, plan::DType accumulator, plan::DType result, bool accumulates);

/// Runs `build`, turning oneDNN's exceptions into an error about `what`.
template <typename Function> Status guarded(const char *what, Function build) {
  try {
    build();
    return {};
  } catch (const dnnl::error &error) {
    return badInput(std::string("oneDNN cannot do this ") + what + ": " + error.message);
  } catch (const std::exception &error) {
    return runFailed(std::string("building a ") + what + " failed: " + error.what());
  }
}

} // namespace gc::runtime::cpu

#endif // GC_RUNTIME_HAL_CPU_LIBRARY_PRIMITIVE_H
