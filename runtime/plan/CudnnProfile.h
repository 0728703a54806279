// cuDNN writes the GPU that it planned for into a serialized plan ("GPUProfile"), and restores the
// plan only where driver version and number of multiprocessors are the same. Both can be replaced:
// the kernels are those of the architecture. (Tried with 9.19 and 9.26; NVIDIA documents the format
// nowhere.)
#ifndef GC_RUNTIME_PLAN_CUDNNPROFILE_H
#define GC_RUNTIME_PLAN_CUDNNPROFILE_H

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace gc::plan {

/// The plan for a GPU with this driver (13000 for CUDA 13.0) and this many multiprocessors; nothing
/// where the text has no such profile.
std::optional<std::string> fitCudnnPlan(std::string_view plan, int driverVersion,
                                        int multiprocessors);

/// A library wants its workspace at a multiple of this many bytes; buffers of a plan begin at
/// multiples of 64. So a workspace has `kWorkspaceSlack` bytes more than its graph needs, and the
/// graph's part begins at the first such multiple.
inline constexpr int64_t kWorkspaceAlignment = 256, kWorkspaceSlack = kWorkspaceAlignment - 64;

/// "9.19.0" for 91900, as cudnnGetVersion tells it.
std::string cudnnVersionText(size_t version);

} // namespace gc::plan

#endif // GC_RUNTIME_PLAN_CUDNNPROFILE_H
