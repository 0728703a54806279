// Graphs that cuDNN planned when the plan was compiled, restored and executed.
#ifndef GC_RUNTIME_CUDA_CUDNN_H
#define GC_RUNTIME_CUDA_CUDNN_H

#include "runtime/cuda/Context.h"
#include "runtime/cuda/CudnnApi.h"
#include "runtime/plan/PlanFile.h"

#include <vector>

namespace gc::runtime::cuda {

/// The library, found when a plan first needs it.
struct Cudnn {
#define GC_CUDNN_MEMBER(name, result, parameters) result(*name) parameters = nullptr;
  GC_CUDNN_FUNCTIONS(GC_CUDNN_MEMBER)
#undef GC_CUDNN_MEMBER

  /// Device error, with what to install or how to do without, when it is missing.
  static Result<const Cudnn *> load();
  /// "CALL failed for SUBJECT: CUDNN_STATUS_NAME: the library's own words"
  Error error(cudnnStatus_t status, const char *call, const std::string &subject) const;
};

/// Owns a descriptor of the library's backend.
class CudnnDescriptor {
public:
  CudnnDescriptor() = default;
  explicit CudnnDescriptor(const Cudnn &library) : library_(&library) {}
  CudnnDescriptor(CudnnDescriptor &&other) noexcept
      : library_(other.library_), value_(std::exchange(other.value_, nullptr)) {}
  CudnnDescriptor &operator=(CudnnDescriptor &&other) noexcept {
    std::swap(library_, other.library_);
    std::swap(value_, other.value_);
    return *this;
  }
  ~CudnnDescriptor() {
    if (value_)
      (void)library_->cudnnBackendDestroyDescriptor(value_);
  }
  cudnnBackendDescriptor_t get() const { return value_; }
  cudnnBackendDescriptor_t *out() { return &value_; }

private:
  const Cudnn *library_ = nullptr;
  cudnnBackendDescriptor_t value_ = nullptr;
};

/// What one command binds to a graph's ids. Scalars are copied by the library when it executes.
struct CudnnBindings {
  std::vector<int64_t> ids;
  std::vector<void *> pointers; ///< device addresses; of scalars, host addresses
  void *workspace = nullptr;
};

/// The graphs of one plan as far as they restore, on the context's compute stream.
class CudnnGraphs {
public:
  using Graphs = flatbuffers::Vector<flatbuffers::Offset<gc::plan::LibraryGraph>>;
  /// `graphs` and `context` must outlive the result.
  CudnnGraphs(Context &context, const Graphs &graphs);
  ~CudnnGraphs();
  CudnnGraphs(const CudnnGraphs &) = delete;
  CudnnGraphs &operator=(const CudnnGraphs &) = delete;

  std::string name(size_t graph) const;
  /// Empty where the graph can be executed; else why it cannot.
  const std::string &whyNot(size_t graph) const { return whyNot_[graph]; }
  /// From now on it cannot be executed.
  void refuse(size_t graph, const std::string &why) { whyNot_[graph] = why; }
  /// "9.19.0", or empty where there is no library.
  const std::string &version() const { return version_; }
  /// Whether the graph was executed before it is captured: a library may load code then.
  bool isWarm(size_t graph) const { return warm_[graph]; }
  void setWarm(size_t graph) { warm_[graph] = true; }
  /// A command's addresses, in the library's form; made once, used at every execution.
  Result<CudnnDescriptor> pack(const CudnnBindings &bindings, const std::string &subject) const;
  /// Enqueues the graph on the compute stream.
  Status execute(size_t graph, const CudnnDescriptor &pack, const std::string &subject) const;

private:
  Status open();
  Status restore(size_t number);

  Context &context_;
  const Cudnn *library_ = nullptr;
  const Graphs &graphs_;
  std::string version_;
  cudnnHandle_t handle_ = nullptr;
  std::vector<CudnnDescriptor> plans_; // by graph; empty where it did not restore
  std::vector<std::string> whyNot_;
  std::vector<bool> warm_;
};

} // namespace gc::runtime::cuda

#endif // GC_RUNTIME_CUDA_CUDNN_H
