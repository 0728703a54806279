// The plan's kernels on one GPU: images loaded, functions found by symbol.
#ifndef GC_RUNTIME_CUDA_KERNELMODULES_H
#define GC_RUNTIME_CUDA_KERNELMODULES_H

#include "runtime/cuda/Context.h"
#include "runtime/cuda/Cudnn.h"
#include "runtime/hal/Device.h"

namespace gc::runtime::cuda {

class KernelModules final : public hal::Executable {
public:
  /// Device error when the plan is for another device or a newer GPU, when the driver refuses an
  /// image (with its compiler's words), or when a library that the plan needs is missing.
  static Result<std::unique_ptr<KernelModules>> load(Context &context, const gc::plan::Plan &plan);
  size_t kernelCount() const override { return functions_.size(); }
  std::vector<std::string> notices() const override;
  /// Which graphs of the library do not run, in one line. Whether they do is known when the command
  /// buffers are bound.
  std::string withoutLibrary() const override;
  const std::string &kernelName(size_t index) const { return names_[index]; }
  CUfunction function(size_t index) const { return functions_[index].function; }
  /// Null when the plan has no library graphs.
  CudnnGraphs *graphs() const { return graphs_.get(); }
  /// Whether the call's graph is executed; else its generated twin is.
  bool usesGraph(const gc::plan::GraphCall &call) const {
    return graphs_->whyNot(call.graph()).empty();
  }
  static bool hasTwin(const gc::plan::GraphCall &call) {
    return call.twin() && call.twin()->size() > 0;
  }

  /// Notes that the commands of a list are not replayed as a CUDA graph; of the first list only.
  void noteUncaptured(const std::string &list, const std::string &why);

  /// Makes sure that a launch with these sizes is possible.
  Status prepare(size_t kernel, unsigned threads, unsigned sharedBytes);

private:
  struct Function {
    CUfunction function = nullptr;
    int staticShared = 0, maxThreads = 0;
    unsigned dynamicShared = 0; ///< allowed so far
  };
  KernelModules(Context &context, const gc::plan::Plan &plan)
      : context_(context), plan_(plan), target_(*plan.target()) {}
  Status loadImage(const gc::plan::KernelImage &image, size_t index);
  /// Which driver the plan's cubins or its PTX need, where the installed one is older; else "".
  std::string newerDriver(int neededCuda) const;
  /// Device error where a graph does not restore and has no generated twin.
  Status checkTwins() const;
  /// "; installed is cuDNN …, the plan was made with …", for messages about graphs.
  std::string madeForText() const;
  Status findFunction(CUmodule module, const std::string &name);

  Context &context_;
  const gc::plan::Plan &plan_;
  const gc::plan::Target &target_;
  bool cubinsSuit_ = false; ///< they are for this GPU, and the driver has refused none
  bool toldUncaptured_ = false;
  std::vector<std::string> notices_;
  std::vector<Module> modules_;
  std::vector<Function> functions_;
  std::vector<std::string> names_;
  std::unique_ptr<CudnnGraphs> graphs_;
};

/// Whether code for `target` ("sm_80") runs on a GPU of `architecture` (86): Cubin for the same
/// major version and a minor version that is not newer, Text (compiled by the driver) for any newer
/// GPU. Device error, naming both, where neither does.
enum class ImageKind { Cubin, Text };
Result<ImageKind> imageFor(const std::string &target, int architecture, const std::string &gpu);

} // namespace gc::runtime::cuda

#endif // GC_RUNTIME_CUDA_KERNELMODULES_H
