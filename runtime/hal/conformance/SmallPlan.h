// Writes small plans by hand, for the conformance cases and the tests of the plan's verifier.
#ifndef GC_RUNTIME_HAL_CONFORMANCE_SMALLPLAN_H
#define GC_RUNTIME_HAL_CONFORMANCE_SMALLPLAN_H

#include "runtime/hal/cpu/library/Library.h"
#include "runtime/plan/PlanFile.h"

namespace gc::runtime::conformance {

/// One buffer after the other in the arena; commands go to the micro_batch list.
class SmallPlan {
public:
  /// Returns the buffer's index. `bytes` 0: what the shape needs.
  uint32_t buffer(const std::string &name, gc::plan::BufferKind kind,
                  const std::vector<int64_t> &shape, uint64_t bytes = 0,
                  gc::plan::DType type = gc::plan::DType_F32);
  uint32_t activation(const std::string &name, const std::vector<int64_t> &shape) {
    return buffer(name, gc::plan::BufferKind_Activation, shape);
  }
  /// A workspace; -1 for 0 bytes, which needs none.
  int32_t workspace(uint64_t bytes);
  /// The buffer for the library's transients.
  void transients();

  void convolution(const cpu::ConvolutionSpec &spec, uint32_t src, uint32_t weights, uint32_t dst,
                   int32_t bias, int32_t residual, int32_t workspace);
  void matmul(const cpu::MatMulSpec &spec, gc::plan::View a, gc::plan::View b, gc::plan::View c,
              int32_t bias, int32_t residual, int32_t workspace);
  void dispatch(uint32_t kernel, const std::vector<uint32_t> &buffers, uint64_t items,
                uint64_t grain);
  /// Every buffer is said to be read and written.
  void launch(uint32_t kernel, const std::vector<uint32_t> &buffers, gc::plan::Extent grid,
              gc::plan::Extent block, uint32_t sharedBytes = 0);
  struct Scalar {
    int64_t id;
    float value;
  };
  void graphCall(uint32_t graph, const std::vector<int64_t> &ids,
                 const std::vector<gc::plan::View> &buffers, const std::vector<Scalar> &scalars,
                 int32_t workspace);
  void fill(uint32_t buffer, uint8_t value);
  void copy(gc::plan::View source, gc::plan::View target, uint64_t bytes);

  void input(const std::string &name, const std::vector<uint32_t> &slots);
  void variable(const std::string &name, uint32_t buffer, const std::vector<int64_t> &fileShape,
                const std::vector<int64_t> &split = {},
                const std::vector<int32_t> &permutation = {}, int32_t gradient = -1);
  void kernels(std::span<const uint8_t> object, const std::vector<std::string> &symbols);
  /// Kernels of a GPU, instead. The symbols follow those of the images before.
  void image(const std::string &ptx, const std::vector<std::string> &symbols,
             const std::vector<uint8_t> &cubin = {});
  /// Returns the index of a library's graph.
  uint32_t graph(const std::string &name, const std::string &plan, uint64_t workspaceBytes);
  /// What the commands after this are called, instead of by their kind.
  void name(std::string text) { name_ = std::move(text); }

  // Set before finish where a test wants something else.
  int64_t batch = 1, microBatches = 1;
  int32_t loss = -1;
  uint64_t arenaBytes = 0; ///< 0: as much as the buffers need
  std::string device = "cpu";
  std::string libraryVersion; ///< empty: any
  std::string architecture;
  /// Breaks the next launch or graph call: one access too few.
  bool dropAccess = false;
  std::vector<std::string> features;
  /// Shifts every offset of buffers added later, to break alignment.
  uint64_t misalign = 0;

  std::vector<std::byte> finish();

private:
  void command(gc::plan::Operation type, flatbuffers::Offset<void> operation, const char *name);

  flatbuffers::FlatBufferBuilder builder_;
  std::vector<flatbuffers::Offset<gc::plan::Buffer>> buffers_;
  std::vector<flatbuffers::Offset<gc::plan::Command>> commands_;
  std::vector<flatbuffers::Offset<gc::plan::Input>> inputs_;
  std::vector<flatbuffers::Offset<gc::plan::Variable>> variables_;
  std::vector<uint8_t> object_;
  std::vector<flatbuffers::Offset<flatbuffers::String>> symbols_;
  std::vector<flatbuffers::Offset<gc::plan::KernelImage>> images_;
  std::vector<flatbuffers::Offset<gc::plan::LibraryGraph>> graphs_;
  std::string name_;
  uint64_t end_ = 0;
  int32_t transients_ = -1;
};

} // namespace gc::runtime::conformance

#endif // GC_RUNTIME_HAL_CONFORMANCE_SMALLPLAN_H
